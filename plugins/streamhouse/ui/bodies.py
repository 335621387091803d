"""Bodies of requests: read after it is known who sends them, and never more than a question needs."""

from typing import TypeVar

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

MOST_BYTES = 1_000_000

Body = TypeVar("Body", bound=BaseModel)


async def read_body(request: Request, model: type[Body]) -> Body:
    """The body of a request as a model.

    Raises:
        HTTPException: it is larger than 1 MB (413), and the rest of it is not read; or who sends it left (400).
        RequestValidationError: it does not fit the model.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise _too_large()
    text = bytearray()
    try:
        async for part in request.stream():
            text += part
            if len(text) > MOST_BYTES:
                raise _too_large()
    except ClientDisconnect as error:
        raise HTTPException(400, "the request ended before its body did") from error
    try:
        return model.model_validate_json(bytes(text))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from error


def _too_large() -> HTTPException:
    return HTTPException(413, f"a request may have {MOST_BYTES:,} bytes; this one is larger")

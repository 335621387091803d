"""Errors as the page reads them: problem JSON with our code, cause, place and hint."""

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from streamhouse import errors
from streamhouse.errors import (
    ApprovalClosedError,
    DefinitionError,
    DefinitionErrors,
    EnvironmentProblem,
    LeaseHeldError,
    QueryError,
    StateConflictError,
    StoreError,
    StreamhouseError,
)
from streamhouse.secret import masked
from streamhouse.ui.answers import Problem, Trouble

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)

_UNKNOWN = (
    errors.UnknownActionError,
    errors.UnknownApprovalError,
    errors.UnknownChangeError,
    errors.UnknownColumnError,
    errors.UnknownFlowError,
    errors.UnknownTableError,
)
_STATUS: tuple[tuple[tuple[type[StreamhouseError], ...], HTTPStatus], ...] = (
    ((ApprovalClosedError, StateConflictError, LeaseHeldError), HTTPStatus.CONFLICT),
    ((DefinitionError, DefinitionErrors, QueryError), HTTPStatus.UNPROCESSABLE_ENTITY),
    ((StoreError, EnvironmentProblem), HTTPStatus.SERVICE_UNAVAILABLE),
)


class ProblemError(Exception):
    """Raised with a problem that is no error of ours, such as one of an engine elsewhere."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.detail)


def trouble(error: StreamhouseError) -> Trouble:
    """An error as data."""
    at = error.at
    place = {"file": at.file, "line": at.line, "column": at.column} if at is not None else {}
    return Trouble.model_validate({"code": error.code, "message": error.message, "hint": error.hint, **place})


def problem_of(error: StreamhouseError) -> Problem:
    """An error as an answer; of several the first stands for all."""
    several = error.errors if isinstance(error, DefinitionErrors) else (error,)
    return made(_status(several[0] if several else error), [trouble(one) for one in several] or [trouble(error)])


def _status(error: StreamhouseError) -> HTTPStatus:
    if isinstance(error, _UNKNOWN) and error.at is None:  # else a file names what is not there
        return HTTPStatus.NOT_FOUND
    return next((status for kinds, status in _STATUS if isinstance(error, kinds)), HTTPStatus.INTERNAL_SERVER_ERROR)


def made(status: HTTPStatus, troubles: list[Trouble]) -> Problem:
    """A problem of at least one trouble."""
    first = troubles[0]
    return Problem(
        title=status.phrase,
        status=status.value,
        code=first.code,
        detail=first.message,
        hint=first.hint,
        file=first.file,
        line=first.line,
        column=first.column,
        errors=tuple(troubles) if len(troubles) > 1 else (),
    )


def response(problem: Problem) -> JSONResponse:
    """A problem as it is sent."""
    return JSONResponse(problem.model_dump(mode="json"), problem.status, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error of an app with a problem."""

    @app.exception_handler(StreamhouseError)
    def ours(_: Request, error: StreamhouseError) -> JSONResponse:
        return response(problem_of(error))

    @app.exception_handler(ProblemError)
    def given(_: Request, error: ProblemError) -> JSONResponse:
        return response(error.problem)

    @app.exception_handler(HTTPException)
    def refused(_: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        return response(made(status, [Trouble(code="http", message=str(error.detail))]))

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        told = [
            Trouble(code="request", message=f"{'.'.join(map(str, one['loc']))}: {one['msg']}") for one in error.errors()
        ]
        return response(made(HTTPStatus.UNPROCESSABLE_ENTITY, told))

    @app.exception_handler(Exception)
    def unforeseen(_: Request, error: Exception) -> JSONResponse:
        _log.error("the page could not answer", exc_info=error)
        told = Trouble(
            code=StreamhouseError.code,
            message=masked(f"internal error: {type(error).__name__}: {error}"),
            hint="the full trace is in the log of the server",
        )
        return response(made(HTTPStatus.INTERNAL_SERVER_ERROR, [told]))

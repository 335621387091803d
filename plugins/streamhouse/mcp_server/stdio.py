"""The server over standard input and output, for a client that starts it."""

import json
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from streamhouse.mcp_server.server import create_server
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.project.project import Project


def serve(project: Project, seconds: float) -> None:
    """Answer until the client closes our input.

    Raises:
        KeyboardInterrupt: Ctrl-C, or SIGTERM.
    """
    serving = Serving.of(project, seconds)
    try:
        anyio.run(_serve, serving)
    finally:
        serving.close()


async def _serve(serving: Serving) -> None:
    server = create_server(serving)
    async with stdio_server() as (incoming, outgoing):
        await server.run(AnsweredStream(incoming, outgoing), outgoing, server.create_initialization_options())


class AnsweredStream:
    """What a client says, without the lines that are no messages: the SDK would leave them without an answer.

    Args:
        incoming: Gives a message, or why a line is none.
        outgoing: Takes the answers to lines that are none.
    """

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    @property
    def last_context(self) -> Any:
        """Of who sent the last message; the SDK asks for it."""
        return getattr(self._incoming, "last_context", None)

    async def receive(self) -> Any:
        """The next message."""
        while True:
            found = await self._incoming.receive()
            if not isinstance(found, Exception):
                return found
            if (answer := refusal(found)) is not None:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await self._outgoing.send(SessionMessage(answer))

    async def aclose(self) -> None:
        """Read no more."""
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message; None: it is empty.

    Args:
        error: Why it is none.
    """
    found = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    line = next((one["input"] for one in found if one["type"] == "json_invalid"), None)
    if line is not None and not line.strip():
        return None
    if line is None:
        why = ErrorData(code=INVALID_REQUEST, message="this is no message of JSON-RPC 2.0")
        document = next((one["input"] for one in found if one["type"] == "missing"), None)
    else:
        why = ErrorData(code=PARSE_ERROR, message=found[0]["msg"])
        document = _document(line)
    return JSONRPCError(jsonrpc="2.0", id=_id_of(document), error=why)


def _document(line: str) -> Any:
    """What a reader that takes more for JSON finds, such as half of a pair of surrogates; None: nothing."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):  # digits without an end are a ValueError
        return None


def _id_of(document: Any) -> int | str | None:
    """The id of a request; None: it has none that an answer can have."""
    found = document.get("id") if isinstance(document, dict) else None
    if isinstance(found, str):
        return found if found.isprintable() else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None

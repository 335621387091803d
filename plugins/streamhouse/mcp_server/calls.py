"""One call of a tool: its arguments checked, its time and size bounded, its errors returned as data."""

import json
import logging
from typing import Any

import anyio
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ValidationError

from streamhouse.errors import AnswerTooLargeError, ArgumentsError, CallTooLongError, StreamhouseError
from streamhouse.mcp_server.answers import Fault
from streamhouse.mcp_server.faults import answer_of, arguments_error, faults_of, unforeseen
from streamhouse.mcp_server.limits import ARGUMENT_BYTES, MOST_BYTES
from streamhouse.mcp_server.shareable import Shared
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.mcp_server.tools import Tool
from streamhouse.ui.problem_data import ProblemError

_STOPPING_S = 15.0  # for a query's process, which stops by itself in order
_log = logging.getLogger(__name__)


async def call(serving: Serving, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
    """What a tool answers, or why it does not: both as data. Ends when the client gives the call up."""
    try:
        return _to_result(await _answered(serving, tool, arguments), serving)
    except (StreamhouseError, ProblemError) as error:
        faults = faults_of(error)
    except Exception as error:  # noqa: BLE001  the last door: a client gets one line and no trace
        _log.error("%s could not be answered", tool.name, exc_info=error)
        faults = (unforeseen(error),)
    return await _refused(serving, faults)


async def _answered(serving: Serving, tool: Tool, arguments: dict[str, Any]) -> BaseModel:
    if len(json.dumps(arguments)) > ARGUMENT_BYTES:
        raise ArgumentsError(f"the arguments are larger than {ARGUMENT_BYTES:,} bytes", hint="send less")
    try:
        request = tool.takes.model_validate(arguments)
    except ValidationError as error:
        raise arguments_error(error) from error
    try:
        async with serving.work.call():
            with anyio.fail_after(serving.seconds + (_STOPPING_S if tool.runs_queries else 0)):
                return await tool.answer(serving, request)
    except TimeoutError as error:
        raise CallTooLongError(
            f"{tool.name} took longer than {serving.seconds:g} s and was given up",
            hint="ask for less, or start the server with a longer --timeout",
        ) from error


def _to_result(answer: BaseModel, serving: Serving) -> CallToolResult:
    document = serving.cleaned(answer.model_dump(mode="json", by_alias=True))
    text = json.dumps(document, ensure_ascii=False)
    if len(text.encode()) > MOST_BYTES:
        raise AnswerTooLargeError(
            f"the answer is larger than {MOST_BYTES:,} bytes", hint="ask for one flow, one table, or less rows"
        )
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=document)


async def _refused(serving: Serving, faults: tuple[Fault, ...]) -> CallToolResult:
    """An error as text alone: clients check structured content against the schema of answers, which it is none of."""
    try:
        shared: Shared | None = await serving.work.run(serving.shared)
    except StreamhouseError:
        shared = None
    document = serving.cleaned(answer_of(faults, shared).model_dump(mode="json", exclude_none=True))
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(document, ensure_ascii=False))], is_error=True
    )

"""Queries of the page: by the engine's own command, in a process of its own with a limit on time and rows.

The page runs where no engine is (Airflow's environment), and a query must not be able to take the page down.
"""

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from streamhouse.errors import ProposalOutdatedError, StreamhouseError
from streamhouse.project.settings import Settings, load_settings
from streamhouse.runtime.command import COMMAND_VARIABLE, Command, has_engine, own_command
from streamhouse.runtime.query_environment import query_environment
from streamhouse.ui.answers import Cell, PageQueryAnswer, ProblemDetail, QueryColumn, QueryReads
from streamhouse.ui.problem_data import ProblemError, new_problem

MOST_ROWS = 1_000
SECONDS = 120.0
_AT_ONCE = 2
_MOST_BYTES = 32_000_000
_PART_BYTES = 65_536
_LONGEST_LINE = 300
_PATIENCE_S = 10.0  # for a query that got a signal to stop: what it started is stopped in order
_CODE = re.compile(r"\b(SH\d{3})\b", re.ASCII)
_EXACT = 2**53  # JavaScript holds no larger whole numbers exactly


_Ended = tuple[bytes, bytes, int | None]
"""What a process printed, what it said beside, and the code that it ended with."""


def engine_command() -> Command | None:
    """How the engine's `streamhouse` is called; None: there is no engine here, and none is named."""
    if named := os.environ.get(COMMAND_VARIABLE):
        command = Command(tuple(shlex.split(named)))
        return command if command.is_there else None
    return own_command() if has_engine() else None


@dataclass
class Asker:
    """Runs queries of one project; more than two at once are refused.

    Attributes:
        root: The project's folder.
        engine: The `streamhouse` command of an environment with an engine; None: nothing can be asked.
        seconds: A query that takes longer is stopped.
    """

    root: Path
    engine: Command | None
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        self._running = 0

    @property
    def note(self) -> str:
        """Why nothing can be asked; empty: it can."""
        if self.engine is not None:
            return ""
        return (
            f"there is no engine here; set {COMMAND_VARIABLE} to the streamhouse command of an environment that has one"
        )

    async def ask(self, sql: str, limit: int, is_disconnected: Callable[[], Awaitable[bool]]) -> PageQueryAnswer:
        """The first rows of a query.

        Args:
            sql: One SELECT of Spark SQL.
            limit: At most so many rows, up to 1,000.
            is_disconnected: Whether nobody waits for the answer any more; then the query is stopped.

        Raises:
            ProblemError: the engine refuses it, it fails, takes too long or gives too much.
        """
        rows = max(0, min(limit, MOST_ROWS))
        begun = time.monotonic()
        document = await self.document(("query", "--limit", str(rows + 1), "-"), sql, is_disconnected)
        names = [column["name"] for column in document["columns"]]
        found = [tuple(cell(row.get(name)) for name in names) for row in document["rows"]]
        return PageQueryAnswer(
            columns=tuple(QueryColumn(name=c["name"], type=c["type"]) for c in document["columns"]),
            rows=tuple(found[:rows]),
            more=len(found) > rows,
            seconds=round(time.monotonic() - begun, 3),
        )

    async def reads(self, sql: str, is_disconnected: Callable[[], Awaitable[bool]]) -> QueryReads:
        """What a query reads of each table, in each tier.

        Args:
            sql: As for `ask`.
            is_disconnected: As for `ask`.

        Raises:
            ProblemError: as for `ask`.
        """
        # One row is enough: what is read of a table does not depend on how many rows are wanted.
        document = await self.document(("query", "--explain", "--limit", "1", "-"), sql, is_disconnected)
        return QueryReads.model_validate({name: document[name] for name in QueryReads.model_fields})

    async def document(
        self,
        words: Sequence[str],
        text: str,
        is_disconnected: Callable[[], Awaitable[bool]],
        *,
        seconds: float | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> dict[str, Any]:
        """What a command of the engine answers as JSON.

        Args:
            words: Of the command, which reads the project's tables and changes nothing that serves.
            text: On its standard input.
            is_disconnected: As for `ask`.
            seconds: A command that takes longer is stopped; None: as for queries.
            say: Is called with each line that the command prints while it works.

        Raises:
            ProblemError: there is no engine, or it refuses, fails, takes too long or gives too much.
        """
        found = await self._admitted((*words, "--json"), text, is_disconnected, seconds or self.seconds, say)
        return _read(*found)

    async def file(self, sql: str, form: str, is_disconnected: Callable[[], Awaitable[bool]]) -> bytes:
        """All rows of a query as the content of a file, up to 32 MB.

        Args:
            sql: As for `ask`.
            form: `csv` or `parquet`.
            is_disconnected: As for `ask`.

        Raises:
            ProblemError: as for `ask`.
        """
        words = ("query", "--format", form, "-")
        out, err, code = await self._admitted(words, sql, is_disconnected, self.seconds, lambda _: None)
        if code:
            raise _refused(err, code)
        return out

    async def _admitted(
        self,
        words: Sequence[str],
        text: str,
        is_disconnected: Callable[[], Awaitable[bool]],
        seconds: float,
        say: Callable[[str], None],
    ) -> _Ended:
        if self.engine is None:
            raise _problem(HTTPStatus.SERVICE_UNAVAILABLE, "SH306", "nothing can be asked from here", self.note)
        if self._running >= _AT_ONCE:
            raise _problem(
                HTTPStatus.TOO_MANY_REQUESTS, "SH600", f"{_AT_ONCE} queries run already", "wait until one is done"
            )
        self._running += 1
        try:
            return await self._run(self.engine, words, text, is_disconnected, seconds, say)
        finally:
            self._running -= 1

    async def _run(
        self,
        engine: Command,
        words: Sequence[str],
        text: str,
        is_disconnected: Callable[[], Awaitable[bool]],
        seconds: float,
        say: Callable[[str], None],
    ) -> _Ended:
        process = await asyncio.create_subprocess_exec(
            *engine.words,
            *(*words, "--project", str(self.root)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment({**os.environ, **engine.environment}),
            start_new_session=True,  # what it started ends with it, and Ctrl-C is ours to pass on
        )
        talk = asyncio.ensure_future(_talk(process, text.encode(), say))
        try:
            out, err = await _answer(talk, is_disconnected, seconds)
        finally:
            await _ended(process)
            talk.cancel()
        return out, err, process.returncode

    def _environment(self, variables: dict[str, str]) -> dict[str, str]:
        # Airflow's keys, its database's password and secrets of sources are no business of a query.
        try:
            return query_environment(variables, load_settings(self.root, variables))
        except StreamhouseError:  # the engine says what is wrong
            return query_environment(variables, Settings())


async def _answer(
    talk: "asyncio.Future[tuple[bytes, bytes]]", is_disconnected: Callable[[], Awaitable[bool]], seconds: float
) -> tuple[bytes, bytes]:
    until = time.monotonic() + seconds
    while True:
        done, _ = await asyncio.wait([talk], timeout=0.25)
        if done:
            return talk.result()
        if time.monotonic() > until:
            raise _problem(
                HTTPStatus.GATEWAY_TIMEOUT,
                "SH602",
                f"it took longer than {seconds:g} s and was stopped",
                "select less, or do it on the command line: streamhouse query, streamhouse proposals",
            )
        if await is_disconnected():
            raise _problem(
                HTTPStatus.REQUEST_TIMEOUT, "SH602", "the browser no longer waits for the answer", "ask again"
            )


async def _talk(
    process: asyncio.subprocess.Process, question: bytes, say: Callable[[str], None]
) -> tuple[bytes, bytes]:
    """What a process answers, counted while it comes: this one never holds more than may be shown.

    Raises:
        ProblemError: it is more.
    """
    stdin, out, err = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert out is not None
    assert err is not None

    write_task = asyncio.ensure_future(_written(stdin, question))
    stderr_task = asyncio.ensure_future(_last(err, say))
    try:
        answer = await _bounded(out)
        await write_task
        said = await stderr_task
        await process.wait()
        return answer, said
    finally:
        write_task.cancel()
        stderr_task.cancel()


async def _written(stdin: asyncio.StreamWriter, question: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it refuses already
        stdin.write(question)
        await stdin.drain()
    stdin.close()


async def _bounded(out: asyncio.StreamReader) -> bytes:
    parts, size = [], 0
    while part := await out.read(_PART_BYTES):
        size += len(part)
        if size > _MOST_BYTES:
            what, hint = "the answer is too large to show", "select less columns or rows"
            raise _problem(HTTPStatus.UNPROCESSABLE_ENTITY, "SH600", what, hint)
        parts.append(part)
    return b"".join(parts)


async def _last(stream: asyncio.StreamReader, say: Callable[[str], None]) -> bytes:
    """The end of the text of a stream: nobody is shown more."""
    tail = b""
    while part := await stream.read(_PART_BYTES):
        tail = (tail + part)[-_PART_BYTES:]
        lines = tail.decode(errors="replace").rpartition("\n")[0].split("\n")
        say(lines[-1].strip()[:_LONGEST_LINE])
    return tail


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Stop a process that still runs: first so that it cleans up, then all that is left of what it started."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(process.wait(), _PATIENCE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _read(out: bytes, err: bytes, code: int | None) -> dict[str, Any]:
    try:
        document = json.loads(out)
    except ValueError:
        error_lines = err.decode(errors="replace").strip().splitlines()[-3:]
        raise _problem(
            HTTPStatus.BAD_GATEWAY,
            "SH602",
            f"the engine ended with code {code} and no answer",
            " ".join(error_lines) or None,
        ) from None
    if "error" in document:
        details = [_trouble(one) for one in document.get("errors") or [document["error"]]]
        raise ProblemError(new_problem(_status(details[0].code), details))
    return dict(document)


def _refused(err: bytes, code: int) -> ProblemError:
    """The error of a command that prints it as text."""
    lines = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    at = next((i for i, line in enumerate(lines) if _CODE.search(line)), None)
    if at is None:
        what = f"the engine ended with code {code} and no answer"
        return _problem(HTTPStatus.BAD_GATEWAY, "SH602", what, " ".join(lines[-3:]) or None)
    found = _CODE.search(lines[at])
    assert found is not None
    hint = next((line.strip().removeprefix("hint: ") for line in lines[at:] if line.strip().startswith("hint:")), None)
    return _problem(_status(found[1]), found[1], lines[at][found.end() :].strip(), hint)


def _status(code: str) -> HTTPStatus:
    """What an error of the engine's command is to a browser."""
    if code == ProposalOutdatedError.code:
        return HTTPStatus.CONFLICT
    is_answer = code < "SH3" or code[:3] in ("SH6", "SH7")  # of definitions, queries and proposals
    return HTTPStatus.UNPROCESSABLE_ENTITY if is_answer else HTTPStatus.SERVICE_UNAVAILABLE


def _trouble(document: dict[str, Any]) -> ProblemDetail:
    return ProblemDetail.model_validate(
        {key: value for key, value in document.items() if key in ProblemDetail.model_fields}
    )


def _problem(status: HTTPStatus, code: str, message: str, hint: str | None) -> ProblemError:
    return ProblemError(new_problem(status, [ProblemDetail(code=code, message=message, hint=hint)]))


def cell(value: object) -> Cell:
    """A value that JavaScript shows as it is."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)  # noqa: PLR0124  NaN is not itself
    return json.dumps(value, ensure_ascii=False)

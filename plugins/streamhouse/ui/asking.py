"""Queries of the page: by the engine's own command, in a process of its own with a limit on time and rows.

The page runs where no engine is (Airflow's environment), and a query must not be able to take the page down.
"""

import asyncio
import contextlib
import json
import os
import shlex
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from streamhouse.errors import StreamhouseError
from streamhouse.project.settings import Settings, load_settings
from streamhouse.runtime.command import COMMAND_VARIABLE, Command, has_engine, own_command
from streamhouse.runtime.query_environment import query_environment
from streamhouse.ui.answers import Cell, QueryAnswer, QueryColumn, Trouble
from streamhouse.ui.problems import ProblemError, made

MOST_ROWS = 1_000
SECONDS = 120.0
_AT_ONCE = 2
_MOST_BYTES = 32_000_000
_PART_BYTES = 65_536
_PATIENCE_S = 10.0  # for a query that was told to stop: what it started is stopped in order
_EXACT = 2**53  # JavaScript holds no larger whole numbers exactly


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

    async def ask(self, sql: str, limit: int, gone: Callable[[], Awaitable[bool]]) -> QueryAnswer:
        """The first rows of a query.

        Args:
            sql: One SELECT of Spark SQL.
            limit: At most so many rows, up to 1,000.
            gone: Whether nobody waits for the answer any more; then the query is stopped.

        Raises:
            ProblemError: the engine refuses it, it fails, takes too long or gives too much.
        """
        if self.engine is None:
            raise _problem(HTTPStatus.SERVICE_UNAVAILABLE, "SH306", "nothing can be asked from here", self.note)
        if self._running >= _AT_ONCE:
            raise _problem(
                HTTPStatus.TOO_MANY_REQUESTS, "SH600", f"{_AT_ONCE} queries run already", "wait until one is done"
            )
        rows = max(0, min(limit, MOST_ROWS))
        begun = time.monotonic()
        self._running += 1
        try:
            document = await self._run(sql, rows + 1, gone)
        finally:
            self._running -= 1
        names = [column["name"] for column in document["columns"]]
        found = [tuple(_cell(row.get(name)) for name in names) for row in document["rows"]]
        return QueryAnswer(
            columns=tuple(QueryColumn(name=c["name"], type=c["type"]) for c in document["columns"]),
            rows=tuple(found[:rows]),
            more=len(found) > rows,
            seconds=round(time.monotonic() - begun, 3),
        )

    async def _run(self, sql: str, limit: int, gone: Callable[[], Awaitable[bool]]) -> dict[str, Any]:
        engine = self.engine
        assert engine is not None, "asked before"
        process = await asyncio.create_subprocess_exec(
            *engine.words,
            *("query", "--json", "--project", str(self.root), "--limit", str(limit), "-"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment({**os.environ, **engine.environment}),
            start_new_session=True,  # what it started ends with it, and Ctrl-C is ours to pass on
        )
        talk = asyncio.ensure_future(_talk(process, sql.encode()))
        try:
            out, err = await self._answer(talk, gone)
        finally:
            await _ended(process)
            talk.cancel()
        return _read(out, err, process.returncode)

    def _environment(self, given: dict[str, str]) -> dict[str, str]:
        # Airflow's keys, its database's password and secrets of sources are no business of a query.
        try:
            return query_environment(given, load_settings(self.root, given))
        except StreamhouseError:  # the engine says what is wrong
            return query_environment(given, Settings())

    async def _answer(
        self, talk: "asyncio.Future[tuple[bytes, bytes]]", gone: Callable[[], Awaitable[bool]]
    ) -> tuple[bytes, bytes]:
        until = time.monotonic() + self.seconds
        while True:
            done, _ = await asyncio.wait([talk], timeout=0.25)
            if done:
                return talk.result()
            if time.monotonic() > until:
                raise _problem(
                    HTTPStatus.GATEWAY_TIMEOUT,
                    "SH602",
                    f"the query took longer than {self.seconds:g} s and was stopped",
                    "select less, or ask on the command line: streamhouse query",
                )
            if await gone():
                raise _problem(HTTPStatus.REQUEST_TIMEOUT, "SH602", "nobody waits for the answer", "ask again")


async def _talk(process: asyncio.subprocess.Process, question: bytes) -> tuple[bytes, bytes]:
    """What a process answers, counted while it comes: this one never holds more than may be shown.

    Raises:
        ProblemError: it is more.
    """
    stdin, out, err = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert out is not None
    assert err is not None

    async def ask() -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it refuses already
            stdin.write(question)
            await stdin.drain()
        stdin.close()

    asked = asyncio.ensure_future(ask())
    told = asyncio.ensure_future(_last(err))
    try:
        parts, size = [], 0
        while part := await out.read(_PART_BYTES):
            size += len(part)
            if size > _MOST_BYTES:
                raise _problem(
                    HTTPStatus.UNPROCESSABLE_ENTITY,
                    "SH600",
                    "the answer is too large to show",
                    "select less columns or rows",
                )
            parts.append(part)
        await asked
        said = await told
        await process.wait()
        return b"".join(parts), said
    finally:
        asked.cancel()
        told.cancel()


async def _last(stream: asyncio.StreamReader) -> bytes:
    """The end of what a stream tells: nobody is shown more."""
    kept = b""
    while part := await stream.read(_PART_BYTES):
        kept = (kept + part)[-_PART_BYTES:]
    return kept


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
        told = err.decode(errors="replace").strip().splitlines()[-3:]
        raise _problem(
            HTTPStatus.BAD_GATEWAY, "SH602", f"the engine ended with code {code} and no answer", " ".join(told) or None
        ) from None
    if "error" in document:
        given = [_trouble(one) for one in document.get("errors") or [document["error"]]]
        status = HTTPStatus.UNPROCESSABLE_ENTITY if given[0].code < "SH3" or given[0].code[:3] == "SH6" else None
        raise ProblemError(made(status or HTTPStatus.SERVICE_UNAVAILABLE, given))
    return dict(document)


def _trouble(given: dict[str, Any]) -> Trouble:
    return Trouble.model_validate({key: value for key, value in given.items() if key in Trouble.model_fields})


def _problem(status: HTTPStatus, code: str, message: str, hint: str | None) -> ProblemError:
    return ProblemError(made(status, [Trouble(code=code, message=message, hint=hint)]))


def _cell(value: object) -> Cell:
    """A value that JavaScript shows as it is."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)  # noqa: PLR0124  NaN is not itself
    return json.dumps(value, ensure_ascii=False)

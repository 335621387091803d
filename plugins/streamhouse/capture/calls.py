"""What people and flows ask of captures: start, stop, look, begin from the start. The process itself: `process.py`."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from streamhouse.capture.database import DatabaseAway, Slot
from streamhouse.capture.journal import all_tables, has_begun, size_of
from streamhouse.capture.process import capture_log, connection_of, database_of
from streamhouse.capture.shorten import Hold
from streamhouse.capture.upkeep import holds_of
from streamhouse.capture.wanted import WantedTable, note, noted, wanted_of
from streamhouse.errors import CaptureFailedError, StateConflictError, StreamhouseError
from streamhouse.ingest.journal import Group, groups, journal_folder, segments
from streamhouse.model.plan import FlowPlan
from streamhouse.project.check import load_registry
from streamhouse.project.project import Project
from streamhouse.runtime.command import own_command
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.services.process import Process, spawn
from streamhouse.state.plans import Unreadable
from streamhouse.state.runners import CAPTURE, Life, RunnerRecord

_LOOK_S = 0.3
_WATCH_S = 2.0
_CHILD_END_S = 60.0
_CAUGHT_UP_S = 600.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class CaptureStatus:
    """A connection as it is now.

    Attributes:
        record: Its process, or the last that was it; None: there never was one.
        tables: `schema.table` → whether its snapshot is whole.
        journal_bytes: Of all its files.
        oldest: The first segment of each group that is still there, such as `1767000000/00000003.jsonl`.
        holds: Who has yet to read segments that could go otherwise, the one that is furthest behind first.
        slots: Slot → what the database says of it; None: it has none of that name.
        away: Why the database could not be asked; None: it was.
        remedy: What a person can do about that.
        warnings: What a person should know before changes are lost, or the database's disk is full.
    """

    name: str
    record: RunnerRecord | None
    tables: Mapping[str, bool]
    journal_bytes: int
    oldest: tuple[str, ...]
    holds: tuple[Hold, ...]
    slots: Mapping[str, Slot | None]
    away: str | None
    remedy: str | None
    warnings: tuple[str, ...]

    @property
    def lives(self) -> bool:
        """Whether a process captures it."""
        return self.record is not None and self.record.life.takes_up


def start(project: Project, name: str, *, wait: timedelta, say: Say = lambda _: None) -> RunnerRecord:
    """Have a connection captured by a process that outlives this one, for all that the project's flows read of it.

    Args:
        project: Its settings have the connection.
        name: Of the connection.
        wait: For the process to live.
        say: Is called with what is waited for.

    Raises:
        CaptureFailedError: it cannot be captured, or not in time.
        EnvironmentProblem: its password is not where the settings say.
    """
    _note_all(project, name)
    _check(project, name, noted(journal_folder(project.root, name)))
    until = time.monotonic() + wait.total_seconds()
    child: Process | None = None
    with project.state() as state:
        while True:
            record = state.runners.runner(f"{CAPTURE}{name}", alive=is_alive)
            if record is not None and record.life is Life.RUNNING:
                return record
            if record is None or not (record.life.takes_up or record.life is Life.CLOSING):
                if child is None:
                    say(f"starting the capture of {name}")
                    child = _launch(project, name)
                elif not child.alive:
                    raise _failed(project, name, record)
            elif record is not None:
                say(f"{name}: {record.stage}")
            if time.monotonic() > until:
                raise CaptureFailedError(
                    f"the capture of '{name}' does not live after {wait.total_seconds():.0f} s",
                    hint=f"it may come yet, see: streamhouse capture status; its log: {capture_log(project, name)}",
                )
            time.sleep(_LOOK_S)


def stop(project: Project, name: str, *, wait: timedelta, say: Say = lambda _: None) -> bool:
    """Let the capture of a connection end after the batch in hand; False: none lives.

    Raises:
        CaptureFailedError: it runs on another machine, or did not end in time.
    """
    connection_of(project, name)
    record = _living(project, name)
    if record is None:
        return False
    if record.owner.host != this_owner().host:
        raise CaptureFailedError(f"the capture of '{name}' is {record.owner}, on another machine", hint="stop it there")
    with suppress(ProcessLookupError):
        os.kill(record.owner.pid, signal.SIGTERM)
    until = time.monotonic() + wait.total_seconds()
    while is_alive(record.owner):
        say(f"waiting for the capture of {name} to end")
        if time.monotonic() > until:
            raise CaptureFailedError(
                f"the capture of '{name}' did not end in {wait.total_seconds():.0f} s", hint="it will yet"
            )
        time.sleep(_LOOK_S)
    return True


def status(project: Project, names: Iterable[str] = ()) -> list[CaptureStatus]:
    """How connections are, by name.

    Args:
        project: Its settings have them.
        names: Those wanted; none: all.

    Raises:
        CaptureFailedError: there is no such connection.
    """
    return [_status(project, name) for name in (list(names) or sorted(project.settings.databases))]


def _status(project: Project, name: str) -> CaptureStatus:
    connection = connection_of(project, name)
    folder = journal_folder(project.root, name)
    found = groups(folder)
    state = project.existing_state()
    record = None
    holds: tuple[Hold, ...] = ()
    unreadable: Unreadable = {}
    if state is not None:
        with state:
            record = state.runners.runner(f"{CAPTURE}{name}", alive=is_alive)
            holds = holds_of(project, name, state, unreadable)
    lives = record is not None and record.life.takes_up
    seen = _seen(project, name, found, lives=lives, warn_at=connection.warn_at)
    return CaptureStatus(
        name=name,
        record=record,
        tables={table: has_begun(one) for one, group in found.items() for table in group.tables},
        journal_bytes=sum(size_of(one) for one in found),
        oldest=tuple(f"{one.name}/{file.name}" for one in found for file in segments(one)[:1]),
        holds=holds,
        slots=seen.slots,
        away=seen.away,
        remedy=seen.remedy,
        warnings=(*seen.warnings, *(_not_known(flow, error) for flow, error in unreadable.items())),
    )


@dataclass(frozen=True)
class _Seen:
    """What the database of a connection says; the attributes as of `CaptureStatus`."""

    slots: Mapping[str, Slot | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    away: str | None = None
    remedy: str | None = None


def _seen(project: Project, name: str, found: Mapping[Path, Group], *, lives: bool, warn_at: int) -> _Seen:
    slots: dict[str, Slot | None] = {}
    try:
        database = database_of(project, name)
        slots = {group.slot: database.slot(group, folder) for folder, group in found.items()}
        warnings = [database.warning(one, slot, lives=lives, warn_at=warn_at) for one, slot in slots.items()]
    except DatabaseAway as error:
        return _Seen(slots, away=str(error), remedy=error.trouble.remedy)
    except StreamhouseError as error:
        return _Seen(slots, away=error.message, remedy=error.hint)
    return _Seen(slots, tuple(warning for warning in warnings if warning is not None))


def _not_known(flow: str, error: StateConflictError) -> str:
    text = f"what flow {flow} has yet to read is not known; {error.message}"
    return f"{text} ({error.hint})" if error.hint else text


def reset(project: Project, name: str) -> None:
    """Remove the journal and the slots of a connection, so that the next start takes a new snapshot.

    Raises:
        CaptureFailedError: the capture runs, or the database does not answer.
    """
    database = database_of(project, name)
    if _living(project, name) is not None:
        raise CaptureFailedError(
            f"the capture of '{name}' runs", hint=f"stop it first: streamhouse capture stop {name}"
        )
    folder = journal_folder(project.root, name)
    for one, group in groups(folder).items():
        try:
            database.free(group)
            database.drop(group)
        except DatabaseAway as error:
            raise CaptureFailedError(
                f"connection '{name}': its slot would stay, as {error}",
                hint=f"try again when the database can be asked; {error.trouble.remedy}",
            ) from None
        shutil.rmtree(one)


@contextmanager
def capture_beside(project: Project, plan: FlowPlan, *, once: bool, say: Say = lambda _: None) -> Iterator[None]:
    """A block in which the databases that a flow reads are captured: by who captures them, else by a child of ours.

    Args:
        project: Its settings have the connections.
        plan: Of the flow.
        once: Wait, before the block, until all that is committed now is in the journals.
        say: Is called with what is waited for.

    Raises:
        CaptureFailedError: what the flow reads cannot be captured.
        EnvironmentProblem: a password is not where the settings say.
    """
    wanted: dict[str, list[WantedTable]] = {}
    for source in plan.sources:
        if (one := wanted_of(source.kind, source.options)) is not None:
            wanted.setdefault(one.connection, []).append(one)
    keepers = []
    try:
        for name, tables in wanted.items():
            _check(project, name, tables)
            note(journal_folder(project.root, name), tables)
            keepers.append(_Keeper(project, name, say))
            keepers[-1].start()
        for keeper in keepers if once else ():
            keeper.wait_for_all(wanted[keeper.connection])
        yield
    finally:
        for keeper in keepers:
            keeper.end()


class _Keeper(threading.Thread):
    """Sees to it that a connection is captured, by a child when nobody else does."""

    def __init__(self, project: Project, connection: str, say: Say) -> None:
        super().__init__(name=f"capture-{connection}", daemon=True)
        self.connection = connection
        self._project = project
        self._say = say
        self._over = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._failed = 0

    def run(self) -> None:
        """Look again and again."""
        while not self._over.is_set():
            try:
                self._look()
            except StreamhouseError as error:  # the state store is away
                self._say(str(error).splitlines()[0])
            self._over.wait(_WATCH_S)

    def _look(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        if _living(self._project, self.connection) is not None:
            self._failed = 0
            return
        if self._child is not None:
            self._failed += 1
            self._say(f"the capture of {self.connection} ended: {self._why()}")
            self._over.wait(min(60.0, 2.0**self._failed))
        if not self._over.is_set():
            self._child = _child(self._project, self.connection)

    def _why(self) -> str:
        with self._project.state() as state:
            record = state.runners.runner(f"{CAPTURE}{self.connection}", alive=is_alive)
        reason = record.error.splitlines()[0] if record is not None and record.error else "without a word"
        return f"{reason} (its log: {capture_log(self._project, self.connection)})"

    def wait_for_all(self, tables: Iterable[WantedTable]) -> None:
        """Wait until the journal has what is committed now.

        Raises:
            CaptureFailedError: the capture failed, or takes too long.
        """
        folder = journal_folder(self._project.root, self.connection)
        mine = {one.table for one in tables}
        until = time.monotonic() + _CAUGHT_UP_S

        def waited(done: Callable[[], bool], what: str) -> None:
            self._say(f"{self.connection}: {what}")
            while not done():
                if self._failed > 1 or time.monotonic() > until:
                    raise CaptureFailedError(
                        f"the capture of '{self.connection}' does not go on: {self._why()}",
                        hint="see: streamhouse capture status",
                    )
                time.sleep(_LOOK_S)

        def begun() -> set[str]:
            return {table for one, group in groups(folder).items() if has_begun(one) for table in group.tables}

        waited(lambda: mine <= begun(), "waiting for the snapshot")
        with suppress(DatabaseAway):
            has_all = database_of(self._project, self.connection).committed()
            waited(lambda: all(has_all(one) for one in groups(folder)), "waiting for what is committed now")

    def end(self) -> None:
        """End the child, if there is one."""
        self._over.set()
        self.join()
        child = self._child
        if child is not None and child.poll() is None:
            assert child.stdin is not None
            child.stdin.close()
            try:
                child.wait(_CHILD_END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _note_all(project: Project, name: str) -> None:
    """Note what all flows of the project's files read of a connection."""
    flows = load_registry(project).flows.values()
    found = (wanted_of(source.kind, source.options) for flow in flows for source in flow.sources.values())
    note(journal_folder(project.root, name), [one for one in found if one is not None and one.connection == name])


def _check(project: Project, name: str, tables: list[WantedTable]) -> None:
    """Check tables that are not captured yet, where the database answers; the capture waits for one that does not.

    What changes in the others is the Flow Trigger's to see, in their rows.

    Raises:
        CaptureFailedError: a table cannot be captured, or there is no session, for a reason that does not end by
            itself, such as a password that is refused.
    """
    database = database_of(project, name)
    there = all_tables(journal_folder(project.root, name))
    new = [one for one in tables if one.table not in there]
    if not new:
        return
    try:
        database.check(new)
    except DatabaseAway as error:
        if not error.trouble.ends_by_itself:
            raise CaptureFailedError(f"connection '{name}': {error}", hint=error.trouble.remedy) from None


def _living(project: Project, name: str) -> RunnerRecord | None:
    state = project.existing_state()
    if state is None:
        return None
    with state:
        record = state.runners.runner(f"{CAPTURE}{name}", alive=is_alive)
    lives = record is not None and (record.life.takes_up or record.life is Life.CLOSING)
    return record if lives else None


def _words(project: Project, name: str) -> list[str]:
    return [*own_command().words, "capture", "start", name, "--foreground", "--project", str(project.root)]


def _launch(project: Project, name: str) -> Process:
    project.logs.mkdir(parents=True, exist_ok=True)
    return spawn(_words(project, name), log=capture_log(project, name), folder=project.root, environment=os.environ)


def _child(project: Project, name: str) -> "subprocess.Popen[bytes]":
    """A capture that ends with this process, however that ends: it reads a pipe that only this one holds."""
    project.logs.mkdir(parents=True, exist_ok=True)
    with capture_log(project, name).open("ab") as output:
        return subprocess.Popen(
            [*_words(project, name), "--while-read"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=project.root,
            start_new_session=True,
        )


def _failed(project: Project, name: str, record: RunnerRecord | None) -> CaptureFailedError:
    text = record.error if record is not None and record.error else "its process ended"
    cause, _, hint = text.partition("\n  hint: ")
    return CaptureFailedError(
        f"the capture of '{name}' did not start: {cause}", hint=hint or f"its log: {capture_log(project, name)}"
    )

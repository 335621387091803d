"""The process that captures one connection: it starts engines for what is wanted, and says every second how it is."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from streamhouse.capture.database import CapturedDatabase, DatabaseAway, Slot
from streamhouse.capture.java import JavaCapture, java
from streamhouse.capture.journal import all_tables, new_group
from streamhouse.capture.kinds import open_database
from streamhouse.capture.stream import CaptureStream
from streamhouse.capture.upkeep import JournalUpkeep
from streamhouse.capture.wanted import noted
from streamhouse.errors import CaptureFailedError, StreamhouseError, did_you_mean
from streamhouse.ingest.journal import groups, journal_folder
from streamhouse.ingest.tables.database_troubles import explained
from streamhouse.install.jars import CAPTURE_JARS, capture_jars_of_spark, fetch
from streamhouse.install.sync import only_writer
from streamhouse.model.connection import Connection
from streamhouse.project.project import Project
from streamhouse.runtime.claim_beat import ClaimBeat, beating_as
from streamhouse.state.runners import CAPTURE, Life

CAPTURE_TTL = timedelta(seconds=15)
_LOOK_S = 0.5
_SLOT_EVERY_S = 5.0
_PUSH_BYTES = 16 << 20
"""So much log a quiet slot may keep before a message of ours moves it."""
_JOURNAL_WAIT_S = 60.0
_AGAIN_S = (1.0, 2.0, 5.0, 10.0, 30.0)
_TRIES = 8
"""An engine that ends so often without an event between is given up."""


def connection_of(project: Project, name: str) -> Connection:
    """A connection of streamhouse.yaml.

    Raises:
        CaptureFailedError: no database has that name.
    """
    found = project.settings.databases.get(name)
    if found is None:
        known = tuple(project.settings.databases)
        hint = did_you_mean(name, known, "name it under 'connections' in streamhouse.yaml (docs/sources.md)")
        raise CaptureFailedError(f"there is no connection '{name}'", hint=hint)
    return found


def database_of(project: Project, name: str) -> CapturedDatabase:
    """The database of a connection.

    Raises:
        CaptureFailedError: there is no such connection.
        EnvironmentProblem: its password is not where the settings say.
    """
    return open_database(name, connection_of(project, name), project.root)


def capture_log(project: Project, name: str) -> Path:
    """Where the capture of a connection writes, when it is started in the background."""
    return project.logs / f"capture-{name}.log"


def host(
    project: Project,
    name: str,
    *,
    over: threading.Event,
    log: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Capture a connection until `over` is set.

    Args:
        project: Its settings have the connection.
        name: Of the connection.
        over: Ends it, after the batch in hand.
        log: Where this process' output goes, for people who look for it.
        say: Is called with what it does, in words for a person.

    Raises:
        RunnerHeldError: another living process captures it.
        LeaseLostError: another process took its place, because this one was silent for too long.
        SlotLostError: the database has given up what was not read yet.
        CaptureFailedError: it cannot be captured.
    """
    database = database_of(project, name)
    folder = journal_folder(project.root, name)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    project.logs.mkdir(parents=True, exist_ok=True)
    with project.state() as state, beating_as(state, f"{CAPTURE}{name}", CAPTURE_TTL, log=log, tell=say) as beating:
        beating.say("fetching what is missing")
        jars = [
            *fetch((*CAPTURE_JARS, *database.jars), settings=project.settings.ivy_settings),
            *capture_jars_of_spark(),
        ]
        beating.say("starting Java")
        with (
            java(jars, folder, project.logs / f"capture-{name}.java.log", database.masked) as process,
            only_writer(folder / "writer") as alone,
        ):
            if not alone:  # one that was stopped, and whose Java is gone
                raise CaptureFailedError("another process writes the journal", hint="see: streamhouse capture status")
            _lock(process, folder, over, beating)
            if database.authorities is not None:
                process.trust(Path(database.authorities), folder / "authorities.jks")
            warn_at = connection_of(project, name).warn_at
            upkeep = JournalUpkeep(project, name, database, folder, state)
            _CaptureHost(database, process, folder, beating, over, warn_at, upkeep).run()


def _lock(process: JavaCapture, folder: Path, over: threading.Event, beating: ClaimBeat) -> None:
    """Wait until no other Java process writes to the journal: one that was left alone ends by itself."""
    until = time.monotonic() + _JOURNAL_WAIT_S
    while not process.lock(folder / "lock"):
        beating.say("waiting for another process that writes the journal")
        if over.wait(_LOOK_S) or time.monotonic() > until:
            raise CaptureFailedError("another process writes the journal", hint="see: streamhouse capture status")


@dataclass
class _CaptureHost:
    database: CapturedDatabase
    java: JavaCapture
    folder: Path
    beating: ClaimBeat
    over: threading.Event
    warn_at: int
    upkeep: JournalUpkeep
    streams: dict[Path, CaptureStream] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    _failed: int = 0  # how often engines ended since the last event
    _looked_at: float = 0.0

    def run(self) -> None:
        """Capture until the process is to end."""
        try:
            while not self.over.is_set():
                if self.beating.lost is not None:
                    raise self.beating.lost
                self.over.wait(self._round())
        finally:
            self.beating.say("ending", Life.CLOSING)
            self.upkeep.end()
            for stream in self.streams.values():
                stream.close()

    def _round(self) -> float:
        """One look; how long to wait for the next one, in seconds."""
        try:
            self._begin_wanted()
            self._start_missing()
            self._check_streams()
            self._look_at_slots()
            self.upkeep.look()
        except DatabaseAway as error:
            self.beating.say(f"{error} ({error.trouble.remedy})", Life.RUNNING)
            return self._patience()
        self.beating.say(self._stage(), Life.RUNNING)
        return _LOOK_S

    def _begin_wanted(self) -> None:
        """Make a group of all tables that are wanted and in none yet."""
        there = all_tables(self.folder)
        missing = [one for one in noted(self.folder) if one.table not in there]
        if missing:
            self.database.check(missing)
            new_group(self.folder, self.database.name, {one.table for one in missing})

    def _start_missing(self) -> None:
        for folder, group in groups(self.folder).items():
            if folder not in self.streams:
                self.streams[folder] = CaptureStream(self.database, self.java, folder, group)

    def _check_streams(self) -> None:
        if not self.java.is_alive:
            raise CaptureFailedError("the Java process of the capture is gone", hint="start the capture again")
        for folder, stream in list(self.streams.items()):
            if stream.events:
                self._failed = 0
            if stream.has_ended or stream.is_silent:
                error = stream.error
                del self.streams[folder]
                stream.close()
                self._judge(stream, error)

    def _judge(self, stream: CaptureStream, error: str) -> None:
        """An engine ended by itself: it is started again, unless that cannot help."""
        if isinstance(stream.failure, StreamhouseError):
            raise stream.failure
        self.database.slot(stream.group, stream.folder)  # whether the database answers at all
        self._failed += 1
        said, remedy = explained(error or "the engine ended by itself", "")
        if self._failed >= _TRIES:
            hint = "; ".join(filter(None, [remedy, "what the engine says: .streamhouse/logs/capture-*.java.log"]))
            raise CaptureFailedError(f"connection '{self.database.name}': {said}", hint=hint)
        self.beating.say(f"starting again, after: {said}")
        self.over.wait(self._patience())

    def _patience(self) -> float:
        return _AGAIN_S[min(self._failed, len(_AGAIN_S) - 1)]

    def _look_at_slots(self) -> None:
        if time.monotonic() - self._looked_at < _SLOT_EVERY_S:
            return
        self._looked_at = time.monotonic()
        for stream in self.streams.values():
            slot = self.database.slot(stream.group, stream.folder)
            if slot is not None:
                self.slots[stream.group.slot] = slot
                if stream.has_begun and (error := self.database.lost(stream.group, slot)):
                    raise error
        if any(slot.retained_bytes > _PUSH_BYTES for slot in self.slots.values()):
            self.database.push()

    def _stage(self) -> str:
        if not self.streams:
            return "no table is wanted yet"
        snapshots = [one for one in self.streams.values() if not one.has_begun]
        if snapshots:
            return f"snapshot: {sum(one.events for one in snapshots)} rows so far"
        retained_bytes = max((slot.retained_bytes for slot in self.slots.values()), default=0)
        tables = sum(len(one.group.tables) for one in self.streams.values())
        warning = f"; the database keeps {retained_bytes >> 20} MiB of its log" if retained_bytes > self.warn_at else ""
        trouble = f"; the journal cannot be shortened: {self.upkeep.trouble}" if self.upkeep.trouble else ""
        return f"streaming {tables} table{'s' if tables > 1 else ''}{warning}{trouble}"

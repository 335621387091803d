"""What a capture asks of a database, whatever its kind; each kind is one class, and `kinds.py` lists them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import SlotLostError
from streamhouse.ingest.journal import Group
from streamhouse.ingest.secret_place import secret_at
from streamhouse.ingest.tables.database_troubles import NO_ANSWER, trouble_of
from streamhouse.install.jars import Jar
from streamhouse.model.connection import Connection
from streamhouse.planner.found_tables import FoundTable

Offset = Mapping[str, str | int]
"""A place in a database's log, as the engine of its kind writes it."""


class DatabaseAway(Exception):  # noqa: N818  it is no error of ours: the caller waits
    """There is no session in the database, and there may be one later.

    Args:
        said: What the driver says, in one line and without the password.
        code: Of the error (`code_of`).
    """

    def __init__(self, said: str, code: str | int | None = None) -> None:
        self.trouble = trouble_of(said, code) or NO_ANSWER
        super().__init__(f"{self.trouble.what}: {said}")


@dataclass(frozen=True)
class Slot:
    """What a database says of its log after the place up to which a capture has read it.

    Attributes:
        status: Of that log: reserved, extended, unreserved (soon gone) or lost.
        retained_bytes: Its size.
    """

    status: str
    retained_bytes: int


class CapturedDatabase(Protocol):
    """One connection of streamhouse.yaml; each question is a session of its own.

    All that asks the database raises `DatabaseAway` when there is no session, and `CaptureFailedError` when it refuses
    what it is asked.
    """

    name: str

    @property
    def jars(self) -> tuple[Jar, ...]:
        """Those of its kind, beside `CAPTURE_JARS`."""

    @property
    def silent_s(self) -> float | None:
        """So long an engine that streams may say nothing, not even that it lives; None: it may always."""

    @property
    def authorities(self) -> str | None:
        """File of those that Java is to trust, in place of the ones it knows; None: the engine needs no others."""

    @property
    def place(self) -> re.Pattern[bytes]:
        """What an event has in it that says where in the log it is; events of one place follow each other."""

    def check(self, tables: Sequence[WantedTable]) -> None:
        """Check that the database lets its changes be read, and that tables are as they were declared."""

    def tables(self, is_wanted: Callable[[str], bool]) -> list[FoundTable]:
        """Its tables and views, by name, also those that cannot be captured; `is_wanted` takes `schema.table`."""

    def settings(self, group: Group, folder: Path, *, begun: bool) -> dict[str, str]:
        """The settings of the engine that are of this kind; the password is among them."""

    def prepare(self, group: Group, folder: Path) -> None:
        """Remove what a snapshot that did not end has left, except for the journal."""

    def resume(self, group: Group, folder: Path) -> Offset:
        """Where an engine goes on, so that the first event it sends is at or before the end of the journal.

        Raises:
            SlotLostError: the database has no longer what comes after the journal.
        """

    def keep(self, folder: Path, offset: Callable[[], Mapping[str, Any]]) -> None:
        """Note how far the journal is, once the disk has its events; `offset` gives the one of the last event."""

    def settled(self, group: Group, folder: Path, segments: Sequence[Path]) -> int:
        """How many segments, from the oldest, have no event that the database may send again after a restart.

        Args:
            group: Of the journal.
            folder: Of the group.
            segments: All, in their order; events are added to the last one.
        """

    def slot(self, group: Group, folder: Path) -> Slot | None:
        """What the database says of its log for a group; None: it keeps none."""

    def lost(self, group: Group, slot: Slot | None) -> SlotLostError | None:
        """The error that a group cannot go on, if that is so."""

    def warning(self, slot_name: str, slot: Slot | None, *, lives: bool, warn_at: int) -> str | None:
        """What a person should know of the log before changes are lost or the disk of the database is full."""

    def free(self, group: Group) -> None:
        """End the session of a process that is gone, and of which the server does not know that."""

    def drop(self, group: Group) -> None:
        """Remove what the database has for a group."""

    def push(self) -> None:
        """Let a quiet group move on, of whose tables nothing is written."""

    def committed(self) -> Callable[[Path], bool]:
        """Ask what is committed now; the answer says of a group's folder whether its journal has all of that."""

    def masked(self, text: str) -> str:
        """A text without the password."""


def password_of(name: str, connection: Connection, root: Path) -> str:
    """The password of a connection; empty: none is asked for.

    Args:
        name: Of the connection.
        connection: Says where it is.
        root: The project's folder.

    Raises:
        EnvironmentProblem: there is none at that place.
    """
    place = connection.password
    return "" if place is None else secret_at(place, f"the password of connection '{name}'", root)


def masked(text: str, password: str) -> str:
    """A text without a password."""
    return text.replace(password, "***") if password else text


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__


def table_pattern(table: str) -> str:
    """The regular expression that names a table alone."""
    return "".join(one if one.isalnum() or one == "_" else f"\\{one}" for one in table)

"""Where change events are: files that a pattern names, or the journal of a capture."""

from os import SEEK_END
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar

from streamhouse.errors import Location
from streamhouse.ingest.folders import data_path
from streamhouse.ingest.journal import TableJournal
from streamhouse.ingest.lines import Lines
from streamhouse.ingest.listing import list_files
from streamhouse.model.types import Position

_SAMPLE_BYTES = 1 << 18
_NEWEST_EVENTS = 200


class EventFiles(Protocol):
    """Files of change events, in the order of their names."""

    def names(self) -> list[str]:
        """Those that are there now, in their order."""

    def lines(self, name: str) -> "AnyLines":
        """The events of one."""

    def some(self, names: list[str]) -> list[bytes]:
        """A few of the oldest and the newest events of these, to look at the columns of their rows; none: unknown."""


class AnyLines(Protocol):
    """The lines of a file that may grow."""

    def count(self) -> int:
        """How many there are now."""

    def read(self, first: int, end: int) -> list[bytes]:
        """Lines `[first, end)`, counted from 0."""


class AnyBase(Protocol):
    """What is there in place of the oldest files of a journal."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def covers(self) -> Position:
        """The position at its end."""

    @property
    def rows(self) -> int:
        """How many of `lines`, from the first, make the rows there."""

    @property
    def lines(self) -> "AnyLines":
        """Its events."""


Base_co = TypeVar("Base_co", bound=AnyBase, covariant=True)


class BasedFiles(EventFiles, Protocol[Base_co]):
    """A journal whose oldest files a base replaces, when all that read them are past them."""

    @property
    def title(self) -> str:
        """Of what it is a journal, as messages say it."""

    def base(self) -> Base_co | None:
        """What is there in place of files that are gone, the same object as long as it is there; None: none is gone."""


class NamedFiles:
    """Files that a pattern names."""

    def __init__(self, pattern: str, root: Path, at: Location | None = None) -> None:
        self._pattern = pattern
        self._root = root
        self._at = at
        self._files: dict[str, Lines] = {}
        self._lock = Lock()

    def names(self) -> list[str]:
        """See `EventFiles`."""
        return list_files(self._pattern, self._root, self._at)

    def lines(self, name: str) -> Lines:
        """See `EventFiles`."""
        with self._lock:
            if name not in self._files:
                self._files[name] = Lines(data_path(self._root, name), name)
            return self._files[name]

    def some(self, names: list[str]) -> list[bytes]:
        """See `EventFiles`."""
        return [*_beginning(data_path(self._root, names[0])), *_ending(data_path(self._root, names[-1]))]


class JournalFiles(TableJournal):
    """Events of a database's table; the capture itself looked at its columns."""

    def some(self, names: list[str]) -> list[bytes]:  # noqa: ARG002  of the protocol
        """None."""
        return []


def _beginning(file: Path) -> list[bytes]:
    """Whole lines that a file begins with; its only one, if that has no end yet."""
    try:
        with file.open("rb") as opened:
            read = opened.read(_SAMPLE_BYTES)
    except OSError:
        return []  # the reader gets the error
    lines = read.split(b"\n")
    return lines if len(read) < _SAMPLE_BYTES else lines[:-1]


def _ending(file: Path) -> list[bytes]:
    """Whole lines that a file ends with."""
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, SEEK_END)
            opened.seek(max(0, size - _SAMPLE_BYTES))
            lines = opened.read().split(b"\n")
    except OSError:
        return []
    return lines if size <= _SAMPLE_BYTES else lines[1:]


def newest_lines(pattern: str, root: Path) -> list[bytes]:
    """The last lines of the last file that a pattern names; none when there is no file."""
    names = list_files(pattern, root)
    return _ending(root / names[-1]) if names else []


def newest_captured(connection: str, table: str, root: Path, *, has_schema: bool) -> list[bytes]:
    """The last lines of the journal that are of a table, and each removal of all its rows."""
    return TableJournal(root, connection, table, has_schema=has_schema).newest(_NEWEST_EVENTS)

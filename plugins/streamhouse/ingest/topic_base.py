"""The base of a topic's journal: what is left of its oldest segments, when all sources that read them are past them.

    .streamhouse/topics/<topic>/<group>/00000012.base.jsonl     in place of the segments up to 12

The first line is the `TopicBaseHeader`. Each other line is a line of the journal as it was, behind the number of its
segment and its own number there, from 0: `3 17 {"at":…}`. Each line has its checksum behind it (`checked_lines.py`); a
base of an earlier version has none. A base is never changed. A later one replaces it.
"""

from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.checked_lines import DamagedLineError, damaged, without_checksum
from streamhouse.ingest.journal_base import BASE_NOUN, TOPIC_REMEDY, first_line
from streamhouse.ingest.lines import Lines
from streamhouse.ingest.topic_events import MessagePlace, TopicEvents, event_of, place_of, refusal_of
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.types import Frozen, Position


class TopicView(Frozen):
    """What decides which messages of a topic are of the same row.

    Attributes:
        messages: As the source has it, and so are the others.
        table: None: the topic has one.
        format: Of the messages.
        registry: Of their schemas.
        key: Each column of the primary key and its type.
    """

    messages: str
    table: str | None
    format: str
    registry: str | None
    key: tuple[tuple[str, str], ...]


class TopicBaseHeader(Frozen):
    """What a base has.

    Attributes:
        rows: Lines behind this one.
        covers: Segment → how many lines it had; of each one that is gone. It is the position at the end of the base.
        ends: Partition of the topic → up to where it is in the journal there.
        views: For these, the rows are as of that position.
        removed: Ids of removals of all rows; the rows before them are gone.
    """

    rows: int
    covers: Position
    ends: dict[str, int]
    views: tuple[TopicView, ...]
    removed: tuple[str, ...] = ()


class BaseLines:
    """The events of a base. May be used from several threads.

    Args:
        path: The base.
        name: What messages call it: folder and file.
        wanted: How its messages are events.
        is_checked: Whether each line has a checksum behind it.
    """

    def __init__(self, path: Path, name: str, wanted: TopicEvents, *, is_checked: bool) -> None:
        self._lines = Lines(path, name)
        self._name = name
        self._group = path.parent.name
        self._wanted = wanted
        self._is_checked = is_checked

    def count(self) -> int:
        """How many lines there are.

        Raises:
            RowsLostError: the file is gone.
            SourceError: it is shorter than it was.
        """
        return max(0, self._lines.count() - 1)

    def read(self, first: int, end: int) -> list[bytes]:
        """Events of the lines `[first, end)`, counted from 0; b"": it has none.

        Raises:
            RowsLostError, SourceError: as `placed`.
        """
        return [event_of(line, self._wanted) for _, _, line in self.placed(first, end)]

    def placed(self, first: int, end: int) -> list[tuple[str, int, bytes]]:
        """Of the lines `[first, end)`: segment and number that each had, and the line as the journal had it.

        Raises:
            RowsLostError: as `count`.
            SourceError: as `count`, or a line is not as it was written.
        """
        lines = self._lines.read(first + 1, end + 1)
        if self._is_checked:
            lines = [self._verified(line, number) for number, line in enumerate(lines, first + 2)]
        parts = (line.split(b" ", 2) for line in lines)
        return [(f"{self._group}/{int(segment):08d}.jsonl", int(number), line) for segment, number, line in parts]

    def _verified(self, line: bytes, number: int) -> bytes:
        try:
            return without_checksum(line)
        except DamagedLineError as error:
            raise _damaged(self._name, f"line {number}: {error}") from error

    def place(self, number: int) -> MessagePlace | None:
        """Where the message of a line was; None: it has none."""
        return place_of(self.placed(number, number + 1)[0][2])

    def refusal(self, number: int) -> UnreadableError | None:
        """Why the message of a line cannot be read by its schema; None: it can, or has no schema."""
        return refusal_of(self.placed(number, number + 1)[0][2], self._wanted)


class TopicBase(NamedTuple):
    """What is there in place of segments of a topic's journal.

    Attributes:
        name: What messages call it.
        header: What it has.
        lines: Its events.
    """

    name: str
    header: TopicBaseHeader
    lines: BaseLines

    @property
    def covers(self) -> Position:
        """The position at its end."""
        return self.header.covers

    @property
    def rows(self) -> int:
        """How many lines it has."""
        return self.header.rows


def view_of(options: CdcOptions) -> TopicView:
    """How a source that reads a topic tells its rows apart."""
    place = options.kafka
    assert place is not None, "only of a topic"
    key = tuple((name, options.columns[name]) for name in sorted(options.primary_key))
    return TopicView(messages=place.messages, table=place.table, format=place.format, registry=place.registry, key=key)


def header_of(base: Path) -> tuple[TopicBaseHeader, bool]:
    """What a base has, and whether each line behind the header has a checksum.

    Raises:
        SourceError: the file is no base, or was damaged.
        FileNotFoundError: a later one has replaced it.
    """
    try:
        line, is_checked = first_line(base)
        return TopicBaseHeader.model_validate_json(line), is_checked
    except DamagedLineError as error:
        raise _damaged(_name_of(base), f"line 1: {error}") from error
    except ValidationError as error:
        raise _damaged(_name_of(base), "it has no header") from error


def base_in(file: Path, wanted: TopicEvents) -> TopicBase:
    """The base in a file.

    Raises:
        SourceError: the file is no base, or was damaged.
        FileNotFoundError, RowsLostError: a later one has replaced it.
    """
    name = _name_of(file)
    header, is_checked = header_of(file)
    lines = BaseLines(file, name, wanted, is_checked=is_checked)
    if (count := lines.count()) != header.rows:
        raise _damaged(name, f"it has {count} lines, and its first line says {header.rows}")
    return TopicBase(name, header, lines)


def _name_of(base: Path) -> str:
    return f"{base.parent.name}/{base.name}"


def _damaged(name: str, why: object) -> SourceError:
    at = Location(name)  # without a line: that of an error is the number of an event
    return damaged(BASE_NOUN, why, at, TOPIC_REMEDY)

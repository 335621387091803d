"""The journal of a capture, as its readers see it: segments of change events of several tables, in their order.

    .streamhouse/capture/<connection>/<group>/group.json     what is captured, and by which slot
                                             /begun          there once the snapshot is whole
                                             /00000001.jsonl the events, one a line: a segment

A group is the tables that began together. Readers see nothing of it before its snapshot is whole. Its oldest segments
are replaced by a base (`journal_base.py`). A position names the segments also when they are gone, so it means the
same before and after.
"""

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self

from pydantic import Field, ValidationError

from streamhouse.doors.setting import shown
from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.checked_lines import DamagedLineError, damaged, event_alone, without_checksum
from streamhouse.ingest.checked_segment import checked_segment, damaged_error
from streamhouse.ingest.journal_base import BASE, BASE_NOUN, CAPTURE_REMEDY, BasePart, files_of, header_of
from streamhouse.model.types import NAME, Frozen, Position

_BLOCK_BYTES = 1 << 22
_LONGEST_NAME = 200
_TRUNCATED = b'"op":"t"'


class Group(Frozen):
    """Tables of one connection that began together.

    Attributes:
        identity: Another one when the journal was begun from the start: positions mean nothing then.
        tables: `schema.table` or `database.table` of each.
        slot: Name of the engine, and of PostgreSQL's replication slot and publication.
    """

    identity: str
    tables: tuple[str, ...] = Field(min_length=1)
    slot: str

    @classmethod
    def of(cls, folder: Path) -> Self | None:
        """The group of a folder; None: it has none that is whole."""
        try:
            return cls.model_validate_json((folder / "group.json").read_bytes())
        except (OSError, ValidationError):
            return None


def journal_folder(root: Path, connection: str) -> Path:
    """Where the journal of a connection is; need not exist.

    Raises:
        SourceError: no connection has such a name.
    """
    if not re.fullmatch(NAME, connection) or len(connection) > _LONGEST_NAME:
        hint = "name one of 'connections' in streamhouse.yaml"
        raise SourceError(f"'{shown(connection)}' is no name of a connection", hint=hint)
    return root / ".streamhouse" / "capture" / connection


def groups(folder: Path) -> dict[Path, Group]:
    """The groups of a connection's journal by their folders, the oldest first."""
    if not folder.is_dir():
        return {}
    numbered = sorted((int(one.name), one) for one in folder.iterdir() if one.name.isdigit())
    found = {one: Group.of(one) for _, one in numbered}
    return {one: group for one, group in found.items() if group is not None}


def segments(folder: Path) -> list[Path]:
    """The segments of a group that no base replaces, in the order they were written."""
    return files_of(folder).segments


class TableBase(NamedTuple):
    """The events of one table in the base of its journal.

    Attributes:
        name: What messages call it.
        covers: The position at its end.
        rows: How many of `lines`, from the first, make the rows there.
        lines: The others are the last events before its end, as they were.
    """

    name: str
    covers: Position
    rows: int
    lines: "TableLines"


class TableJournal:
    """The events of one table in the journal of its connection.

    Args:
        root: The project's folder.
        connection: Its name.
        table: `schema.table`, or `database.table`.
        has_schema: Whether tables of the database are in schemas; of MariaDB and MySQL they are not.
    """

    def __init__(self, root: Path, connection: str, table: str, *, has_schema: bool = True) -> None:
        self.table = table
        self._mark = mark_of(table) if has_schema else mark_of_binlog(table)
        self._folder = journal_folder(root, connection)
        self._lines: dict[str, TableLines] = {}
        self._found: tuple[Path, Group] | None = None
        self._base: TableBase | None = None
        self._lock = Lock()

    @property
    def title(self) -> str:
        """Of what it is a journal, as messages say it."""
        return self.table

    def names(self) -> list[str]:
        """The segments that may have events of the table, such as `1/00000001.jsonl`; none before its snapshot."""
        found = self._begun()
        return [] if found is None else [f"{found.name}/{file.name}" for file in segments(found)]

    def base(self) -> TableBase | None:
        """What is there in place of segments that are gone; None: none is gone.

        Raises:
            SourceError: its file was damaged.
        """
        found = self._begun()
        while found is not None and (file := files_of(found).base) is not None:
            name = f"{found.name}/{file.name}"
            if self._base is not None and self._base.name == name:
                return self._base
            try:
                part, lines = self._of_base(file, f"{self._folder.name}/{name}")
            except (FileNotFoundError, RowsLostError):  # a later base took its place at this moment
                continue
            with self._lock:
                self._base = TableBase(name, part.covers, part.rows, lines)
                self._lines = {one: there for one, there in self._lines.items() if one not in part.covers}
            return self._base
        return None

    def _of_base(self, file: Path, name: str) -> "tuple[BasePart, TableLines]":
        header, is_checked = header_of(file)
        lines = TableLines(file, name, self._mark, is_checked=is_checked)
        part = header.tables.get(self.table)
        if part is None:
            raise damaged(BASE_NOUN, f"it does not name {self.table}", Location(name, 1), CAPTURE_REMEDY)
        if (count := lines.count()) != part.rows + part.tail:
            why = f"it has {count} events of {self.table}, and its first line says {part.rows + part.tail}"
            raise damaged(BASE_NOUN, why, Location(name, 1), CAPTURE_REMEDY)
        return part, lines

    def lines(self, name: str) -> "TableLines":
        """The events of the table in a segment."""
        with self._lock:
            if name not in self._lines:
                self._lines[name] = TableLines(self._folder / name, f"{self._folder.name}/{name}", self._mark)
            return self._lines[name]

    def identity(self) -> str:
        """Of the table's group; empty: it has none yet."""
        found = self._group()
        return found[1].identity if found is not None else ""

    def newest(self, count: int, names: Sequence[str] | None = None) -> list[bytes]:
        """The last events of the table, and each removal of all its rows; of a base at most those that it has noted.

        Args:
            count: How many at least, where there are so many.
            names: Those of these segments, and of the base before them; None: of all.
        """
        while True:
            base = self.base()
            try:
                return self._newest(count, base, self.names() if names is None else names)
            except RowsLostError:
                if self.base() is base:
                    raise

    def _newest(self, count: int, base: TableBase | None, names: Sequence[str]) -> list[bytes]:
        lines: list[bytes] = []
        for name in reversed(names):
            lines = [*self.lines(name).telling(max(0, count - len(lines))), *lines]
        if base is not None:
            lines = [*base.lines.telling(max(0, count - len(lines)), base.rows), *lines]
        return lines

    def _begun(self) -> Path | None:
        """The folder of the table's group, once its snapshot is whole."""
        found = self._group()
        return found[0] if found is not None and (found[0] / "begun").exists() else None

    def _group(self) -> tuple[Path, Group] | None:
        found = self._found  # asked for each epoch; it never changes, but for a reset
        if found is None or not (found[0] / "group.json").exists():
            found = next((one for one in groups(self._folder).items() if self.table in one[1].tables), None)
            self._found = found
        return found


class TableLines:
    """The lines of a growing segment that are events of one table. May be used from several threads.

    Args:
        path: The segment.
        name: What messages call it.
        mark: Of the events of a table.
        is_checked: Whether each line has a checksum behind it; False: it need not have one.
    """

    def __init__(self, path: Path, name: str, mark: "TableMark", *, is_checked: bool = False) -> None:
        self._path = path
        self._name = name
        self._mark = mark
        self._event_of = without_checksum if is_checked else event_alone
        self._starts = array("Q")
        self._sizes = array("L")
        self._truncations: list[int] = []
        self._end = 0  # byte after the last whole line that was looked at
        self._lock = Lock()

    def count(self) -> int:
        """How many there are now.

        Raises:
            RowsLostError: the segment is gone.
            SourceError: it is shorter than it was, or a line of it, of whatever table, is not as it was written.
        """
        with self._lock:
            try:
                size = self._path.stat().st_size
                if size < self._end:
                    raise SourceError(
                        f"the journal shrank from {self._end} to {size} bytes",
                        at=Location(self._name),
                        hint="only the capture may write to it",
                    )
                if size > self._end:
                    if not self._path.name.endswith(BASE):  # a base says how many events it has of each table
                        checked_segment(self._path).check(damaged_error(self._name, CAPTURE_REMEDY))
                    self._look(size)
            except OSError as error:
                raise self._missing_error() from error
            return len(self._starts)

    def read(self, first: int, end: int) -> list[bytes]:
        """Events `[first, end)` of the table, counted from 0.

        Raises:
            RowsLostError: the segment is gone or has not so many.
            SourceError: an event is not as it was written, and has a checksum.
        """
        if (count := self.count()) < end:
            raise RowsLostError(f"'{self._name}' has {count} events of the table, but {end} were counted")
        return list(self._read(range(first, end)))

    def telling(self, count: int, first: int = 0) -> list[bytes]:
        """The last so many events from event `first` on, and before them all earlier removals of all rows."""
        there = self.count()
        last = max(first, there - count)
        return list(self._read([*(at for at in self._truncations if first <= at < last), *range(last, there)]))

    def _read(self, places: "range | list[int]") -> Iterator[bytes]:
        if not places:
            return
        try:
            with self._path.open("rb") as file:
                for at in places:
                    file.seek(self._starts[at])
                    yield self._verified(file.read(self._sizes[at]), at)
        except OSError as error:
            raise self._missing_error() from error

    def location(self, at: int) -> Location:
        """The line of event `at` in its file."""
        with self._path.open("rb") as file:
            return Location(self._name, file.read(self._starts[at]).count(b"\n") + 1)

    def _verified(self, line: bytes, at: int) -> bytes:
        """An event without its checksum.

        Raises:
            SourceError: it is not as it was written.
        """
        try:
            return self._event_of(line)
        except DamagedLineError as error:
            what = BASE_NOUN if self._path.name.endswith(BASE) else "a line of the journal"
            raise damaged(what, error, self.location(at), CAPTURE_REMEDY) from error

    def _look(self, size: int) -> None:
        with self._path.open("rb") as file:
            file.seek(self._end)
            rest, at = b"", self._end
            while at + len(rest) < size and (block := file.read(min(_BLOCK_BYTES, size - at - len(rest)))):
                block = rest + block
                whole = block.rfind(b"\n") + 1
                self._take(block[:whole], at)
                rest, at = block[whole:], at + whole
        self._end = at

    def _take(self, block: bytes, at: int) -> None:
        """Note the events of whole lines; `at` is the place of the first."""
        start = 0
        while (found := block.find(self._mark.table, start)) >= 0:
            begin, end = block.rfind(b"\n", 0, found) + 1, block.find(b"\n", found)
            start = end
            if self._mark.database and block.rfind(self._mark.database, begin, found) < 0:
                continue  # a table of the same name in another database
            if _TRUNCATED in block[found:end]:
                self._truncations.append(len(self._starts))
            self._starts.append(at + begin)
            self._sizes.append(end - begin)

    def _missing_error(self) -> RowsLostError:
        return RowsLostError(
            f"the journal segment '{self._name}' is gone, with events not read yet",
            hint="put it back, or begin from the start: streamhouse capture reset",
        )


class TableMark(NamedTuple):
    """What each event of a table has in it; a value of a row has it only where columns are called so, too.

    Attributes:
        table: Once in each event.
        database: Before it in the same event; empty: nothing more is needed.
    """

    table: bytes
    database: bytes = b""


def mark_of(table: str) -> TableMark:
    """That of a table `schema.table` of PostgreSQL."""
    schema, _, name = table.partition(".")
    return TableMark(f'"schema":{_text(schema)},"table":{_text(name)},"txId":'.encode())


def mark_of_binlog(table: str) -> TableMark:
    """That of a table `database.table` of MariaDB or MySQL."""
    database, _, name = table.partition(".")
    return TableMark(f'"table":{_text(name)},"server_id":'.encode(), f'"db":{_text(database)},"sequence":'.encode())


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)

"""Tables of databases that others own: they have no snapshots, so the project has copies of them (`copies`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.authorities import with_authorities
from streamhouse.ingest.secret_place import secret_at
from streamhouse.ingest.tables.base import SnapshotPart, TableCommit, TwoStates
from streamhouse.ingest.tables.copies import TableCopies
from streamhouse.ingest.tables.database_failures import DatabaseFailures
from streamhouse.model.connection import Connection
from streamhouse.model.shape import SeenColumn
from streamhouse.stores.arrow import arrow_type


@dataclass(frozen=True)
class StoredColumn:
    """A column of a table in a database.

    Attributes:
        name: Of the column.
        written: Its type, as the database writes it.
        type: The one that has all its values; None: there is none.
        kind: Name of its type without modifiers, by which its values are asked for.
        nullable: Whether it may be NULL.
        id: Stays when it is renamed; empty: the database has none.
    """

    name: str
    written: str
    type: str | None
    kind: str
    nullable: bool
    id: str = ""


class DatabaseReader(Protocol):
    """Reads one table of a database; each question is a session of its own, which only reads.

    All of it raises `StoreUnavailableError` when the database does not answer, and `SourceError` when it refuses.
    """

    name: str

    def columns(self) -> tuple[StoredColumn, ...]:
        """The columns that the table has now, in their order."""

    def batches(self, columns: Sequence[StoredColumn]) -> Iterator[pa.RecordBatch]:
        """All rows that the table has at one moment, not many at once; columns that have a type."""


class DatabaseTableReader:
    """What readers of all kinds of databases have.

    Args:
        name: Of the table, in the form of its kind.
        connection: Its name, for messages.
        place: Where the database is.
        password: Of its user.
        at: Where the source is defined.

    Raises:
        SourceError: the name has other than two parts.
    """

    form: ClassVar[str]
    """How tables of the kind are named."""

    def __init__(self, name: str, connection: str, place: Connection, password: str, at: Location | None) -> None:
        if name.count(".") != 1:
            raise SourceError(f"'{name}' is no table of connection '{connection}'", at=at, hint=f"write {self.form}")
        self.name = name
        self._place = place
        self._password = password
        self._failures = DatabaseFailures(name, connection, password, at)


class DatabaseTable:
    """See `OtherTable`.

    Args:
        reader: Of the table.
        copies: Of the table.
        every_s: Seconds between two copies, at least.
    """

    def __init__(self, reader: DatabaseReader, copies: TableCopies, every_s: float) -> None:
        self.name = reader.name
        self._reader = reader
        self._copies = copies
        self._every_s = every_s

    def look(self) -> "DatabaseLook":
        """See `OtherTable.look`; the database is asked only for what is asked of the look."""
        return DatabaseLook(self._reader, self._copies, self._every_s)


class DatabaseLook:
    """See `TableLook`. The snapshots are the copies."""

    def __init__(self, reader: DatabaseReader, copies: TableCopies, every_s: float) -> None:
        self._reader = reader
        self._copies = copies
        self._every_s = every_s

    @property
    def identity(self) -> str:
        """See `TableLook`; another one when the copies were removed. A table that was made again has other rows."""
        return self._copies.identity

    @cached_property
    def columns(self) -> tuple[SeenColumn, ...]:
        """See `TableLook`; of a column without a type the one that the database writes."""
        return tuple(
            SeenColumn(name=one.name, type=one.type or one.written, nullable=one.nullable, id=one.id)
            for one in self._stored
        )

    @property
    def primary_key(self) -> tuple[str, ...]:
        """None: only the keys of the rows are looked at."""
        return ()

    def name_now(self, name: str) -> str | None:
        """See `TableLook`."""
        names = {one.id or one.name: one.name for one in self._stored}
        return names.get(self._id_of(name))

    @cached_property
    def newest(self) -> int:
        """See `TableLook`; the table is copied first, if the last copy is old enough."""
        if self._copies.age_s() >= self._every_s:
            stored = [one for one in self._stored if one.type is not None]
            schema = pa.schema([pa.field(one.name, arrow_type(one.type or "")) for one in stored])
            ids = {one.name: one.id for one in stored if one.id}
            self._copies.add(self._reader.batches(stored), schema, ids, self._every_s)
        return max(self._copies.numbers(), default=0)

    @property
    def oldest(self) -> int:
        """See `TableLook`."""
        return max(0, min(self._copies.numbers(), default=0) - 1)

    def has(self, number: int) -> bool:
        """See `TableLook`."""
        return number == 0 or number in self._copies.numbers()

    def commits(self, start: int, end: int) -> list[TableCommit]:
        """See `TableLook`; what was between two copies is in the later one, so no other is read."""
        if start >= end:
            return []
        rows = sum(self._copies.rows(end))
        return [TableCommit(end, rows, added=start == 0, what="all rows" if start == 0 else "changes")]

    def added(self, start: int, end: int, columns: Sequence[str]) -> pa.Table:
        """None: a database does not say which rows were added.

        Raises:
            RowsLostError: always.
        """
        what = (
            f"the rows {start} to {end} of {self._reader.name}, with {', '.join(columns)}, are not known as added ones"
        )
        raise RowsLostError(what, hint="mode: snapshot_diff")

    def state(self, at: int, columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        return self._read(at, columns, None)

    def parts(self, at: int) -> list[SnapshotPart]:
        """See `TableLook`."""
        return [SnapshotPart(rows, part) for part, rows in enumerate(self._copies.rows(at)) if rows]

    def rows_of(self, at: int, parts: Sequence[SnapshotPart], columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        return self._read(at, columns, [part.source for part in parts])

    def apart(self, start: int, end: int, columns: Sequence[str], key: Sequence[str]) -> TwoStates:
        """See `TableLook`: both copies are read."""
        wanted = list(dict.fromkeys([*key, *columns]))
        return TwoStates(self.state(start, wanted), self.state(end, wanted))

    def _read(self, at: int, columns: Sequence[str], parts: Sequence[int] | None) -> pa.Table:
        if not at:
            return pa.table({})
        then = {number: name for name, number in self._copies.ids(at).items()}
        found = {name: then[number] for name in columns if (number := self._id_of(name)) in then}
        return self._copies.read(at, list(found.values()), parts).rename_columns(list(found))

    def _id_of(self, name: str) -> str:
        """The id of a column that has a name now, or else had it in the newest copy that has it; else the name."""
        return self._ids.get(name, name)

    @cached_property
    def _ids(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for number in self._copies.numbers():
            found |= self._copies.ids(number)
        return found | {one.name: one.id or one.name for one in self._stored}

    @cached_property
    def _stored(self) -> tuple[StoredColumn, ...]:
        return self._reader.columns()


def database_table(
    name: str, connection: str, place: Connection, every_s: float, root: Path, at: Location | None = None
) -> DatabaseTable:
    """A table of a connection; nothing is asked yet.

    Raises:
        EnvironmentProblem: the password or the authorities are not where the settings say.
        SourceError: the name has other than two parts.
    """
    password = secret_at(place.password, f"the password of connection '{connection}'", root) if place.password else ""
    place = with_authorities(connection, place, root)
    if place.kind == "postgres":
        from streamhouse.ingest.tables.postgres_rows import PostgresRows

        reader: DatabaseReader = PostgresRows(name, connection, place, password, at)
    else:
        from streamhouse.ingest.tables.binlog_rows import BinlogRows

        reader = BinlogRows(name, connection, place, password, at)
    return DatabaseTable(reader, TableCopies(root / ".streamhouse" / "tables" / connection / name, name), every_s)

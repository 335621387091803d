"""Fluss tables of others; a position is `{bucket: next offset}`, as our own tables in Fluss have it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.not_null import HINT, first_null
from streamhouse.ingest.secret_place import secret_at
from streamhouse.ingest.tables.fitted import as_columns
from streamhouse.model.lake_connection import FlussConnection
from streamhouse.model.shape import SeenColumn
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import FOREVER, Position, Ranges, behind
from streamhouse.stores.base import Changes
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.fluss.wire.login import Login

_TTL = "let its owner keep the log (table.log.ttl) for longer than the flow may rest"


class FlussTable:
    """One table of a cluster.

    Args:
        name: `database.table`.
        store: Reads it.
        connection: Its name, for messages.
        at: Where the source is defined.
    """

    def __init__(self, name: str, store: FlussStore, connection: str, at: Location | None = None) -> None:
        self.name = name
        self.store = store
        self._connection = connection
        self._at = at

    def look(self) -> "FlussLook":
        """The table as it is now.

        Raises:
            SourceError: there is no such table.
            StoreUnavailableError: the cluster does not answer.
        """
        shape, identity = self.store.shape(self.name), self.store.identity(self.name)
        if shape is None or identity is None:
            raise SourceError(
                f"connection '{self._connection}' has no table {self.name}",
                at=self._at,
                hint="name one that is there; Streamhouse does not create tables of others",
            )
        return FlussLook(shape.columns, shape.primary_key, identity)

    def names(self) -> list[str]:
        """The names of all tables of the cluster.

        Raises:
            StoreUnavailableError: the cluster does not answer.
        """
        return self.store.names()


class FlussLook:
    """What a source needs to know of a table before it is read.

    Args:
        columns: Those that the table has now.
        primary_key: Its key; empty: it is a log.
        identity: Another one when the table was made again.
    """

    def __init__(self, columns: tuple[SeenColumn, ...], primary_key: tuple[str, ...], identity: str) -> None:
        self.columns = columns
        self.primary_key = primary_key
        self.identity = identity

    def name_now(self, name: str) -> str | None:
        """The name, if a column has it: Fluss renames none."""
        return name if any(one.name == name for one in self.columns) else None


class FlussAdded:
    """Mode `append`: the rows of a log table.

    Args:
        table: What to read.
        columns: As the flow wants them.
        skipped_ranges: Ranges of positions that a person said to go on behind.
        at: Where the source is defined.
    """

    def __init__(
        self,
        table: FlussTable,
        columns: Sequence[Column],
        *,
        skipped_ranges: Ranges | None = None,
        at: Location | None = None,
    ) -> None:
        self._table = table
        self._columns = tuple(columns)
        self._skipped: Mapping[str, tuple[tuple[int, int], ...]] = skipped_ranges or {}
        self._at = at
        self._read_as: Table | None = None

    def columns(self) -> tuple[Column, ...]:
        """The columns it delivers."""
        return self._columns

    def available(self) -> Position:
        """The end of each bucket."""
        return self._store.end(self._stored)

    def advance(self, start: Position, max_rows: int) -> Position:
        """The same share of each bucket's backlog.

        Raises:
            RowsLostError: rows after `start` are gone.
        """
        return self._store.advance(self._stored, self._begun(start), max_rows)

    def rows_between(self, start: Position, end: Position) -> int:
        """Offsets in the range; an update takes two."""
        return self._store.rows_between(self._stored, self._behind(start), end)

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The rows of `[start, end)`, in order within each bucket.

        Raises:
            RowsLostError: rows of the range are gone.
            SourceError: a value does not fit its type.
        """
        wanted = [one for one in self._columns if columns is None or one.name in columns]
        done = self._store.read_changes(self._stored, self._begun(start), end, self._names(wanted))
        return self._fitted(done.upserts, wanted)

    def oldest(self) -> Position:
        """The oldest offset that each bucket retains."""
        return self._store.start(self._stored)

    def identity(self) -> str:
        """Another one when the table was removed and created again."""
        return self._table.look().identity

    @property
    def _store(self) -> FlussStore:
        return self._table.store

    @property
    def _stored(self) -> Table:
        """As our reader takes a table; its name has none of our layers."""
        if self._read_as is None:
            look = self._table.look()
            self._read_as = Table.model_construct(
                name=self._table.name,
                columns=tuple(one.column for one in look.columns),
                primary_key=look.primary_key,
                tiers=Tiers(hot=FOREVER),
            )
        return self._read_as

    def _begun(self, start: Position) -> Position:
        """A position, from the oldest rows on where it has not begun.

        Raises:
            RowsLostError: rows after it are gone.
        """
        oldest = self.oldest()
        at = self._behind(start)
        for bucket, first in oldest.items():
            if 0 < at.get(bucket, 0) < first:
                raise self._lost(f"bucket {bucket} begins at {first}, and {at[bucket]} was to be read")
        return {**oldest, **at}

    def _lost(self, why: str) -> RowsLostError:
        return RowsLostError(f"rows of {self._table.name} are gone: {why}", hint=f"{_TTL}; see docs/restore.md")

    def _behind(self, start: Position) -> Position:
        return {bucket: behind(self._skipped.get(bucket, ()), at) for bucket, at in start.items()}

    def _names(self, wanted: Sequence[Column]) -> tuple[str, ...]:
        there = self._stored.column_names
        if any(one.name not in there for one in wanted):  # it may have been added since
            self._read_as = None
            there = self._stored.column_names
        return tuple(one.name for one in wanted if one.name in there)

    def _fitted(self, rows: pa.Table, wanted: Sequence[Column]) -> pa.Table:
        done = as_columns(rows, wanted, self._table.name, self._at)
        if found := first_null(done, wanted):
            raise SourceError(f"a row of {self._table.name}: {found[1]}", at=self._at, hint=HINT)
        return done


class FlussChanges(FlussAdded):
    """Mode `upsert`: the changelog of a table with a primary key."""

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the key, in the order of the table."""
        return self._stored.primary_key

    def oldest(self) -> Position:
        """The first position: the state has what the oldest changes made, and of others `advance` knows."""
        return {}

    def changes(
        self, start: Position, end: Position, columns: tuple[str, ...] | None = None, *, before: bool = True
    ) -> Changes:
        """What happened in `[start, end)`, the same at each call.

        Raises:
            RowsLostError: changes of the range are gone.
            SourceError: a value does not fit its type.
        """
        wanted = self._with_key(columns)
        done = self._store.read_changes(self._stored, self._begun(start), end, self._names(wanted))
        keys = [one for one in wanted if one.name in self.primary_key]
        deletes = None if done.deletes is None else self._fitted(done.deletes, keys)
        was = self._fitted(done.before, wanted) if before and done.before is not None else None
        return Changes(self._fitted(done.upserts, wanted), deletes, was)

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The last row of each key that was written in `[start, end)` and is there at its end."""
        return self.changes(start, end, columns, before=False).upserts

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at `at`, one for each key.

        Raises:
            RowsLostError: the changes since then are gone.
            SourceError: a value does not fit its type.
        """
        wanted = self._with_key(columns)
        return self._fitted(self._store.read_state(self._stored, at, self._names(wanted)), wanted)

    def _begun(self, start: Position) -> Position:
        at = self._behind(start)
        if any(at.values()):
            for bucket, first in self._store.start(self._stored).items():
                if at.get(bucket, 0) < first:
                    raise self._lost(f"bucket {bucket} begins at {first}, and {at.get(bucket, 0)} was to be read")
        return at

    def _with_key(self, names: Sequence[str] | None) -> list[Column]:
        return [one for one in self._columns if names is None or one.name in names or one.name in self.primary_key]


def fluss_table(
    name: str, connection: str, place: FlussConnection, root: Path, at: Location | None = None
) -> FlussTable:
    """A table of a connection; nothing is asked yet.

    Raises:
        EnvironmentProblem: the password is not where the settings say.
        SourceError: the name has more than two parts.
    """
    if name.count(".") != 1:
        raise SourceError(f"'{name}' is no table of Fluss", at=at, hint="write database.table")
    login = None
    if place.user is not None and place.password is not None:
        login = Login(place.user, secret_at(place.password, f"the password of connection '{connection}'", root))
    return FlussTable(name, _store(place.servers, login), connection, at)


@lru_cache(maxsize=16)
def _store(servers: str, login: Login | None) -> FlussStore:
    """One for each cluster and user: it holds connections."""
    return FlussStore(servers, login=login)

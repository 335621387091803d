"""Rows of a table of others: those that are added, or its changes by key. A position is `{"snapshot": number}`."""

import time
from collections.abc import Callable, Sequence
from threading import Lock

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.not_null import HINT, first_null
from streamhouse.ingest.tables.base import OtherTable, TableLook
from streamhouse.ingest.tables.difference import changes_between, refuse_repeated
from streamhouse.ingest.tables.fitted import as_columns
from streamhouse.model.table import Column
from streamhouse.model.types import Position, Ranges, behind
from streamhouse.stores.base import Changes

SNAPSHOT = "snapshot"
_LOOK_EVERY_S = 1.0


class Followed:
    """What both kinds of sources do alike.

    Args:
        table: What to read.
        columns: As the flow wants them.
        skipped_ranges: Ranges of positions that a person said to go on behind.
        at: Where the source is defined.
        clock: Seconds that only grow; a test passes its own.
    """

    def __init__(
        self,
        table: OtherTable,
        columns: Sequence[Column],
        *,
        skipped_ranges: Ranges | None = None,
        at: Location | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._table = table
        self._columns = tuple(columns)
        self._skipped = (skipped_ranges or {}).get(SNAPSHOT, ())
        self._at = at
        self._clock = clock
        self._lock = Lock()
        self._last: tuple[float, TableLook] | None = None

    def columns(self) -> tuple[Column, ...]:
        """The columns it delivers."""
        return self._columns

    def available(self) -> Position:
        """The newest snapshot; the table is asked at most once a second.

        Raises:
            SourceError: the table is gone, or cannot be read.
            StoreUnavailableError: its catalog does not answer.
        """
        return _position(self._look().newest)

    def oldest(self) -> Position:
        """The lowest position from which the next snapshot still exists. The empty one is never lost."""
        return _position(self._look().oldest)

    def identity(self) -> str:
        """Another one when the table was removed and created again; the table is asked at each call."""
        return self._look(afresh=True).identity

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows a reader of `[start, end)` has to look at, as the snapshots say.

        Raises:
            RowsLostError: a snapshot between them no longer exists.
        """
        first, last = self._bounds(start, end)
        return 0 if first >= last else sum(one.rows for one in self._look_at(last).commits(first, last))

    def advance(self, start: Position, max_rows: int) -> Position:
        """Whole snapshots, so many that they have at most `max_rows` rows, but at least one that has some.

        The first one stands for all rows that are there, however many they are.

        Raises:
            RowsLostError: a snapshot after `start` no longer exists.
            SourceError: the next snapshot removed rows, and only added ones are read.
        """
        look = self._look()
        first = self._behind(start)
        self._refuse_other_line(look, first)
        reached, rows = start.get(SNAPSHOT, 0), 0
        for commit in look.commits(first, look.newest) if first < look.newest else []:
            if rows and rows + commit.rows > max_rows:
                break
            if not commit.added and not self._takes_other_commits:
                if reached == start.get(SNAPSHOT, 0):
                    raise self._removed(commit.number, commit.what)
                break
            reached, rows = commit.number, rows + commit.rows
        return _position(reached)

    _takes_other_commits = False

    def _removed(self, number: int, what: str) -> SourceError:
        return SourceError(
            f"snapshot {number} of {self._table.name} removed rows ({what}), and mode append reads only added rows",
            at=self._at,
            hint="let the source follow changes: mode: snapshot_diff, with a primary_key; or give it another name in "
            "the flow's file: then all rows that are there now are read",
        )

    def _refuse_other_line(self, look: TableLook, first: int) -> None:
        if first > look.newest:
            raise SourceError(
                f"{self._table.name} went back to snapshot {look.newest}, and snapshot {first} was read already",
                at=self._at,
                hint="let its owner restore what was read; or give the source another name in the flow's file: then "
                "all rows that are there now are read",
            )

    def _bounds(self, start: Position, end: Position) -> tuple[int, int]:
        return self._behind(start), end.get(SNAPSHOT, 0)

    def _behind(self, position: Position) -> int:
        return behind(self._skipped, position.get(SNAPSHOT, 0))

    def _look(self, *, afresh: bool = False) -> TableLook:
        with self._lock:
            if afresh or self._last is None or self._clock() - self._last[0] >= _LOOK_EVERY_S:
                self._last = (self._clock(), self._table.look())
            return self._last[1]

    def _look_at(self, number: int) -> TableLook:
        """A look that knows a snapshot; another process may have seen it first."""
        look = self._look()
        return look if look.newest >= number else self._look(afresh=True)

    def _wanted(self, names: Sequence[str] | None) -> list[Column]:
        return [one for one in self._columns if names is None or one.name in names]

    def _fitted(self, rows: pa.Table, wanted: Sequence[Column]) -> pa.Table:
        done = as_columns(rows, wanted, self._table.name, self._at)
        if found := first_null(done, wanted):
            raise SourceError(f"a row of {self._table.name}: {found[1]}", at=self._at, hint=HINT)
        return done


class AddedRows(Followed):
    """Mode `append`: the rows of a table that only grows."""

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The rows that were added in `[start, end)`, in their order; from the empty position all rows at `end`.

        Raises:
            RowsLostError: a snapshot or a file of the range no longer exists.
            SourceError: a snapshot removed rows, or a value does not fit its type.
        """
        first, last = self._bounds(start, end)
        wanted = self._wanted(columns)
        names = [one.name for one in wanted]
        look = self._look_at(last)
        if first >= last:
            return self._fitted(pa.table({}), wanted)
        if first == 0:
            return self._fitted(look.state(last, names), wanted)
        for commit in look.commits(first, last):
            if not commit.added:
                raise self._removed(commit.number, commit.what)
        return self._fitted(look.added(first, last, names), wanted)


class ChangedRows(Followed):
    """Modes `upsert` and `snapshot_diff`: what happened to the rows of a table, by their key.

    Args:
        table: See `Followed`, as of all others.
        columns: As the flow wants them; the key is among them.
        primary_key: The columns that identify a row.
    """

    _takes_other_commits = True

    def __init__(
        self,
        table: OtherTable,
        columns: Sequence[Column],
        primary_key: tuple[str, ...],
        *,
        skipped_ranges: Ranges | None = None,
        at: Location | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(table, columns, skipped_ranges=skipped_ranges, at=at, clock=clock)
        self._key = primary_key

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the key, as declared."""
        return self._key

    def oldest(self) -> Position:
        """The first position; what is gone, `advance` knows."""
        return {}

    def advance(self, start: Position, max_rows: int) -> Position:
        """See `Followed`.

        Raises:
            RowsLostError: also when the snapshot at `start`, which the next one is compared with, no longer exists.
        """
        first = self._behind(start)
        if first and first < self._look().newest and not self._look().has(first):
            raise self._no_longer(first)
        return super().advance(start, max_rows)

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The last row of each key that was written in `[start, end)` and is there at its end."""
        return self.changes(start, end, columns, before=False).upserts

    def changes(
        self, start: Position, end: Position, columns: tuple[str, ...] | None = None, *, before: bool = True
    ) -> Changes:
        """What happened in `[start, end)`, the same at each call.

        Raises:
            RowsLostError: a snapshot or a file of one no longer exists.
            SourceError: a key is not unique or is NULL, or a value does not fit its type.
        """
        first, last = self._bounds(start, end)
        wanted = self._with_key(columns)
        if first >= last:
            empty = self._fitted(pa.table({}), wanted)
            return Changes(empty, None, empty if before else None)
        if first == 0:
            rows = self.state(end, columns)
            return Changes(rows, None, rows.slice(0, 0) if before else None)
        look = self._look_at(last)
        if not look.has(first):
            raise self._no_longer(first)
        apart = look.apart(first, last, [one.name for one in wanted], self._key)
        old, new = self._fitted(apart.old, wanted), self._fitted(apart.new, wanted)
        key_columns = self._with_key(())
        shared = None if apart.shared is None else self._fitted(apart.shared, key_columns)
        refuse_repeated(old, None, self._key, self._table.name, self._at)
        refuse_repeated(new, shared, self._key, self._table.name, self._at)
        return changes_between(old, new, self._key, before=before)

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at `at`, one for each key.

        Raises:
            RowsLostError: the snapshot no longer exists.
            SourceError: a key is not unique or is NULL, or a value does not fit its type.
        """
        number = at.get(SNAPSHOT, 0)
        wanted = self._with_key(columns)
        if not number:
            return self._fitted(pa.table({}), wanted)
        rows = self._fitted(self._look_at(number).state(number, [one.name for one in wanted]), wanted)
        refuse_repeated(rows, None, self._key, self._table.name, self._at)
        return rows

    def _with_key(self, names: Sequence[str] | None) -> list[Column]:
        return [one for one in self._columns if names is None or one.name in names or one.name in self._key]

    def _no_longer(self, number: int) -> RowsLostError:
        return RowsLostError(
            f"{self._table.name} no longer has snapshot {number}, with which the next one is to be compared",
            hint="let its owner keep snapshots for longer than the flow may rest; give the source another name in "
            "the flow's file: then all rows that are there now are read",
        )


def _position(number: int) -> Position:
    return {SNAPSHOT: number} if number else {}

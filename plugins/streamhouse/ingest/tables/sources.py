"""Rows of a table of others: those that are added, or its changes by key. `places` says what a position is."""

import time
from collections.abc import Callable, Sequence
from threading import Lock

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.not_null import HINT, first_null
from streamhouse.ingest.tables.base import OtherTable, SnapshotPart, TableLook
from streamhouse.ingest.tables.difference import changes_between, refuse_repeated
from streamhouse.ingest.tables.fitted import as_columns
from streamhouse.ingest.tables.places import ALL_PARTS, PART, SNAPSHOT, TablePlace, place_at, whole
from streamhouse.model.table import Column
from streamhouse.model.types import Position, Ranges
from streamhouse.stores.base import Changes

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
        self._skipped = skipped_ranges
        self._at = at
        self._clock = clock
        self._lock = Lock()
        self._last: tuple[float, TableLook] | None = None
        self._known_parts: tuple[int, list[SnapshotPart]] | None = None  # of which snapshot, and they

    def columns(self) -> tuple[Column, ...]:
        """The columns it delivers."""
        return self._columns

    def available(self) -> Position:
        """The newest snapshot; the table is asked at most once a second.

        Raises:
            SourceError: the table is gone, or cannot be read.
            StoreUnavailableError: its catalog does not answer.
        """
        return whole(self._look().newest).position

    def oldest(self) -> Position:
        """The lowest position from which the next snapshot still exists. The empty one is never lost."""
        number = self._look().oldest
        return {SNAPSHOT: number} if number else {}

    def identity(self) -> str:
        """Another one when the table was removed and created again; the table is asked at each call."""
        return self._look(afresh=True).identity

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows a reader of `[start, end)` has to look at, as the snapshots say; at least 1 if it is not empty.

        Raises:
            RowsLostError: a snapshot between them no longer exists.
        """
        first, last = self._bounds(start, end)
        if first >= last:
            return int(bool(start) and PART in end and PART not in start)  # an epoch without rows completes it
        rows = 0
        if first.number and first.number < last.number:
            rows = sum(one.rows for one in self._look_at(last.number).commits(first.number, last.number))
        elif last.is_whole and not first.number:
            rows = sum(one.rows for one in self._look_at(last.number).commits(0, last.number))
        if not first.is_whole and (first.number or not last.is_whole):
            rows += sum(part.rows for part in self._first_parts(first, last))
        # A range without rows counts, too: a reader that stood before it would find it expired one day.
        return max(1, rows)

    def advance(self, start: Position, max_rows: int) -> Position:
        """Whole snapshots, so many that they have at most `max_rows` rows, but at least one that has some.

        A reader that begins first takes the rows of one snapshot, by parts: at most `max_rows`, but at least one part.

        Raises:
            RowsLostError: a snapshot after `start`, or the one of which it read some parts, no longer exists.
            SourceError: the next snapshot removed rows, and only added ones are read.
        """
        look = self._look()
        first = self._place(start)
        self._refuse_other_line(look, first.number)
        if not first.is_whole and (number := first.number or look.newest):
            return self._further_parts(TablePlace(number, first.part), max_rows).position
        before = place_at(start).number
        reached, rows = before, 0
        for commit in look.commits(first.number, look.newest) if first.number < look.newest else []:
            if rows and rows + commit.rows > max_rows:
                break
            if not commit.added and not self._takes_other_commits:
                if reached == before:
                    raise self._removed(commit.number, commit.what)
                break
            reached, rows = commit.number, rows + commit.rows
        return whole(reached).position

    def _further_parts(self, place: TablePlace, max_rows: int) -> TablePlace:
        parts = self._parts(place.number)
        reached, rows = place.part, 0
        for part in parts[place.part :]:
            if rows and rows + part.rows > max_rows:
                break
            reached, rows = reached + 1, rows + part.rows
        return whole(place.number) if reached >= len(parts) else TablePlace(place.number, reached)

    def _first_parts(self, first: TablePlace, last: TablePlace) -> list[SnapshotPart]:
        """Those parts of the snapshot with which a reader begins that are between two places."""
        number = first.number or last.number
        return self._parts(number)[first.part : last.part if last.number == number else ALL_PARTS]

    def _parts(self, number: int) -> list[SnapshotPart]:
        """The parts of a snapshot; they never change."""
        with self._lock:
            known = self._known_parts
        if known is None or known[0] != number:
            known = (number, self._look_at(number).parts(number))
            with self._lock:
                self._known_parts = known
        return known[1]

    def _first_rows(self, first: TablePlace, last: TablePlace, wanted: Sequence[Column]) -> pa.Table:
        """The rows of `_first_parts`."""
        number = first.number or last.number
        names = [one.name for one in wanted]
        found = self._look_at(number).rows_of(number, self._first_parts(first, last), names)
        return self._fitted(found, wanted)

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

    def _bounds(self, start: Position, end: Position) -> tuple[TablePlace, TablePlace]:
        return self._place(start), place_at(end)

    def _place(self, position: Position) -> TablePlace:
        return place_at(position, self._skipped)

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
        if first >= last:
            return self._fitted(pa.table({}), wanted)
        names = [one.name for one in wanted]
        if not first.number and last.is_whole:
            return self._fitted(self._look_at(last.number).state(last.number, names), wanted)
        found = [] if first.is_whole else [self._first_rows(first, last, wanted)]
        if first.number and first.number < last.number:
            found.append(self._fitted(self._added(first.number, last.number, names), wanted))
        return pa.concat_tables(found)

    def _added(self, first: int, last: int, names: Sequence[str]) -> pa.Table:
        look = self._look_at(last)
        for commit in look.commits(first, last):
            if not commit.added:
                raise self._removed(commit.number, commit.what)
        return look.added(first, last, names)


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
        first = self._place(start).number
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
        if not first.number and last.is_whole:
            rows = self.state(end, columns)
            return Changes(rows, None, rows.slice(0, 0) if before else None)
        if not first.is_whole and first.number in (0, last.number):
            return self._first_changes(first, last, wanted, before=before)
        if not (first.is_whole and last.is_whole):
            return changes_between(self.state(start, columns), self.state(end, columns), self._key, before=before)
        look = self._look_at(last.number)
        if not look.has(first.number):
            raise self._no_longer(first.number)
        apart = look.apart(first.number, last.number, [one.name for one in wanted], self._key)
        old, new = self._fitted(apart.old, wanted), self._fitted(apart.new, wanted)
        key_columns = self._with_key(())
        shared = None if apart.shared is None else self._fitted(apart.shared, key_columns)
        refuse_repeated(old, None, self._key, self._table.name, self._at)
        refuse_repeated(new, shared, self._key, self._table.name, self._at)
        return changes_between(old, new, self._key, before=before)

    def _first_changes(self, first: TablePlace, last: TablePlace, wanted: Sequence[Column], *, before: bool) -> Changes:
        """Rows that a reader begins with: no earlier part has one of their keys."""
        number = first.number or last.number
        if not first.part and set(self._look_at(number).primary_key) != set(self._key):
            keys = self._with_key(())  # of all parts, since a key may be in two of them
            found = self._look_at(number).state(number, [one.name for one in keys])
            refuse_repeated(self._fitted(found, keys), None, self._key, self._table.name, self._at)
        rows = self._first_rows(first, last, wanted)
        return Changes(rows, None, rows.slice(0, 0) if before else None)

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at `at`, one for each key.

        Raises:
            RowsLostError: the snapshot no longer exists.
            SourceError: a key is not unique or is NULL, or a value does not fit its type.
        """
        place = place_at(at)
        wanted = self._with_key(columns)
        if not place.number:
            return self._fitted(pa.table({}), wanted)
        if place.is_whole:
            found = self._look_at(place.number).state(place.number, [one.name for one in wanted])
            rows = self._fitted(found, wanted)
        else:
            rows = self._first_rows(TablePlace(0, 0), place, wanted)
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

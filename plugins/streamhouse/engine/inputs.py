"""What a segment reads, sources and tables alike, seen as positions and rows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from streamhouse.engine.adapt import adapt, stored_names
from streamhouse.engine.clock import Input
from streamhouse.engine.vector import Vector, cap, without_dropped
from streamhouse.errors import SourceError
from streamhouse.ingest.base import KeyedSource, RowSource, TimedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.lacking import LackingSource
from streamhouse.model.plan import FlowPlan, PlannedSource, Segment
from streamhouse.model.read_as import ReadAs
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import Changes, Store

_ROWS_AT_ONCE = 250_000


class TableInput:
    """A table of another flow or segment."""

    def __init__(self, table: Table, store: Store) -> None:
        self.table = table
        self.store = store

    def available(self) -> Position:
        """The table's end."""
        return self.store.end(self.table)

    def advance(self, start: Position, max_rows: int) -> Position:
        """About `max_rows` further."""
        return self.store.advance(self.table, start, max_rows)

    def rows_between(self, start: Position, end: Position) -> int:
        """About how many rows the range has."""
        return self.store.rows_between(self.table, start, end)

    def standing(self, position: Position) -> Position:
        """A position without the partitions that were dropped since: nobody gets there any more."""
        return without_dropped(self.table, position, self.available())

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range."""
        return self.store.read_changes(self.table, start, end, columns)

    def parts(self, at: Position, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        """All rows at `at`, of a log table not many at once."""
        if self.table.primary_key:
            yield self.store.read_state(self.table, at if self.store.capabilities.state_as_of else None, columns)
            return
        for start, end in ranges(self, {}, at):
            yield self.store.read_changes(self.table, start, end, columns).upserts


class SourceInput:
    """A source of the flow: an append-only series of rows."""

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.available = source.available
        self.advance = source.advance
        self.rows_between = source.rows_between

    def due_s(self, start: Position) -> float | None:
        """Seconds until there is a row after `start`; None: the source does not know."""
        return self.source.due_s(start) if isinstance(self.source, TimedSource) else None

    def lacking(self, start: Position, end: Position) -> Iterator[str]:
        """A sentence for each file of which the range has the first row, and that lacks a column."""
        if isinstance(self.source, LackingSource):
            yield from self.source.lacking(start, end)

    def standing(self, position: Position) -> Position:
        """The position: a source drops nothing of it."""
        return position

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """The rows of the range."""
        return Changes(self.source.read(start, end, columns))

    def parts(self, at: Position, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        """Every row from the beginning to `at`, not many at once."""
        for start, end in ranges(self, {}, at):
            yield self.source.read(start, end, columns)


class KeyedSourceInput:
    """A source of the flow whose rows are updated and deleted by key."""

    def __init__(self, source: KeyedSource) -> None:
        self.source = source
        self.available = source.available
        self.advance = source.advance
        self.rows_between = source.rows_between

    def standing(self, position: Position) -> Position:
        """The position: a source drops nothing of it."""
        return position

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range; the owner of the state knows the rows before it."""
        return self.source.changes(start, end, columns, before=False)

    def parts(self, at: Position, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        """The rows at `at`, one for each key, all at once."""
        yield self.source.state(at, columns)


class AdaptedInput:
    """What a segment reads, of which some columns are made of others.

    Args:
        given: Reads the rows as they are there.
        columns: All that steps know.
        adapted: How they are made.
        key: Primary key; its columns are not among `adapted`.
    """

    def __init__(
        self,
        inner_input: TableInput | SourceInput | KeyedSourceInput,
        columns: Sequence[Column],
        adapted: Sequence[ReadAs],
        key: Sequence[str],
    ) -> None:
        self._inner_input = inner_input
        self._columns = {column.name: column for column in columns}
        self._adapted = adapted
        self._key = list(key)
        self.available = inner_input.available
        self.advance = inner_input.advance
        self.rows_between = inner_input.rows_between

    def standing(self, position: Position) -> Position:
        """A position without the partitions that were dropped since."""
        return self._inner_input.standing(position)

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range."""
        return self.changes_and_lost(start, end, columns)[0]

    def changes_and_lost(
        self, start: Position, end: Position, columns: tuple[str, ...] | None
    ) -> tuple[Changes, dict[str, int]]:
        """What happened in the range, and column → values in it that did not fit."""
        wanted = self._wanted(columns)
        changes = self._inner_input.changes(start, end, self._names(wanted))
        done = adapt(changes.upserts, wanted, self._adapted)
        before = changes.before
        if before is not None:
            before = adapt(before, wanted, self._adapted).rows
        return Changes(done.rows, self._all_deletes(changes.deletes, done.left_out), before), done.lost

    def parts(self, at: Position, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        """All rows at `at`."""
        wanted = self._wanted(columns)
        for rows in self._inner_input.parts(at, self._names(wanted)):
            yield adapt(rows, wanted, self._adapted).rows

    def _all_deletes(self, deletes: pa.Table | None, left_out: pa.Table) -> pa.Table | None:
        """A keyed row that is left out takes the place of the one that was there."""
        if not self._key or not left_out.num_rows:
            return deletes
        more = left_out.select(self._key)
        return more if deletes is None else pa.concat_tables([deletes.select(self._key), more])

    def _wanted(self, columns: tuple[str, ...] | None) -> list[Column]:
        return [self._columns[name] for name in (self._columns if columns is None else columns)]

    def _names(self, wanted: Sequence[Column]) -> tuple[str, ...]:
        return stored_names(self._columns.values(), wanted, self._adapted)


def ranges(epoch_input: Input, start: Position, at: Position) -> Iterator[tuple[Position, Position]]:
    """Ranges of not many rows each that follow each other, from `start` to `at`."""
    while (end := cap(epoch_input.advance(start, _ROWS_AT_ONCE), at)) != start:
        yield start, end
        start = end


EpochInput = TableInput | SourceInput | KeyedSourceInput | AdaptedInput


def open_inputs(plan: FlowPlan, segment: Segment, root: Path, stores: Mapping[Tier, Store]) -> dict[str, EpochInput]:
    """Everything a segment reads and does not write itself, by name."""
    inputs: dict[str, EpochInput] = {}
    origins: list[PlannedSource | Table] = [*plan.sources, *plan.readable]
    for origin in origins:
        if origin.name not in segment.reads or origin.name in segment.tables:
            continue
        opened = _opened(plan.as_there(origin), root, stores)
        adapted = plan.adapted.get(origin.name, ())
        inputs[origin.name] = AdaptedInput(opened, origin.columns, adapted, origin.primary_key) if adapted else opened
    return inputs


def lacking(
    plan: FlowPlan, segment: Segment, inputs: Mapping[str, EpochInput], start: Vector, end: Vector
) -> Iterator[str]:
    """A sentence for each file that an epoch began to read and that lacks a column.

    Of a source that several segments read, the first one says it. Columns of others are missing where a change of the
    source was followed, which the trigger said.
    """
    for name, position in end.positions.items():
        first = next((one.name for one in plan.segments if name in one.reads), segment.name)
        one_input = inputs.get(name)
        if first == segment.name and isinstance(one_input, SourceInput):
            with suppress(SourceError, OSError):  # what was read is read; a file that is gone now lacks nothing
                yield from one_input.lacking(start.positions.get(name, {}), position)


def _opened(
    origin: PlannedSource | Table, root: Path, stores: Mapping[Tier, Store]
) -> TableInput | SourceInput | KeyedSourceInput:
    if isinstance(origin, Table):
        return TableInput(origin, stores[origin.tiers.target])
    source = open_source(origin, root)
    return KeyedSourceInput(source) if isinstance(source, KeyedSource) else SourceInput(source)


__all__ = [
    "AdaptedInput",
    "EpochInput",
    "Input",
    "KeyedSourceInput",
    "SourceInput",
    "TableInput",
    "open_inputs",
    "ranges",
]

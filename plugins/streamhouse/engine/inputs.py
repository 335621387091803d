"""What a segment reads, sources and tables alike, seen as positions and rows."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.engine.adapt import AdaptedInput
from streamhouse.engine.clock import Input
from streamhouse.engine.vector import cap
from streamhouse.ingest.base import KeyedSource, Source
from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import FlowPlan, PlannedSource, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import Changes, Store

if TYPE_CHECKING:
    import pyarrow as pa


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

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range."""
        return self.store.read_changes(self.table, start, end, columns)

    def parts(self, at: Position, columns: tuple[str, ...]) -> "Iterator[pa.Table]":
        """All rows at `at`, of a log table not many at once."""
        if self.table.primary_key:
            yield self.store.read_state(self.table, at if self.store.capabilities.state_as_of else None, columns)
            return
        for start, end in ranges(self, {}, at):
            yield self.store.read_changes(self.table, start, end, columns).upserts


class SourceInput:
    """A source of the flow: an append-only series of rows."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.available = source.available
        self.advance = source.advance
        self.rows_between = source.rows_between

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """The rows of the range."""
        return Changes(self.source.read(start, end, columns))

    def parts(self, at: Position, columns: tuple[str, ...]) -> "Iterator[pa.Table]":
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

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range; the rows before it are known to whoever holds the state."""
        return self.source.changes(start, end, columns, before=False)

    def parts(self, at: Position, columns: tuple[str, ...]) -> "Iterator[pa.Table]":
        """The rows at `at`, one for each key, all at once."""
        yield self.source.state(at, columns)


def ranges(given: Input, start: Position, at: Position) -> Iterator[tuple[Position, Position]]:
    """Ranges of not many rows each that follow each other, from `start` to `at`."""
    while (end := cap(given.advance(start, _ROWS_AT_ONCE), at)) != start:
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


def _opened(
    origin: PlannedSource | Table, root: Path, stores: Mapping[Tier, Store]
) -> TableInput | SourceInput | KeyedSourceInput:
    if isinstance(origin, Table):
        return TableInput(origin, stores[origin.tiers.target])
    source = open_source(origin, root)
    return KeyedSourceInput(source) if isinstance(source, KeyedSource) else SourceInput(source)


__all__ = ["EpochInput", "Input", "KeyedSourceInput", "SourceInput", "TableInput", "open_inputs", "ranges"]

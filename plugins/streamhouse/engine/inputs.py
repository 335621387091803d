"""What a segment reads, sources and tables alike, seen as positions and rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.engine.clock import Input
from streamhouse.ingest.base import KeyedSource, Source
from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import Changes, Store

if TYPE_CHECKING:
    import pyarrow as pa


class TableInput:
    """A table of another flow. Its offsets count rows (log table) or changes (keyed table)."""

    def __init__(self, table: Table, store: Store) -> None:
        self.table = table
        self.store = store

    def available(self) -> Position:
        """The table's end."""
        return self.store.end(self.table)

    def advance(self, start: Position, max_rows: int) -> Position:
        """At most `max_rows` further, the same share of each bucket's backlog."""
        end = self.available()
        waiting = {key: value - start.get(key, 0) for key, value in end.items() if value > start.get(key, 0)}
        total = sum(waiting.values())
        if total <= max_rows:
            return {**start, **end}
        share = {key: start.get(key, 0) + rows * max_rows // total for key, rows in waiting.items()}
        if all(share[key] == start.get(key, 0) for key in share):  # fewer rows allowed than buckets
            fullest = max(waiting, key=lambda key: waiting[key])
            share[fullest] += 1
        return {**start, **share}

    def rows_between(self, start: Position, end: Position) -> int:
        """Offsets between the two, over all buckets."""
        return sum(max(0, value - start.get(key, 0)) for key, value in end.items())

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range."""
        return self.store.read_changes(self.table, start, end, columns)

    def state(self, at: Position) -> "pa.Table":
        """All rows at `at`."""
        return self.store.read_state(self.table, at if self.store.capabilities.state_as_of else None)


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

    def state(self, at: Position) -> "pa.Table":
        """Every row from the beginning to `at`."""
        return self.source.read({}, at)


class KeyedSourceInput:
    """A source of the flow whose rows are inserted, updated and deleted by their key."""

    def __init__(self, source: KeyedSource) -> None:
        self.source = source
        self.available = source.available
        self.advance = source.advance
        self.rows_between = source.rows_between

    def changes(self, start: Position, end: Position, columns: tuple[str, ...] | None) -> Changes:
        """What happened in the range, with the rows before."""
        return self.source.changes(start, end, columns)

    def state(self, at: Position) -> "pa.Table":
        """All rows at `at`."""
        return self.source.state(at)


EpochInput = TableInput | SourceInput | KeyedSourceInput


def open_inputs(plan: FlowPlan, root: Path, stores: Mapping[Tier, Store]) -> dict[str, EpochInput]:
    """Every source and every foreign table of a plan, by name."""
    opened = {s.name: open_source(s, root) for s in plan.sources}
    inputs: dict[str, EpochInput] = {
        name: KeyedSourceInput(source) if isinstance(source, KeyedSource) else SourceInput(source)
        for name, source in opened.items()
    }
    for table in plan.external:
        inputs[table.name] = TableInput(table, stores[table.tiers.target])
    return inputs


__all__ = ["EpochInput", "Input", "KeyedSourceInput", "SourceInput", "TableInput", "open_inputs"]

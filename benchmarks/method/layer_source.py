"""The peers' stream source: the rows that a step reads, from a source or from a Fluss table.

It reads as our engine does, through the same classes. Spark runs it in Python workers.
"""

import json
import os
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition  # noqa: TID253  Spark's workers load this

from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.fluss.store import FlussStore

FORMAT = "layer"
_SPLIT_ROWS = 50_000  # a batch of more source rows is read by as many tasks as there are cores


class LayerSource(DataSource):
    """Options: `plan` (JSON), `table` (what to read), `columns` (JSON), `root`, `fluss`, `max_rows` (0: no bound)."""

    @classmethod
    def name(cls) -> str:
        """What `readStream.format` calls it."""
        return FORMAT

    def schema(self) -> str:
        """The columns asked for, as DDL."""
        types = _types(self.options)
        return ", ".join(f"`{name}` {types[name]}" for name in json.loads(self.options["columns"]))

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: ARG002, N802  Spark's name
        """A reader of the table or source."""
        return LayerReader(dict(self.options))


class Slice(InputPartition):
    """What one task reads."""

    def __init__(self, start: Position, end: Position) -> None:
        super().__init__(None)
        self.start = start
        self.end = end


class LayerReader(DataSourceStreamReader):
    """Offsets are positions, and when they were seen."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        self.last: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  Spark's name
        """The beginning."""
        return {"at_ms": 0, "position": {}}

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802  Spark's name
        """What is there by now, or as much as one batch may take."""
        if self.last is None:
            self.last = self.initialOffset()
        position = _latest(self.options, self.last["position"])
        if position != self.last["position"]:
            self.last = {"at_ms": time.time_ns() // 1_000_000, "position": position}
        return self.last

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Slice]:
        """One for each bucket that has new rows; of a source, one for each core when there are many rows."""
        self.last = end
        first, last = start["position"], end["position"]
        if set(last) == {"row"}:
            return _split(first.get("row", 0), last["row"])
        grown = [key for key in last if last[key] > first.get(key, 0)]
        others = {key: first.get(key, 0) for key in last}
        slices = [Slice(others, others | {key: last[key]}) for key in grown]
        return slices or [Slice(last, last)]

    def read(self, partition: Slice) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """The rows of the slice."""
        names = json.loads(self.options["columns"])
        columns = [column for column in _opened(_key(self.options)).columns if column.name in names]
        rows = _opened(_key(self.options)).read(partition.start, partition.end, tuple(names))
        schema = arrow_schema(sorted(columns, key=lambda c: names.index(c.name)))
        yield from rows.select(schema.names).cast(schema).to_batches(max_chunksize=65_536)


class _Opened:
    """A source or table, connected once in each process."""

    def __init__(self, plan: FlowPlan, name: str, root: Path, fluss: str) -> None:
        source = next((s for s in plan.sources if s.name == name), None)
        self.columns = source.columns if source else plan.tables[name].columns
        if source:
            opened = open_source(source, root)
            self.advance = opened.advance
            self.read = opened.read
            return
        table, store = plan.tables[name], FlussStore(fluss)

        def advance(start: Position, max_rows: int) -> Position:
            share = max(1, max_rows // table.buckets)
            return {key: min(end, start.get(key, 0) + share) for key, end in store.end(table).items()}

        def read(start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
            return store.read_changes(table, start, end, columns).upserts

        self.advance, self.read = advance, read


def _key(options: dict[str, str]) -> tuple[str, str, str, str, int]:
    # Connections do not outlive a fork, so the process is part of the key.
    return options["plan"], options["table"], options["root"], options["fluss"], os.getpid()


@lru_cache(maxsize=8)
def _opened(key: tuple[str, str, str, str, int]) -> _Opened:
    plan, table, root, fluss, _ = key
    return _Opened(FlowPlan.model_validate_json(plan), table, Path(root), fluss)


def _latest(options: dict[str, str], start: Position) -> Position:
    return _opened(_key(options)).advance(start, int(options["max_rows"]) or 2**62)


def _types(options: dict[str, str]) -> dict[str, str]:
    plan = FlowPlan.model_validate_json(options["plan"])
    tables = {**{s.name: s.columns for s in plan.sources}, **{t.name: t.columns for t in plan.tables.values()}}
    return {column.name: column.type for column in tables[options["table"]]}


def _split(first: int, end: int) -> list[Slice]:
    parts = min(os.cpu_count() or 1, 1 + (end - first) // _SPLIT_ROWS)
    cuts = [first + (end - first) * n // parts for n in range(parts + 1)]
    return [Slice({"row": a}, {"row": b}) for a, b in pairwise(cuts)]

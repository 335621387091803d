"""The rows of a large epoch, read by Spark's tasks instead of by the driver (design D4).

A tiny DataFrame has one row for each share of the range, and `mapInArrow` reads the share. A Python data source
would do the same, but Spark plans each read of one in processes of its own, at about 200 ms.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.worker_store import hot_store
from streamhouse.errors import EngineError
from streamhouse.ingest.base import RowSource
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import is_registered
from streamhouse.model.bad_rows import policy_of
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.spark.frame import frame_schema
from streamhouse.spark.worker_error import telling
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Share = tuple[Position, Position]
"""`[start, end)`: what one task reads."""

_FEWEST_ROWS = 10_000  # a share of fewer costs more to start than to read
_ROWS_AT_ONCE = 250_000  # of a table, in a worker's memory
_BATCH_ROWS, _BATCH_BYTES = 65_536, 4 << 20


def can_spread_changes(origin: PlannedSource | Table) -> bool:
    """Whether `spread_changes` can read it: sources, and log tables of the hot tier."""
    if isinstance(origin, PlannedSource):
        # Requests to read dead letters again are on the driver's disk, and so is who logs in to a schema registry, to
        # the catalog of a table of others or to an object store.
        is_stored = origin.kind == "files" and "connection" in origin.options
        is_elsewhere = is_registered(origin) or origin.kind == "table" or is_stored
        return policy_of(origin.options).table is None and not is_elsewhere
    return origin.tiers.target is Tier.HOT and not origin.primary_key


def spread_changes(
    spark: "SparkSession",
    origin: PlannedSource | Table,
    places: Places,
    root: Path,
    start: Position,
    end: Position,
    columns: tuple[str, ...],
) -> "DataFrame":
    """The rows of `[start, end)`, read on the executors when and as often as the DataFrame is used.

    Args:
        spark: The session.
        origin: A source, or a log table of the hot tier.
        places: Where the stores are, as seen from the executors.
        root: The folder to which paths of sources are relative.
        start: Where the rows begin.
        end: Where they end.
        columns: Their columns, in this order; none: the first one, so that rows can be counted.

    Returns:
        Rows in no order, in at most `defaultParallelism` partitions for each bucket.

    Raises:
        EngineError: `can_spread_changes` denies it.
    """
    if not can_spread_changes(origin):
        raise EngineError(f"{origin.name} cannot be read by Spark's tasks", hint="read it in the driver")
    names = columns or (origin.columns[0].name,)
    by_name = {column.name: column for column in origin.columns}
    wanted = tuple(by_name[name] for name in names)
    tasks = spark.sparkContext.defaultParallelism
    read: _ReadSource | _ReadTable
    if isinstance(origin, PlannedSource):
        read = _ReadSource(source_shares(open_source(origin, root), start, end, tasks), wanted, origin, root)
    else:
        read = _ReadTable(table_shares(start, end, tasks), wanted, origin, places)
    schema = frame_schema(arrow_schema(wanted))
    numbers = spark.range(0, len(read.shares), 1, max(1, len(read.shares)))
    return numbers.mapInArrow(read, schema)


def source_shares(source: RowSource, start: Position, end: Position, tasks: int) -> tuple[Share, ...]:
    """Cut a range of a source into about `tasks` shares of equal size that follow each other."""
    rows = source.rows_between(start, end)
    size = max(-(-rows // tasks), _FEWEST_ROWS)
    shares: list[Share] = []
    while source.rows_between(start, end) > size:
        ahead = source.advance(start, size)
        # The source may hold more by now, also in between: go only where the range goes.
        cut = {**start, **{key: min(value, end[key]) for key, value in ahead.items() if key in end}}
        if not 0 < source.rows_between(start, cut) <= size:
            break
        shares.append((start, cut))
        start = cut
    return (*shares, (start, end)) if source.rows_between(start, end) else tuple(shares)


def table_shares(start: Position, end: Position, tasks: int) -> tuple[Share, ...]:
    """Cut a range of a log table into shares, none larger than a `tasks`-th of all; small buckets share one."""
    spans = {bucket: (start.get(bucket, 0), last) for bucket, last in end.items()}
    rows = sum(max(0, last - first) for first, last in spans.values())
    size = max(-(-rows // tasks), _FEWEST_ROWS)
    pieces = (
        (bucket, first + at, min(first + at + step, last))
        for bucket, (first, last) in spans.items()
        if first < last
        for step in [_even(last - first, size)]
        for at in range(0, last - first, step)
    )
    shares: list[Share] = []
    left = 0
    for bucket, first, last in pieces:  # two of one bucket are together larger than a share
        if last - first > left:
            shares.append(({}, {}))
            left = size
        shares[-1][0][bucket], shares[-1][1][bucket] = first, last
        left -= last - first
    return tuple(shares)


def _even(rows: int, size: int) -> int:
    """The size of equal parts of `rows` of which none is larger than `size`."""
    parts = -(-rows // size)
    return -(-rows // parts)


@dataclass(frozen=True)
class _ReadSource:
    """A task's work; travels to the workers."""

    shares: tuple[Share, ...]
    wanted: tuple[Column, ...]
    source: PlannedSource
    root: Path

    def __call__(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with telling():
            opened = open_source(self.source, self.root)
            for start, end in _shares(self.shares, numbers):
                yield from _batches(opened.read(start, end, _names(self.wanted)), self.wanted)


@dataclass(frozen=True)
class _ReadTable:
    """A task's work; travels to the workers."""

    shares: tuple[Share, ...]
    wanted: tuple[Column, ...]
    table: Table
    places: Places

    def __call__(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with telling():
            store = hot_store(self.places)
            for start, end in _shares(self.shares, numbers):
                for bucket, last in end.items():
                    for at in range(start[bucket], last, _ROWS_AT_ONCE):
                        to = {bucket: min(at + _ROWS_AT_ONCE, last)}
                        # The other buckets end where they begin.
                        found = store.read_changes(self.table, {bucket: at}, to, _names(self.wanted))
                        yield from _batches(found.upserts, self.wanted)


def _shares(shares: tuple[Share, ...], numbers: Iterable[pa.RecordBatch]) -> Iterator[Share]:
    return (shares[number] for batch in numbers for number in batch.column(0).to_pylist())


def _names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _batches(rows: pa.Table, wanted: tuple[Column, ...]) -> Iterator[pa.RecordBatch]:
    """`rows` in batches that are neither many nor large; by name, as Spark takes columns by position."""
    if not rows.num_rows:
        return
    rows = conform(rows, wanted).combine_chunks()
    size = min(_BATCH_ROWS, max(1, _BATCH_BYTES * rows.num_rows // max(1, rows.nbytes)))
    yield from rows.to_batches(max_chunksize=size)

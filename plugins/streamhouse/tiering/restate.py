"""Brings a table's rows to what its step's SQL says of the whole history, and changes nothing else."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.errors import RestateError
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column as TableColumn
from streamhouse.model.table import Table
from streamhouse.stores.arrow import conform
from streamhouse.stores.base import Changes, Store, WriteContext

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROWS_AT_ONCE = 200_000
_CHUNK = "__chunk"


@dataclass(frozen=True)
class Span:
    """A half-open range `[start, end)` of event time; None: without a bound."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def bounded(self) -> bool:
        """Whether it leaves anything out."""
        return self.start is not None or self.end is not None


EVERYTHING = Span()


@dataclass(frozen=True)
class Difference:
    """What a table lacks and what it has too much, as DataFrames.

    Attributes:
        upserts: Rows to add or, in a keyed table, to put in the place of those with their key.
        deletes: Keys of rows that must go; None: a log table.
        rows: How many `upserts` there are.
        gone: How many `deletes` there are; of a log table the rows it has too much.
    """

    upserts: "DataFrame"
    deletes: "DataFrame | None"
    rows: int
    gone: int


def difference(step: PlannedStep, expected: "DataFrame", current: "DataFrame", span: Span) -> Difference:
    """Compare what a table should hold with what it holds, within a span of its event time.

    Args:
        step: Writes the table.
        expected: The step's SQL over the whole history, without rows that expectations keep out; each key once.
        current: All rows of the table, whichever tier holds them.
        span: Only rows whose event time lies in it are compared; the others stay as they are.

    Raises:
        RestateError: the span is bounded, and the table has no event time.
    """
    table, names = step.writes, [column.name for column in step.columns]
    key = list(table.primary_key)
    rows, held = (_within(table, frame.select(names), span).cache() for frame in (expected, current))
    upserts = _without(rows, held).select(names).cache()
    deletes = held.select(key).join(rows.select(key), key, "left_anti").cache() if key else None
    gone = deletes if deletes is not None else _without(held, rows)
    return Difference(upserts, deletes, upserts.count(), gone.count())


def apply(
    table: Table,
    found: Difference,
    store: Store,
    context: Callable[[int], WriteContext],
    on_rows: Callable[[int], None],
) -> None:
    """Write a difference, not many rows at once. What is written when this is cut short stays, and is right.

    Args:
        table: Where to.
        found: From `difference`.
        store: Of the tier that the flow writes.
        context: The number of a write, from 0 → as whom to write.
        on_rows: Told how many rows and keys were written more.

    Raises:
        RestateError: rows must go from a log table, which no store can take back.
    """
    if found.deletes is None and found.gone:
        raise RestateError(
            f"{table.name} is a log, and {found.gone:,} of its rows are not in its history as the SQL has it now",
            hint="rows cannot be taken out of a log: write to a new table, or drop this one to have it made anew",
        )
    filled = table.selects and found.deletes is None  # an empty table: whatever is written wins
    number, write = 0, store.replace if table.primary_key and not filled else store.write
    if found.deletes is not None:
        for keys in _chunks(found.deletes, found.gone, table.primary_key):
            empty = conform(found.upserts.limit(0).toArrow(), _columns(table, found.upserts.columns))
            write(table, Changes(empty, keys), context(number))
            number += 1
            on_rows(keys.num_rows)
    for rows in _chunks(found.upserts, found.rows, table.primary_key):
        write(table, Changes(conform(rows, _columns(table, rows.column_names))), context(number))
        number += 1
        on_rows(rows.num_rows)


def _columns(table: Table, names: Sequence[str]) -> list[TableColumn]:
    return [table.column(name) for name in names]


def _within(table: Table, rows: "DataFrame", span: Span) -> "DataFrame":
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    if not span.bounded:
        return rows
    if table.event_time is None or table.event_time not in rows.columns:
        raise RestateError(
            f"{table.name} has no event time by which a part of it could be chosen",
            hint="leave out --from and --to, or name output.event_time in the action",
        )
    at = F.col(table.event_time)
    if span.start is not None:
        rows = rows.where(at >= F.lit(span.start))
    return rows.where(at < F.lit(span.end)) if span.end is not None else rows


def _without(rows: "DataFrame", others: "DataFrame") -> "DataFrame":
    """The rows, as often as they are more than in `others`; NULL equals NULL."""
    from pyspark.sql import functions as F  # noqa: N812

    # Spark compares no maps: their entries in order say the same.
    maps = [field.name for field in rows.schema.fields if field.dataType.typeName() == "map"]
    if not maps:
        return rows.exceptAll(others)

    def comparable(name: str) -> "Column":
        return F.sort_array(F.map_entries(name)).alias(name) if name in maps else F.col(name)

    plain = [frame.select(*(comparable(name) for name in frame.columns)) for frame in (rows, others)]
    found = plain[0].exceptAll(plain[1])
    return found.select(*(F.map_from_entries(n).alias(n) if n in maps else F.col(n) for n in found.columns))


def _chunks(rows: "DataFrame", count: int, key: Sequence[str]) -> Iterator[pa.Table]:
    from pyspark.sql import functions as F  # noqa: N812

    parts = -(-count // _ROWS_AT_ONCE)
    if parts < 2:
        if parts:
            yield rows.toArrow()
        return
    of = F.pmod(F.xxhash64(*(key or rows.columns)), F.lit(parts))
    cut = rows.withColumn(_CHUNK, of).cache()
    try:
        for part in range(parts):
            yield cut.where(F.col(_CHUNK) == part).drop(_CHUNK).toArrow()
    finally:
        cut.unpersist()

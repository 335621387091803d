"""Brings a table's rows to what its step's SQL says of the whole history, and changes nothing else."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.engine.row_order import BESIDE, ROW, apart, in_order, numbered, unplaced
from streamhouse.errors import RestateError
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Table
from streamhouse.spark.results import collected_arrow, collected_rows
from streamhouse.stores.arrow import conform
from streamhouse.stores.base import UNPLACED, Changes, Store, WriteContext
from streamhouse.stores.equality import may_hold_floats, zeros_apart

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROWS_AT_ONCE = 200_000
_ACCURACY = 10_000  # of the bounds of parts: Spark errs by one row in so many
_GOES = "__goes"
_LIKE = "__like"
_HAD = "__had"


@dataclass(frozen=True)
class TimeSpan:
    """A half-open range `[start, end)` of event time; None: without a bound."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def bounded(self) -> bool:
        """Whether it leaves anything out."""
        return self.start is not None or self.end is not None


EVERYTHING = TimeSpan()


@dataclass(frozen=True)
class TableDifference:
    """What a table lacks and what it has too much.

    Attributes:
        rows: How many rows to add or, in a keyed table, to write over those with their key.
        deletes: How many rows must go.
        parts: All of them, not many at once, and only once; rows that must go by their key, of a log table not at all.
        filling: Whether the table is empty.
        unordered: Rows of a log to add whose place a lake does not know any more.
    """

    rows: int
    deletes: int
    parts: Iterator[Changes]
    filling: bool
    unordered: int = 0


def difference(
    step: PlannedStep, expected: "DataFrame", current: "DataFrame", span: TimeSpan
) -> AbstractContextManager[TableDifference]:
    """Compare what a table should hold with what it holds, within a span of its event time.

    Args:
        step: Writes the table.
        expected: The step's SQL over the whole history, without rows that expectations keep out; each key once. Of a
            log in their order, or with `ROW`, and what it lacks comes in that order.
        current: All rows of the table, whichever tier holds them.
        span: Only rows whose event time lies in it are compared; the others stay as they are.

    Returns:
        What differs, for as long as the `with` lasts.

    Raises:
        RestateError: the span is bounded, and the table has no event time.
    """
    table, names = step.writes, [column.name for column in step.columns]
    order = [] if table.primary_key else [ROW, BESIDE]
    rows, current_rows = (
        _within(table, frame, span) for frame in (apart(expected).select(*names, *order), current.select(names))
    )
    differing = _by_key(rows, current_rows, table.primary_key) if table.primary_key else _by_row(rows, current_rows)
    return _taken(differing, table, filling=False)


def filling(table: Table, rows: "DataFrame") -> AbstractContextManager[TableDifference]:
    """What an empty table lacks: the rows, in their order; those of a keyed table only unless they are many."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return _taken(numbered(rows).withColumn(_GOES, F.lit(False)), table, filling=True)


def refuse_deletes(flow: str, table: Table, found: TableDifference) -> None:
    """Refuse a difference that no store can write.

    Raises:
        RestateError: rows must go from a log table, which no store can take back.
    """
    if found.deletes and not table.primary_key:
        raise RestateError(
            f"{table.name} is a log, and {found.deletes:,} of its rows are not in its history as the SQL has it now",
            hint="rows cannot be taken out of a log: let the step write a table of another name, or drop all tables "
            f"of {flow} and read its sources again: streamhouse restore {flow} --rebuild",
        )


def apply(
    table: Table,
    found: TableDifference,
    store: Store,
    context: Callable[[int], WriteContext],
    on_rows: Callable[[int], None],
) -> None:
    """Write a difference, not many rows at once. What is written when this is cut short stays, and is right.

    Args:
        table: Where to.
        found: From `difference` or `filling`.
        store: Of the tier that the flow writes.
        context: The number of a write, from 0 → as whom to write.
        on_rows: Is called with how many rows and keys were written more.

    Raises:
        AssertionError: rows must go from a log table; see `refuse_deletes`.
    """
    assert table.primary_key or not found.deletes, "a caller refuses this first"
    wins = table.selects and found.filling  # whatever is written to an empty table
    write = store.replace if table.primary_key and not wins else store.write
    for number, changes in enumerate(found.parts):
        write(table, changes, context(number))
        on_rows(changes.upserts.num_rows + (changes.deletes.num_rows if changes.deletes is not None else 0))


def _within(table: Table, rows: "DataFrame", span: TimeSpan) -> "DataFrame":
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


def _by_key(rows: "DataFrame", current: "DataFrame", key: Sequence[str]) -> "DataFrame":
    """The rows that `current` lacks, and those of it whose key `rows` lack, which go."""
    from pyspark.sql import functions as F  # noqa: N812

    names, maps = rows.columns, _maps(rows)

    def values(side: str) -> "Column":
        if not maps:
            return F.col(side)
        each = ((name, F.col(f"{side}.{name}")) for name in names)
        return F.struct(*(_entries(value) if name in maps else value for name, value in each))

    new, old = (frame.select(F.struct("*").alias(side)) for frame, side in ((rows, "new"), (current, "old")))
    met = reduce(and_, (F.col(f"new.{name}").eqNullSafe(F.col(f"old.{name}")) for name in key))
    same = values("new").eqNullSafe(values("old"))
    for name in _floats(rows):
        if name not in key:  # stores keep keys plain
            new_text, old_text = (zeros_apart(F.col(f"{side}.{name}")) for side in ("new", "old"))
            same &= new_text.eqNullSafe(old_text)
    differing = new.join(old, met, "full_outer").where(~same)
    return differing.select(F.coalesce("new", "old").alias(ROW), F.isnull("new").alias(_GOES)).select(f"{ROW}.*", _GOES)


def _by_row(rows: "DataFrame", current: "DataFrame") -> "DataFrame":
    """Each row as often as `current` has it too few times, the last ones of their order, or too many, when it goes.

    NULL equals NULL.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    names, maps, floats = current.columns, _maps(current), _floats(current)
    plain = {name: _entries(F.col(name)) if name in maps else F.col(name) for name in names}
    # Spark compares no maps, and takes one zero for the other.
    comparable_columns = [plain[name] for name in names if name in maps] + [
        zeros_apart(plain[name]) for name in sorted(floats)
    ]
    like = [column.alias(f"{_LIKE}{number}") for number, column in enumerate(comparable_columns)]
    sides = [
        rows.select(*names, ROW, BESIDE, *like, F.lit(False).alias(_GOES)),
        current.select(*names, F.lit(0).alias(ROW), F.lit(0).alias(BESIDE), *like, F.lit(True).alias(_GOES)),
    ]
    alike = [*(name for name in names if name not in maps), *(f"{_LIKE}{number}" for number in range(len(like)))]
    side, number = F.col(_GOES), F.row_number().over(Window.partitionBy(*alike, _GOES).orderBy(ROW, BESIDE))
    others = F.when(side, F.count_if(~side).over(Window.partitionBy(*alike))).otherwise(
        F.count_if(side).over(Window.partitionBy(*alike))
    )
    counted = sides[0].union(sides[1]).withColumn(_HAD, number > others)
    return counted.where(_HAD).select(*names, ROW, BESIDE, _GOES)


def _floats(rows: "DataFrame") -> set[str]:
    return {field.name for field in rows.schema.fields if may_hold_floats(field.dataType.simpleString())}


def _maps(rows: "DataFrame") -> set[str]:
    return {field.name for field in rows.schema.fields if field.dataType.typeName() == "map"}


def _entries(column: "Column") -> "Column":
    """A map's entries in order: Spark compares no maps."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.sort_array(F.map_entries(column))


@contextmanager
def _taken(rows: "DataFrame", table: Table, *, filling: bool) -> Iterator[TableDifference]:
    """Run a query once: its rows are in this process when they are few, else Spark keeps them until the end."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = rows.persist()
    try:
        few = collected_arrow(rows.limit(_ROWS_AT_ONCE + 1))
        parts: Iterator[pa.Table]
        if few.num_rows <= _ROWS_AT_ONCE:
            count, deletes = few.num_rows, pc.sum(few[_GOES]).as_py() or 0
            unordered = _count_unplaced(few)
            parts = iter([in_order(few)] if count else [])
        else:
            lost = F.count_if(unplaced()) if ROW in rows.columns else F.lit(0)
            [(count, deletes, unordered)] = collected_rows(rows.agg(F.count("*"), F.count_if(_GOES), lost))
            number = -(-count // _ROWS_AT_ONCE)
            key = table.primary_key
            parts = _parts_by_key(rows.drop(ROW), number, key) if key else _parts_in_order(rows, number)
        yield TableDifference(count - deletes, deletes, (_changes(part, table) for part in parts), filling, unordered)
    finally:
        rows.unpersist()


def _count_unplaced(rows: pa.Table) -> int:
    if ROW not in rows.column_names:
        return 0
    numbers = rows.column(ROW).to_numpy()
    return int(((numbers >= UNPLACED.start) & (numbers < UNPLACED.stop)).sum())


def _parts_by_key(rows: "DataFrame", count: int, key: Sequence[str]) -> Iterator[pa.Table]:
    from pyspark.sql import functions as F  # noqa: N812

    for part in range(count):
        yield collected_arrow(rows.where(F.pmod(F.xxhash64(*key), F.lit(count)) == part))


def _parts_in_order(rows: "DataFrame", count: int) -> Iterator[pa.Table]:
    """About so many parts of about one size, each before the next, whose rows are in order."""
    from pyspark.sql import functions as F  # noqa: N812

    shares = F.array(*(F.lit(part / count) for part in range(1, count)))
    [(bounds,)] = collected_rows(rows.agg(F.percentile_approx(ROW, shares, max(_ACCURACY, 100 * count))))
    bounds = sorted(set(bounds))
    for first, last in zip([None, *bounds], [*bounds, None], strict=True):
        part = rows if first is None else rows.where(F.col(ROW) > first)
        found = collected_arrow(part if last is None else part.where(F.col(ROW) <= last))
        if found.num_rows:
            yield in_order(found)


def _changes(part: pa.Table, table: Table) -> Changes:
    goes, columns = part[_GOES], [column for column in table.columns if column.name in part.column_names]
    upserts = conform(part.filter(pc.invert(goes)), columns)
    keys = conform(part.filter(goes), [table.column(name) for name in table.primary_key])
    return Changes(upserts, keys if keys.num_rows else None)

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

from streamhouse.engine.row_order import ROW, in_order, numbered
from streamhouse.errors import RestateError
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Table
from streamhouse.stores.arrow import conform
from streamhouse.stores.base import Changes, Store, WriteContext
from streamhouse.stores.same import may_hold_floats, zeros_apart

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROWS_AT_ONCE = 200_000
_EQUAL_ROWS_AT_ONCE = 10_000
_GOES = "__goes"
_MORE = "__more"
_TEXT = "__text"
_KEPT = "__kept"


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
    """What a table lacks and what it has too much.

    Attributes:
        rows: How many rows to add or, in a keyed table, to put in the place of those with their key.
        gone: How many rows must go.
        parts: All of them, not many at once, and only once; rows that must go by their key, of a log table not at all.
        filling: Whether the table is empty.
    """

    rows: int
    gone: int
    parts: Iterator[Changes]
    filling: bool


def difference(
    step: PlannedStep, expected: "DataFrame", current: "DataFrame", span: Span
) -> AbstractContextManager[Difference]:
    """Compare what a table should hold with what it holds, within a span of its event time.

    Args:
        step: Writes the table.
        expected: The step's SQL over the whole history, without rows that expectations keep out; each key once.
        current: All rows of the table, whichever tier holds them.
        span: Only rows whose event time lies in it are compared; the others stay as they are.

    Returns:
        What differs, for as long as the `with` lasts.

    Raises:
        RestateError: the span is bounded, and the table has no event time.
    """
    table, names = step.writes, [column.name for column in step.columns]
    rows, held = (_within(table, frame.select(names), span) for frame in (expected, current))
    differing = _by_key(rows, held, table.primary_key) if table.primary_key else _by_row(rows, held)
    return _taken(differing, table, filling=False)


def filling(table: Table, rows: "DataFrame") -> AbstractContextManager[Difference]:
    """What an empty table lacks: the rows, in their order unless they are many."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return _taken(numbered(rows).withColumn(_GOES, F.lit(False)), table, filling=True)


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
        found: From `difference` or `filling`.
        store: Of the tier that the flow writes.
        context: The number of a write, from 0 → as whom to write.
        on_rows: Told how many rows and keys were written more.

    Raises:
        RestateError: rows must go from a log table, which no store can take back.
    """
    if found.gone and not table.primary_key:
        raise RestateError(
            f"{table.name} is a log, and {found.gone:,} of its rows are not in its history as the SQL has it now",
            hint="rows cannot be taken out of a log: write to a new table, or drop this one to have it made anew",
        )
    wins = table.selects and found.filling  # whatever is written to an empty table
    write = store.replace if table.primary_key and not wins else store.write
    for number, changes in enumerate(found.parts):
        write(table, changes, context(number))
        on_rows(changes.upserts.num_rows + (changes.deletes.num_rows if changes.deletes is not None else 0))


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


def _by_key(rows: "DataFrame", held: "DataFrame", key: Sequence[str]) -> "DataFrame":
    """The rows that `held` lacks, and those of it whose key `rows` lack, which go."""
    from pyspark.sql import functions as F  # noqa: N812

    names, maps = rows.columns, _maps(rows)

    def values(side: str) -> "Column":
        if not maps:
            return F.col(side)
        each = ((name, F.col(f"{side}.{name}")) for name in names)
        return F.struct(*(_entries(value) if name in maps else value for name, value in each))

    new, old = (frame.select(F.struct("*").alias(side)) for frame, side in ((rows, "new"), (held, "old")))
    met = reduce(and_, (F.col(f"new.{name}") == F.col(f"old.{name}") for name in key))
    same = values("new").eqNullSafe(values("old"))
    for name in _floats(rows):
        if name not in key:  # stores keep keys plain
            new_text, old_text = (zeros_apart(F.col(f"{side}.{name}")) for side in ("new", "old"))
            same &= new_text.eqNullSafe(old_text)
    differing = new.join(old, met, "full_outer").where(~same)
    return differing.select(F.coalesce("new", "old").alias(ROW), F.isnull("new").alias(_GOES)).select(f"{ROW}.*", _GOES)


def _by_row(rows: "DataFrame", held: "DataFrame") -> "DataFrame":
    """Each row as often as `held` has it too few times, or too many, when it goes; NULL equals NULL.

    Spark gives the keys of groups back with one zero, so floats are taken from a row of the group.
    """
    from pyspark.sql import functions as F  # noqa: N812

    names, maps = rows.columns, _maps(rows)
    plain = {name: _entries(F.col(name)).alias(name) if name in maps else F.col(name) for name in names}
    texts = {name: f"{_TEXT}{number}" for number, name in enumerate(sorted(_floats(rows)))}
    apart = [zeros_apart(plain[name]).alias(text) for name, text in texts.items()]
    sides = [
        frame.select(*plain.values(), *apart, F.lit(count).alias(_MORE)) for frame, count in ((rows, 1), (held, -1))
    ]
    more, times = F.col(_MORE), F.abs(_MORE)
    kept = [F.first(name).alias(f"{_KEPT}{text}") for name, text in texts.items()]
    groups = sides[0].union(sides[1]).groupBy(*names, *texts.values())
    counted = groups.agg(F.sum(_MORE).alias(_MORE), *kept).where(more != 0)
    counted = counted.select(*(F.col(f"{_KEPT}{texts[n]}").alias(n) if n in texts else F.col(n) for n in names), _MORE)
    # An array of all of them would have to fit in memory.
    cut = counted.withColumn(ROW, F.explode(F.sequence(F.lit(0), times - 1, F.lit(_EQUAL_ROWS_AT_ONCE))))
    some = F.least(times - F.col(ROW), F.lit(_EQUAL_ROWS_AT_ONCE)).cast("int")
    each = cut.withColumn(_GOES, F.explode(F.array_repeat(more < 0, some)))
    return each.select(*(F.map_from_entries(n).alias(n) if n in maps else F.col(n) for n in names), _GOES)


def _floats(rows: "DataFrame") -> set[str]:
    return {field.name for field in rows.schema.fields if may_hold_floats(field.dataType.simpleString())}


def _maps(rows: "DataFrame") -> set[str]:
    return {field.name for field in rows.schema.fields if field.dataType.typeName() == "map"}


def _entries(column: "Column") -> "Column":
    """A map's entries in order: Spark compares no maps."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.sort_array(F.map_entries(column))


@contextmanager
def _taken(rows: "DataFrame", table: Table, *, filling: bool) -> Iterator[Difference]:
    """Run a query once: its rows are in this process when they are few, else Spark keeps them until the end."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = rows.persist()
    try:
        few = rows.limit(_ROWS_AT_ONCE + 1).toArrow()
        parts: Iterator[pa.Table]
        if few.num_rows <= _ROWS_AT_ONCE:
            count, gone = few.num_rows, pc.sum(few[_GOES]).as_py() or 0
            parts = iter([in_order(few)] if count else [])
        else:
            [(count, gone)] = rows.agg(F.count("*"), F.count_if(_GOES)).collect()
            parts = _chunks(rows.drop(ROW), -(-count // _ROWS_AT_ONCE), table.primary_key)
        yield Difference(count - gone, gone, (_changes(part, table) for part in parts), filling)
    finally:
        rows.unpersist()


def _chunks(rows: "DataFrame", count: int, key: Sequence[str]) -> Iterator[pa.Table]:
    from pyspark.sql import functions as F  # noqa: N812

    by = key or [name for name in rows.columns if name not in _maps(rows)]
    for part in range(count):
        yield rows.where(F.pmod(F.xxhash64(*by), F.lit(count)) == part).toArrow()


def _changes(part: pa.Table, table: Table) -> Changes:
    goes, columns = part[_GOES], [column for column in table.columns if column.name in part.column_names]
    upserts = conform(part.filter(pc.invert(goes)), columns)
    keys = conform(part.filter(goes), [table.column(name) for name in table.primary_key])
    return Changes(upserts, keys if keys.num_rows else None)

"""Rows of something that changed upstream, as the steps of a flow know them (docs/trigger.md).

The same function works in the driver, in Spark's tasks, and on a table's history.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp, parse_one

from streamhouse.model.read_as import RESCUED, ReadAs, as_stored
from streamhouse.model.table import Column
from streamhouse.spark.frame import frame_schema
from streamhouse.stores.arrow import arrow_schema, arrow_type, conform
from streamhouse.stores.fitted import fits, fitted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class Adapted:
    """Some rows as steps know them.

    Attributes:
        rows: With the columns asked for.
        left_out: Those of the rows given that are not among `rows`, as they were.
        lost: Column → values that did not fit it.
    """

    rows: pa.Table
    left_out: pa.Table
    lost: dict[str, int] = field(default_factory=dict)


def adapt(rows: pa.Table, columns: Sequence[Column], adapted: Iterable[ReadAs]) -> Adapted:
    """Make rows of `as_stored(columns, adapted)` those that steps know, with `columns`."""
    read_as = {one.column.name: one for one in adapted}
    lost: dict[str, int] = {}
    stays: pa.ChunkedArray | None = None
    arrays = []
    for column in columns:
        one = read_as.get(column.name)
        if one is None:
            arrays.append(rows.column(column.name))
            continue
        if one.rescues:
            arrays.append(_rescued(rows, [read_as[name] for name in one.rescues if name in read_as]))
            continue
        values, whole = _column_values(rows, one)
        arrays.append(values)
        if (misfits := len(whole) - (pc.sum(whole).as_py() or 0)) > 0:
            lost[column.name] = misfits
            if one.misfit == "discard":
                stays = whole if stays is None else pc.and_(stays, whole)
    found = pa.table(arrays, schema=arrow_schema(columns))
    if stays is None:
        return Adapted(found, rows.slice(0, 0), lost)
    return Adapted(found.filter(stays), rows.filter(pc.invert(stays)), lost)


def _column_values(rows: pa.Table, one: ReadAs) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """The values of a column, and whether each row's fits."""
    kind = arrow_type(one.column.type)
    values = pa.chunked_array([pa.nulls(rows.num_rows, kind)])
    whole = pa.chunked_array([pa.repeat(True, rows.num_rows)])
    for part in one.of:
        stored_values = rows.column(part.name)
        # A value that does not fit is no reason to take another column's, which is older.
        there = fitted(stored_values, kind)
        whole = pc.and_(whole, pc.or_(pc.is_valid(values), fits(stored_values, there)))
        there = pc.coalesce(values, there)
        # Of a struct those fields are there that fit.
        values = there if pa.types.is_struct(kind) else pc.if_else(whole, there, values)
    if one.default is not None:
        text = parse_one(one.default, dialect="spark")
        value = text.to_py() if isinstance(text, exp.Literal | exp.Boolean | exp.Neg) else text.sql()
        values = pc.coalesce(values, pa.scalar(value).cast(kind))
    if one.required:
        whole = pc.and_(whole, pc.is_valid(values))
    return values, whole


def _rescued(rows: pa.Table, read_as: Sequence[ReadAs]) -> pa.ChunkedArray:
    """Values that do not fit their columns, as JSON."""
    found: dict[int, dict[str, Any]] = {}
    for one in read_as:
        if one.misfit != "rescue":
            continue
        values, whole = _column_values(rows, one)
        for at in pc.indices_nonzero(pc.invert(whole.combine_chunks())).to_pylist():
            parts = (rows.column(part.name)[at].as_py() for part in one.of)
            stored_value = next((value for value in parts if value is not None), None)
            found.setdefault(at, {})[one.column.name] = _left(stored_value, values[at].as_py())
    texts = [json.dumps(found[at], default=str) if at in found else None for at in range(rows.num_rows)]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _left(stored_value: Any, there: Any) -> Any:
    """What of a value is not there; of a struct its fields."""
    if not isinstance(stored_value, dict) or not isinstance(there, dict):
        return stored_value
    left = {
        name: _left(value, there.get(name)) for name, value in stored_value.items() if _lacks(value, there.get(name))
    }
    return left or None


def _lacks(stored_value: Any, there: Any) -> bool:
    if isinstance(stored_value, dict) and isinstance(there, dict):
        return any(_lacks(value, there.get(name)) for name, value in stored_value.items())
    return stored_value is not None and there is None


def stored_names(columns: Iterable[Column], wanted: Iterable[Column], adapted: Sequence[ReadAs]) -> tuple[str, ...]:
    """What to read for `wanted`: never nothing, so that rows can be counted; in the order of all that is there."""
    names = {column.name for column in as_stored(wanted, adapted)}
    there = [column.name for column in as_stored(columns, adapted)]
    return tuple(name for name in there if name in names) or tuple(there[:1])


def adapted_frame(frame: "DataFrame", columns: Sequence[Column], adapted: Sequence[ReadAs]) -> "DataFrame":
    """`adapt` in Spark's tasks; what was lost is not counted.

    Args:
        frame: With the columns `as_stored(columns, adapted)`.
        columns: Those of the result, in this order.
        adapted: How they are made.
    """
    stored = as_stored(columns, adapted)
    schema = frame_schema(arrow_schema(columns))
    return frame.select([column.name for column in stored]).mapInArrow(_adapting(stored, columns, adapted), schema)


def _adapting(
    stored: Sequence[Column], columns: Sequence[Column], adapted: Sequence[ReadAs]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = conform(pa.Table.from_batches([batch]), stored)
            yield from adapt(rows, columns, adapted).rows.combine_chunks().to_batches(max_chunksize=_ROWS_AT_ONCE)

    return work


def losses(origin: str, lost: Mapping[str, int], adapted: Iterable[ReadAs]) -> dict[str, int]:
    """Text for a person → how many values of an origin did not fit."""
    read_as = {one.column.name: one for one in adapted}
    return {
        f"{origin}.{name} do not fit {read_as[name].column.type}" + _BECAME[read_as[name].misfit]: count
        for name, count in lost.items()
    }


_BECAME = {
    "null": ": they are NULL",
    "discard": ": their rows were left out",
    "rescue": f": they are kept in {RESCUED.name}",
}

"""When two keys, and two values, are the same: every tier, the engine and the sources ask here.

Keys are the same when Spark says that they are equal: -0.0 is 0.0, and NaN is NaN whatever its bits are. Arrow, DuckDB
and the stores compare bits, so keys are made plain before any of them looks. Values keep their bits: a row with -0.0
where another has 0.0 is another row, which Spark does not see by itself. Decimals of a column have one scale, instants
are in UTC, and texts are their bytes (no two spellings are one): these need nothing.
"""

import math
from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.model.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def plain_keys(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows with one zero and one NaN in these columns, as Spark compares keys; Arrow and stores compare bits."""
    for name in keys:
        column = rows.column(name)
        if pa.types.is_floating(column.type):
            zero, nan = (pa.scalar(value, column.type) for value in (0.0, math.nan))
            plain = pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))  # the sum of -0.0 and 0.0 is 0.0
            rows = rows.set_column(rows.schema.get_field_index(name), rows.field(name), plain)
    return rows


def distinct_keys(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The keys of the rows, plain, each once; in no order."""
    return plain_keys(rows.select(list(keys)), keys).group_by(list(keys)).aggregate([])


def met(left: "DataFrame", right: "DataFrame", table: Table) -> "Column":
    """By what Spark joins two sets of rows of a table by its key, where NULL equals NULL."""
    return reduce(and_, (left[name].eqNullSafe(right[name]) for name in table.primary_key))


def may_hold_floats(type_: str) -> bool:
    """Whether values of this Spark type may have a float in them, at any depth."""
    return "float" in type_ or "double" in type_


def zeros_apart(value: "Column") -> "Column":
    """In Spark, what differs for two values that `<=>` calls equal and that differ in the sign of a zero.

    Not alone: other values may have one text.
    """
    return value.cast("string")

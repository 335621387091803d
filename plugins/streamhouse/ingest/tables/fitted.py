"""Rows of a table of others with the columns and types that a flow wants."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import Location, SourceError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema, arrow_type, spark_type
from streamhouse.stores.fitted import can_fit, fits, fitted


def as_columns(rows: pa.Table, wanted: Sequence[Column], name: str, at: Location | None) -> pa.Table:
    """`rows` with exactly the columns `wanted`, in this order; one that they lack is NULL.

    Args:
        rows: As the table has them.
        wanted: Columns with their types.
        name: Of the table.
        at: Where the source is defined.

    Raises:
        SourceError: a value does not fit the type of its column.
    """
    there = set(rows.column_names)
    arrays = [
        _as_type(rows.column(one.name), one, name, at)
        if one.name in there
        else pa.nulls(rows.num_rows, arrow_type(one.type))
        for one in wanted
    ]
    return pa.table(arrays, schema=arrow_schema(wanted))


def _as_type(values: pa.ChunkedArray, column: Column, name: str, at: Location | None) -> pa.ChunkedArray:
    to = arrow_type(column.type)
    if values.type == to:
        return values
    kind = spark_type(values.type)
    plain = values.cast(arrow_type(kind))  # large texts, dictionaries and units are one type to Spark
    if plain.type == to:
        return plain
    if can_fit(kind, column.type):
        done = fitted(plain, to)
        fit = fits(plain, done)
        if pc.all(fit).as_py() in (True, None):
            return done
        first = plain.filter(pc.invert(fit))[0].as_py()
        why = f"{first!r} is no {column.type}"
    else:
        why = f"it is {kind} there"
    raise SourceError(
        f"column '{column.name}' of {name} does not fit {column.type}: {why}",
        at=at,
        hint=f"declare it as {kind}, or another type that has all its values",
    )

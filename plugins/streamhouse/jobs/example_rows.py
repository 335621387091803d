"""Rows as people write them in an example, as Arrow tables and back."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from streamhouse.model.table import Column
from streamhouse.sql.values import typed_value
from streamhouse.stores.arrow import arrow_schema

_FLOAT_DIGITS = 12  # sums of floats differ in the last digits with the order of the rows


def arrow_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> pa.Table:
    """Rows as an Arrow table; a column that a row lacks is NULL there.

    Raises:
        ValueError: a value is none of its column's type; the message names both.
    """
    found: dict[str, list[Any]] = {column.name: [] for column in columns}
    for number, row in enumerate(rows, 1):
        for column in columns:
            try:
                found[column.name].append(typed_value(row.get(column.name), column.type))
            except ValueError as error:
                raise ValueError(f"row {number}, column '{column.name}': {error}") from error
    return pa.table(found, schema=arrow_schema(columns))


def inferred_columns(rows: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Columns for rows of an input that takes any, typed by their first value; all NULL: string."""
    types: dict[str, str | None] = {}
    for row in rows:
        for name, value in row.items():
            types[name] = types.get(name) or _inferred(value)
    return tuple(Column(name=name, type=type_ or "string") for name, type_ in types.items())


def comparable(value: Any) -> Any:
    """A hashable value that is equal for values people take for equal."""
    if isinstance(value, float):
        return float(f"{value:.{_FLOAT_DIGITS}g}")
    if isinstance(value, Decimal):
        return value.normalize()
    if isinstance(value, dict):
        return tuple(sorted((key, comparable(inner)) for key, inner in value.items()))
    if isinstance(value, tuple):  # an entry of a map
        return tuple(comparable(inner) for inner in value)
    if isinstance(value, list):
        entries = [comparable(inner) for inner in value]
        is_map = bool(value) and all(isinstance(inner, tuple) for inner in value)
        return tuple(sorted(entries, key=repr) if is_map else entries)
    return value


def _inferred(value: Any) -> str | None:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "bigint"
    if isinstance(value, float):
        return "double"
    if isinstance(value, list):
        inner = next((found for item in value if (found := _inferred(item))), "string")
        return f"array<{inner}>"
    if isinstance(value, dict):
        fields = (f"{key}:{_inferred(item) or 'string'}" for key, item in value.items())
        return f"struct<{','.join(fields)}>"
    return None if value is None else "string"

"""Rows as people write them in an example, as values of given Spark types and back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
from sqlglot import exp

from streamhouse.model.table import Column
from streamhouse.sql.types import parse_type, type_name
from streamhouse.stores.arrow import arrow_schema

_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_FLOAT_DIGITS = 12  # sums of floats differ in the last digits with the order of the rows


def typed_value(value: Any, type_: str) -> Any:
    """A value from YAML as the Python value that Arrow takes for a Spark type.

    Numbers may be text where YAML would round them. A time without a zone is UTC. A struct lacks no
    field afterwards: one that was not written is None.

    Raises:
        ValueError: the value is none of the type.
    """
    return _typed(value, parse_type(type_))


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


def _typed(value: Any, tree: exp.DataType) -> Any:
    if value is None:
        return None
    if tree.this == exp.DataType.Type.ARRAY and isinstance(value, list | tuple):
        return [_typed(inner, tree.expressions[0]) for inner in value]
    if tree.this == exp.DataType.Type.MAP and isinstance(value, Mapping):
        key_type, value_type = tree.expressions
        return [(_typed(key, key_type), _typed(inner, value_type)) for key, inner in value.items()]
    if tree.this == exp.DataType.Type.STRUCT and isinstance(value, Mapping):
        return _struct(value, tree)
    name = type_name(tree)
    try:
        return _scalar(value, name)
    except (TypeError, ValueError, InvalidOperation) as error:
        raise ValueError(f"{value!r} is no {name}") from error


def _struct(value: Mapping[str, Any], tree: exp.DataType) -> dict[str, Any]:
    fields = {field.name: field.args["kind"] for field in tree.expressions}
    if unknown := sorted(set(value) - set(fields)):
        raise ValueError(f"{type_name(tree)} has no field '{unknown[0]}'")
    return {name: _typed(value.get(name), kind) for name, kind in fields.items()}


def _scalar(value: Any, name: str) -> Any:
    if name == "boolean":
        if isinstance(value, bool):
            return value
    elif isinstance(value, bool | list | dict):
        raise TypeError
    elif name in _INTEGERS:
        if Decimal(str(value)) == int(Decimal(str(value))):
            return int(Decimal(str(value)))
    elif name in ("float", "double"):
        return float(value)
    elif name.startswith("decimal("):
        number, scale = Decimal(str(value)), int(name.rstrip(")").split(",")[1])
        if number.is_finite() and number == round(number, scale):
            return round(number, scale)
    elif name == "date":
        return value if isinstance(value, date) else date.fromisoformat(value)
    elif name in ("timestamp", "timestamp_ntz"):
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        if name == "timestamp":
            return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
        if instant.tzinfo is None:
            return instant
    elif name == "string":
        return str(value)
    elif name == "binary":
        return value if isinstance(value, bytes) else str(value).encode()
    raise TypeError


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

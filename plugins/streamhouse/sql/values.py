"""Values as people write them in YAML, as values of given Spark types."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

from streamhouse.sql.types import parse_type, type_name

_INTEGER_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


def typed_value(value: Any, type_: str) -> Any:
    """A value from YAML as the Python value that Arrow takes for a Spark type.

    Numbers may be text where YAML would round them. A time without a zone is UTC. A struct lacks no
    field afterwards: one that was not written is None.

    Raises:
        ValueError: the value is none of the type.
    """
    return _typed(value, parse_type(type_))


def _typed(value: Any, tree: exp.DataType) -> Any:
    if value is None:
        return None
    if tree.this == exp.DataType.Type.ARRAY and isinstance(value, (list, tuple)):
        return [_typed(inner, tree.expressions[0]) for inner in value]
    if tree.this == exp.DataType.Type.MAP and isinstance(value, Mapping):
        key_type, value_type = tree.expressions
        return [(_typed(key, key_type), _typed(inner, value_type)) for key, inner in value.items()]
    if tree.this == exp.DataType.Type.STRUCT and isinstance(value, Mapping):
        return _struct(value, tree)
    name = type_name(tree)
    try:
        return _scalar(value, name)
    except (TypeError, ValueError, OverflowError, InvalidOperation) as error:
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
    elif isinstance(value, (bool, list, dict)):
        raise TypeError
    elif name in _INTEGER_BITS:
        whole, most = Decimal(str(value)), 2 ** _INTEGER_BITS[name]
        if whole == int(whole) and -most <= whole < most:
            return int(whole)
    elif name in ("float", "double"):
        return float(value)
    elif name.startswith("decimal("):
        precision, scale = map(int, name.removeprefix("decimal(").rstrip(")").split(","))
        number = Decimal(str(value))
        if number.is_finite() and abs(number) < 10 ** (precision - scale) and number == round(number, scale):
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

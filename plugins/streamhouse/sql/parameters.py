"""Parameters of an action: values of a declared type, put into the tree as typed literals."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from sqlglot import exp

from streamhouse.errors import Location, MissingParameterError, TypeMismatchError, did_you_mean
from streamhouse.model.action import Parameter
from streamhouse.sql.dialect import SPARK, place_of
from streamhouse.sql.spark_type import SparkType, spark_type

SAMPLED = "sampled"
"""Where a literal keeps that it stands for any value of a parameter."""

_INTEGER_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


def typed_literal(name: str, declared: str, value: Any, at: Location) -> exp.Expr:
    """The literal of type `declared` that stands for a parameter's value.

    Args:
        name: Of the parameter, for messages.
        declared: Spark SQL type.
        value: As read from YAML.
        at: Where the value was written.

    Raises:
        TypeMismatchError: the value is none of that type, or no literal of that type can be written.
    """
    kind = spark_type(declared)
    literal = _array(name, kind, value, at) if kind.element else _scalar(kind, value)
    if literal is None:
        raise TypeMismatchError(f"parameter '{name}' is {kind}, but its value is {value!r}", at=at, hint=_hint(kind))
    return literal


def _array(name: str, kind: SparkType, value: Any, at: Location) -> exp.Expr | None:
    if not isinstance(value, (list, tuple)):
        return None
    items = [typed_literal(name, str(kind.element), item, at) for item in value]
    return _cast(exp.Array(expressions=items), kind)


def _scalar(kind: SparkType, value: Any) -> exp.Expr | None:
    if kind.kind == "boolean":
        return exp.Boolean(this=value) if isinstance(value, bool) else None
    if kind.kind == "string":
        return exp.Literal.string(value) if isinstance(value, str) else None
    if kind.kind in {"date", "timestamp", "timestamp_ntz"}:
        return _instant(kind, value)
    if isinstance(value, bool):
        return None
    if kind.integral:
        fits = isinstance(value, int) and -(2 ** _INTEGER_BITS[kind.kind]) <= value < 2 ** _INTEGER_BITS[kind.kind]
        if not fits:
            return None
        number = _number(str(value))
        return number if kind.kind == "int" and value > -(2**31) else _cast(number, kind)
    if kind.kind in {"float", "double"} and isinstance(value, (int, float)):
        return _cast(exp.Literal.string(repr(float(value))), kind)
    if kind.kind == "decimal" and isinstance(value, (int, float, str, Decimal)):
        return _decimal(kind, value)
    return None


def _decimal(kind: SparkType, value: float | str | Decimal) -> exp.Expr | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    whole = len(str(abs(int(number)))) if int(number) else 0
    exponent = number.normalize().as_tuple().exponent
    fraction = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if whole > kind.precision - kind.scale or fraction > kind.scale:
        return None
    return _cast(exp.Literal.string(format(number, "f")), kind)


def _instant(kind: SparkType, value: Any) -> exp.Expr | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if kind.kind == "date":
        if isinstance(value, datetime):
            if value.time() != datetime.min.time():
                return None
            value = value.date()
        return _cast(exp.Literal.string(value.isoformat()), kind) if isinstance(value, date) else None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    if kind.kind == "timestamp":
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return timestamp_literal(aware)
    return _cast(exp.Literal.string(value.replace(tzinfo=None).isoformat(sep=" ")), kind)


def timestamp_literal(instant: datetime) -> exp.Expr:
    """An aware instant as a literal of type `timestamp`, to the microsecond."""
    text = instant.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
    return _cast(exp.Literal.string(f"{text}Z"), spark_type("timestamp"))


def _number(text: str) -> exp.Expr:
    number = exp.Literal.number(text.removeprefix("-"))
    return exp.Neg(this=number) if text.startswith("-") else number


def _cast(value: exp.Expr, kind: SparkType) -> exp.Expr:
    # Not exp.cast: it leaves the CAST out where it believes the type is right already.
    return exp.Cast(this=value, to=_type(str(kind)).copy())


@lru_cache(maxsize=256)
def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=SPARK)


def _hint(kind: SparkType) -> str | None:
    if kind.kind in {"date", "timestamp", "timestamp_ntz"}:
        return "write it as 2024-01-31 or '2024-01-31 12:00:00'"
    if kind.kind == "string":
        return "put it in quotes"
    return None


def fill_parameters(
    tree: exp.Query, declared: Mapping[str, Parameter], values: Mapping[str, exp.Expr], sql: str, at: Location
) -> None:
    """Replace every `:name` in the tree by its value.

    Raises:
        MissingParameterError: the SQL uses a parameter that is not declared.
    """
    for node in list(tree.find_all(exp.Placeholder)):
        name = node.name
        if name not in declared:
            raise MissingParameterError(
                f"the SQL uses :{name}, which 'params' does not declare",
                at=place_of(node, sql, at) if node.meta else _parameter_place(name, sql, at),
                hint=did_you_mean(name, declared, "declare it in the header: params: {" + name + ": {type: int}}"),
            )
        if name in values:
            node.replace(values[name].copy())


def _parameter_place(name: str, sql: str, at: Location) -> Location:
    from streamhouse.sql.header import place_in

    offset = sql.find(f":{name}")
    return place_in(sql, max(offset, 0), at)

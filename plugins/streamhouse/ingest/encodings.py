"""The values of Debezium's JSON as Arrow columns of the types that are wanted.

JSON has neither decimals, times nor bytes. Debezium writes them as numbers and texts, and what these mean
stands in the schema part of an event, where there is one.
"""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.ingest.times import as_days, as_instants
from streamhouse.stores.arrow import arrow_type

TimeUnit = Literal["ms", "us", "ns"]
UNAVAILABLE = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
"""Text and bytes that stand where PostgreSQL did not tell a long value, because it did not change."""

_DAYS = {"io.debezium.time.Date", "org.apache.kafka.connect.data.Date"}
_UNITS: dict[str, TimeUnit] = {
    "io.debezium.time.Timestamp": "ms",
    "org.apache.kafka.connect.data.Timestamp": "ms",
    "io.debezium.time.MicroTimestamp": "us",
    "io.debezium.time.NanoTimestamp": "ns",
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"

NotConverted = (ValueError, TypeError, ArithmeticError, LookupError, pa.ArrowException)
"""What `to_arrow` raises for a value that does not fit."""


@dataclass(frozen=True)
class Encoding:
    """How a field is written.

    Attributes:
        name: Kafka Connect's semantic type, such as `io.debezium.time.Date`; empty: none, or not known.
        scale: Of a decimal written as bytes.
        default: What the converter may write where a nullable column is NULL; None: nothing.
    """

    name: str = ""
    scale: int | None = None
    default: Any = None


def encodings_of(schema: Any) -> dict[str, Encoding]:
    """Column → how its values are written, by the schema part of an event; {} when it does not tell."""
    rows = [f for f in _fields(schema) if f.get("field") in ("after", "before")]
    return {
        str(column.get("field")): _encoding(column)
        for row in sorted(rows, key=lambda f: f["field"], reverse=True)  # `after` overwrites `before`
        for column in _fields(row)
    }


def _fields(schema: Any) -> list[dict[str, Any]]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    return [field for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []


def _encoding(column: Mapping[str, Any]) -> Encoding:
    name = str(column.get("name") or "")
    parameters = column.get("parameters")
    scale = parameters.get("scale") if name == _DECIMAL and isinstance(parameters, dict) else None
    default = column.get("default") if column.get("optional") else None
    return Encoding(name, None if scale is None else int(scale), default)


def to_arrow(values: Sequence[Any], type_: str, encoding: Encoding, unit: TimeUnit | None) -> pa.Array:
    """JSON values as a column.

    Args:
        values: As parsed; None is null.
        type_: The Spark SQL type wanted.
        encoding: How they are written.
        unit: Of times that are numbers, where `encoding` does not tell.

    Raises:
        NotConverted, TypeError: a value does not fit.
    """
    target = arrow_type(type_)
    kinds = set(map(type, values)) - {type(None)}
    if not kinds:
        return pa.nulls(len(values), target)
    if pa.types.is_decimal(target) and (kinds != {str} or encoding.scale is not None):
        return pa.array([None if v is None else _decimal(v, encoding.scale) for v in values], target)
    if len(kinds) > 1:
        if kinds == {int, float} and pa.types.is_floating(target):
            return pa.array(values, target)
        return pa.concat_arrays([to_arrow([value], type_, encoding, unit) for value in values])
    kind = kinds.pop()
    if type_ in ("date", "timestamp", "timestamp_ntz") and kind is not bool:
        if kind is str:
            return _texts_to_time(values, type_)
        return _numbers_to_time(_whole(values, kind), type_, encoding, unit)
    if type_ == "binary":
        return pa.array([None if v is None else b64decode(v, validate=True) for v in values], target)
    if pa.types.is_map(target) and kind is dict:
        return pa.array([None if v is None else list(v.items()) for v in values], target)
    if kind is bool and type_ != "boolean":
        raise TypeError(f"a boolean is no {type_}")
    if kind is str and type_ != "string":
        return pa.array(values, pa.string()).cast(target)
    if pa.types.is_integer(target):
        return _whole(values, kind).cast(target)
    return pa.array(values, target)


def _whole(values: Sequence[Any], kind: type) -> pa.Array:
    if kind is float:  # Arrow would cut what stands behind the point
        return pa.array(values, pa.float64()).cast(pa.int64())
    return pa.array(values, pa.int64())


def _decimal(value: Any, scale: int | None) -> Decimal:
    if isinstance(value, dict):  # io.debezium.data.VariableScaleDecimal
        return _unscaled(value["value"], int(value["scale"]))
    if isinstance(value, bool):
        raise TypeError("a boolean is no decimal")
    if isinstance(value, str) and scale is not None:
        return _unscaled(value, scale)
    return Decimal(value if isinstance(value, str) else repr(value))  # repr: the digits that stood there


def _unscaled(value: str, scale: int) -> Decimal:
    number = int.from_bytes(b64decode(value, validate=True), "big", signed=True)
    return Decimal(f"{number}e{-scale}")  # arithmetic would round to 28 digits


def _texts_to_time(values: Sequence[Any], type_: str) -> pa.Array:
    texts = pa.array(values, pa.string())
    if type_ == "timestamp":
        return as_instants(texts)
    return as_days(texts) if type_ == "date" else texts.cast(arrow_type(type_))


def _numbers_to_time(numbers: pa.Array, type_: str, encoding: Encoding, unit: TimeUnit | None) -> pa.Array:
    known = _UNITS.get(encoding.name)
    if encoding.name in _DAYS or (type_ == "date" and known is None):
        return numbers.cast(pa.int32()).cast(pa.date32()).cast(arrow_type(type_))
    precision = known or unit
    if precision is None:
        raise ValueError("a time is a number, and neither a schema part nor 'time_unit' gives its unit")
    times = numbers.cast(pa.timestamp(precision))
    if precision == "ns":
        times = pc.floor_temporal(times, unit="microsecond")  # the cast alone would go towards 1970
    times = times.cast(pa.timestamp("us"))
    return pc.assume_timezone(times, "UTC") if type_ == "timestamp" else times.cast(arrow_type(type_))

"""The values of Debezium's JSON as Arrow columns of the types that are wanted.

JSON has neither decimals, times nor bytes. Debezium writes them as numbers and texts, and what these mean
stands in the schema part of an event, where there is one.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, DecimalException
from hashlib import md5
from typing import Any, Literal
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic_core import from_json

from streamhouse.ingest.floats import as_floats
from streamhouse.ingest.texts import texts_as
from streamhouse.ingest.times import as_days, as_instants
from streamhouse.ingest.years import within_years
from streamhouse.stores.arrow import arrow_type, spark_type
from streamhouse.stores.decimals import exact_decimal

TimeUnit = Literal["ms", "us", "ns"]
_MARK = b"__debezium_unavailable_value"
_MARK_NUMBERS = list(_MARK)
UNAVAILABLE = (
    _MARK.decode(),
    b64encode(_MARK).decode(),
    str(UUID(bytes=md5(_MARK, usedforsecurity=False).digest(), version=3)),
    f'{{"{_MARK.decode()}":"{_MARK.decode()}"}}',
)
"""Text, bytes, UUID and JSON in place of a long value that PostgreSQL did not send, because it did not change."""

WRITTEN_FOR_NULL = "streamhouse.written_for_null"
"""Key of a schema part of ours: the value that stands for NULL, too, and is no DEFAULT of the database."""

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
        inner: How values within are written: of a struct by field, of others by `items`, `keys` and `values`.
    """

    name: str = ""
    scale: int | None = None
    default: Any = None
    inner: Mapping[str, "Encoding"] = field(default_factory=dict)


_PLAIN = Encoding()
_FRACTION = re.compile(rb"[0-9][.eE][0-9+-]")
_MARKED = (_MARK, *(one.encode() for one in UNAVAILABLE[1:3]))
_NUMBERED = re.compile(rb"\s*,\s*".join(b"%d(?:\\.0)?" % number for number in _MARK))
_WHOLE_DECIMAL = pa.decimal128(38, 0)
_DOUBLES_HAVE_GAPS = 2**53
"""From here on a double may be another whole number than the one that was written."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FEW_LEVELS = 200
_HALF_OF_A_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_SCALE = re.compile(r"-?[0-9]{1,3}", re.ASCII)


class SchemaPartError(ValueError):
    """The schema part of an event is none that Kafka Connect writes."""


def parsed(line: bytes, *, exact: bool = False) -> Any:
    """The JSON of a line, which may begin with a byte order mark.

    Args:
        line: One value.
        exact: Numbers with a fraction are `Decimal` with the digits that are written, and not `float`.

    Raises:
        ValueError: it is no JSON.
    """
    text = line.removeprefix(_BYTE_ORDER_MARK)
    if not exact or not _FRACTION.search(text):
        return from_json(text)
    if text.count(b"{") + text.count(b"[") > _FEW_LEVELS or _HALF_OF_A_CHARACTER.search(text):
        from_json(text)  # refuses what `json` takes, and what else reads the line refuses
    try:
        return json.loads(text.decode(), parse_float=Decimal)
    except DecimalException as error:
        raise ValueError("the exponent of a number is too large") from error


def may_be_unavailable(line: bytes) -> bool:
    """Whether an event may have a value that `is_unavailable`; False: it has none."""
    return any(part in line for part in _MARKED) or _NUMBERED.search(line) is not None


def is_unavailable(value: Any) -> bool:
    """Whether a value, at any depth, was not sent by PostgreSQL because it did not change.

    Example:
        >>> is_unavailable(["a", "__debezium_unavailable_value"]), is_unavailable({"a": None})
        (True, False)
    """
    if isinstance(value, str):
        return value in UNAVAILABLE
    if isinstance(value, list):  # of numbers: one for each byte of the mark
        return any(map(is_unavailable, value)) or value == _MARK_NUMBERS
    if isinstance(value, dict):
        return any(is_unavailable(name) or is_unavailable(inner) for name, inner in value.items())
    return False


def encodings_of(schema: Any) -> dict[str, Encoding]:
    """Column → how its values are written, by the schema part of an event; {} when it does not tell.

    Raises:
        SchemaPartError: it is none that Kafka Connect writes.
    """
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
    default = column.get(WRITTEN_FOR_NULL, column.get("default")) if column.get("optional") else None
    inner = {str(part.get("field")): _encoding(part) for part in _fields(column)}
    inner |= {
        part: _encoding(column[part]) for part in ("items", "keys", "values") if isinstance(column.get(part), dict)
    }
    try:
        return Encoding(name, None if scale is None else _scale(scale), default, inner)
    except ValueError as error:
        raise SchemaPartError(f"the schema part has {error}") from error


def _scale(written: Any) -> int:
    if isinstance(written, bool) or not _SCALE.fullmatch(str(written)):
        raise ValueError(f"the scale {written!r:.60} of a decimal, which is no whole number")
    return int(written)


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
    if pa.types.is_nested(target):
        return _nested(values, target, encoding, unit)
    if pa.types.is_floating(target) and kinds <= {int, float, Decimal}:
        return as_floats(values, target)
    if pa.types.is_decimal(target) and (kinds != {str} or encoding.scale is not None):
        numbers = (v if v is None else _decimal(v, encoding.scale) for v in values)
        return pa.array([n if n is None else exact_decimal(n, target) for n in numbers], target)
    if len(kinds) > 1:
        return pa.concat_arrays([to_arrow([value], type_, encoding, unit) for value in values])
    kind = kinds.pop()
    if type_ in ("date", "timestamp", "timestamp_ntz") and kind is not bool:
        if kind is str:
            return within_years(_texts_to_time(values, type_))
        return within_years(_numbers_to_time(_whole(values, kind), type_, encoding, unit))
    if type_ == "binary":
        return pa.array([None if v is None else b64decode(v, validate=True) for v in values], target)
    if kind is bool and type_ != "boolean":
        raise TypeError(f"a boolean is no {type_}")
    if kind is str and type_ != "string":
        return texts_as(pa.array(values, pa.string()), target)
    if pa.types.is_integer(target):
        return _whole(values, kind).cast(target)
    return pa.array(values, target)


def _nested(values: Sequence[Any], target: pa.DataType, encoding: Encoding, unit: TimeUnit | None) -> pa.Array:
    """Arrays, maps and structs: what they have is written like columns."""

    def within(some: Sequence[Any], data_type: pa.DataType, part: str) -> pa.Array:
        return to_arrow(some, spark_type(data_type), encoding.inner.get(part, _PLAIN), unit)

    kind = dict if pa.types.is_struct(target) else list
    if pa.types.is_map(target):
        values = [_entries(v) for v in values]
    if odd := [v for v in values if v is not None and not isinstance(v, kind)]:
        raise TypeError(f"{odd[0]!r:.60} is no {spark_type(target)}")
    mask = pa.array([v is None for v in values], pa.bool_()) if None in values else None
    if pa.types.is_struct(target):
        arrays = [within([None if v is None else v.get(f.name) for v in values], f.type, f.name) for f in target]
        return pa.StructArray.from_arrays(arrays, fields=list(target), mask=mask)
    items = [item for v in values for item in v or ()]
    ends = np.cumsum([0, *(len(v or ()) for v in values)])
    if pa.types.is_list(target):
        return pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), within(items, target.value_type, "items"), mask=mask
        )
    keys = within([key for key, _ in items], target.key_type, "keys")
    return pa.MapArray.from_arrays(
        pa.array(ends, pa.int32()), keys, within([v for _, v in items], target.item_type, "values"), mask=mask
    )


def _entries(value: Any) -> Any:
    """A map as pairs of key and value: keys that are texts make an object, others a list of pairs."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list):
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            raise TypeError(f"{value!r:.60} has an entry that is no pair of key and value")
        if len({repr(key) for key, _ in value}) < len(value):
            raise ValueError("a key is there twice")
    return value


def _whole(values: Sequence[Any], kind: type) -> pa.Array:
    if kind is Decimal:
        exact = [None if v is None else exact_decimal(v, _WHOLE_DECIMAL) for v in values]
        return pa.array(exact, _WHOLE_DECIMAL).cast(pa.int64())
    if kind is float:  # Arrow would cut what stands behind the point
        if any(v is not None and abs(v) >= _DOUBLES_HAVE_GAPS for v in values):
            raise ValueError("so large a number loses digits if it has a point or an exponent: write all of its digits")
        return pa.array(values, pa.float64()).cast(pa.int64())
    return pa.array(values, pa.int64())


def _decimal(value: Any, scale: int | None) -> Decimal:
    if isinstance(value, dict):  # io.debezium.data.VariableScaleDecimal
        return _unscaled(value["value"], _scale(value["scale"]))
    if isinstance(value, bool):
        raise TypeError("a boolean is no decimal")
    if isinstance(value, str) and scale is not None:
        return _unscaled(value, scale)
    return value if isinstance(value, Decimal) else Decimal(value if isinstance(value, str) else repr(value))


def _unscaled(value: str, scale: int) -> Decimal:
    digits = b64decode(value, validate=True)
    if not digits:
        raise ValueError("a decimal has no byte")
    number = int.from_bytes(digits, "big", signed=True)
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
    if type_ == "date":
        return _days(times)
    if precision == "ns":
        times = pc.floor_temporal(times, unit="microsecond")  # the cast alone would go towards 1970
    times = times.cast(pa.timestamp("us"))
    return pc.assume_timezone(times, "UTC") if type_ == "timestamp" else times


def _days(times: pa.Array) -> pa.Array:
    days = times.cast(pa.date32())
    if not days.cast(times.type).equals(times):
        raise ValueError("a time of day would be lost; declare a timestamp")
    return days

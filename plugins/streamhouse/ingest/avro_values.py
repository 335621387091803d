"""Values of Avro without logical types as Arrow columns of the types that a flow declares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.ingest.avro_schema import TIMES_OF_DAY, AvroType
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.stores.arrow import spark_type
from streamhouse.stores.decimals import exact_decimal

_UNITS = {"millis": "ms", "micros": "us", "nanos": "ns"}
_LONG_DIGITS = 19
_LONG_END = 1 << 63


@dataclass(frozen=True)
class ValueReader:
    """How values of one Avro type become a column.

    Attributes:
        physical: Arrow's type of the values as Avro has them.
        convert: From that to the wanted type.
        prepare: What must be done to a value before Arrow takes it; None: nothing.
    """

    physical: pa.DataType
    convert: Callable[[pa.Array], pa.Array]
    prepare: Callable[[Any], Any] | None = None

    def column(self, values: Sequence[Any]) -> pa.Array:
        """The values as a column of the wanted type.

        Raises:
            pa.ArrowInvalid, ValueError, OverflowError: a value does not fit.
        """
        if self.prepare is not None:
            values = [None if value is None else self.prepare(value) for value in values]
        return self.convert(pa.array(values, self.physical))


def value_reader(found: AvroType, target: pa.DataType) -> ValueReader:
    """How to read a type as another.

    Raises:
        UnreadableError: it is never read so.
    """
    kind, logical, types = found.kind, found.logical, pa.types
    if kind == "record" and types.is_struct(target):
        return _record(found, target)
    if kind == "array" and types.is_list(target) and found.items is not None:
        return _array(value_reader(found.items, target.value_type), target)
    if kind == "map" and types.is_map(target) and types.is_string(target.key_type) and found.items is not None:
        return _map(value_reader(found.items, target.item_type), target)
    if logical == "decimal" and types.is_decimal(target):
        return ValueReader(pa.binary(), lambda values: _decimals(values, found.scale, target))
    if (day := TIMES_OF_DAY.get((kind, logical))) is not None:
        if (reader := _simple(kind, target)) is not None:
            return ValueReader(reader.physical, lambda values: reader.convert(_within_day(values, day)))
    elif logical.endswith(("-millis", "-micros", "-nanos")):
        if types.is_timestamp(target) and bool(target.tz) != logical.startswith("local"):
            return ValueReader(pa.int64(), lambda values: _times(values, _UNITS[logical.rpartition("-")[2]], target))
    elif logical == "date":
        if types.is_date(target):
            return ValueReader(pa.int32(), lambda values: values.cast(target))
    elif logical == "uuid" and kind == "fixed":
        if types.is_string(target):
            return ValueReader(pa.string(), lambda values: values, lambda value: str(UUID(bytes=value)))
    elif (simple := _simple(kind, target)) is not None and not logical.startswith("decimal"):
        return simple
    raise UnreadableError("type", f"{found.spark_type} is not read as {spark_type(target)}")


def _simple(kind: str, target: pa.DataType) -> ValueReader | None:
    types = pa.types
    if kind in ("int", "long") and (types.is_integer(target) or types.is_floating(target)):
        return ValueReader(pa.int64(), lambda values: values.cast(target))
    if kind in ("int", "long") and types.is_decimal(target):
        return ValueReader(pa.int64(), lambda values: _whole_decimals(values, target))
    if kind in ("float", "double") and types.is_floating(target) and (kind == "float" or types.is_float64(target)):
        return ValueReader(pa.float32() if kind == "float" else pa.float64(), lambda values: values.cast(target))
    same = (
        (kind == "boolean" and types.is_boolean(target))
        or (kind in ("string", "enum") and types.is_string(target))
        or (kind in ("bytes", "fixed") and types.is_binary(target))
    )
    return ValueReader(target, lambda values: values) if same else None


def _record(found: AvroType, target: pa.DataType) -> ValueReader:
    fields = dict(found.fields)
    readers = {field.name: value_reader(fields[field.name], field.type) for field in target if field.name in fields}
    physical = pa.struct([(name, reader.physical) for name, reader in readers.items()])
    prepared = {name: reader.prepare for name, reader in readers.items() if reader.prepare is not None}

    def convert(values: pa.Array) -> pa.Array:
        parts = dict(zip(readers, values.flatten(), strict=True))  # flatten: null where the whole is
        columns = [
            readers[field.name].convert(parts[field.name]) if field.name in parts else pa.nulls(len(values), field.type)
            for field in target
        ]
        return pa.StructArray.from_arrays(columns, fields=list(target), mask=_nulls(values))

    def prepare(value: dict[str, Any]) -> dict[str, Any]:
        changed = {name: one(value[name]) for name, one in prepared.items() if value[name] is not None}
        return {**value, **changed}

    return ValueReader(physical, convert, prepare if prepared else None)


def _array(items: ValueReader, target: pa.DataType) -> ValueReader:
    inner = items.prepare

    def convert(values: pa.Array) -> pa.Array:
        return pa.ListArray.from_arrays(values.offsets, items.convert(values.values), target, mask=_nulls(values))

    def prepare(value: list[Any]) -> list[Any]:
        assert inner is not None
        return [None if one is None else inner(one) for one in value]

    return ValueReader(pa.list_(items.physical), convert, prepare if inner is not None else None)


def _map(items: ValueReader, target: pa.DataType) -> ValueReader:
    inner = items.prepare or (lambda value: value)

    def convert(values: pa.Array) -> pa.Array:
        lists = pa.ListArray.from_arrays(values.offsets, values.keys, mask=_nulls(values))
        converted = pa.MapArray.from_arrays(lists.offsets, values.keys, items.convert(values.items), target)
        # from_arrays takes no mask: a null offset would be one, and is not to be had of a list.
        return pc.if_else(values.is_valid(), converted, pa.scalar(None, target)) if values.null_count else converted

    def prepare(value: dict[str, Any]) -> list[tuple[str, Any]]:
        return [(key, None if one is None else inner(one)) for key, one in value.items()]

    return ValueReader(pa.map_(pa.string(), items.physical), convert, prepare)


def _nulls(values: pa.Array) -> pa.Array | None:
    return values.is_null() if values.null_count else None


def _times(values: pa.Array, unit: str, target: pa.DataType) -> pa.Array:
    times = values.view(pa.timestamp(unit, target.tz))
    if unit == "ns":
        times = pc.floor_temporal(times, unit="microsecond")  # a cast alone would go towards 1970
    return times.cast(target)


def _within_day(values: pa.Array, day: int) -> pa.Array:
    bounds = pc.min_max(values)
    for found in (bounds["min"].as_py(), bounds["max"].as_py()):
        if found is not None and not 0 <= found < day:
            raise UnreadableError("type", f"a time of day is {found}, and a day has {day}")
    return values


def _whole_decimals(values: pa.Array, target: pa.DataType) -> pa.Array:
    if target.scale > DECIMAL_DIGITS - _LONG_DIGITS:
        return pa.array([None if one is None else Decimal(one) for one in values.to_pylist()], target)
    return values.cast(pa.decimal128(_LONG_DIGITS + target.scale, target.scale)).cast(target)


def _decimals(values: pa.Array, scale: int, target: pa.DataType) -> pa.Array:
    """Numbers as the bytes of their digits without the point, the highest byte first."""
    if pc.any(pc.equal(pc.binary_length(values), 0)).as_py():
        raise UnreadableError("type", "a decimal has no byte")
    whole = [None if one is None else int.from_bytes(one, "big", signed=True) for one in values.to_pylist()]
    if scale <= DECIMAL_DIGITS - _LONG_DIGITS and all(one is None or -_LONG_END <= one < _LONG_END for one in whole):
        unscaled = pa.array(whole, pa.int64()).cast(pa.decimal128(DECIMAL_DIGITS, 0))
        return pa.Array.from_buffers(pa.decimal128(DECIMAL_DIGITS, scale), len(unscaled), unscaled.buffers()).cast(
            target
        )
    # Arithmetic of decimals would round to 28 digits; a text does not.
    numbers = (one if one is None else Decimal(f"{one}e{-scale}") for one in whole)
    return pa.array([one if one is None else exact_decimal(one, target) for one in numbers], target)

"""Messages of one Protobuf schema as rows."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import pyarrow as pa

from streamhouse.ingest.column_errors import in_column
from streamhouse.ingest.protobuf_schema import (
    ProtobufFile,
    field_type,
    is_enum,
    is_map,
    is_message,
    is_timestamp,
    is_wrapper,
    protobuf_file,
)
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type, spark_type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_VARINT = 10
_SECOND_NS = 1_000_000_000
Get = Callable[[Any], Any]
"""A message → the value of one of its fields, None where it is absent."""


def protobuf_fields(schema: RegisteredSchema, message: str | None) -> Sequence[Any]:
    """The fields of a message of a schema, by its name without the package; None: of the first.

    Raises:
        UnreadableError: it is no Protobuf, or has no such message.
        MissingPackageError: the compiler is not installed.
    """
    file = protobuf_file(schema)
    return list((file.message((0,)) if message is None else file.named(message)).fields)


def misfit(field: Any, target: pa.DataType) -> str:
    """Why values of a field are never read as a type; empty: they are."""
    natural = arrow_type(field_type(field))
    return "" if _fits(natural, target) else f"{spark_type(natural)} is not read as {spark_type(target)}"


def protobuf_rows(
    schema: RegisteredSchema, values: Sequence[bytes], skip: int, columns: tuple[Column, ...]
) -> pa.Table:
    """One row for each message; a column that the schema lacks is null.

    Args:
        schema: The writer's.
        values: The messages.
        skip: Bytes before the place of the message in its schema.
        columns: Those wanted.

    Raises:
        UnreadableError: a message is none of the schema, or a value does not fit its column.
    """
    path, _ = _path(values[0], skip)
    kind, getters = _reading(schema, path, columns)
    messages = [_parsed(kind, value, skip, path) for value in values]
    arrays = []
    for column in columns:
        target = arrow_type(column.type)
        if column.name not in getters:
            arrays.append(pa.nulls(len(values), target))
            continue
        natural = arrow_type(field_type(kind.DESCRIPTOR.fields_by_name[column.name]))
        with in_column(column.name):
            arrays.append(_cast(pa.array([getters[column.name](m) for m in messages], natural), target))
    return pa.table(arrays, names=[c.name for c in columns])


def message_of(file: ProtobufFile, value: bytes, skip: int) -> Any:
    """A message of a schema.

    Args:
        file: The schema.
        value: The message.
        skip: Bytes before its place in the schema.

    Raises:
        UnreadableError: it is none of the schema.
    """
    from google.protobuf.message_factory import GetMessageClass

    path, _ = _path(value, skip)
    return _parsed(GetMessageClass(file.message(path)), value, skip, path)


def message_path(value: bytes, skip: int) -> tuple[int, ...]:
    """Which message of its schema a value is.

    Raises:
        UnreadableError: it does not say so.
    """
    return _path(value, skip)[0]


def _path(value: bytes, skip: int) -> tuple[tuple[int, ...], int]:
    """Which message of the schema a value is, and where its fields begin."""
    count, at = _varint(value, skip)
    if count == 0:
        return (0,), at
    found = []
    for _ in range(min(count, len(value))):
        index, at = _varint(value, at)
        found.append(index)
    return tuple(found), at


def _varint(value: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift, byte in enumerate(value[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << (7 * shift)
        if not byte & 0x80:
            return (number >> 1) ^ -(number & 1), at + shift + 1
    raise UnreadableError("malformed", "it does not say which message of its schema it is")


def _parsed(kind: Any, value: bytes, skip: int, path: tuple[int, ...]) -> Any:
    from google.protobuf.message import DecodeError

    own, begin = _path(value, skip)
    if own != path:
        raise UnreadableError("malformed", "messages of several kinds are read one by one")
    try:
        return kind.FromString(value[begin:])
    except DecodeError as error:
        reason = "encoding" if "utf-8" in str(error).lower() else "malformed"
        raise UnreadableError(reason, f"it is no message of its schema: {error}") from error


@lru_cache(maxsize=256)
def _reading(
    schema: RegisteredSchema, path: tuple[int, ...], columns: tuple[Column, ...]
) -> tuple[Any, dict[str, Get]]:
    from google.protobuf.message_factory import GetMessageClass

    descriptor = protobuf_file(schema).message(path)
    getters: dict[str, Get] = {}
    for column in columns:
        field = descriptor.fields_by_name.get(column.name)
        if field is not None:
            with in_column(column.name):
                if wrong := misfit(field, arrow_type(column.type)):
                    raise UnreadableError("type", wrong)
            getters[column.name] = _getter(field)
    return GetMessageClass(descriptor), getters


def _getter(field: Any) -> Get:
    name = field.name
    if is_map(field):
        value = _plain(field.message_type.fields_by_name["value"])
        return lambda message: [(key, value(one)) for key, one in getattr(message, name).items()]
    plain = _plain(field)
    if field.is_repeated:
        return lambda message: [plain(one) for one in getattr(message, name)]
    if field.has_presence:
        return lambda message: plain(getattr(message, name)) if message.HasField(name) else None
    return lambda message: plain(getattr(message, name))


def _plain(field: Any) -> Get:
    if is_timestamp(field):
        return _instant
    if is_wrapper(field):
        return lambda value: value.value
    if is_message(field):
        getters = {one.name: _getter(one) for one in field.message_type.fields}
        return lambda value: {name: get(value) for name, get in getters.items()}
    if is_enum(field):
        names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
        return lambda value: names.get(value, str(value))
    return lambda value: value


def _instant(value: Any) -> datetime:
    if not 0 <= value.nanos < _SECOND_NS:
        raise UnreadableError("type", f"an instant has {value.nanos} nanoseconds")
    try:
        return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    except OverflowError as error:
        text = f"a day or time is outside of the years 1 to 9999: {value.seconds} seconds since 1970"
        raise UnreadableError("type", text) from error


def _fits(natural: pa.DataType, target: pa.DataType) -> bool:
    types = pa.types
    if natural == target:
        return True
    if types.is_struct(natural) and types.is_struct(target):
        inner = {field.name: field.type for field in natural}
        return all(field.name not in inner or _fits(inner[field.name], field.type) for field in target)
    if types.is_list(natural) and types.is_list(target):
        return _fits(natural.value_type, target.value_type)
    if types.is_map(natural) and types.is_map(target):
        return natural.key_type == target.key_type and _fits(natural.item_type, target.item_type)
    if types.is_integer(natural):
        return bool(types.is_integer(target) or types.is_floating(target) or types.is_decimal(target))
    if types.is_decimal(natural):
        return bool(types.is_decimal(target) or types.is_integer(target))
    return bool(types.is_float32(natural) and types.is_float64(target))


def _cast(array: pa.Array, target: pa.DataType) -> pa.Array:
    if array.type == target:
        return array
    if pa.types.is_nested(target) or pa.types.is_decimal(target):
        return pa.array(array.to_pylist(), target)  # of a struct, Arrow takes the fields by their names
    return array.cast(target)

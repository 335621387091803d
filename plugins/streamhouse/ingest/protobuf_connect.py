"""Messages of Protobuf that Kafka Connect wrote, as its JSON converter writes them: schema part and payload. Pure.

A field of a simple type that is NULL is not set, and reads as its default, such as 0. With `optional.for.nullables` or
`wrapper.for.nullables` the converter writes NULL apart. Where a row shows neither, the schema part names the defaults,
so that nothing takes them for values (`Encoding.default`). The same holds for lists that are empty.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from streamhouse.ingest.encodings import WRITTEN_FOR_NULL
from streamhouse.ingest.protobuf_rows import message_of
from streamhouse.ingest.protobuf_schema import (
    is_enum,
    is_map,
    is_message,
    is_wrapper,
    noted_of,
    protobuf_file,
    simple_type,
)
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError

_EPOCH = date(1970, 1, 1)
_SECOND_NS = 1_000_000_000
_ROWS = ("before", "after")
_KINDS = {
    "int": "int32",
    "bigint": "int64",
    "decimal(20,0)": "int64",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "binary": "bytes",
}
_TIMESTAMP = "google.protobuf.Timestamp"
_DATE, _TIME, _DECIMAL = "google.type.Date", "google.type.TimeOfDay", "confluent.type.Decimal"
_SEMANTIC: Mapping[str, tuple[str, str]] = {
    _TIMESTAMP: ("int64", "io.debezium.time.MicroTimestamp"),
    _DATE: ("int32", "org.apache.kafka.connect.data.Date"),
    _TIME: ("int64", "io.debezium.time.MicroTime"),
    _DECIMAL: ("bytes", "org.apache.kafka.connect.data.Decimal"),
}
"""Message → type and name of it in Connect's schema part."""


class ConnectMessages:
    """Writes messages of one schema as JSON.

    Args:
        schema: The writer's.

    Raises:
        UnreadableError: it is no Protobuf.
        MissingPackageError: the compiler is not installed.
    """

    def __init__(self, schema: RegisteredSchema) -> None:
        self._file = protobuf_file(schema)
        self._begins: dict[str, bytes] = {}  # message → its schema part

    @property
    def part(self) -> dict[str, Any]:
        """The schema part of the first message.

        Raises:
            UnreadableError: it has none, or one that has itself in it.
        """
        return _whole(self._file.message((0,)))

    def text(self, value: bytes, skip: int) -> bytes:
        """A message as JSON; those of one kind begin alike.

        Args:
            value: The message.
            skip: Bytes before the place of the message in its schema.

        Raises:
            UnreadableError: it is no message of the schema, or has a value that JSON does not have.
        """
        message = message_of(self._file, value, skip)
        descriptor = message.DESCRIPTOR
        begin = self._begins.get(descriptor.full_name)
        if begin is None:
            begin = b'{"schema":' + json.dumps(_whole(descriptor)).encode() + b',"payload":'
            self._begins[descriptor.full_name] = begin
        return begin + json.dumps(_struct(message)).encode() + b"}"


@lru_cache(maxsize=256)
def connect_messages(schema: RegisteredSchema) -> ConnectMessages:
    """The writer of a schema; see `ConnectMessages`."""
    return ConnectMessages(schema)


def _whole(descriptor: Any) -> dict[str, Any]:
    return {"type": "struct", "optional": False, "fields": _fields(descriptor, ())}


def _fields(descriptor: Any, around: tuple[str, ...]) -> list[dict[str, Any]]:
    name = descriptor.full_name
    if name in around:
        raise UnreadableError("schema", f"the message {name} has itself in it")
    found = []
    for field in descriptor.fields:
        part = _part(field, (*around, name))
        if not around and field.name in _ROWS and part.get("fields"):
            _name_defaults(field.message_type, part["fields"])
        found.append({**part, "field": field.name})
    return found


def _name_defaults(row: Any, parts: list[dict[str, Any]]) -> None:
    """Note where a value of a row may be NULL: a list that is empty, and a default if no field can be absent."""
    tells_nulls = any(is_wrapper(one) or (one.has_presence and not is_message(one)) for one in row.fields)
    for field, part in zip(row.fields, parts, strict=True):
        if field.is_repeated:
            part |= {"optional": True, WRITTEN_FOR_NULL: {} if _has_text_keys(field) else []}
        elif not field.has_presence and not tells_nulls:
            part |= {"optional": True, WRITTEN_FOR_NULL: _plain(field, field.default_value)}


def _part(field: Any, around: tuple[str, ...]) -> dict[str, Any]:
    """The schema part of a field."""
    if is_map(field):
        keys, values = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return {"type": "map", "optional": False, "keys": _one(keys, around), "values": _one(values, around)}
    one = _one(field, around)
    return {"type": "array", "optional": False, "items": one} if field.is_repeated else one


def _one(field: Any, around: tuple[str, ...]) -> dict[str, Any]:
    optional = bool(field.has_presence and not field.is_repeated)
    if is_wrapper(field):
        return {**_one(field.message_type.fields_by_name["value"], around), "optional": True}
    if not is_message(field):
        return {"type": _KINDS[simple_type(field)], "optional": optional}
    semantic = _SEMANTIC.get(field.message_type.full_name)
    if semantic is None:
        return {"type": "struct", "optional": optional, "fields": _fields(field.message_type, around)}
    noted = _parameters(field) if semantic[1].endswith("Decimal") else {}
    return {"type": semantic[0], "optional": optional, "name": semantic[1], **noted}


def _parameters(field: Any) -> dict[str, Any]:
    """Scale and precision of a decimal, where the converter noted them."""
    noted = noted_of(field)
    if "scale" not in noted:
        return {}
    return {"parameters": {"scale": noted["scale"], "connect.decimal.precision": noted.get("precision", "38")}}


def _struct(message: Any) -> dict[str, Any]:
    """The fields of a message as JSON has them."""
    return {field.name: _value(field, message) for field in message.DESCRIPTOR.fields}


def _value(field: Any, message: Any) -> Any:
    if is_map(field):
        value = field.message_type.fields_by_name["value"]
        pairs = [(key, _plain(value, one)) for key, one in getattr(message, field.name).items()]
        return dict(pairs) if _has_text_keys(field) else pairs
    if field.is_repeated:
        return [_plain(field, one) for one in getattr(message, field.name)]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _plain(field, getattr(message, field.name))


def _has_text_keys(field: Any) -> bool:
    return is_map(field) and simple_type(field.message_type.fields_by_name["key"]) == "string"


def _plain(field: Any, value: Any) -> Any:
    """One value of a field as JSON has it."""
    if is_enum(field):
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    if is_wrapper(field):
        return _plain(field.message_type.fields_by_name["value"], value.value)
    if is_message(field):
        return _MESSAGES.get(field.message_type.full_name, _struct)(value)
    return b64encode(value).decode() if isinstance(value, bytes) else value


def _micros(value: Any) -> int:
    if not 0 <= value.nanos < _SECOND_NS:
        raise UnreadableError("type", f"an instant has {value.nanos} nanoseconds")
    return int(value.seconds * 1_000_000 + value.nanos // 1000)


def _days(value: Any) -> int:
    try:
        return (date(value.year, value.month, value.day) - _EPOCH).days
    except ValueError as error:
        raise UnreadableError("type", f"no day is {value.year}-{value.month}-{value.day}") from error


def _time_of_day(value: Any) -> int:
    seconds = (value.hours * 60 + value.minutes) * 60 + value.seconds
    return int(seconds * 1_000_000 + value.nanos // 1000)


def _decimal(value: Any) -> dict[str, Any]:
    """As Debezium writes a decimal that has a scale of its own; it says more than the scale of the field."""
    return {"value": b64encode(value.value).decode(), "scale": value.scale}


_MESSAGES = {_TIMESTAMP: _micros, _DATE: _days, _TIME: _time_of_day, _DECIMAL: _decimal}

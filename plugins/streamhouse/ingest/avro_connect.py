"""Records of Avro that Kafka Connect wrote, as its JSON converter writes them: a schema part, and the payload. Pure."""

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import fastavro

from streamhouse.ingest.avro_rows import avro_rows
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError

_KINDS = {
    "boolean": "boolean",
    "int": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "bytes": "bytes",
    "fixed": "bytes",
    "string": "string",
    "enum": "string",
}
_LOGICAL = {
    "date": "org.apache.kafka.connect.data.Date",
    "decimal": "org.apache.kafka.connect.data.Decimal",
    "timestamp-millis": "org.apache.kafka.connect.data.Timestamp",
    "timestamp-micros": "io.debezium.time.MicroTimestamp",
    "timestamp-nanos": "io.debezium.time.NanoTimestamp",
}
_NAME, _DEFAULT, _PARAMETERS, _TYPE = "connect.name", "connect.default", "connect.parameters", "connect.type"
"""What Connect adds to a schema of Avro."""


class ConnectRecords:
    """Writes messages of one schema as JSON.

    Args:
        schema: The writer's.

    Raises:
        UnreadableError: it is no schema of a record, or a record has itself within it.
    """

    def __init__(self, schema: RegisteredSchema) -> None:
        self._reader = avro_rows(schema)
        named: dict[str, Any] = {}
        for _, text in schema.references:
            fastavro.parse_schema(json.loads(text), named)
        parsed = fastavro.parse_schema(json.loads(schema.text), named)
        self._schema = _part(parsed, named, ())
        self._begin = b'{"schema":' + json.dumps(self._schema).encode() + b',"payload":'

    @property
    def part(self) -> dict[str, Any]:
        """The schema part."""
        return self._schema

    def text(self, value: bytes, skip: int) -> bytes:
        """A message as JSON; those of one schema begin alike.

        Args:
            value: The message.
            skip: Bytes before the record.

        Raises:
            UnreadableError: it is no record of the schema.
        """
        [record] = self._reader.records([value], skip)
        return self._begin + json.dumps(_value(self._schema, record)).encode() + b"}"


@lru_cache(maxsize=256)
def connect_records(schema: RegisteredSchema) -> ConnectRecords:
    """The writer of a schema; see `ConnectRecords`."""
    return ConnectRecords(schema)


def _part(schema: Any, named: Mapping[str, Any], outer: tuple[str, ...]) -> dict[str, Any]:
    """A type of Avro as a schema part of Connect."""
    if isinstance(schema, list):
        return _optional(schema, named, outer)
    if isinstance(schema, str):
        if schema in _KINDS:
            return {"type": _KINDS[schema], "optional": False}
        schema = named.get(schema, {"type": schema})
    kind = schema["type"]
    if not isinstance(kind, str):  # {"type": {"type": …}}
        return _part(kind, named, outer)
    part: dict[str, Any] = {"type": _KINDS.get(kind, kind), "optional": False, **_further(schema)}
    if kind in ("record", "error"):
        name = str(schema.get("name"))
        if name in outer:
            raise UnreadableError("schema", f"the record {name} has itself within it")
        fields = schema["fields"]
        part["type"] = "struct"
        part["fields"] = [{**_part(f["type"], named, (*outer, name)), "field": f["name"]} for f in fields]
    elif kind == "array":
        part["items"] = _part(schema["items"], named, outer)
    elif kind == "map":
        part["keys"] = {"type": "string", "optional": False}
        part["values"] = _part(schema["values"], named, outer)
    elif kind not in _KINDS:
        raise UnreadableError("schema", f"a value is of the type {kind}")
    return part


def _optional(branches: list[Any], named: Mapping[str, Any], outer: tuple[str, ...]) -> dict[str, Any]:
    others = [one for one in branches if one != "null"]
    if len(others) != 1:
        raise UnreadableError("schema", "it has a union of several types")
    return {**_part(others[0], named, outer), "optional": len(others) < len(branches)}


def _further(schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    logical = str(schema.get("logicalType", ""))
    if name := schema.get(_NAME) or _LOGICAL.get(logical):
        found["name"] = name
    parameters = {str(key): str(value) for key, value in (schema.get(_PARAMETERS) or {}).items()}
    if logical == "decimal":
        parameters |= {"scale": str(schema.get("scale", 0)), "connect.decimal.precision": str(schema["precision"])}
    if parameters:
        found["parameters"] = parameters
    if _DEFAULT in schema:
        found["default"] = schema[_DEFAULT]
    if schema.get(_TYPE) in ("int8", "int16"):
        found["type"] = schema[_TYPE]
    return found


def _value(part: Mapping[str, Any], value: Any) -> Any:
    """A value as JSON has it."""
    if value is None:
        return None
    match part["type"]:
        case "struct":
            return {field["field"]: _value(field, value[field["field"]]) for field in part["fields"]}
        case "array":
            return [_value(part["items"], one) for one in value]
        case "map":
            return {name: _value(part["values"], one) for name, one in value.items()}
        case "bytes":
            return b64encode(value).decode()
    return value

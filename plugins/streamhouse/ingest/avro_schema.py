"""Schemas of Avro: which Spark SQL type each field has. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import fastavro

from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.types import DECIMAL_DIGITS

_SIMPLE = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "fixed": "binary",
    "string": "string",
    "enum": "string",
}
_TIMES = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "timestamp-nanos"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
    ("long", "local-timestamp-nanos"): "timestamp_ntz",
}
TIMES_OF_DAY = {("int", "time-millis"): 86_400_000, ("long", "time-micros"): 86_400_000_000}
"""Kind and logical type → how many of its units a day has."""

_MOST_TYPES = 20_000
_UUID_BYTES = 16


@dataclass(frozen=True)
class AvroType:
    """One type; a union of a type with null is that type.

    Attributes:
        kind: `long`, `record`, …; `union` and `recursive` cannot be read.
        logical: Its logical type where Avro knows it for this kind; else empty.
        nullable: Whether null is among its values.
        scale: Of a decimal.
        precision: Of a decimal.
        fields: Of a record, by name.
        items: Of an array or a map.
        text: What messages call a type that cannot be read.
        null_at: Which branch of the union null is; -1: it has none.
        branches: How many the union has; 0: it is none.
        symbols: Of an enum.
        size: Of a fixed, in bytes.
    """

    kind: str
    logical: str = ""
    nullable: bool = False
    scale: int = 0
    precision: int = 0
    fields: tuple[tuple[str, "AvroType"], ...] = ()
    items: "AvroType | None" = None
    text: str = ""
    null_at: int = -1
    branches: int = 0
    symbols: tuple[str, ...] = ()
    size: int = 0

    @property
    def spark_type(self) -> str:
        """The Spark SQL type that has the same values.

        Raises:
            UnreadableError: there is none.
        """
        if self.kind == "union":
            raise UnreadableError("schema", f"{self.text}; a union can be read only of one type and null")
        if self.kind in ("recursive", "null"):
            raise UnreadableError("schema", self.text or "every value is null")
        if self.kind == "record":
            if not self.fields:
                raise UnreadableError("schema", "it is a record without fields")
            return f"struct<{','.join(f'{name}:{one.spark_type}' for name, one in self.fields)}>"
        if self.items is not None:
            inner = self.items.spark_type
            return f"array<{inner}>" if self.kind == "array" else f"map<string,{inner}>"
        if self.logical == "decimal":
            if self.precision > DECIMAL_DIGITS:
                raise UnreadableError("schema", f"a decimal of {self.precision} digits has more than {DECIMAL_DIGITS}")
            return f"decimal({self.precision},{self.scale})"
        if self.logical == "uuid":
            return "string"
        return _TIMES.get((self.kind, self.logical), _SIMPLE[self.kind])


def avro_record(text: str, references: Mapping[str, str]) -> AvroType:
    """The record that a schema describes.

    Args:
        text: The schema as JSON.
        references: Name → text of each schema that it refers to, each after those it needs.

    Raises:
        UnreadableError: it is no schema, or of no record, or one whose messages may be endless.
    """
    named: dict[str, Any] = {}
    try:
        for one in references.values():
            fastavro.parse_schema(json.loads(one), named)
        schema = fastavro.parse_schema(json.loads(text), named)
    except Exception as error:
        raise UnreadableError("schema", f"the schema is no Avro: {error}") from error
    try:
        _Extent(named).of(schema)
        found = _type(schema, named, ())
    except RecursionError as error:
        raise UnreadableError("schema", "the schema is nested too deeply") from error
    if found.kind != "record" or found.nullable:
        raise UnreadableError("schema", f"the schema is of {found.text or found.kind}, and a row needs a record")
    return found


class _Extent:
    """How many types a schema has once each is written out where it is used, and the fewest bytes of a value.

    Types that name each other twice double with each level. Items without a byte may be any number in a message.
    """

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._named = named
        self._known: dict[str, tuple[int, int]] = {}

    def of(self, schema: Any) -> tuple[int, int]:
        """Types, and bytes.

        Raises:
            UnreadableError: the schema is larger than any that a person writes, or has items without a byte.
        """
        if isinstance(schema, str):
            if schema not in self._named:
                return 1, 0 if schema == "null" else 1
            if schema not in self._known:
                self._known[schema] = 1, 1  # within itself: each value has a branch that ends it
                self._known[schema] = self.of(self._named[schema])
            return self._known[schema]
        if isinstance(schema, list):
            return self._sum(schema)[0], 1
        kind = schema["type"]
        if kind in ("record", "error"):
            return self._sum([field["type"] for field in schema["fields"]])
        if kind in ("array", "map"):
            types, least = self.of(schema["items" if kind == "array" else "values"])
            if kind == "array" and not least:
                raise UnreadableError("schema", "the items of an array have no byte, so a message may have any number")
            return types + 1, 1
        if kind == "fixed":
            return 1, max(0, schema["size"])
        return self.of(kind) if isinstance(kind, (dict, list)) or kind in self._named else (1, int(kind != "null"))

    def _sum(self, parts: list[Any]) -> tuple[int, int]:
        extents = [self.of(one) for one in parts]
        types = 1 + sum(one for one, _ in extents)
        if types > _MOST_TYPES:
            raise UnreadableError("schema", f"it has more than {_MOST_TYPES:,} types, each where it is used")
        return types, sum(least for _, least in extents)


def physical_schema(text: str, references: Mapping[str, str]) -> tuple[Any, Mapping[str, Any]]:
    """The schema as fastavro reads by it, without logical types, and each type of it that has a name, by that.

    A decimal is its bytes, a time its number.

    Raises:
        UnreadableError: as `avro_record`.
    """
    named: dict[str, Any] = {}
    try:
        for one in references.values():
            fastavro.parse_schema(_plain(json.loads(one)), named)
        return fastavro.parse_schema(_plain(json.loads(text)), named), named
    except Exception as error:
        raise UnreadableError("schema", f"the schema is no Avro: {error}") from error


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if isinstance(schema, dict):
        return {
            key: value if key == "default" else _plain(value) for key, value in schema.items() if key != "logicalType"
        }
    return schema


def _type(schema: Any, named: Mapping[str, Any], around: tuple[str, ...]) -> AvroType:
    if isinstance(schema, list):
        return _union(schema, named, around)
    if isinstance(schema, str):
        if schema in around:
            return AvroType("recursive", text=f"the record {schema} has itself in it")
        return _type(named[schema], named, around) if schema in named else AvroType(schema)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _type(kind, named, around)
    if kind in ("record", "error"):
        within = (*around, schema["name"])
        fields = tuple((one["name"], _type(one["type"], named, within)) for one in schema["fields"])
        return AvroType("record", fields=fields, text=f"the record {schema['name']}")
    if kind in ("array", "map"):
        return AvroType(kind, items=_type(schema["items" if kind == "array" else "values"], named, around))
    if kind not in _SIMPLE and kind != "null":
        return _type(kind, named, around)  # a name in an object of its own
    return _simple(kind, schema)


def _simple(kind: str, schema: Mapping[str, Any]) -> AvroType:
    logical = schema.get("logicalType", "")
    if logical == "decimal" and kind in ("bytes", "fixed"):
        scale, precision = schema.get("scale", 0), schema.get("precision")
        if isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision:
            return AvroType(kind, "decimal", scale=scale, precision=precision, size=schema.get("size", 0))
    if logical == "uuid" and (kind == "string" or (kind == "fixed" and schema.get("size") == _UUID_BYTES)):
        return AvroType(kind, "uuid", size=schema.get("size", 0))
    return AvroType(
        kind,
        logical if (kind, logical) in {*_TIMES, *TIMES_OF_DAY} else "",  # Avro says: one that does not fit is none
        symbols=tuple(schema.get("symbols", ())),
        size=schema.get("size", 0),
    )


def _union(branches: list[Any], named: Mapping[str, Any], around: tuple[str, ...]) -> AvroType:
    others = [one for one in branches if one != "null" and not (isinstance(one, dict) and one.get("type") == "null")]
    if len(others) == 1:
        found = _type(others[0], named, around)
        null_at = next((n for n, one in enumerate(branches) if one is not others[0]), -1)
        return replace(found, nullable=len(branches) > 1, null_at=null_at, branches=len(branches))
    if not others:
        return AvroType("null", nullable=True)
    return AvroType(
        "union", text=f"it is a union of {' and '.join(_names(others))}", nullable=len(others) < len(branches)
    )


def _names(branches: list[Any]) -> Iterator[str]:
    for one in branches:
        yield one if isinstance(one, str) else str(one.get("name", one.get("type")))

"""Messages that are malformed, of thirty kinds for each format: name, bytes, and the reason that a dead letter has."""

import json
import struct
from typing import Any

from tests.registry import framed

Case = tuple[str, bytes, str]


class Message:
    """What Kafka delivers."""

    def __init__(
        self,
        offset: int,
        value: bytes,
        key: bytes | None = b"k",
        headers: list[tuple[str, bytes | None]] | None = None,
    ) -> None:
        self._offset, self._value, self._key, self._headers = offset, value, key, headers

    def value(self) -> bytes:
        return self._value

    def key(self) -> bytes | None:
        return self._key

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return self._headers

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_000


TYPES = {
    "id": "int",
    "small": "tinyint",
    "big": "bigint",
    "name": "string",
    "amount": "decimal(6,2)",
    "ratio": "double",
    "ok": "boolean",
    "day": "date",
    "at": "timestamp",
    "local": "timestamp_ntz",
}
GOOD = {
    "id": 1,
    "small": 2,
    "big": 3,
    "name": "a",
    "amount": "1.50",
    "ratio": 0.5,
    "ok": True,
    "day": "2026-01-31",
    "at": "2026-01-31T10:00:00Z",
    "local": "2026-01-31T10:00:00",
}


def json_line(**other: Any) -> bytes:
    return json.dumps(GOOD | other).encode()


JSON_TYPES = {
    "text as int": json_line(id="1"),
    "fraction as int": json_line(id=1.5),
    "int too large": json_line(id=2**31),
    "boolean as int": json_line(id=True),
    "array as int": json_line(id=[1]),
    "object as int": json_line(id={"a": 1}),
    "tinyint too large": json_line(small=128),
    "bigint too large": json_line(big=2**63),
    "decimal too precise": json_line(amount="1.234"),
    "decimal too large": json_line(amount="12345.00"),
    "text as decimal": json_line(amount="much"),
    "more digits behind the point than any decimal": json_line(amount="1e-1000000000"),
    "sixty zeros behind the point": json_line(amount="@").replace(b'"@"', b"0." + b"0" * 60 + b"1"),
    "text as double": json_line(ratio="half"),
    "text as boolean": json_line(ok="true"),
    "number as boolean": json_line(ok=1),
    "byte without a sign": json_line(small=200),
    "number in quotes": json_line(ratio="0.5"),
    "number as day": json_line(day=18_000),
    "number as local time": json_line(local=1_500_000_000),
    "no such day": json_line(day="2026-02-30"),
    "text as day": json_line(day="soon"),
    "no such hour": json_line(at="2026-01-31T25:00:00Z"),
    "no day": json_line(at="10:00:00"),
    "zone for a local time": json_line(local="2026-01-31T10:00:00+02:00"),
}
JSON_FORM = {
    "no JSON": b"hello",
    "cut off": json_line()[:-9],
    "null": b"null",
    "an array without its end": b"[1",
    "a text": b'"a"',
    "a number": b"7",
    "two objects": b'{"id": 1}{"id": 2}',
    "something behind the object": json_line() + b" x",
    "a name without quotes": b"{id: 1}",
    "a comma too many": b'{"id": 1,}',
    "a comment": b'{"id": 1} // one',
    "a control character in a text": json_line(name="@").replace(b"@", b"\t"),
    "a leading zero": b'{"id": 01}',
    "a thousand levels": b'{"id": 1, "more": ' + b"[" * 1001 + b"]" * 1001 + b"}",
    "CSV": b"1,2,3,a,1.50,0.5,true,2026-01-31,2026-01-31T10:00:00Z,2026-01-31T10:00:00",
}
JSON_BYTES = {
    "Latin 1": json_line(name="@").replace(b"@", b"\xe9"),
    "UTF-16": '{"id": 1}'.encode("utf-16-le"),
}
JSON = (
    [(name, line, "type") for name, line in JSON_TYPES.items()]
    + [(name, line, "malformed") for name, line in JSON_FORM.items()]
    + [(name, line, "encoding") for name, line in JSON_BYTES.items()]
)


UNKNOWN, OTHER = 99_999, 99_998
"""Ids of a schema that no registry has, and of one in another language."""


def frames(number: int, good: bytes) -> list[Case]:
    """What is wrong with the frame around any format."""
    return [
        ("nothing", b"", "malformed"),
        ("no frame, but JSON", b"{}", "malformed"),
        ("half a frame", b"\0\0\0", "malformed"),
        ("a frame of another kind", b"\1" + framed(number, good)[1:], "malformed"),
        ("a frame without its first byte", framed(number, good)[1:], "schema"),
        ("text before the frame", b"x" + framed(number, good), "malformed"),
        ("an unknown schema", framed(UNKNOWN, good), "schema"),
        ("a schema in another language", framed(OTHER, good), "schema"),
    ]


def json_schema_cases(number: int) -> list[Case]:
    """Of a topic with JSON schemas, whose columns are `TYPES`."""
    return [*frames(number, json_line()), *((name, framed(number, line), reason) for name, line, reason in JSON)]


AVRO_SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "small", "type": "long"},
        {"name": "name", "type": "string"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}},
        {"name": "ok", "type": "boolean"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "PAID"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "note", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "rates", "type": {"type": "map", "values": "int"}},
        {"name": "ratio", "type": "double"},
    ],
}
AVRO_TYPES = {
    "id": "int",
    "small": "tinyint",
    "name": "string",
    "amount": "decimal(6,2)",
    "ok": "boolean",
    "kind": "string",
    "at": "timestamp",
    "note": "string",
    "tags": "array<string>",
    "rates": "map<string,int>",
    "ratio": "double",
}


def varint(number: int) -> bytes:
    """A number as Protobuf writes it."""
    found = b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def zigzag(number: int) -> bytes:
    """A number as Avro writes it."""
    return varint(2 * number if number >= 0 else -2 * number - 1)


def text(raw: bytes) -> bytes:
    """Bytes with their length, as Avro writes them."""
    return zigzag(len(raw)) + raw


def avro(**other: bytes) -> bytes:
    """The record of a good row, in which the bytes of some fields are others."""
    fields = {
        "id": zigzag(1),
        "small": zigzag(2),
        "name": text(b"a"),
        "amount": text(b"\x00\x96"),
        "ok": b"\1",
        "kind": zigzag(1),
        "at": zigzag(1_000),
        "note": zigzag(1) + text(b"n"),
        "tags": zigzag(1) + text(b"t") + b"\0",
        "rates": zigzag(1) + text(b"r") + zigzag(3) + b"\0",
        "ratio": struct.pack("<d", 0.5),
    }
    return b"".join((fields | other).values())


AVRO_BODIES = {
    "malformed": {
        "no record": b"",
        "half of it": avro()[:20],
        "one byte less": avro()[:-1],
        "one byte more": avro() + b"\0",
        "two records": avro() * 2,
        "a number without end": avro(id=b"\xff" * 12),
        "a text of a negative length": avro(name=zigzag(-1)),
        "a text that is longer than the message": avro(name=zigzag(10**6) + b"a"),
        "a text that is longer than any memory": avro(name=zigzag(2**62)),
        "bytes of a negative length": avro(amount=zigzag(-5)),
        "an enum's value behind the last": avro(kind=zigzag(2)),
        "a negative value of an enum": avro(kind=zigzag(-1)),
        "a branch behind the last": avro(note=zigzag(2) + text(b"n")),
        "a negative branch": avro(note=zigzag(-1) + text(b"n")),
        "a boolean that is two": avro(ok=b"\2"),
        "an array with fewer items": avro(tags=zigzag(9) + text(b"t") + b"\0"),
        "an array with more items than any memory": avro(tags=zigzag(2**60) + text(b"t")),
        "an array without end": avro(tags=zigzag(1) + text(b"t"))[:-20],
        "an array in a block that is cut": avro(tags=zigzag(-3)),
        "a map with fewer entries": avro(rates=zigzag(7) + text(b"r") + zigzag(3) + b"\0"),
        "an item of a negative length": avro(tags=zigzag(1) + zigzag(-2) + b"\0"),
        "a number of 70 bits": avro(small=zigzag(2**69)),
        "half a double": avro(ratio=b"\0\0\0\0"),
    },
    "encoding": {
        "Latin 1": avro(name=text(b"\xe9")),
        "half a character": avro(name=text(b"a\xc3")),
        "Latin 1 in an item": avro(tags=zigzag(1) + text(b"\xe9") + b"\0"),
        "Latin 1 in a key": avro(rates=zigzag(1) + text(b"\xe9") + zigzag(3) + b"\0"),
    },
    "type": {
        "an int too large": avro(id=zigzag(2**31)),
        "a tinyint too large": avro(small=zigzag(128)),
        "a decimal too large": avro(amount=text((10**8).to_bytes(5, "big"))),
        "a decimal of 40 digits": avro(amount=text((10**40).to_bytes(18, "big"))),
        "a decimal without a byte": avro(amount=text(b"")),
        "a time behind all times": avro(at=zigzag(2**62)),
    },
}


def avro_cases(number: int) -> list[Case]:
    """Of a topic with the schema `AVRO_SCHEMA`, whose columns are `AVRO_TYPES`."""
    bodies = [(name, raw, reason) for reason, some in AVRO_BODIES.items() for name, raw in some.items()]
    return [*frames(number, avro()), *((name, framed(number, raw), reason) for name, raw, reason in bodies)]


PROTOBUF_SCHEMA = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Row {
  int32 id = 1;
  int32 small = 2;
  string name = 3;
  uint64 wide = 4;
  google.protobuf.Timestamp at = 5;
  repeated int32 numbers = 6;
  map<string, int32> rates = 7;
  Place place = 8;
  double ratio = 9;
  fixed32 fixed = 10;
  message Place { string city = 1; }
}
"""
PROTOBUF_TYPES = {
    "id": "int",
    "small": "tinyint",
    "name": "string",
    "wide": "bigint",
    "at": "timestamp",
    "numbers": "array<int>",
    "rates": "map<string,int>",
    "place": "struct<city:string>",
    "ratio": "double",
    "fixed": "bigint",
}


def field(number: int, wire: int, raw: bytes) -> bytes:
    """A field as Protobuf writes it."""
    return varint(number << 3 | wire) + raw


def sized(number: int, raw: bytes) -> bytes:
    """A field of bytes with their length."""
    return field(number, 2, varint(len(raw)) + raw)


def protobuf(*more: bytes) -> bytes:
    """The fields of a good row, and more."""
    return b"\0" + field(1, 0, varint(1)) + sized(3, b"a") + sized(8, sized(1, b"oslo")) + b"".join(more)


PROTOBUF_BODIES = {
    "malformed": {
        "nothing behind the frame": b"",
        "a place without end": b"\xff" * 12,
        "a place that is cut": b"\x04\0",
        "another message than there is": b"\2\2",
        "a message within that is not there": b"\4\0\4",
        "a place before the first": b"\2\1",
        "a negative number of places": b"\1" + protobuf()[1:],
        "a tag without a value": protobuf(b"\x08"),
        "a tag without end": protobuf(b"\xff" * 12),
        "a number without end": protobuf(field(1, 0, b"\xff" * 12)),
        "a number that is cut": protobuf(field(1, 0, b"\x80")),
        "a text that is longer than the message": protobuf(field(3, 2, varint(100) + b"a")),
        "a text that is longer than any memory": protobuf(field(3, 2, varint(2**40))),
        "the field number zero": protobuf(b"\0\1"),
        "wire type six": protobuf(field(1, 6, b"\1")),
        "wire type seven": protobuf(field(1, 7, b"\1")),
        "the end of a group that did not begin": protobuf(field(20, 4, b"")),
        "a group that does not end": protobuf(field(20, 3, b"")),
        "half a double": protobuf(field(9, 1, b"\0\0\0\0")),
        "half a fixed number": protobuf(field(10, 5, b"\0\0")),
        "a message within that is cut": protobuf(sized(8, field(1, 2, varint(9) + b"o"))),
        "packed numbers that are cut": protobuf(sized(6, b"\x80")),
        "an entry of a map that is cut": protobuf(sized(7, field(1, 2, varint(9)))),
        "text": b"\0hello",
    },
    "encoding": {
        "Latin 1": protobuf(sized(3, b"\xe9")),
        "half a character": protobuf(sized(3, b"a\xc3")),
        "Latin 1 within": protobuf(sized(8, sized(1, b"\xe9"))),
        "Latin 1 in a key": protobuf(sized(7, sized(1, b"\xe9"))),
    },
    "type": {
        "a tinyint too large": protobuf(field(2, 0, varint(128))),
        "a tinyint too small": protobuf(field(2, 0, varint(2**64 - 129))),
        "a number too large": protobuf(field(4, 0, varint(2**63))),
        "a time behind all times": protobuf(sized(5, field(1, 0, varint(2**60)))),
        "a time before all times": protobuf(sized(5, field(1, 0, varint(2**64 - 2**60)))),
        "more nanoseconds than a second has": protobuf(sized(5, field(2, 0, varint(10**9)))),
        "negative nanoseconds": protobuf(sized(5, field(2, 0, varint(2**64 - 1)))),
    },
}


def protobuf_cases(number: int) -> list[Case]:
    """Of a topic with the schema `PROTOBUF_SCHEMA`, whose columns are `PROTOBUF_TYPES`."""
    bodies = [(name, raw, reason) for reason, some in PROTOBUF_BODIES.items() for name, raw in some.items()]
    return [*frames(number, protobuf()), *((name, framed(number, raw), reason) for name, raw, reason in bodies)]


FORMATS = {
    "json_schema": (json_schema_cases, json_line(), TYPES),
    "avro": (avro_cases, avro(), AVRO_TYPES),
    "protobuf": (protobuf_cases, protobuf(), PROTOBUF_TYPES),
}
"""Format → its cases by the id of a schema, the bytes of a good row, and the columns."""
JSON_SCHEMA = {"type": "object", "properties": {}}
SCHEMAS = {"json_schema": json.dumps(JSON_SCHEMA), "avro": json.dumps(AVRO_SCHEMA), "protobuf": PROTOBUF_SCHEMA}

"""Values of Avro and Protobuf that a type cannot bear: each is one bad row, with its column, and never a raw number."""

import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.avro_schema import avro_record
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.kafka_rows import MessageRows
from streamhouse.ingest.message_formats import LANGUAGES, RegisteredMessages
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError
from tests.malformed import Message, field, framed, sized, varint, zigzag
from tests.tables import each

NUMBER = 7
LAST = 253_402_300_799  # the last second of the year 9999
FIRST = -62_135_596_800  # of the year 1
DAY_MS = 86_400_000


class OneSchema:
    def __init__(self, form, text):
        self._schema = RegisteredSchema(NUMBER, LANGUAGES[form], text)

    def schema(self, _number):
        return self._schema

    def version(self, _subject, _number):
        return 3


def source(form, text, columns, **more):
    options = {"servers": "localhost:1", "topic": "orders", "format": form, "registry": "schemas", "columns": columns}
    found = open_kafka({**options, "on_bad_rows": "dead_letter"} | more)
    vars(found)["_messages"] = MessageRows(
        found._options, RegisteredMessages(OneSchema(form, text), form, "orders-value")
    )
    return found


def is_refused(opened, good, bad, why, reason="type"):
    """The bad message is one bad row among good ones, and stops a flow that stops, with its place."""
    for before in (1, 250):  # so many messages of Avro are read at once
        values = [*[good] * before, bad, good]
        found = opened._parted([Message(number, value) for number, value in enumerate(values)], None)
        assert [(one.letter.position, one.reason) for one in found.bad] == [(f"orders/3/{before}", reason)]
        assert found.rows.num_rows == before + 1
        assert why in found.bad[0].message
        assert "column 'v'" in found.bad[0].message
    with pytest.raises(SourceError, match="partition 3, offset 1 of orders is malformed: column 'v'") as refused:
        opened._rows([Message(0, good), Message(1, bad)], opened._columns)
    assert refused.value.hint
    # Rows that are read can be shown.
    opened._parted([Message(0, good)], None).rows.to_pylist()


def avro(kind, value):
    """A message whose field `v` has a value without its logical type."""
    plain = json.loads(json.dumps(kind), object_hook=lambda one: {k: v for k, v in one.items() if k != "logicalType"})
    schema = fastavro.parse_schema({"type": "record", "name": "R", "fields": [{"name": "v", "type": plain}]})
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, {"v": value})
    return framed(NUMBER, stream.getvalue())


def avro_source(kind, type_):
    text = json.dumps({"type": "record", "name": "R", "fields": [{"name": "v", "type": kind}]})
    return source("avro", text, {"v": type_})


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


YEARS = "outside of the years 1 to 9999"
MONEY = logical("bytes", "decimal", precision=38, scale=2)
AVRO = [
    *(
        (logical("long", f"{local}timestamp-{unit}"), type_, 0, value * size + more, why)
        for local, type_ in (("", "timestamp"), ("local-", "timestamp_ntz"))
        for unit, size in (("millis", 10**3), ("micros", 10**6))
        for value, more, why in ((LAST + 1, 0, YEARS), (FIRST, -1, YEARS))
    ),
    (logical("long", "timestamp-millis"), "timestamp", 0, 2**62, "would result in out of bounds"),
    (logical("long", "timestamp-micros"), "timestamp", 0, 2**63 - 1, YEARS),
    (logical("int", "date"), "date", 0, 2_932_897, YEARS),
    (logical("int", "date"), "date", 0, -719_163, YEARS),
    (logical("int", "date"), "date", 0, 2**31 - 1, YEARS),
    (logical("int", "time-millis"), "int", 0, DAY_MS, "a time of day is 86400000"),
    (logical("int", "time-millis"), "bigint", DAY_MS - 1, -1, "a time of day is -1"),
    (logical("long", "time-micros"), "bigint", 0, DAY_MS * 1000, "a time of day is"),
    (MONEY, "decimal(5,2)", b"\1", (10**5).to_bytes(4, "big"), "precision"),
    (MONEY, "decimal(38,2)", b"\1", (10**38).to_bytes(17, "big"), ""),
    (MONEY, "decimal(38,2)", b"\1", (-(10**45)).to_bytes(20, "big", signed=True), ""),
    (MONEY, "decimal(5,1)", b"\x64", b"\x65", "data loss"),
    (MONEY, "decimal(38,2)", b"\1", b"", "a decimal has no byte"),
    (logical({"type": "fixed", "name": "F", "size": 4}, ""), "binary", b"\0" * 4, None, None),
    ("long", "int", 1, 2**31, ""),
    ("long", "tinyint", 1, -129, ""),
    ("long", "float", 1, 2**24 + 1, ""),
    ("long", "double", 1, 2**53 + 1, ""),
    ("long", "decimal(5,2)", 1, 1_000, ""),
]
NESTED = {
    "array": (lambda kind: {"type": "array", "items": kind}, "array<{}>", lambda value: [value]),
    "map": (lambda kind: {"type": "map", "values": kind}, "map<string,{}>", lambda value: {"k": value}),
    "struct": (
        lambda kind: {"type": "record", "name": "S", "fields": [{"name": "x", "type": kind}]},
        "struct<x:{}>",
        lambda value: {"x": value},
    ),
    "null": (lambda kind: ["null", kind], "{}", lambda value: value),
    "plain": (lambda kind: kind, "{}", lambda value: value),
}


@pytest.mark.parametrize("nested", NESTED)
@each(("kind", "type_", "good", "bad", "why"), [one for one in AVRO if one[3] is not None])
def test_avro(kind, type_, good, bad, why, nested):
    around, spelled, value = NESTED[nested]
    opened = avro_source(around(kind), spelled.format(type_))
    is_refused(opened, avro(around(kind), value(good)), avro(around(kind), value(bad)), why)


def test_an_int_of_avro_has_32_bits():
    opened = avro_source("int", "bigint")
    found = opened._parted([Message(0, framed(NUMBER, zigzag(1))), Message(1, framed(NUMBER, zigzag(2**31)))], None)
    assert [one.reason for one in found.bad] == ["type"]
    assert "an int is 2147483648" in found.bad[0].message
    many = [framed(NUMBER, zigzag(1))] * 250 + [framed(NUMBER, zigzag(2**31))]
    assert len(opened._parted([Message(n, one) for n, one in enumerate(many)], None).bad) == 1


@pytest.mark.parametrize(
    ("kind", "type_", "values", "expected"),
    [
        (logical("long", "timestamp-millis"), "timestamp", LAST * 1000, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (logical("long", "timestamp-micros"), "timestamp", FIRST * 10**6, datetime(1, 1, 1, tzinfo=UTC)),
        (logical("long", "local-timestamp-nanos"), "timestamp_ntz", -1, datetime(1969, 12, 31, 23, 59, 59, 999999)),
        (logical("long", "time-micros"), "bigint", 0, 0),
        (MONEY, "decimal(38,2)", (10**38 - 1).to_bytes(16, "big"), Decimal("9" * 36 + ".99")),
        ("double", "double", float("inf"), float("inf")),
        (
            logical({"type": "fixed", "name": "D", "size": 12}, "duration"),
            "binary",
            b"\1" + b"\0" * 11,
            b"\1" + b"\0" * 11,
        ),
    ],
)
def test_the_last_values_that_avro_may_have(kind, type_, values, expected):
    kind = (
        {**kind["type"], "logicalType": kind["logicalType"]}
        if isinstance(kind, dict) and "name" in kind["type"]
        else kind
    )
    message = avro(kind, values)
    opened = avro_source(kind, type_)
    for count in (1, 250):
        rows = opened._rows([Message(0, message)] * count, opened._columns).column("v").to_pylist()
        assert [str(one) for one in rows] == [str(expected)] * count


PROTO = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Row {{ {0} v = 1; }}
message In {{ {1} x = 1; }}
"""


def instant(seconds, nanos=0):
    return sized(1, field(1, 0, varint(seconds % 2**64)) + (field(2, 0, varint(nanos % 2**64)) if nanos else b""))


def number(value):
    return field(1, 0, varint(value % 2**64))


TIMESTAMP = "google.protobuf.Timestamp"
PROTOBUF = [
    (TIMESTAMP, "timestamp", instant(LAST), instant(LAST + 1), YEARS),
    (TIMESTAMP, "timestamp", instant(FIRST), instant(FIRST - 1), YEARS),
    (TIMESTAMP, "timestamp", instant(0), instant(2**63 - 1), YEARS),
    (TIMESTAMP, "timestamp", instant(0), instant(-(2**63)), YEARS),
    (TIMESTAMP, "timestamp", instant(0, 10**9 - 1), instant(0, 10**9), "1000000000 nanoseconds"),
    (TIMESTAMP, "timestamp", instant(0), instant(0, -1), "-1 nanoseconds"),
    ("uint64", "bigint", number(2**63 - 1), number(2**63), ""),
    ("uint64", "int", number(1), number(2**64 - 1), ""),
    ("fixed64", "bigint", field(1, 1, b"\1" + bytes(7)), field(1, 1, b"\xff" * 8), ""),
    ("uint64", "decimal(5,0)", number(99_999), number(100_000), ""),
    ("google.protobuf.UInt64Value", "bigint", sized(1, number(1)), sized(1, number(2**64 - 1)), ""),
    ("int64", "int", number(1), number(-(2**31) - 1), ""),
    ("int64", "double", number(2**53), number(2**53 + 1), ""),
    ("int32", "float", number(2**24), number(2**24 + 1), ""),
    ("int32", "decimal(4,2)", number(99), number(100), ""),
    ("uint32", "smallint", number(1), number(40_000), ""),
]


@pytest.mark.parametrize("nested", ["plain", "repeated", "message", "map"])
@each(("kind", "type_", "good", "bad", "why"), PROTOBUF)
def test_protobuf(kind, type_, good, bad, why, nested):
    outer, spelled = {
        "plain": (kind, type_),
        "repeated": (f"repeated {kind}", f"array<{type_}>"),
        "message": ("In", f"struct<x:{type_}>"),
        "map": (f"map<string, {kind}>", f"map<string,{type_}>"),
    }[nested]

    def message(value):
        if nested == "map":  # the value of an entry has the number two
            value = sized(1, sized(1, b"k") + bytes([value[0] + 8]) + value[1:])
        return framed(NUMBER, b"\0" + (sized(1, value) if nested == "message" else value))

    opened = source("protobuf", PROTO.format(outer, kind), {"v": spelled})
    is_refused(opened, message(good), message(bad), why)


def test_a_time_of_a_message_that_cannot_be_shown():
    class Late(Message):
        def timestamp(self):
            return 1, (LAST + 1) * 1000

    good = framed(NUMBER, b"\0" + number(1))
    opened = source("protobuf", PROTO.format("int32", "int32"), {"v": "int"}, metadata={"sent_at": "timestamp"})
    found = opened._parted([Message(0, good), Late(1, good)], None)
    assert [(one.letter.position, one.reason) for one in found.bad] == [("orders/3/1", "type")]
    assert YEARS in found.bad[0].message
    assert isinstance(found.rows, pa.Table)
    assert found.rows.num_rows == 1


NO_BYTE = ("null", {"type": "fixed", "name": "f", "size": 0}, {"type": "record", "name": "e", "fields": []})


@pytest.mark.parametrize("item", NO_BYTE)
def test_an_array_whose_items_have_no_byte_is_refused(item):
    fields = [{"name": "n", "type": "int"}, {"name": "l", "type": {"type": "array", "items": item}}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    with pytest.raises(UnreadableError, match="have no byte"):  # some bytes could say that there are 2^60 of them
        avro_record(schema, {})


def test_an_avro_schema_that_doubles_with_each_level_is_refused():
    schema = {"type": "record", "name": "A0", "fields": [{"name": "x", "type": "int"}]}
    for level in range(1, 40):
        fields = [{"name": "a", "type": schema}, {"name": "b", "type": f"A{level - 1}"}]
        schema = {"type": "record", "name": f"A{level}", "fields": fields}
    with pytest.raises(UnreadableError, match="more than 20,000 types"):
        avro_record(json.dumps(schema), {})


def test_an_avro_schema_that_has_itself_in_it_is_read():
    fields = [{"name": "n", "type": "int"}, {"name": "next", "type": {"type": "array", "items": "r"}}]
    found = avro_record(json.dumps({"type": "record", "name": "r", "fields": fields}), {})
    assert [name for name, _ in found.fields] == ["n", "next"]

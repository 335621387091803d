"""Messages of Protobuf that Kafka Connect wrote, as the same events in JSON."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.debezium import WantedEvents, decode
from streamhouse.ingest.debezium_schema import messages_of
from streamhouse.ingest.message_formats import RegisteredEvents
from streamhouse.ingest.protobuf_connect import ConnectMessages
from streamhouse.ingest.protobuf_schema import protobuf_file
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column

HEAD = """
syntax = "proto3";
package shop.public.orders;
import "confluent/meta.proto";
import "confluent/type/decimal.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";
message Envelope {
  Value before = 1;
  Value after = 2;
  string op = 3;
  optional int64 ts_ms = 4;
}
message Key { int64 id = 1; }
"""
ROW = """
message Value {
  int64 id = 1;
  confluent.type.Decimal amount = 2 [(confluent.field_meta) = {
    params: [{key: "precision", value: "10"}, {key: "scale", value: "2"}]}];
  google.type.Date day = 3;
  google.protobuf.Timestamp at = 4;
  optional int32 small = 5 [(confluent.field_meta) = {params: [{key: "connect.type", value: "int16"}]}];
  repeated string tags = 6;
  map<string, bytes> raw = 7;
  google.protobuf.StringValue note = 8;
  Kind kind = 9;
  Place place = 10;
  google.type.TimeOfDay opens = 11;
  enum Kind { NEW = 0; OLD = 1; }
  message Place { string city = 1; optional double height = 2; }
}
"""
PLAIN = "message Value { int64 id = 1; string name = 2; int32 count = 3; repeated int32 numbers = 4; bool done = 5; }"
TYPES = {
    "id": "bigint",
    "amount": "decimal(10,2)",
    "day": "date",
    "at": "timestamp",
    "small": "smallint",
    "tags": "array<string>",
    "raw": "map<string,binary>",
    "note": "string",
    "kind": "string",
    "place": "struct<city:string,height:double>",
    "opens": "bigint",
}
SCHEMA = RegisteredSchema(7, "PROTOBUF", HEAD + ROW)
SIMPLE = RegisteredSchema(7, "PROTOBUF", HEAD + PLAIN)


def message(schema, name="Envelope"):
    """An empty message of a schema, and its bytes when it was filled."""
    from google.protobuf.message_factory import GetMessageClass

    file = protobuf_file(schema)
    made = GetMessageClass(file.named(name))()
    place = list(file.descriptor.message_types_by_name).index(name)
    return made, lambda: b"\0\0\0\0\7\2" + bytes([2 * place]) + made.SerializeToString()


def event(schema, fill):
    made, written = message(schema)
    made.op = "c"
    fill(made.after)
    return ConnectMessages(schema).text(written(), 5)


def rows(schema, types, *fills, **more):
    columns = tuple(Column(name=name, type=type_) for name, type_ in types.items())
    lines = [event(schema, fill) for fill in fills]
    return decode(lines, WantedEvents(columns, ("id",), **more), "t", 1).rows.to_pylist()


def full(row):
    row.id = 1
    row.amount.value, row.amount.precision, row.amount.scale = (150).to_bytes(2, "big"), 10, 2
    row.day.year, row.day.month, row.day.day = 2024, 10, 4
    row.at.seconds, row.at.nanos = 1_772_366_400, 123_456_789
    row.small = 0
    row.tags.append("x")
    row.raw["k"] = b"\xff"
    row.note.value = ""
    row.kind = 1
    row.place.city = "Bern"
    row.opens.hours, row.opens.minutes = 8, 30


def empty(row):
    row.id = 2
    row.tags.append("x")
    row.raw["k"] = b""


def test_an_event_has_the_values_of_the_row():
    found = rows(SCHEMA, TYPES, full, empty)
    assert found[0] == {
        "id": 1,
        "amount": Decimal("1.50"),
        "day": date(2024, 10, 4),
        "at": datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC),
        "small": 0,
        "tags": ["x"],
        "raw": [("k", b"\xff")],
        "note": "",
        "kind": "OLD",
        "place": {"city": "Bern", "height": None},
        "opens": 30_600_000_000,
    }
    assert found[1] == {
        **dict.fromkeys(TYPES),
        "id": 2,
        "tags": ["x"],
        "raw": [("k", b"")],
        "kind": "NEW",
    }


def test_the_columns_are_those_of_the_schema():
    found = messages_of([event(SCHEMA, full)])
    assert found.typed
    assert {column.name: column.type for column in found.columns} == {
        **TYPES,
        "at": "timestamp_ntz",
        "small": "int",
        "opens": "bigint",
    }
    assert {column.name for column in found.columns if not column.nullable} == {"id", "kind"}
    assert {column.default for column in found.columns} == {None}


@pytest.mark.parametrize(
    ("name", "value"), [("name", "a"), ("count", 3), ("numbers", [1]), ("done", True)], ids=lambda one: str(one)
)
def test_what_stands_for_null_too_is_refused(name, value):
    """A converter that writes NULL as a field that is not set, and shows nowhere that it does not."""

    def given(row):
        row.id, row.name, row.count, row.done = 0, "a", 3, True
        row.numbers.append(1)

    def lacking(row):
        given(row)
        row.ClearField(name)

    types = {"id": "bigint", "name": "string", "count": "int", "numbers": "array<int>", "done": "boolean"}
    assert rows(SIMPLE, types, given)[0][name] == value
    with pytest.raises(SourceError, match=f"'{name}' is .*, its DEFAULT, which the converter also writes") as refused:
        rows(SIMPLE, types, given, lacking)
    assert "optional.for.nullables=true" in str(refused.value)
    assert rows(SIMPLE, types, lacking, nulls_kept=True)[0][name] == type(value)()


def test_a_key_and_other_messages():
    key, written = message(SCHEMA, "Key")
    key.id = 5
    assert ConnectMessages(SCHEMA).text(written(), 5).endswith(b',"payload":{"id": 5}}')
    made, written = message(SCHEMA)
    made.op = "t"
    assert (
        ConnectMessages(SCHEMA)
        .text(written(), 5)
        .endswith(b',"payload":{"before": null, "after": null, "op": "t", "ts_ms": null}}')
    )


@pytest.mark.parametrize(
    ("fill", "why"),
    [
        (lambda row: setattr(row.at, "nanos", -1), "an instant has -1 nanoseconds"),
        (lambda row: setattr(row.day, "month", 13), "no day is 0-13-0"),
    ],
)
def test_values_that_json_does_not_have(fill, why):
    with pytest.raises(UnreadableError, match=why):
        event(SCHEMA, fill)


def test_a_message_that_is_none():
    for value, why in ((b"\0\0\0\0\7", "which message"), (b"\0\0\0\0\7\2\4\xff", "no message of its schema")):
        with pytest.raises(UnreadableError, match=why):
            ConnectMessages(SCHEMA).text(value, 5)
    within = "syntax = 'proto3'; message Envelope { Envelope after = 1; string op = 2; }"
    with pytest.raises(UnreadableError, match="has itself in it"):
        ConnectMessages(RegisteredSchema(7, "PROTOBUF", within)).text(b"\0\0\0\0\7\0", 5)


def test_another_language_is_no_protobuf():
    class Client:
        def schema(self, number):
            return RegisteredSchema(number, "AVRO", "{}")

    with pytest.raises(UnreadableError, match="schema 7 is in AVRO and not in protobuf"):
        RegisteredEvents(Client(), "protobuf").text(
            b"\0\0\0\0\7\0",
        )

"""Records of Avro that Kafka Connect wrote, as the same events in JSON."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pytest

from streamhouse.ingest.avro_connect import ConnectRecords
from streamhouse.ingest.debezium import decode
from streamhouse.ingest.debezium_schema import messages_of
from streamhouse.ingest.event_run import WantedEvents
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column

AMOUNT = {
    "type": "bytes",
    "scale": 2,
    "precision": 10,
    "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
    "connect.name": "org.apache.kafka.connect.data.Decimal",
    "logicalType": "decimal",
}
DAY = {"type": "int", "connect.name": "io.debezium.time.Date"}
MICROS = {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}
SMALL = {"type": "int", "connect.type": "int16", "connect.default": 5}
ROW = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "amount", "type": ["null", AMOUNT], "default": None},
        {"name": "day", "type": ["null", DAY], "default": None},
        {"name": "at", "type": MICROS},
        {"name": "small", "type": ["int", "null"], "default": 5},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "raw", "type": {"type": "map", "values": "bytes"}},
    ],
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.public.orders",
    "fields": [
        {"name": "before", "type": ["null", ROW], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
    ],
    "connect.name": "shop.public.orders.Envelope",
}
AFTER = {
    "id": 1,
    "amount": (150).to_bytes(2, "big"),
    "day": 20_000,
    "at": 1_772_366_400_000_000,
    "small": 7,
    "tags": ["x"],
    "raw": {"k": b"\xff"},
}
TYPES = {
    "id": "bigint",
    "amount": "decimal(10,2)",
    "day": "date",
    "at": "timestamp",
    "small": "smallint",
    "tags": "array<string>",
    "raw": "map<string,binary>",
}


def registered(schema, number=7):
    return RegisteredSchema(number, "AVRO", json.dumps(schema))


def written(schema, record):
    plain = json.loads(json.dumps(schema), object_hook=lambda one: {k: v for k, v in one.items() if k != "logicalType"})
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(plain), record)
    return b"\0\0\0\0\7" + stream.getvalue()


def test_an_event_has_the_same_row_as_in_json():
    records = ConnectRecords(registered(ENVELOPE))
    line = records.text(written(ENVELOPE, {"before": None, "after": AFTER, "op": "c"}), 5)
    columns = tuple(Column(name=name, type=type_) for name, type_ in TYPES.items())
    assert decode([line, line], WantedEvents(columns, ("id",)), "t", 1).rows.to_pylist()[0] == {
        "id": 1,
        "amount": Decimal("1.50"),
        "day": date(2024, 10, 4),
        "at": datetime(2026, 3, 1, 12, tzinfo=UTC),
        "small": 7,
        "tags": ["x"],
        "raw": [("k", b"\xff")],
    }
    found = messages_of([line])
    assert found.typed
    assert {column.name: column.type for column in found.columns} == {
        **TYPES,
        "at": "timestamp_ntz",
        "small": "int",
    }
    assert [column.name for column in found.columns if column.nullable] == ["amount", "day", "small"]


def test_a_default_that_may_be_null_is_known():
    schema = {"type": "record", "name": "R", "fields": [{"name": "after", "type": {**ROW, "fields": [
        {"name": "id", "type": "long"}, {"name": "small", "type": [SMALL, "null"]}]}}]}  # fmt: skip
    line = ConnectRecords(registered(schema)).text(written(schema, {"after": {"id": 1, "small": 5}}), 5)
    small = json.loads(line)["schema"]["fields"][0]["fields"][1]
    assert small == {"type": "int16", "optional": True, "default": 5, "field": "small"}


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (["int", "string"], "a union of several types"),
        ({"type": "record", "name": "Tree", "fields": [{"name": "left", "type": ["null", "Tree"]}]}, "within it"),
    ],
)
def test_a_schema_that_has_no_other_form(type_, text):
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": type_}]}
    with pytest.raises(UnreadableError, match=text):
        ConnectRecords(registered(schema))

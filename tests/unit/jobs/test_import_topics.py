"""`streamhouse import` of topics by a schema registry: keys as columns, and change events as tables."""

import json

import pytest

from streamhouse.ingest.schema_registry import NotRegistered, RegisteredSchema, SubjectVersion
from streamhouse.jobs.import_topics import registered_topics
from tests.unit.ingest.test_avro_connect import ENVELOPE, TYPES
from tests.unit.ingest.test_protobuf_connect import HEAD, ROW
from tests.unit.ingest.test_protobuf_connect import TYPES as PROTOBUF_TYPES

SERVERS = "broker:9092"
PROTOBUF_KEY = "syntax = 'proto3'; message K { int32 shop = 1; }"
JSON_KEY = '{"type": "object", "properties": {"shop": {"type": "integer"}}}'


def record(**types):
    return json.dumps(
        {"type": "record", "name": "R", "fields": [{"name": name, "type": one} for name, one in types.items()]}
    )


class Registry:
    """What an import asks of a registry."""

    def __init__(self, **subjects):
        self._known = {name.replace("__", "-"): one for name, one in subjects.items()}

    def subjects(self):
        return sorted(self._known)

    def latest(self, subject):
        if subject not in self._known:
            raise NotRegistered(subject)
        return SubjectVersion(subject, 1, RegisteredSchema(1, *self._known[subject]))


def found(**subjects):
    return registered_topics(Registry(**subjects), "schemas", SERVERS, lambda _: True)


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        (("AVRO", record(customer="long", id="long")), {"format": "avro", "columns": {"customer": "bigint"}}),
        (("PROTOBUF", PROTOBUF_KEY), {"format": "protobuf", "columns": {"shop": "int"}}),
        (("JSON", JSON_KEY), {"format": "json_schema", "columns": {"shop": "bigint"}}),
        (("AVRO", record(id="long")), None),
        (("AVRO", '"long"'), None),
        (None, None),
    ],
)
def test_fields_of_keys_are_further_columns(key, wanted):
    subjects = {"orders__value": ("AVRO", record(id="long", name="string"))} | ({"orders__key": key} if key else {})
    [table] = found(**subjects)
    place = {"servers": SERVERS, "topic": "orders", "format": "avro", "registry": "schemas"}
    assert (table.kind, table.refusal) == ("kafka", "")
    assert table.options == (place if wanted is None else {**place, "key": wanted})
    assert [(column.name, column.type) for column in table.columns] == [("id", "bigint"), ("name", "string")]


@pytest.mark.parametrize(
    ("form", "value", "key", "types"),
    [
        ("avro", ("AVRO", json.dumps(ENVELOPE)), ("AVRO", record(id="long")), {**TYPES, "at": "timestamp_ntz"}),
        (
            "protobuf",
            ("PROTOBUF", HEAD + ROW),
            ("PROTOBUF", "syntax='proto3'; message K { int64 id = 1; }"),
            {**PROTOBUF_TYPES, "at": "timestamp_ntz"},
        ),
    ],
)
def test_change_events_are_a_table_with_the_key(form, value, key, types):
    [table] = found(orders__value=value, orders__key=key)
    place = {"servers": SERVERS, "topic": "orders", "format": form, "registry": "schemas"}
    assert (table.kind, table.options, table.primary_key) == ("cdc", {"kafka": place}, ("id",))
    seen = {column.name: column.type for column in table.columns}
    assert seen == {**types, "small": "int"}


@pytest.mark.parametrize("key", [None, ("AVRO", '"long"'), ("AVRO", record(other="long"))])
def test_change_events_without_a_key_are_left_out(key):
    [table] = found(orders__value=("AVRO", json.dumps(ENVELOPE)), **({"orders__key": key} if key else {}))
    assert "no subject 'orders-key' names columns of their rows" in table.refusal

"""Which columns a JSON schema has."""

import json

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.json_schema import fits_json, json_columns
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.unreadable import UnreadableError


def columns(properties, **more):
    found, _ = json_columns(json.dumps({"properties": properties, **more}), {"name.json": '{"type": "string"}'})
    return {column.name: column.type for column in found}


def test_types():
    assert columns(
        {
            "n": {"type": "integer"},
            "x": {"type": ["null", "number"]},
            "at": {"type": "string", "format": "date-time"},
            "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "name": {"$ref": "name.json"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "to": {"$ref": "#/definitions/place"},
            "rates": {"type": "object", "additionalProperties": {"type": "number"}},
            "either": {"type": ["string", "integer"]},
            "anything": True,
            "tree": {"$ref": "#/definitions/tree"},
        },
        definitions={
            "place": {"type": "object", "properties": {"city": {"type": "string"}, "is_open": {"type": "boolean"}}},
            "tree": {"type": "array", "items": {"$ref": "#/definitions/tree"}},
        },
    ) == {
        "n": "bigint",
        "x": "double",
        "at": "timestamp",
        "day": "date",
        "name": "string",
        "tags": "array<string>",
        "to": "struct<city:string,is_open:boolean>",
        "rates": "map<string,double>",
    }


@pytest.mark.parametrize("text", ["{", "3", '{"type": "array"}'])
def test_what_makes_no_rows(text):
    with pytest.raises(UnreadableError):
        json_columns(text, {})


@pytest.mark.parametrize(
    ("natural", "declared", "is_fit"),
    [
        ("bigint", "decimal(12,2)", True),
        ("bigint", "string", False),
        ("string", "decimal(12,2)", True),
        ("timestamp", "timestamp_ntz", True),
        ("boolean", "int", False),
        ("struct<a:int>", "map<string,bigint>", True),
        ("array<string>", "string", False),
    ],
)
def test_what_is_read_as_what(natural, declared, is_fit):
    assert fits_json(natural, declared) is is_fit


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"format": "avro"}, "format avro needs 'registry'"),
        ({"registry": "schemas"}, "'registry' is for messages with a schema"),
        ({"format": "avro", "registry": "schemas", "message": "A"}, "'message' is for format: protobuf"),
        ({"format": "xml"}, "option 'format' of kafka"),
    ],
)
def test_options_that_do_not_go_together(options, text):
    with pytest.raises(SourceError, match=text):
        open_kafka({"servers": "a:1", "topic": "t", "columns": {"id": "int"}, **options})

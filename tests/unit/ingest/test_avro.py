"""Avro: many records at once give what fastavro gives one by one, for random schemas, rows and damaged bytes."""

import io
import json
from itertools import count

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamhouse.ingest import avro_rows as module
from streamhouse.ingest.avro_at_once import NotAtOnce, read_at_once
from streamhouse.ingest.avro_rows import AvroRows
from streamhouse.ingest.avro_schema import avro_record
from streamhouse.ingest.avro_values import value_reader
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type
from tests.patience import SOAKING

_NUMBER = count()
_LONG = st.integers(-(2**63), 2**63 - 1)
_SIMPLE = [
    ("int", st.integers(-(2**31), 2**31 - 1)),
    ("long", _LONG),
    ("string", st.text(max_size=5)),
    ("bytes", st.binary(max_size=5)),
    ("boolean", st.booleans()),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False)),
    ({"type": "long", "logicalType": "timestamp-micros"}, st.integers(-(2**50), 2**50)),
    ({"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}, st.binary(min_size=1, max_size=8)),
]


def named(kind, **more):
    return {"type": kind, "name": f"N{next(_NUMBER)}", **more}


@st.composite
def types(draw, depth=2):
    """A type, and a strategy for its values without logical types."""
    shape = draw(
        st.sampled_from(["simple", "enum", "fixed", "union", "array", "map", "record"] if depth else ["simple"])
    )
    if shape == "simple":
        return draw(st.sampled_from(_SIMPLE))
    if shape == "enum":
        return named("enum", symbols=["A", "B", "C"]), st.sampled_from("ABC")
    if shape == "fixed":
        return named("fixed", size=3), st.binary(min_size=3, max_size=3)
    if shape == "record":
        return draw(records(depth - 1))
    inner, values = draw(types(depth - 1))
    if shape == "array":
        return {"type": "array", "items": inner}, st.lists(values, max_size=4)
    if shape == "map":
        return {"type": "map", "values": inner}, st.dictionaries(st.text(max_size=2), values, max_size=3)
    if isinstance(inner, list):
        return inner, values
    return draw(st.sampled_from([["null", inner], [inner, "null"]])), st.none() | values


@st.composite
def records(draw, depth=3):
    fields = [(f"f{n}", *draw(types(depth))) for n in range(draw(st.integers(1, 4)))]
    schema = named("record", fields=[{"name": name, "type": kind} for name, kind, _ in fields])
    return schema, st.fixed_dictionaries({name: values for name, _, values in fields})


@st.composite
def batches(draw):
    schema, rows = draw(records())
    plain = fastavro.parse_schema(json.loads(json.dumps(schema), object_hook=without_logical_type))
    values = []
    for row in draw(st.lists(rows, min_size=1, max_size=6)):
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, plain, row)
        values.append(b"skip!" + stream.getvalue())
    return json.dumps(schema), values


def without_logical_type(schema):
    return {key: value for key, value in schema.items() if key != "logicalType"}


def result(schema, values, fewest, columns):
    found = AvroRows(RegisteredSchema(1, "AVRO", schema))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEWEST_AT_ONCE", fewest)
        try:
            return found.rows(values, 5, columns).to_pylist()
        except (UnreadableError, pa.ArrowException, OverflowError) as error:
            return type(error).__name__


def columns_of(schema):
    return tuple(Column(name=name, type=one.spark_type) for name, one in avro_record(schema, {}).fields)


@given(batch=batches())
@settings(max_examples=1500 if SOAKING else 60, deadline=None)
def test_at_once_and_one_by_one(batch):
    schema, values = batch
    columns = columns_of(schema)
    record = avro_record(schema, {})
    physical = {
        name: value_reader(one, arrow_type(one.spark_type)).physical
        for name, one in record.fields
        if one.kind != "null"
    }
    read_at_once(record, values, 5, physical)  # nothing of this is left to the other way
    assert result(schema, values, 0, columns) == result(schema, values, 10**9, columns)
    assert result(schema, values, 0, columns[1:]) == result(schema, values, 10**9, columns[1:])


@given(batch=batches(), data=st.data())
@settings(max_examples=3000 if SOAKING else 80, deadline=None)
def test_damaged_bytes(batch, data):
    schema, values = batch
    number = data.draw(st.integers(0, len(values) - 1))
    raw = bytearray(values[number])
    for _ in range(data.draw(st.integers(1, 3))):
        how = data.draw(st.sampled_from(["flip", "cut", "grow"]))
        if how == "flip" and len(raw) > 5:
            raw[data.draw(st.integers(5, len(raw) - 1))] = data.draw(st.integers(0, 255))
        elif how == "cut" and len(raw) > 5:
            del raw[data.draw(st.integers(5, len(raw) - 1)) :]
        else:
            raw += data.draw(st.binary(min_size=1, max_size=3))
    values[number] = bytes(raw)
    columns = columns_of(schema)
    assert result(schema, values, 0, columns) == result(schema, values, 10**9, columns)


def test_arrays_in_blocks_with_their_sizes():
    schema = json.dumps(named("record", fields=[{"name": "a", "type": {"type": "array", "items": "int"}}]))
    # Two items in a block with its size of two bytes, one in a block without, none; then an empty array.
    values = [b"\x03\x04\x02\x04\x02\x06\x00", b"\x00"]
    found = read_at_once(avro_record(schema, {}), values, 0, {"a": pa.list_(pa.int64())})
    assert found["a"].to_pylist() == [[1, 2, 3], []]


def test_long_arrays_and_repeated_keys_are_read_one_by_one():
    schema = json.dumps(named("record", fields=[{"name": "m", "type": {"type": "map", "values": "int"}}]))
    twice = b"\x04\x02a\x02\x02a\x04\x00"
    with pytest.raises(NotAtOnce):
        read_at_once(avro_record(schema, {}), [twice], 0, {"m": pa.map_(pa.string(), pa.int64())})
    columns = (Column(name="m", type="map<string,int>"),)
    assert result(schema, [b"skip!" + twice], 0, columns) == [{"m": [("a", 2)]}]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (["null", "int", "string"], "a union of int and string"),
        ("null", "every value is null"),
        ({"type": "record", "name": "Empty", "fields": []}, "a record without fields"),
        (["null", "Row"], "has itself in it"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 40}, "more than 38"),
    ],
)
def test_what_no_column_can_have(kind, text):
    schema = {"type": "record", "name": "Row", "fields": [{"name": "x", "type": kind}, {"name": "y", "type": "int"}]}
    ((_, found), (_, other)) = avro_record(json.dumps(schema), {}).fields
    with pytest.raises(UnreadableError, match=text) as refused:
        _ = found.spark_type
    assert refused.value.reason == "schema"
    assert other.spark_type == "int"


@pytest.mark.parametrize("text", ["", "{}", '"int"', "[1]"])
def test_what_is_no_schema_of_rows(text):
    with pytest.raises(UnreadableError):
        avro_record(text, {})

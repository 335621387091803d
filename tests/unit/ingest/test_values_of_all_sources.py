"""One table of values at the edges of their types: each source reads a value as it is written, or refuses it."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan

import fastavro
import pyarrow as pa
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.avro_rows import AvroRows
from streamhouse.ingest.csv_options import CsvForm
from streamhouse.ingest.csv_values import typed
from streamhouse.ingest.debezium import WantedEvents, decode
from streamhouse.ingest.files import open_files
from streamhouse.ingest.json_rows import json_rows
from streamhouse.ingest.message_formats import JsonMessages
from streamhouse.ingest.parquet_types import fitted
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.model.table import Column
from tests.tables import each

REFUSED = "refused"
TEXT_TYPES = ("date", "timestamp", "timestamp_ntz", "binary", "string")
ID = Column(name="id", type="bigint", nullable=False)


def of(kind):
    return (Column(name="v", type=kind),)


def in_json(kind, text):
    return json.dumps(text) if kind.startswith(TEXT_TYPES) else text


def of_csv(kind, text):
    return typed(pa.array([text]), "v", kind, CsvForm())


def of_lines(kind, text):
    return json_rows([f'{{"v": {in_json(kind, text)}}}'.encode()], of(kind))["v"]


def of_lines_one_by_one(kind, text):
    """A word for a number in one line makes Arrow's reader of JSON unfit for all of them."""
    return json_rows([f'{{"v": {in_json(kind, text)}}}'.encode(), b'{"w": NaN}'], of(kind))["v"].slice(0, 1)


def of_messages(kind, text):
    return JsonMessages().rows([f'{{"v": {in_json(kind, text)}}}'.encode()], of(kind))["v"]


def of_events(kind, text, *others):
    after = f'{{"id": 1, "v": {in_json(kind, text)}}}'
    wanted = WantedEvents((ID, *of(kind), *others), ("id",))
    return decode([f'{{"op": "c", "before": null, "after": {after}}}'.encode()], wanted, "1.jsonl", 1).rows["v"]


def of_exact_events(kind, text):
    """A column of decimals makes all numbers be read with their digits."""
    return of_events(kind, text, Column(name="d", type="decimal(10,2)"))


def of_texts_in_events(kind, text):
    return of_events(kind, json.dumps(text) if in_json(kind, text) == text else text)


def of_texts_in_parquet(kind, text):
    return fitted(pa.table({"v": [text]}), of(kind), {"v": "v"})["v"]


FORMS = {
    "csv": of_csv,
    "lines": of_lines,
    "one by one": of_lines_one_by_one,
    "messages": of_messages,
    "events": of_events,
    "exact events": of_exact_events,
    "texts in events": of_texts_in_events,
    "texts in parquet": of_texts_in_parquet,
}
JSON = ("lines", "one by one", "messages")
EVENTS = ("events", "exact events")


def everywhere(value, **but):
    return dict.fromkeys(FORMS, value) | but


def only(value, *forms):
    return dict.fromkeys(FORMS, REFUSED) | dict.fromkeys(forms, value)


NOWHERE = everywhere(REFUSED)
LAST_MICROSECOND = datetime(2026, 1, 31, 23, 59, 59, 123_456, tzinfo=UTC)
BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
VALUES = [
    ("double", "1e400", NOWHERE),
    ("double", "-1e400", NOWHERE),
    ("double", "1" + "0" * 400, NOWHERE),
    ("double", "1.7976931348623157e308", everywhere(1.7976931348623157e308)),
    ("float", "1e39", NOWHERE),
    ("float", "3.4028236e38", NOWHERE),
    ("float", "-3.4028235e38", everywhere(-3.4028234663852886e38)),
    ("double", "-0.0", everywhere(-0.0)),
    ("double", "1e-400", everywhere(0.0)),
    ("double", "NaN", everywhere(nan)),
    ("double", "-Infinity", everywhere(-inf)),
    ("float", "Infinity", everywhere(inf)),
    ("tinyint", "300", NOWHERE),
    ("tinyint", "-128", everywhere(-128)),
    ("smallint", "-32769", NOWHERE),
    ("int", "2147483648", NOWHERE),
    ("bigint", "9223372036854775807", everywhere(2**63 - 1)),
    ("bigint", "9223372036854775808", NOWHERE),
    ("bigint", "9223372036854775807.0", only(2**63 - 1, "exact events")),
    ("bigint", "9007199254740993.0", only(2**53 + 1, "exact events")),
    ("bigint", "-9007199254740993.0", only(-(2**53) - 1, "exact events")),
    ("bigint", "5.0", only(5, *EVENTS)),
    ("bigint", "1e400", NOWHERE),
    ("int", "NaN", NOWHERE),
    ("int", "0x10", NOWHERE),
    ("int", "1.5", NOWHERE),
    ("boolean", "1", NOWHERE),
    ("boolean", "0", NOWHERE),
    ("decimal(10,2)", "1.005", NOWHERE),
    ("decimal(10,2)", "1.50", everywhere(Decimal("1.50"))),
    ("decimal(10,2)", "100000000", NOWHERE),
    ("decimal(10,2)", "NaN", NOWHERE),
    ("decimal(10,2)", "-0.0", everywhere(Decimal("0.00"))),
    ("date", "2026-02-30", NOWHERE),
    ("date", "2026-01-31T10:00:00", NOWHERE),
    ("date", "2026-01-31", everywhere(date(2026, 1, 31))),
    ("timestamp", "2026-01-31T24:00:00Z", NOWHERE),
    ("timestamp", "2026-01-31T23:59:60Z", NOWHERE),
    ("timestamp", "2026-02-30T10:00:00Z", NOWHERE),
    # Digits beyond microseconds go, as in Spark and as docs/sources.md says; of a time before 1970, too.
    ("timestamp", "2026-01-31T23:59:59.123456789Z", everywhere(LAST_MICROSECOND, **{"texts in parquet": REFUSED})),
    ("timestamp", "1969-12-31T23:59:59.9999999Z", everywhere(BEFORE_1970, **{"texts in parquet": REFUSED})),
    (
        "timestamp_ntz",
        "2026-01-31T23:59:59.123456789",
        only(LAST_MICROSECOND.replace(tzinfo=None), "csv", *JSON),
    ),
    ("timestamp_ntz", "2026-01-31T10:00:00Z", NOWHERE),
    ("timestamp_ntz", "2026-01-31T24:00:00", NOWHERE),
]


def shown(value):
    """A value as text, so that also NaN and the sign of zero can be compared."""
    return value.isoformat() if isinstance(value, datetime) else repr(value)


def read(form, kind, text):
    try:
        [value] = FORMS[form](kind, text).to_pylist()
    except (ValueError, SourceError, pa.ArrowException):
        return REFUSED
    return shown(value)


@each(("kind", "text", "expected"), VALUES, ids=[f"{kind} {text:.40}" for kind, text, _ in VALUES])
def test_each_source_reads_what_is_written_or_refuses_it(kind, text, expected):
    found = {form: read(form, kind, text) for form in FORMS}
    assert found == {form: value if value == REFUSED else shown(value) for form, value in expected.items()}


OUTER = [("array<{}>", "[{}]"), ("struct<a:{}>", '{{"a": {}}}'), ("map<string,{}>", '{{"a": {}}}')]
LARGE = [("double", "1e400"), ("float", "1e39")]


@each(("outer", "written", "kind", "text"), [(*outer, *large) for outer in OUTER for large in LARGE])
def test_numbers_too_large_within_others(outer, written, kind, text):
    for form in (*JSON, *EVENTS):
        assert read(form, outer.format(kind), written.format(text)) == REFUSED, form
        assert read(form, outer.format(kind), written.format("Infinity")) != REFUSED, form


SHAPES = [
    ("struct<a:int>", "0"),
    ("struct<a:boolean>", "false"),
    ("struct<a:string>", '""'),
    ("struct<a:int>", "[]"),
    ("array<int>", "0"),
    ("array<int>", "false"),
    ("array<int>", '""'),
    ("array<int>", "{}"),
    ("map<string,int>", "0"),
    ("map<string,int>", '""'),
    ("map<string,string>", '["ab"]'),
    ("map<string,int>", '[["a", 1], ["a", 2]]'),
    ("array<struct<a:int>>", "[0]"),
]


@each(("kind", "text"), SHAPES, ids=[f"{kind} {text}" for kind, text in SHAPES])
def test_what_has_another_shape_is_refused(kind, text):
    for form in (*JSON, *EVENTS):
        assert read(form, kind, text) == REFUSED, form


@each(("inner", "null"), [("map<string,int>", None), ("array<int>", None), ("struct<b:int>", None), ("int", None)])
def test_a_field_that_an_empty_struct_lacks_is_null(inner, null):
    for form in (*JSON, *EVENTS):
        assert read(form, f"struct<a:{inner}>", "{}") == repr({"a": null}), form


@each(
    ("value", "expected"),
    [
        ({"scale": 2, "value": "AfQ="}, Decimal("5.00")),
        ({"scale": 2, "value": "AA=="}, Decimal("0.00")),
        ({"scale": 2, "value": ""}, REFUSED),
        ({"scale": 2.5, "value": "AfQ="}, REFUSED),
        ({"scale": True, "value": "AfQ="}, REFUSED),
        ({"scale": "x", "value": "AfQ="}, REFUSED),
    ],
)
def test_decimals_with_a_scale_of_their_own(value, expected):
    assert {read(form, "decimal(10,2)", json.dumps(value)) for form in EVENTS} == {
        expected if expected == REFUSED else shown(expected)
    }


@each(
    ("name", "value", "expected"),
    [
        ("Timestamp", 1_700_000_000_123, REFUSED),
        ("MicroTimestamp", 86_400_000_001, REFUSED),
        ("NanoTimestamp", 86_400_000_000_001, REFUSED),
        ("Timestamp", 86_400_000, date(1970, 1, 2)),
        ("Date", 1, date(1970, 1, 2)),
    ],
)
def test_a_time_of_day_is_not_cut_from_a_date(name, value, expected):
    fields = [{"field": "id", "type": "int64"}, {"field": "v", "type": "int64", "name": f"io.debezium.time.{name}"}]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": fields}]}
    line = json.dumps({"schema": schema, "payload": {"op": "c", "after": {"id": 1, "v": value}}}).encode()
    wanted = WantedEvents((ID, *of("date")), ("id",))
    if expected == REFUSED:
        with pytest.raises(SourceError, match=r"1\.jsonl:1:1: SH212 .*a time of day would be lost"):
            decode([line], wanted, "1.jsonl", 1)
    else:
        assert decode([line], wanted, "1.jsonl", 1).rows["v"].to_pylist() == [expected]


def test_a_number_too_large_is_refused_with_its_place(tmp_path):
    (tmp_path / "a.json").write_text('{"v": 1.5}\n{"v": Infinity}\n{"v": 1e400}\n')
    source = open_files({"path": "a.json", "columns": {"v": "double"}}, tmp_path)
    why = r"a\.json:3:1: SH212 column 'v' is no double: 1e400 .it is too large"
    with pytest.raises(SourceError, match=why) as refused:
        source.read({}, source.available())
    assert refused.value.hint
    lines = [f'{{"op": "c", "after": {{"id": {n}, "v": {v}}}}}'.encode() for n, v in enumerate(("1.5", "NaN", "1e400"))]
    wanted = WantedEvents((ID, *of("double")), ("id",))
    with pytest.raises(
        SourceError, match=r"1\.jsonl:12:1: SH212 column 'v' is no double: 1E.400 .it is too large"
    ) as refused:
        decode(lines, wanted, "1.jsonl", 10)
    assert refused.value.hint


AVRO = [
    ("int", 300, "tinyint", REFUSED),
    ("long", 2**31, "int", REFUSED),
    ("long", 2**63 - 1, "bigint", 2**63 - 1),
    ("int", 2**24 + 1, "float", REFUSED),
    ("long", 2**53 + 1, "double", REFUSED),
    ("double", 1e300, "float", REFUSED),
    ("float", inf, "double", inf),
    ("double", -0.0, "double", -0.0),
    ("long", 10**9, "decimal(10,2)", REFUSED),
    ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}, b"\x03\xed", "decimal(10,2)", REFUSED),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3},
        b"\x03\xf2",
        "decimal(10,2)",
        Decimal("1.01"),
    ),
    ({"type": "long", "logicalType": "timestamp-nanos"}, -1, "timestamp", BEFORE_1970),
    ({"type": "long", "logicalType": "timestamp-millis"}, 2**62, "timestamp", REFUSED),
    ({"type": "long", "logicalType": "timestamp-millis"}, 1, "date", REFUSED),
    ({"type": "int", "logicalType": "time-millis"}, 86_400_000, "int", REFUSED),
]


@each(("written", "value", "kind", "expected"), AVRO)
def test_avro_one_by_one_and_at_once(written, value, kind, expected):
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": written}]}
    plain = written if isinstance(written, str) else written["type"]
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, {**schema, "fields": [{"name": "v", "type": plain}]}, {"v": value})
    reader = AvroRows(RegisteredSchema(1, "AVRO", json.dumps(schema)))
    for count in (1, 250):
        try:
            found = {shown(one) for one in reader.rows([stream.getvalue()] * count, 0, of(kind))["v"].to_pylist()}
        except (ValueError, pa.ArrowException):
            found = REFUSED
        assert found == (REFUSED if expected == REFUSED else {shown(expected)}), count

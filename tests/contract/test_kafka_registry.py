"""The source `kafka` with a schema registry, against a real broker and a real registry."""

import io
import json
from contextlib import ExitStack
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import fastavro
import pytest
import yaml

from streamhouse.cli.main import main
from streamhouse.errors import EnvironmentProblem, SourceError, StoreUnavailableError
from streamhouse.ingest import schema_registry
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.message_formats import LANGUAGES
from streamhouse.ingest.protobuf_schema import protobuf_file
from streamhouse.ingest.registered_columns import contracts_of, newest_schema, refuse_misfits
from streamhouse.ingest.schema_registry import RegisteredSchema, registry_client
from streamhouse.project.contracts import check_contracts
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from tests.contract.test_kafka import create, send
from tests.gate.levels import deep
from tests.kafka import broker
from tests.malformed import FORMATS, SCHEMAS
from tests.registry import framed, guarded, registry

pytestmark = [
    deep("waits until a registry is given up", only=("test_a_registry_that_is_away_loses_no_row",)),
    pytest.mark.services,
]

COLUMNS = {"id": "bigint", "shop": "string", "amount": "decimal(12,2)", "at": "timestamp"}
FIELDS = [
    {"name": "id", "type": "long"},
    {"name": "shop", "type": ["null", "string"], "default": None},
    {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
]
ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": FIELDS}
TAXED = {**ORDER, "fields": [*FIELDS, {"name": "tax", "type": ["null", "int"], "default": None}]}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROW = {"id": 1, "shop": "ä", "amount": Decimal("1.50"), "at": NOON}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    with ExitStack() as stack:
        found = stack.enter_context(registry(folder / "registry"))
        yield stack.enter_context(broker(folder / "broker")), found


@pytest.fixture
def servers(world):
    return world[0]


@pytest.fixture
def schemas(world):
    return world[1]


@pytest.fixture
def root(tmp_path, schemas):
    return connected(tmp_path, f"{{kind: schema_registry, url: '{schemas.url}'}}")


def connected(root, place):
    (root / "streamhouse.yaml").write_text(f"connections:\n  schemas: {place}\n")
    return root


def encoded(number, schema, *rows):
    found = []
    for row in rows:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, fastavro.parse_schema(json.loads(json.dumps(schema))), row)
        found.append(framed(number, stream.getvalue()))
    return found


def source(root, servers, topic, **options):
    given = {"servers": servers, "topic": topic, "columns": COLUMNS, "format": "avro", "registry": "schemas"}
    return open_kafka({**given, **options}, root)


def test_rows_of_several_schemas_in_their_order(servers, schemas, root):
    topic = create(servers)
    old, new = schemas.register(f"{topic}-value", ORDER), schemas.register(f"{topic}-value", TAXED)
    [first] = encoded(old, ORDER, ROW)
    [second] = encoded(new, TAXED, {**ROW, "id": 2, "tax": 7})
    [third] = encoded(old, ORDER, {**ROW, "id": 3, "shop": None})
    send(servers, topic, [first, second, None, third], key=b"k")
    found = source(root, servers, topic, columns={**COLUMNS, "tax": "bigint"}, metadata={"o": "offset"})
    table = found.read({}, found.available())
    assert table.to_pylist() == [
        {**ROW, "tax": None, "o": 0},
        {**ROW, "id": 2, "tax": 7, "o": 1},
        {**ROW, "id": 3, "shop": None, "tax": None, "o": 3},
    ]
    assert found.read({}, found.available(), ("tax",)).to_pydict() == {"tax": [None, 7, None]}


def test_keys_with_a_schema_are_columns(servers, schemas, root):
    """Of a key that cannot be read the message is a bad row; a new version of its subject is compared, too."""
    topic = create(servers)
    key = {"type": "record", "name": "Key", "fields": [{"name": "region", "type": "string"}]}
    number = schemas.register(f"{topic}-key", key)
    [value] = encoded(schemas.register(f"{topic}-value", ORDER), ORDER, ROW)
    [north] = encoded(number, key, {"region": "north"})
    for given in (north, None, b"plain"):
        send(servers, topic, [value], key=given)
    of_key = {"format": "avro", "columns": {"region": "string"}}
    found = source(root, servers, topic, key=of_key, on_bad_rows="dead_letter")
    split = found.read_split({}, found.available())
    assert split.rows["region"].to_pylist() == ["north", None]
    assert [(one.reason, one.message) for one in split.bad] == [
        ("malformed", "its key: it does not begin with the id of a schema")
    ]
    given = {"servers": servers, "topic": topic, "columns": COLUMNS, "format": "avro", "registry": "schemas"}
    checked = KafkaOptions.model_validate({**given, "key": {"format": "avro", "columns": {"country": "string"}}})
    [_, contract] = contracts_of(checked)
    with pytest.raises(SourceError, match="has no column 'country'"):
        refuse_misfits(newest_schema(registry_client("schemas", root), contract), contract.columns)


def test_changes_in_avro_are_rows_by_key(servers, schemas, root):
    topic = create(servers, 1)
    row = {"type": "record", "name": "Value", "fields": FIELDS}
    envelope = {
        "type": "record",
        "name": "Envelope",
        "fields": [
            {"name": "before", "type": ["null", row], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "op", "type": "string"},
        ],
    }
    key = {"type": "record", "name": "Key", "fields": FIELDS[:1]}
    of_value, of_key = schemas.register(f"{topic}-value", envelope), schemas.register(f"{topic}-key", key)
    events = [("c", ROW), ("c", {**ROW, "id": 2}), ("u", {**ROW, "shop": None})]
    for op, after in events:
        [value] = encoded(of_value, envelope, {"before": None, "after": after, "op": op})
        send(servers, topic, [value], key=encoded(of_key, key, after)[0])
    send(servers, topic, [None], key=encoded(of_key, key, {"id": 2})[0])
    send(servers, topic, [b"no frame"], key=b"k")
    place = {"servers": servers, "topic": topic, "format": "avro", "registry": "schemas"}
    options = {"kafka": place, "primary_key": ["id"], "columns": COLUMNS, "on_bad_rows": "dead_letter"}
    found = open_cdc(options, root)
    end = found.available()
    assert found.state(end).to_pylist() == [{**ROW, "shop": None}]
    assert [bad.letter.raw for bad in found.bad_rows({}, end)] == [b"no frame"]


CHANGED = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Envelope { Value before = 1; Value after = 2; string op = 3; }
message Value { int64 id = 1; optional string shop = 2; google.protobuf.Timestamp at = 3; }
"""


def test_changes_in_protobuf_are_rows_by_key_from_their_start_on(servers, schemas, root):
    from google.protobuf.message_factory import GetMessageClass

    topic = create(servers, 1)
    number = schemas.register(f"{topic}-value", CHANGED, "PROTOBUF")
    envelope = GetMessageClass(protobuf_file(RegisteredSchema(number, "PROTOBUF", CHANGED)).named("Envelope"))
    for op, key, shop in (("c", 1, "before"), ("c", 2, "ä"), ("c", 3, None), ("u", 2, ""), ("d", 3, None)):
        event = envelope(op=op)
        row = event.before if op == "d" else event.after
        row.id, row.at.seconds = key, int(NOON.timestamp())
        if shop is not None:
            row.shop = shop
        send(servers, topic, [framed(number, b"\0" + event.SerializeToString())])
    place = {"servers": servers, "topic": topic, "format": "protobuf", "registry": "schemas"}
    columns = {"id": "bigint", "shop": "string", "at": "timestamp"}
    changes = {"primary_key": ["id"], "columns": columns}
    found = open_cdc({"kafka": {**place, "start": {"offsets": {0: 1}}}, **changes}, root)
    assert found.state(found.available()).to_pylist() == [{"id": 2, "shop": "", "at": NOON}]
    whole = open_cdc({"kafka": {**place, "start": "2026-03-01T00:00:00Z"}, **changes}, root)
    assert sorted(whole.state(whole.available())["id"].to_pylist()) == [1, 2]
    later = open_cdc({"kafka": {**place, "start": "2999-01-01T00:00:00Z"}, **changes}, root)
    assert later.state(later.available()).num_rows == 0


EVERY = {
    "type": "record",
    "name": "Every",
    "fields": [
        {"name": "d", "type": {"type": "int", "logicalType": "date"}},
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": ["null", {"type": "long", "logicalType": "local-timestamp-millis"}]},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "u", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "big", "type": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10}},
        {"name": "fix", "type": {"type": "fixed", "name": "F", "size": 16, "logicalType": "decimal", "precision": 30}},
        {"name": "raw", "type": {"type": "fixed", "name": "R", "size": 2}},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["NEW", "PAID"]}},
        {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "rates", "type": ["null", {"type": "map", "values": {"type": "array", "items": "float"}}]},
        {
            "name": "to",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Place",
                    "fields": [
                        {"name": "city", "type": "string"},
                        {"name": "paid", "type": ["null", FIELDS[2]["type"]]},
                        {"name": "left_out", "type": "boolean"},
                    ],
                },
            ],
        },
        {"name": "stops", "type": {"type": "array", "items": "Place"}},
        {"name": "either", "type": ["int", "string"]},
    ],
}
EVERY_TYPES = {
    "d": "date",
    "micros": "timestamp",
    "local": "timestamp_ntz",
    "clock": "int",
    "u": "string",
    "big": "decimal(38,10)",
    "fix": "decimal(30,0)",
    "raw": "binary",
    "e": "string",
    "tags": "array<string>",
    "rates": "map<string,array<float>>",
    "to": "struct<city:string,paid:decimal(12,2),new:int>",
    "stops": "array<struct<city:string>>",
}


def test_every_type(servers, schemas, root):
    topic = create(servers)
    number = schemas.register(f"{topic}-value", EVERY)
    row = {
        "d": date(1969, 12, 31),
        "micros": datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        "local": datetime(2026, 1, 1, 8),
        "clock": 5,
        "u": UUID(int=7),
        "big": Decimal("-1234567890123456789012345678.0123456789"),
        "fix": Decimal(-3),
        "raw": b"\xff\0",
        "e": "PAID",
        "tags": ["x", None],
        "rates": {"a": [1.5, 2.5], "b": []},
        "to": {"city": "Ulm", "paid": Decimal("-0.01"), "left_out": True},
        "stops": [{"city": "Bonn", "paid": None, "left_out": False}],
        "either": "text",
    }
    schema = json.loads(json.dumps(EVERY))
    schema["fields"][3]["type"] = "int"  # fastavro wants a time of day
    send(servers, topic, encoded(number, schema, row, {**row, "local": None, "rates": None, "to": None, "stops": []}))
    found = source(root, servers, topic, columns=EVERY_TYPES)
    first, second = found.read({}, found.available()).to_pylist()
    assert first == {
        **{name: value for name, value in row.items() if name != "either"},
        "u": str(UUID(int=7)),
        "rates": [("a", [1.5, 2.5]), ("b", [])],
        "to": {"city": "Ulm", "paid": Decimal("-0.01"), "new": None},
        "stops": [{"city": "Bonn"}],
    }
    assert (second["local"], second["rates"], second["to"], second["stops"]) == (None, None, None, [])
    newest = newest_schema(registry_client("schemas", root), *contracts_of(options(topic, {})))
    with pytest.raises(SourceError, match=r"column 'either' of version 1 .* a union of int and string"):
        refuse_misfits(newest, {"either": "string"})


def options(topic, columns):
    given = {"servers": "a:1", "topic": topic, "format": "avro", "registry": "schemas"}
    return KafkaOptions.model_validate({**given, "columns": columns or COLUMNS})


@pytest.mark.parametrize(
    ("columns", "text", "hint"),
    [
        ({"amuont": "decimal(12,2)"}, "has no column 'amuont'", "did you mean 'amount'?"),
        ({"shop": "bigint"}, "column 'shop' of version 1 of .*: string is not read as bigint", "CAST"),
        ({"at": "timestamp_ntz"}, "timestamp is not read as timestamp_ntz", "declare 'at' as timestamp"),
        ({"id": "double", "amount": "decimal(20,4)"}, "", ""),
    ],
)
def test_declared_columns_are_compared_with_the_schema(servers, schemas, root, columns, text, hint):
    topic = f"contract-{len(columns)}"
    schemas.register(f"{topic}-value", ORDER)
    newest = newest_schema(registry_client("schemas", root), *contracts_of(options(topic, columns)))
    if not text:
        refuse_misfits(newest, columns)
        return
    with pytest.raises(SourceError, match=text) as refused:
        refuse_misfits(newest, columns)
    assert hint in refused.value.hint


FLOW = """\
flow: sales
sources:
  sales:
    kafka: {servers: "a:1", topic: TOPIC, format: avro, registry: schemas, columns: {id: bigint, COLUMN: int}}
steps:
  - {use: keep, reads: {rows: sales}, writes: ods.sales}
"""
KEEP = "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"


def test_a_flow_whose_columns_are_not_in_the_schema_is_refused(schemas, root, monkeypatch):
    schemas.register("checked-value", TAXED)
    for name, text in (("actions/keep.sql", KEEP), ("flows/sales.yaml", FLOW.replace("TOPIC", "checked"))):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text.replace("COLUMN", "tx"))
    with pytest.raises(SourceError, match="version 1 of 'checked-value' has no column 'tx'") as refused:
        desired_plan(Project.at(root), "sales")
    assert str(refused.value).startswith("flows/sales.yaml:4:100: SH212 ")
    assert refused.value.hint == "did you mean 'tax'?"
    (root / "flows/sales.yaml").write_text(FLOW.replace("TOPIC", "checked").replace("COLUMN", "tax"))
    plan = desired_plan(Project.at(root), "sales")
    connected(root, "{kind: schema_registry, url: 'http://127.0.0.1:9'}")
    [notice] = check_contracts(Project.at(root), {"sales": plan}).notices
    assert "the columns of 'sales' are not compared with their schema: the schema registry" in notice.message


def test_a_subject_that_is_absent_or_in_another_language(schemas, root):
    client = registry_client("schemas", root)
    with pytest.raises(SourceError, match="no subject 'nowhere-value'"):
        newest_schema(client, *contracts_of(options("nowhere", {})))
    schemas.register("texts-value", {"type": "object", "properties": {"id": {"type": "integer"}}}, "JSON")
    with pytest.raises(SourceError, match="is in JSON, and the source says format: avro") as refused:
        newest_schema(client, *contracts_of(options("texts", {})))
    assert refused.value.hint == "write format: json_schema"


@pytest.mark.parametrize("form", FORMATS)
def test_thirty_kinds_of_malformed_messages(servers, schemas, root, form):
    topic = create(servers, 1)
    cases_of, good, columns = FORMATS[form]
    number = schemas.register(f"{topic}-value", SCHEMAS[form], LANGUAGES[form])
    cases = cases_of(number)
    raws = [raw for _, raw, _ in cases]
    send(servers, topic, [one for raw in raws for one in (framed(number, good), raw)])
    found = source(root, servers, topic, format=form, columns=columns, on_bad_rows="dead_letter")
    split = found.read_split({}, found.available())
    assert split.rows.num_rows == len(cases) >= 30
    bad = [(one.letter.position, one.letter.raw, one.reason) for one in split.bad]
    assert bad == [(f"{topic}/0/{2 * at + 1}", raw, reason) for at, (_, raw, reason) in enumerate(cases)]
    assert all(one.message for one in split.bad)
    again = found.read_again([one.letter for one in split.bad], None)
    assert (again.places, [one.reason for one in again.bad]) == ((), [reason for _, _, reason in cases])


def test_messages_that_are_malformed_are_letters_with_their_schema(servers, schemas, root):
    topic = create(servers, 1)
    good = schemas.register(f"{topic}-value", ORDER)
    texts = schemas.register(f"{topic}-value", {**ORDER, "fields": [{"name": "id", "type": "string"}]})
    [whole] = encoded(good, ORDER, ROW)
    [text] = encoded(texts, {**ORDER, "fields": [{"name": "id", "type": "string"}]}, {"id": "x"})
    [huge] = encoded(good, ORDER, {**ROW, "at": datetime(9999, 12, 31, tzinfo=UTC), "amount": Decimal(1)})
    bad = {
        1: (b"{}", "malformed", "does not begin with the id of a schema"),
        2: (b"\0\0\0", "malformed", "does not begin with the id"),
        3: (b"\1" + whole[1:], "malformed", "does not begin with the id"),
        4: (framed(99_999, whole[5:]), "schema", "the registry has no schema 99999"),
        5: (whole[:-3], "malformed", "it "),
        6: (whole + b"x", "malformed", "goes on behind its record"),
        7: (whole[:5], "malformed", "it "),
        8: (whole.replace("ä".encode(), b"\xff\xff"), "encoding", "no UTF-8"),
        9: (text, "type", "column 'id': string is not read as bigint"),
    }
    send(servers, topic, [whole, *(raw for raw, _, _ in bad.values()), huge])
    found = source(root, servers, topic, on_bad_rows="dead_letter")
    split = found.read_split({}, found.available())
    assert split.rows["id"].to_pylist() == [1, 1]
    assert [one.letter.position for one in split.bad] == [f"{topic}/0/{n}" for n in bad]
    for one, (raw, reason, words) in zip(split.bad, bad.values(), strict=True):
        assert (one.letter.raw, one.reason) == (raw, reason), one.message
        assert words in one.message
    by_offset = {n: json.loads(one.letter.context) for n, one in zip(bad, split.bad, strict=True)}
    assert (by_offset[5]["schema"], by_offset[5]["schema_version"]) == (good, 1)
    assert (by_offset[9]["schema"], by_offset[9]["schema_version"]) == (texts, 2)
    assert f"schema {texts}, version 2 of '{topic}-value'" in split.bad[-1].message
    again = source(root, servers, topic, columns={"id": "string"}).read_again([split.bad[-1].letter], None)
    assert (again.rows.to_pylist(), again.bad) == ([{"id": "x"}], ())
    with pytest.raises(SourceError, match=f"at partition 0, offset 1 of {topic} is malformed: it does not begin"):
        source(root, servers, topic).read({}, found.available())


def test_a_registry_that_is_away_loses_no_row(servers, root, tmp_path):
    topic = create(servers, 1)
    with registry(tmp_path / "own") as own:
        connected(root, f"{{kind: schema_registry, url: '{own.url}'}}")
        send(servers, topic, encoded(own.register(f"{topic}-value", ORDER), ORDER, ROW))
        known = source(root, servers, topic)
        end = known.available()
        assert known.read({}, end).to_pylist() == [ROW]
    assert known.read({}, end).to_pylist() == [ROW], "a schema that is known needs no registry"
    schema_registry._client.cache_clear()
    with pytest.raises(StoreUnavailableError, match=r"the schema registry 'schemas' at .* does not answer") as away:
        source(root, servers, topic, on_bad_rows="dead_letter").read_split({}, end)
    assert away.value.retryable


def test_a_registry_that_asks_for_a_login(servers, schemas, root, tmp_path, monkeypatch):
    topic = create(servers, 1)
    send(servers, topic, encoded(schemas.register(f"{topic}-value", ORDER), ORDER, ROW))
    with guarded(schemas, tmp_path / "door", "ann", "canary-pass") as (url, certificate):
        place = "{kind: schema_registry, url: '%s', user: ann, password: {environment: REGISTRY}%s}"
        connected(root, place % (url, f", ca: {certificate}"))
        with pytest.raises(EnvironmentProblem, match=r"the password of connection 'schemas': .* REGISTRY is not set"):
            source(root, servers, topic).read({}, {"0": 1})
        monkeypatch.setenv("REGISTRY", "wrong")
        with pytest.raises(SourceError, match=r"refuses us \(HTTP 401\)"):
            source(root, servers, topic).read({}, {"0": 1})
        schema_registry._client.cache_clear()
        monkeypatch.setenv("REGISTRY", "canary-pass")
        assert source(root, servers, topic).read({}, {"0": 1}).to_pylist() == [ROW]
        connected(root, place % (url, ""))
        with pytest.raises(SourceError, match="a certificate that is not trusted") as refused:
            source(root, servers, topic).read({}, {"0": 1})
        assert "canary-pass" not in str(refused.value)


def test_json_by_its_schema(servers, schemas, root):
    topic = create(servers, 1)
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "shop": {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/name"}]},
            "amount": {"type": "number"},
            "at": {"type": "string", "format": "date-time"},
        },
        "definitions": {"name": {"type": "string"}},
        "additionalProperties": False,
    }
    number = schemas.register(f"{topic}-value", schema, "JSON")
    body = {"id": 1, "shop": "ä", "amount": 1.50, "at": "2026-03-01T12:00:00Z"}
    send(servers, topic, [framed(number, json.dumps(body).encode()), framed(number, b"[1]"), b"{}"])
    found = source(root, servers, topic, format="json_schema", on_bad_rows="dead_letter")
    split = found.read_split({}, found.available())
    assert split.rows.to_pylist() == [ROW]
    assert [(one.reason, one.message.split(";")[0]) for one in split.bad] == [
        ("malformed", "it is no JSON object, but an array"),
        ("malformed", "it does not begin with the id of a schema"),
    ]
    given = {"servers": "a:1", "topic": topic, "format": "json_schema", "registry": "schemas", "columns": COLUMNS}
    newest = newest_schema(registry_client("schemas", root), *contracts_of(KafkaOptions.model_validate(given)))
    refuse_misfits(newest, COLUMNS)
    with pytest.raises(SourceError, match="has no column 'shopp'"):
        refuse_misfits(newest, {"shopp": "string"})
    with pytest.raises(SourceError, match="string is not read as bigint"):
        refuse_misfits(newest, {"shop": "bigint"})


PLACE = 'syntax = "proto3"; package shop; message Place { string city = 1; optional int32 floor = 2; }'
SALE = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "shop/place.proto";
message Other { string id = 1; }
message Sale {
  enum State { NEW = 0; PAID = 1; }
  message Line { sint64 product = 1; double price = 2; }
  int64 id = 1;
  optional string shop = 2;
  State state = 3;
  google.protobuf.Timestamp at = 4;
  google.protobuf.Int32Value tax = 5;
  repeated Line lines = 6;
  map<string, int32> counts = 7;
  Place to = 8;
  uint64 big = 9;
  bytes raw = 10;
  oneof paid { string card = 11; int64 cash = 12; }
  Sale before = 13;
}
"""
SALE_TYPES = {
    "id": "bigint",
    "shop": "string",
    "state": "string",
    "at": "timestamp",
    "tax": "int",
    "lines": "array<struct<product:bigint,price:double>>",
    "counts": "map<string,int>",
    "to": "struct<city:string,floor:bigint>",
    "big": "decimal(20,0)",
    "raw": "binary",
    "cash": "bigint",
    "absent": "string",
}


def test_protobuf(servers, schemas, root):
    from google.protobuf.message_factory import GetMessageClass

    from streamhouse.ingest.protobuf_schema import protobuf_file

    topic = create(servers, 1)
    schemas.register("shop/place.proto".replace("/", "-"), PLACE, "PROTOBUF")
    place = {"name": "shop/place.proto", "subject": "shop-place.proto", "version": 1}
    number = schemas.register(f"{topic}-value", SALE, "PROTOBUF", [place])
    file = protobuf_file(registry_client("schemas", root).schema(number))
    sale, other = (GetMessageClass(file.descriptor.message_types_by_name[name]) for name in ("Sale", "Other"))
    one = sale(
        id=1, shop="ä", state=1, big=2**64 - 1, raw=b"\xff", cash=3, counts={"a": 1}, to={"city": "Ulm", "floor": 2}
    )
    one.at.FromDatetime(NOON)
    one.tax.value = 7
    one.lines.add(product=-5, price=1.5)
    bodies = [b"\2\2" + one.SerializeToString(), b"\2\2", b"\0" + other(id="o").SerializeToString()]
    bad = [b"\2\2\xff", b"\2\x12", b"\x80"]
    send(servers, topic, [framed(number, body) for body in bodies + bad])
    found = source(root, servers, topic, format="protobuf", columns=SALE_TYPES, on_bad_rows="dead_letter")
    split = found.read_split({}, found.available())
    first, second = split.rows.to_pylist()
    assert first == {
        "id": 1,
        "shop": "ä",
        "state": "PAID",
        "at": NOON,
        "tax": 7,
        "lines": [{"product": -5, "price": 1.5}],
        "counts": [("a", 1)],
        "to": {"city": "Ulm", "floor": 2},
        "big": Decimal(2**64 - 1),
        "raw": b"\xff",
        "cash": 3,
        "absent": None,
    }
    assert second == {
        **dict.fromkeys(SALE_TYPES),
        "id": 0,
        "state": "NEW",
        "lines": [],
        "counts": [],
        "big": 0,
        "raw": b"",
    }
    assert [(bad.reason, bad.letter.position[-1]) for bad in split.bad] == [
        ("type", "2"),  # it is the other message, whose id is text
        *(("malformed", str(offset)) for offset in (3, 4, 5)),
    ]
    wide = source(root, servers, topic, format="protobuf", columns={"shop": "string"})
    assert wide.read({}, {"0": 3})["shop"].to_pylist() == ["ä", None, None], "messages of both kinds, in order"


def test_columns_of_protobuf_are_compared(schemas, root):
    schemas.register(
        "proto-value",
        'syntax = "proto3"; message A { message B { string x = 1; } int32 n = 1; A inner = 2; string s = 3; }',
        "PROTOBUF",
    )
    given = {"servers": "a:1", "topic": "proto", "format": "protobuf", "registry": "schemas", "columns": {"n": "int"}}
    newest = newest_schema(registry_client("schemas", root), *contracts_of(KafkaOptions.model_validate(given)))
    refuse_misfits(newest, {"n": "bigint"})
    refuse_misfits(newest, {"x": "string"}, "A.B")
    with pytest.raises(SourceError, match=r"it has no message 'A.C', but A"):
        refuse_misfits(newest, {"n": "bigint"}, "A.C")
    for columns, text in (
        ({"inner": "struct<n:int>"}, "the message A has itself in it"),
        ({"s": "int"}, "string is not read as int"),
        ({"m": "int"}, "has no column 'm'"),
    ):
        with pytest.raises(SourceError, match=text):
            refuse_misfits(newest, columns)


PROTO = 'syntax = "proto3"; message Sale { int64 id = 1; string shop = 2; }'
JSON_SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}}


def test_topics_are_imported(servers, schemas, root, capsys):
    schemas.register("import.every-value", EVERY)
    schemas.register("import.sale-value", PROTO, "PROTOBUF")
    schemas.register("import.note-value", JSON_SCHEMA, "JSON")
    schemas.register("import.number-value", '"int"')
    schemas.register("import.sale-key", '"string"')
    schemas.register("export.sale-value", ORDER)
    words = ["import", "schemas", "--tables", "import.*", "--flow", "topics", "--project", str(root)]
    assert main(words) == 3
    assert "--servers" in capsys.readouterr().err
    assert main([*words, "--servers", servers]) == 0
    text = (root / "flows" / "topics.yaml").read_text()
    sources = yaml.safe_load(text)["sources"]
    assert sorted(sources) == ["every", "note", "sale"]
    of = {"servers": servers, "registry": "schemas"}
    assert sources["sale"]["kafka"] == {
        **of, "topic": "import.sale", "format": "protobuf", "columns": {"id": "bigint", "shop": "string"}
    }  # fmt: skip
    assert sources["every"]["kafka"]["format"] == "avro"
    assert {name: EVERY_TYPES[name] for name in ("d", "big")}.items() <= sources["every"]["kafka"]["columns"].items()
    assert sources["note"]["kafka"]["columns"] == {"id": "bigint", "note": "string"}
    assert "# left out: import.number: its schema makes no rows" in text
    assert "# left out: either (AVRO): " in text
    assert main(["validate", "--project", str(root)]) == 0

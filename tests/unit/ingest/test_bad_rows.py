"""Malformed input of thirty kinds for each format: position and reason of each, and no other row is lost."""

import json
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.bad_rows import Letter
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.dead_letters import DeadLetters, GoodRows
from streamhouse.ingest.files import open_files
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.kafka_letters import letter_of
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.message_formats import JsonMessages
from streamhouse.ingest.replays import Replays
from streamhouse.model.plan import PlannedSource
from tests.malformed import GOOD, JSON, TYPES, Message, json_line

DEAD = {"action": "dead_letter"}


def csv_line(**other):
    return ",".join(str(value).lower() if value is True else str(value) for value in (GOOD | other).values()).encode()


CSV_TYPES = {
    "text as int": csv_line(id="x"),
    "fraction as int": csv_line(id="1.5"),
    "int too large": csv_line(id=2**31),
    "int too small": csv_line(id=-(2**31) - 1),
    "hexadecimal as int": csv_line(id="1_000"),
    "int with thousands": csv_line(id="1 000"),
    "tinyint too large": csv_line(small=128),
    "text as tinyint": csv_line(small="two"),
    "bigint too large": csv_line(big=2**63),
    "text as bigint": csv_line(big="3l"),
    "decimal too precise": csv_line(amount="1.234"),
    "decimal too large": csv_line(amount="12345.00"),
    "text as decimal": csv_line(amount="1.5 EUR"),
    "more digits behind the point than any decimal": csv_line(amount="1e-1000000000"),
    "sixty zeros behind the point": csv_line(amount=f"0.{'0' * 60}1"),
    "comma for a point": csv_line(amount='"1,50"'),
    "text as double": csv_line(ratio="half"),
    "unknown boolean": csv_line(ok="yes"),
    "number as boolean": csv_line(ok="2"),
    "no such month": csv_line(day="2026-13-01"),
    "no such day": csv_line(day="2026-02-30"),
    "day the wrong way round": csv_line(day="31.01.2026"),
    "day of zeros": csv_line(day="0000-00-00"),
    "time as day": csv_line(day="2026-01-31 10:30:00"),
    "no such hour": csv_line(at="2026-01-31T25:00:00Z"),
    "instant as text": csv_line(at="yesterday"),
    "zone for a local time": csv_line(local="2026-01-31T10:00:00+02:00"),
    "local time as text": csv_line(local="noon"),
}
CSV_FORM = {
    "too few values": b"1,2,3",
    "too many values": csv_line() + b",x",
    "a quote that is not closed": csv_line(name='"a'),
    "one value": b"x",
    "separated by semicolons": csv_line().replace(b",", b";"),
    "no comma at all": b"-----",
}
CSV_BYTES = {
    "Latin 1": csv_line(name="@").replace(b"@", b"\xe9"),
    "half a character": csv_line().replace(b"a", b"\xc3"),
}
CSV = (
    [(name, line, "type") for name, line in CSV_TYPES.items()]
    + [(name, line, "malformed") for name, line in CSV_FORM.items()]
    + [(name, line, "encoding") for name, line in CSV_BYTES.items()]
)


def ids(cases):
    return [case[0] for case in cases]


def check(split, position, reason, raw, good=2):
    assert split.rows.num_rows == good
    [bad] = split.bad
    assert (bad.letter.position, bad.reason, bad.letter.raw) == (position, reason, raw)
    assert bad.message


def test_there_are_thirty_kinds_of_each_format():
    assert min(map(len, (CSV, JSON, PARQUET, EVENTS))) >= 30


@pytest.mark.parametrize(("name", "line", "reason"), CSV, ids=ids(CSV))
def test_csv(tmp_path, name, line, reason):
    (tmp_path / "a.csv").write_bytes(b"\n".join([",".join(TYPES).encode(), csv_line(), line, csv_line(id=2)]) + b"\n")
    source = open_files({"path": "*.csv", "columns": TYPES, "on_bad_rows": DEAD}, tmp_path)
    end = source.available()
    assert end == {"a.csv": 3}
    check(source.read_split({}, end), "a.csv:3", reason, line)
    assert source.read({"a.csv": 1}, {"a.csv": 2}).num_rows == 0
    [bad] = source.read_again([one.letter for one in source.bad_rows({}, end)], None).bad
    assert bad.reason == reason


@pytest.mark.parametrize(("name", "line", "reason"), JSON, ids=ids(JSON))
def test_json_lines(tmp_path, name, line, reason):
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([json_line(), b"", line, json_line(id=2)]) + b"\n")
    source = open_files({"path": "*.jsonl", "columns": TYPES, "on_bad_rows": DEAD}, tmp_path)
    end = source.available()
    assert end == {"a.jsonl": 3}
    check(source.read_split({}, end), "a.jsonl:3", reason, line)
    assert source.read_again([one.letter for one in source.bad_rows({}, end)], None).bad[0].reason == reason


@pytest.mark.parametrize(("name", "line", "reason"), JSON, ids=ids(JSON))
def test_messages_of_kafka(name, line, reason):
    options = {
        "servers": "localhost:1",
        "topic": "orders",
        "columns": TYPES,
        "metadata": {"k": "key", "sent": "timestamp", "n": "offset"},
        "on_bad_rows": DEAD,
    }
    source = open_kafka(options)
    found = source._parted([Message(7, json_line()), Message(8, line), Message(9, json_line())], None)
    check(found, "orders/3/8", reason, line)
    assert found.rows["n"].to_pylist() == [7, 9]
    [bad] = source.read_again([one.letter for one in found.bad], None).bad
    assert bad.letter == found.bad[0].letter
    mended = source.read_again([Letter("orders/3/8", json_line(), found.bad[0].letter.context)], None)
    assert mended.rows.select(["k", "n"]).to_pylist() == [{"k": "k", "n": 8}]
    assert mended.rows["sent"].to_pylist()[0].timestamp() == 1
    assert letter_of(Message(8, line), "orders", JsonMessages()) == bad.letter


PARQUET = [
    ("text as int", "int", "x"),
    ("empty text as int", "int", ""),
    ("fraction as int", "int", 1.5),
    ("not a number as int", "int", float("nan")),
    ("infinity as int", "int", float("inf")),
    ("int too large", "int", 2**31),
    ("int too small", "int", -(2**31) - 1),
    ("decimal as int", "int", Decimal(2**31)),
    ("tinyint too large", "tinyint", 128),
    ("tinyint too small", "tinyint", -129),
    ("smallint too large", "smallint", 2**15),
    ("text as smallint", "smallint", "many"),
    ("text as bigint", "bigint", "9" * 30),
    ("fraction as bigint", "bigint", 0.1),
    ("number too large as bigint", "bigint", 1e30),
    ("text as double", "double", "half"),
    ("text as float", "float", "1,5"),
    ("text as boolean", "boolean", "perhaps"),
    ("decimal too precise", "decimal(6,2)", Decimal("1.234")),
    ("decimal too large", "decimal(6,2)", Decimal("12345.00")),
    ("text as decimal", "decimal(6,2)", "much"),
    ("more digits behind the point than any decimal", "decimal(6,2)", "1e-1000000000"),
    ("sixty zeros behind the point", "decimal(6,2)", f"0.{'0' * 60}1"),
    ("text as day", "date", "soon"),
    ("no such day", "date", "2026-02-30"),
    ("no such month", "date", "2026-13-01"),
    ("day of zeros", "date", "0000-00-00"),
    ("text as local time", "timestamp_ntz", "noon"),
    ("no such hour", "timestamp_ntz", "2026-01-31 25:00:00"),
    ("no such minute", "timestamp_ntz", "2026-01-31 10:61:00"),
    ("bytes as text", "string", b"\xe9"),
    ("half a character as text", "string", b"a\xc3"),
    ("fraction as smallint", "smallint", 2.5),
]
FITS = {
    "int": (1, "1", 1.0, Decimal(1)),
    "tinyint": (1,),
    "smallint": (1, "1", 1.0),
    "bigint": ("1", 1.0),
    "double": ("1.5",),
    "float": ("1.5",),
    "boolean": ("true",),
    "decimal(6,2)": (Decimal("1.500"), "1.50"),
    "date": ("2026-01-31",),
    "timestamp_ntz": ("2026-01-31 10:00:00",),
    "string": (b"a",),
}


@pytest.mark.parametrize(("name", "kind", "value"), PARQUET, ids=ids(PARQUET))
def test_parquet(tmp_path, name, kind, value):
    good = next(fit for fit in FITS[kind] if type(fit) is type(value))
    pq.write_table(pa.table({"id": [1, 2, 3], "v": [good, value, good]}), tmp_path / "a.parquet")
    source = open_files({"path": "*.parquet", "columns": {"id": "int", "v": kind}, "on_bad_rows": DEAD}, tmp_path)
    end = source.available()
    assert end == {"a.parquet": 3}
    found = source.read_split({}, end)
    check(found, "a.parquet:2", "type", found.bad[0].letter.raw)
    assert found.rows["id"].to_pylist() == [1, 3]
    wider = open_files({"path": "*.parquet", "columns": {"id": "int"}, "on_bad_rows": DEAD}, tmp_path)
    assert wider.read_again([found.bad[0].letter], None).rows.to_pylist() == [{"id": 2}]


def test_a_parquet_column_of_another_type_is_no_bad_row(tmp_path):
    pq.write_table(pa.table({"v": [[1], [2]]}), tmp_path / "a.parquet")
    source = open_files({"path": "*.parquet", "columns": {"v": "int"}, "on_bad_rows": DEAD}, tmp_path)
    with pytest.raises(SourceError, match="no row of the file fits"):
        source.read({}, source.available())


def event(op="u", after=None, before=None, **other):
    return json.dumps({"op": op, "before": before, "after": after, **other}).encode()


EVENT_TYPES = {
    name: ("type", event(after={"id": 9} | other))
    for name, other in {
        "text as number": {"big": "x"},
        "fraction as number": {"big": 1.5},
        "number too large": {"big": 2**63},
        "boolean as number": {"big": True},
        "array as number": {"big": [1]},
        "object as number": {"big": {"a": 1}},
        "number as text": {"name": 3},
        "object as text": {"name": {"a": 1}},
        "decimal too precise": {"amount": "1.234"},
        "decimal too large": {"amount": "12345.00"},
        "text as decimal": {"amount": "much"},
        "more digits behind the point than any decimal": {"amount": "1e-1000000000"},
        "a scale without end": {"amount": {"scale": 10**9, "value": "AQ=="}},
        "a scale that is a text": {"amount": {"scale": "x", "value": "AQ=="}},
        "a scale alone": {"amount": {"scale": 1}},
        "bytes that are none": {"amount": {"scale": 1, "value": "é"}},
        "text as boolean": {"ok": "perhaps"},
        "text as day": {"day": "soon"},
        "no such day": {"day": "2026-02-30"},
        "text as instant": {"at": "noon"},
        "value that was not sent": {"name": "__debezium_unavailable_value"},
    }.items()
}
DEEP = b"[" * 600 + b"]" * 600


def described(scale, payload):
    """An event with the schema part of a decimal that is written as bytes."""
    amount = {"field": "amount", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": scale}}
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": [amount]}]}
    return json.dumps({"schema": schema, "payload": payload}).encode()


EVENT_FORM = {
    "too many levels": ("malformed", event(after={"id": 9, "amount": 1.5, "name": "@"}).replace(b'"@"', DEEP)),
    "too many levels of a removal": ("malformed", event("t", ts_ms=1.5, source="@").replace(b'"@"', DEEP)),
    "half a character": ("malformed", event(after={"id": 9, "amount": 1.5, "name": "\ud800"})),
    "half a character of a removal": ("malformed", event("t", ts_ms=1.5, source="\ud800")),
    "an exponent without end": ("event", event(after={"id": 9, "amount": "@"}).replace(b'"@"', b"1e" + b"9" * 30)),
    "a schema part with an object as scale": ("event", described({}, {"op": "u", "after": {"id": 9}})),
    "a schema part with a list as scale": ("event", described([2], {"op": "u", "after": {"id": 9}})),
    "a schema part with a text as scale": ("event", described("two", {"op": "u", "after": {"id": 9}})),
    "a schema part with half a scale": ("event", described(1.5, {"op": "u", "after": {"id": 9}})),
    "a schema part with an endless scale": ("event", described(float("inf"), {"op": "u", "after": {"id": 9}})),
    "no JSON": ("malformed", b"hello"),
    "cut off": ("malformed", event(after={"id": 9})[:-2]),
    "an array": ("malformed", b"[1]"),
    "a text": ("malformed", b'"a"'),
    "a number": ("malformed", b"7"),
    "two events": ("malformed", event(after={"id": 9}) * 2),
    "Latin 1": ("encoding", event(after={"id": 9, "name": "@"}).replace(b"@", b"\xe9")),
    "no op": ("event", b'{"after": {"id": 9}}'),
    "a flattened row": ("event", b'{"id": 9, "name": "a"}'),
    "unknown op": ("event", event("x", {"id": 9})),
    "op is a number": ("event", event(3, {"id": 9})),
    "a message": ("event", event("m", {"id": 9})),
    "no row after": ("event", event("u")),
    "the row after is a text": ("event", event("u", "x")),
    "no row before a delete": ("event", event("d")),
    "no key": ("key", event(after={"name": "a"})),
    "key is null": ("key", event(after={"id": None})),
    "no key of a delete": ("key", event("d", before={"name": "a"})),
    "text as key": ("type", event(after={"id": "x"})),
}
EVENTS = [(name, line, reason) for name, (reason, line) in (EVENT_TYPES | EVENT_FORM).items()]


def cdc(root, **more):
    kinds = {name: TYPES[name] for name in ("id", "big", "name", "amount", "ok", "day", "at")}
    options = {"path": "*.jsonl", "primary_key": ["id"], "columns": kinds, "on_bad_rows": DEAD | more}
    return open_cdc(options, root)


@pytest.mark.parametrize(("name", "line", "reason"), EVENTS, ids=ids(EVENTS))
def test_change_events(tmp_path, name, line, reason):
    lines = [event("c", {"id": 1}), line, event("c", {"id": 2})]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    source = cdc(tmp_path)
    end = source.available()
    assert source.state(end)["id"].to_pylist() == [1, 2]
    [bad] = source.bad_rows({}, end)
    assert (bad.letter.position, bad.reason, bad.letter.raw) == ("a.jsonl:2", reason, line)
    assert source.read_again([bad.letter], None).bad[0].reason == reason


def planned(path, kind, **options):
    table = {"on_bad_rows": {"action": "dead_letter", "table": "ods.t__dead_letters"}}
    return PlannedSource(name="t", kind=kind, options={"path": path, **options, **table}, columns=())


def letters_of(source):
    options = {**source.options, "kind": source.kind, "base": source.model_dump(mode="json")}
    return source.model_copy(update={"kind": "dead_letters", "options": options})


def test_rows_that_are_read_again_come_once(tmp_path):
    (tmp_path / "a.csv").write_text("id\n1\n3000000000\nx\n4\n")
    narrow, wide = (planned("*.csv", "files", columns={"id": kind}) for kind in ("int", "bigint"))
    good, dead = open_source(narrow, tmp_path), open_source(letters_of(narrow), tmp_path)
    assert isinstance(good, GoodRows)
    assert isinstance(dead, DeadLetters)
    start = good.advance({}, 10)
    assert good.read({}, start)["id"].to_pylist() == [1, 4]
    there = dead.changes({}, start, before=False).upserts.to_pylist()
    assert [row["position"] for row in there] == ["a.csv:3", "a.csv:4"]

    replays = Replays(tmp_path, "ods.t__dead_letters")
    assert replays.add([Letter(r["position"], r["raw"], r["context"]) for r in there]) == 1
    good, dead = open_source(wide, tmp_path), open_source(letters_of(wide), tmp_path)
    end = good.advance(start, 10)
    assert end == start | {".replay-1": 2}
    assert good.rows_between(start, end) == 2
    assert good.read(start, end)["id"].to_pylist() == [3_000_000_000]
    changes = dead.changes(start, end)
    assert changes.deletes.to_pylist() == [{"position": "a.csv:3"}]
    assert [(row["position"], row["replays"]) for row in changes.upserts.to_pylist()] == [("a.csv:4", 1)]
    # Who reads everything from the beginning gets each row once, too: also one that was asked for twice.
    assert good.read({}, end)["id"].to_pylist() == [1, 4, 3_000_000_000]
    assert replays.add([Letter("a.csv:3", b"3000000000", "id"), Letter("a.csv:4", b"5", "id")]) == 2
    assert good.read({}, good.available())["id"].to_pylist() == [1, 4, 3_000_000_000, 5]
    assert dead.state(dead.available()).num_rows == 0


def test_an_event_that_is_read_again_does_not_undo_later_ones(tmp_path):
    (tmp_path / "1.jsonl").write_bytes(b"\n".join([event(after={"id": i, "big": "x"}) for i in (1, 2, 3)]) + b"\n")
    (tmp_path / "2.jsonl").write_bytes(event(after={"id": 1, "big": 7}) + b"\n" + event("d", before={"id": 2}) + b"\n")
    columns = {"id": "bigint", "big": "bigint"}
    source = planned("*.jsonl", "cdc", primary_key=["id"], columns=columns)
    opened = open_source(source, tmp_path)
    start = opened.available()
    letters = [bad.letter for bad in opened.bad_rows({}, start)]
    mended = [Letter(one.position, one.raw.replace(b'"x"', b"5")) for one in letters]
    Replays(tmp_path, "ods.t__dead_letters").add(mended)
    end = opened.advance(start, 10)
    assert opened.rows_between(start, end) == 3
    changes = opened.changes(start, end)
    assert changes.upserts.to_pylist() == [{"id": 3, "big": 5}]
    assert opened.state(end).sort_by("id").to_pylist() == [{"id": 1, "big": 7}, {"id": 3, "big": 5}]
    dead = open_source(letters_of(source), tmp_path)
    assert dead.changes(start, end, before=False).deletes.num_rows == 3


def test_a_value_in_quotes_may_have_line_ends(tmp_path):
    (tmp_path / "a.csv").write_text('id,name\n1,"x\ny"\nbad,"z\n\n"\n2,"open\n3,c\n')
    source = open_files({"path": "*.csv", "columns": {"id": "int", "name": "string"}, "on_bad_rows": DEAD}, tmp_path)
    found = source.read_split({}, source.available())
    assert found.rows.to_pylist() == [{"id": 1, "name": "x\ny"}, {"id": 3, "name": "c"}]
    assert [(bad.letter.position, bad.letter.raw) for bad in found.bad] == [
        ("a.csv:4", b'bad,"z\n\n"'),
        ("a.csv:7", b'2,"open'),
    ]


def test_without_the_policy_a_null_line_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text("null\n")
    source = open_files({"path": "*.jsonl", "columns": {"id": "int"}}, tmp_path)
    with pytest.raises(SourceError, match="no JSON object, but null"):
        source.available()


def test_days_in_several_forms(tmp_path):
    """Values are those that each row has alone."""
    (tmp_path / "a.jsonl").write_text('{"day": "2026-01-31"}\n{"day": "1970-1-4"}\n{"day": 3}\n')
    source = open_files({"path": "*.jsonl", "columns": {"day": "date"}, "on_bad_rows": DEAD}, tmp_path)
    found = source.read_split({}, source.available())
    assert found.rows["day"].to_pylist() == [date(2026, 1, 31), date(1970, 1, 4)]
    assert len(found.bad) == 1

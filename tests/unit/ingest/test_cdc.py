import base64
import hashlib
import json
import re
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.base import KeyedSource
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from streamhouse.stores.arrow import arrow_schema

COLUMNS = {"id": "bigint", "name": "string"}
OPTIONS = {"path": "*.jsonl", "primary_key": ["id"], "columns": COLUMNS}
SCHEMALESS = {"version": "2.7.0.Final", "connector": "postgresql", "lsn": 1}


def event(op, before=None, after=None):
    return {"before": before, "after": after, "source": SCHEMALESS, "op": op, "ts_ms": 1}


def row(id_, name):
    return {"id": id_, "name": name}


def insert(id_, name):
    return event("c", None, row(id_, name))


def update(id_, old, new):
    return event("u", row(id_, old), row(id_, new))


def delete(id_, old):
    return event("d", row(id_, old))


def write(path, *events):
    """Add lines to a file; a text is a line as it is."""
    with path.open("a") as file:
        file.writelines((e if isinstance(e, str) else json.dumps(e)) + "\n" for e in events)


def opened(root, **options):
    return open_cdc(OPTIONS | options, root)


def pairs(rows):
    return sorted((r["id"], r["name"]) for r in rows.to_pylist())


def told(changes):
    """Upserts, deletes and before as sorted plain values."""
    deletes = sorted(k["id"] for k in changes.deletes.to_pylist()) if changes.deletes else []
    return pairs(changes.upserts), deletes, None if changes.before is None else pairs(changes.before)


@pytest.fixture
def orders(tmp_path):
    write(tmp_path / "1.jsonl", insert(1, "a"), insert(2, "b"), update(1, "a", "A"))
    write(tmp_path / "2.jsonl", delete(2, "b"), insert(3, "c"), "null")
    return tmp_path


def test_it_is_a_keyed_source(orders):
    source = open_source(Source(name="orders", kind="cdc", options=OPTIONS), orders)
    assert isinstance(source, KeyedSource)
    assert source.primary_key == ("id",)
    assert [(c.name, c.type, c.nullable) for c in source.columns()] == [
        ("id", "bigint", False),
        ("name", "string", True),
    ]


def test_positions_count_lines_file_by_file(orders):
    source = opened(orders)
    assert source.available() == {"1.jsonl": 3, "2.jsonl": 3}
    assert source.advance({}, 2) == {"1.jsonl": 2}
    assert source.advance({"1.jsonl": 2}, 2) == {"1.jsonl": 3, "2.jsonl": 1}
    assert source.rows_between({"1.jsonl": 2}, {"1.jsonl": 3, "2.jsonl": 1}) == 2


def test_changes_tell_the_last_row_the_keys_that_are_gone_and_the_rows_before(orders):
    source = opened(orders)
    assert told(source.changes({}, {"1.jsonl": 3})) == ([(1, "A"), (2, "b")], [], [])
    assert told(source.changes({"1.jsonl": 2}, {"1.jsonl": 3, "2.jsonl": 3})) == (
        [(1, "A"), (3, "c")],
        [2],
        [(1, "a"), (2, "b")],
    )
    assert pairs(source.state({"1.jsonl": 3, "2.jsonl": 3})) == [(1, "A"), (3, "c")]
    assert pairs(source.read({}, source.available())) == [(1, "A"), (3, "c")]
    assert source.changes({}, {"1.jsonl": 3}, before=False).before is None


def test_only_the_asked_columns_and_the_key(orders):
    source = opened(orders)
    changes = source.changes({"1.jsonl": 1}, {"1.jsonl": 3, "2.jsonl": 1}, ())
    assert [part.column_names for part in (changes.upserts, changes.deletes, changes.before)] == [["id"]] * 3
    assert source.state({"1.jsonl": 1}, ("id",)).column_names == ["id"]
    assert source.changes({}, {}).upserts.schema == arrow_schema(source.columns())


@pytest.mark.parametrize(
    "events",
    [
        [event("r", None, row(1, "z"))],  # a snapshot is taken anew
        [insert(1, "z")],  # an insert of a row that is there
        [event("u", None, row(1, "z"))],  # the default REPLICA IDENTITY
        [event("u", row(1, None), row(1, "z"))],
        [event("u", {"name": None}, row(1, "z"))],
        [update(1, "never", "z")],  # what Debezium says of the row before does not count
        [insert(1, "a"), insert(2, "b"), update(1, "a", "z")],  # delivered again
    ],
)
def test_the_rows_before_are_those_that_were_there(tmp_path, events):
    write(tmp_path / "1.jsonl", insert(1, "a"), update(1, "a", "b"), insert(2, "b"), *events)
    source = opened(tmp_path)
    changes = source.changes({"1.jsonl": 3}, source.available())
    assert (1, "z") in pairs(changes.upserts)
    assert (1, "b") in pairs(changes.before)
    assert pairs(source.state(source.available())) == [(1, "z"), (2, "b")]


def test_an_update_that_changes_the_key_removes_the_old_row(tmp_path):
    write(tmp_path / "1.jsonl", insert(1, "a"), event("u", row(1, "a"), row(7, "a")))
    source = opened(tmp_path)
    assert told(source.changes({"1.jsonl": 1}, source.available())) == ([(7, "a")], [1], [(1, "a")])


def test_a_key_that_was_removed_and_came_back_is_there(tmp_path):
    write(tmp_path / "1.jsonl", insert(1, "a"), delete(1, "a"), "null", insert(1, "b"), insert(2, "x"), delete(2, "x"))
    source = opened(tmp_path)
    assert told(source.changes({"1.jsonl": 1}, source.available())) == ([(1, "b")], [2], [(1, "a")])


def test_tombstones_and_empty_lines_mean_nothing(tmp_path):
    write(tmp_path / "1.jsonl", "null", "", "  ", '{"schema":null,"payload":null}', insert(1, "a"))
    source = opened(tmp_path)
    assert source.available() == {"1.jsonl": 5}
    assert told(source.changes({}, {"1.jsonl": 4})) == ([], [], [])
    assert told(source.changes({}, {"1.jsonl": 5})) == ([(1, "a")], [], [])


operations = st.lists(
    st.tuples(st.sampled_from("cuudrmx"), st.integers(1, 4), st.integers(0, 9), st.integers(1, 4)), max_size=30
)


@given(operations, st.lists(st.integers(1, 7), min_size=1), st.integers(1, 9), st.booleans())
def test_any_history_in_any_ranges_gives_the_rows_of_a_dict(tmp_path_factory, history, cuts, per_file, old_rows):
    """c u d r as Debezium says; m moves a key; x delivers the last few events again."""
    folder = tmp_path_factory.mktemp("cdc")
    there, lines, states = {}, [], [{}]
    for op, key, value, other in history:
        before = row(key, there.get(key)) if old_rows and key in there else None
        if op == "x":
            added = [json.loads(line) for line in lines[-value:]] if value else []
        elif op == "m":
            added = [event("d", row(key, None)), event("c", None, row(other, str(value)))]
        elif op == "d":
            added = [event("d", before or {"id": key})]
        else:
            added = [event(op, before if op == "u" else None, row(key, str(value)))]
        for e in added:
            lines.append(json.dumps(e))
            if e["op"] == "d":
                there.pop(e["before"]["id"], None)
            else:
                there[e["after"]["id"]] = e["after"]["name"]
            states.append(dict(there))
    for first in range(0, len(lines), per_file):
        write(folder / f"{first}.jsonl", *lines[first : first + per_file])
    source = opened(folder)
    position, taken, at = {}, 0, 0
    while (end := source.advance(position, cuts[at % len(cuts)])) != position:
        old, taken = states[taken], taken + source.rows_between(position, end)
        upserts, deletes, before = told(source.changes(position, end))
        assert pairs(source.state(end)) == sorted(states[taken].items()) == pairs(opened(folder).state(end))
        named = {k for k, _ in upserts} | set(deletes)
        assert upserts == [(k, v) for k, v in sorted(states[taken].items()) if k in named]
        assert before == [(k, v) for k, v in sorted(old.items()) if k in named]
        assert {k for k in old | states[taken] if old.get(k) != states[taken].get(k)} <= named
        assert told(opened(folder).changes(position, end)) == (upserts, deletes, before)
        position, at = end, at + 1
    assert taken == len(lines)


# --- types ---


def schema(**columns):
    """The schema part of an envelope; a column is its type, or (type, semantic name, parameters)."""
    fields = []
    for name, given_ in columns.items():
        kind, semantic, parameters = (*given_, None, None)[:3] if isinstance(given_, tuple) else (given_, None, None)
        fields.append({"field": name, "type": kind, "name": semantic, "parameters": parameters, "optional": True})
    rows = [{"field": part, "type": "struct", "fields": fields} for part in ("before", "after")]
    return {"type": "struct", "fields": [*rows, {"field": "op", "type": "string"}], "name": 'a "payload": of events'}


def number(value, size=8):
    return base64.b64encode(value.to_bytes(size, "big", signed=True)).decode()


DECIMAL = ("bytes", "org.apache.kafka.connect.data.Decimal", {"scale": "2", "connect.decimal.precision": "12"})
NOON = datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=UTC)
NOON_US = 1_709_209_815_250_000
CASES = {
    "decimal as bytes": ("decimal(12,2)", DECIMAL, number(-12345), Decimal("-123.45")),
    "decimal as text": ("decimal(12,2)", "string", "123.45", Decimal("123.45")),
    "decimal as number": ("decimal(12,2)", "double", 123.45, Decimal("123.45")),
    "decimal as whole number": ("decimal(12,2)", "int64", 7, Decimal("7.00")),
    "decimal of its own scale": (
        "decimal(12,2)",
        ("struct", "io.debezium.data.VariableScaleDecimal"),
        {"scale": 1, "value": number(15)},
        Decimal("1.50"),
    ),
    "large decimal": (
        "decimal(38,2)",
        DECIMAL,
        number(10**37 + 1, 16),
        Decimal("100000000000000000000000000000000000.01"),
    ),
    "date": ("date", ("int32", "io.debezium.time.Date"), 19782, date(2024, 2, 29)),
    "connect date": ("date", ("int32", "org.apache.kafka.connect.data.Date"), -1, date(1969, 12, 31)),
    "date as text": ("date", "string", "2024-02-29", date(2024, 2, 29)),
    "ms": ("timestamp", ("int64", "io.debezium.time.Timestamp"), NOON_US // 1000, NOON),
    "connect ms": ("timestamp", ("int64", "org.apache.kafka.connect.data.Timestamp"), NOON_US // 1000, NOON),
    "us": ("timestamp", ("int64", "io.debezium.time.MicroTimestamp"), NOON_US, NOON),
    "ns": ("timestamp", ("int64", "io.debezium.time.NanoTimestamp"), NOON_US * 1000 + 999, NOON),
    "ns before 1970": (
        "timestamp",
        ("int64", "io.debezium.time.NanoTimestamp"),
        -1,
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ),
    "local": ("timestamp_ntz", ("int64", "io.debezium.time.MicroTimestamp"), NOON_US, NOON.replace(tzinfo=None)),
    "zoned": ("timestamp", ("string", "io.debezium.time.ZonedTimestamp"), "2024-02-29T13:30:15.25+01:00", NOON),
    "iso": ("timestamp", "string", "2024-02-29T12:30:15.250Z", NOON),
    "iso without a zone": ("timestamp", "string", "2024-02-29 12:30:15.250", NOON),
    "local iso": ("timestamp_ntz", "string", "2024-02-29T12:30:15.25", NOON.replace(tzinfo=None)),
    "bytes": ("binary", "bytes", base64.b64encode(b"\x00\xff").decode(), b"\x00\xff"),
    "boolean": ("boolean", "boolean", True, True),
    "int": ("int", "int32", -5, -5),
    "number as text": ("bigint", "string", "18446744", 18446744),
    "double": ("double", "double", 1.5, 1.5),
    "whole double": ("double", "double", 1, 1.0),
    "list": ("array<int>", "array", [1, None], [1, None]),
    "struct": ("struct<x:double,y:double>", "struct", {"x": 1.0, "y": 2.0, "wkb": ""}, {"x": 1.0, "y": 2.0}),
    "map": ("map<string,string>", "map", {"a": "b"}, [("a", "b")]),
    "no value": ("decimal(12,2)", DECIMAL, None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_debezium_s_encodings(tmp_path, case):
    type_, written, value, expected = CASES[case]
    envelope = {"schema": schema(id="int64", v=written), "payload": event("c", None, {"id": 1, "v": value})}
    compact = json.dumps(envelope | {"payload": event("c", None, {"id": 2, "v": value})}, separators=(",", ":"))
    null = envelope | {"payload": event("c", None, {"id": 3, "v": None})}
    write(tmp_path / "1.jsonl", envelope, compact, envelope, compact, null)
    rows = opened(tmp_path, columns={"id": "bigint", "v": type_}).state({"1.jsonl": 5}).sort_by("id")
    assert [r["v"] for r in rows.to_pylist()] == [expected, expected, None]


def test_the_schema_part_may_change_and_may_be_absent(tmp_path):
    cents, mills = DECIMAL, (*DECIMAL[:2], {"scale": "3"})
    for id_, (kind, value) in enumerate([(cents, number(100)), (mills, number(1000)), (cents, number(200))]):
        write(
            tmp_path / "1.jsonl",
            {"schema": schema(id="int64", v=kind), "payload": event("c", None, {"id": id_, "v": value})},
        )
    write(tmp_path / "1.jsonl", event("c", None, {"id": 3, "v": "4.00"}))
    rows = opened(tmp_path, columns={"id": "bigint", "v": "decimal(12,2)"}).state({"1.jsonl": 4}).sort_by("id")
    assert [int(v) for v in rows["v"].to_pylist()] == [1, 1, 2, 4]


def test_numbers_for_times_need_a_unit(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, {"id": 1, "v": NOON_US}))
    columns = {"id": "bigint", "v": "timestamp"}
    with pytest.raises(SourceError, match="neither a schema part nor 'time_unit' gives its unit") as refused:
        opened(tmp_path, columns=columns).state({"1.jsonl": 1})
    assert "time_unit" in refused.value.hint
    rows = opened(tmp_path, columns=columns, time_unit="us").state({"1.jsonl": 1})
    assert rows["v"].to_pylist() == [NOON]


def test_a_column_that_no_row_has_is_refused(orders):
    with pytest.raises(SourceError) as refused:
        opened(orders, columns={**COLUMNS, "nmae": "string"}).columns()
    assert str(refused.value) == (
        "SH212 no row in '1.jsonl' or '2.jsonl' has a column 'nmae'\n  hint: did you mean 'name'?"
    )
    with pytest.raises(SourceError, match="has a column 'city'") as refused:
        opened(orders, columns={**COLUMNS, "city": "string"}).columns()
    assert refused.value.hint == "the rows have: id, name"


@pytest.mark.parametrize("first", [True, False], ids=["dropped", "added"])
def test_a_column_that_only_the_oldest_or_the_newest_rows_have_is_one(tmp_path, first):
    old, new = event("c", None, {**row(1, "a"), "city": None}), event("c", None, row(2, "b"))
    filler = [insert(3, "x" * 1000)] * 1000
    write(tmp_path / "1.jsonl", old if first else new, *filler)
    write(tmp_path / "2.jsonl", *filler, new if first else old)
    assert len(opened(tmp_path, columns={**COLUMNS, "city": "string"}).columns()) == 3


@pytest.mark.parametrize("lines", [[], ["", "null"], [event("d", {"id": 1})], ['{"op":', "[1]"]])
def test_without_a_row_nothing_is_said_of_columns(tmp_path, lines):
    write(tmp_path / "1.jsonl", *lines)
    assert len(opened(tmp_path).columns()) == 2


def test_an_absent_column_is_null(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, {"id": 1, "other": 2}))
    assert opened(tmp_path).state({"1.jsonl": 1}).to_pylist() == [row(1, None)]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ('{"op":', "the line is no JSON: EOF while parsing a value", "each event in one line"),
        ("[1]", "the line is no object", "ExtractNewRecordState"),
        ('{"id": 1, "name": "x"}', "the line has no 'op', so it is no change event", "ExtractNewRecordState"),
        ({"op": "c"}, "the event has op 'c', but no row in 'after'", ""),
        ({"op": "d", "before": None}, "the event has op 'd', but no row in 'before'", "REPLICA IDENTITY"),
        (event("x"), "the event has the unknown op 'x'", "known: c, r, u, d"),
        (event("t"), "the table was truncated, and no decision about it is recorded", "skipped.operations=t"),
        (event(["c"]), "the event has the unknown op '['c']'", "known"),
        (event("c", None, {"Id": 1}), "the row has no id, which is part of the primary key", "the row has: Id"),
        (
            event("d", {"id": None}),
            "the row has no id, which is part of the primary key",
            "the value is null; the row has: id",
        ),
        (event("c", None, row("x", "a")), "column 'id' is no bigint: 'x'", "wider type"),
        (event("c", None, row(True, "a")), "column 'id' is no bigint: True", "wider type"),
        (event("c", None, row(1.5, "a")), "column 'id' is no bigint: 1.5", "wider type"),
        (event("c", None, row(2**63, "a")), "column 'id' is no bigint: 9223372036854775808", "wider type"),
        (event("c", None, row(1, 5)), "column 'name' is no string: 5", "wider type"),
        (
            event("c", None, row(1, "__debezium_unavailable_value")),
            "column 'name': the database did not send the value",
            "REPLICA IDENTITY FULL",
        ),
        ({"schema": schema(id="int64"), "payload": event("z")}, "the event has the unknown op 'z'", "known"),
    ],
    ids=str,
)
@pytest.mark.parametrize("enveloped", [False, True])
def test_a_line_that_is_wrong_is_told_with_its_place(tmp_path, enveloped, line, message, hint):
    good = {"schema": schema(id="int64", name="string"), "payload": insert(5, "a")} if enveloped else insert(5, "a")
    write(tmp_path / "1.jsonl", good, good, "", line, good)
    source = opened(tmp_path)
    with pytest.raises(SourceError) as refused:
        source.changes({"1.jsonl": 1}, {"1.jsonl": 5})
    assert refused.value.at == Location("1.jsonl", 4)
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("decimal(12,2)", "1.555"),
        ("decimal(12,2)", "AbC="),
        ("decimal(12,2)", "NaN"),
        ("decimal(4,2)", 123.0),
        ("decimal(12,2)", {"scale": 1}),
        ("decimal(12,2)", True),
        ("date", "2024-13-01"),
        ("date", True),
        ("timestamp", "yesterday"),
        ("timestamp", 1.5),
        ("timestamp_ntz", "2024-01-01T00:00:00Z"),
        ("binary", "%%"),
        ("boolean", 1),
        ("smallint", 70_000),
        ("double", "x"),
        ("double", False),
        ("array<int>", "[1]"),
        ("array<int>", ["x"]),
        ("struct<a:int>", 1),
    ],
)
def test_a_value_that_does_not_fit_is_told_among_good_ones(tmp_path, type_, value):
    write(tmp_path / "1.jsonl", *(event("c", None, {"id": i, "v": value if i == 2 else None}) for i in range(4)))
    with pytest.raises(SourceError, match=f"column 'v' is no {type_.split('(')[0]}") as refused:
        opened(tmp_path, columns={"id": "bigint", "v": type_}, time_unit="ms").state({"1.jsonl": 4})
    assert refused.value.at == Location("1.jsonl", 3)
    assert refused.value.hint


# --- files ---


def test_the_last_file_may_grow_and_a_line_without_an_end_waits(tmp_path):
    path = tmp_path / "1.jsonl"
    write(path, insert(1, "a"))
    source = opened(tmp_path)
    assert source.available() == {"1.jsonl": 1}
    line = json.dumps(insert(2, "b"))
    for part, count in ((line[:20], 1), (line[20:], 2), ("\n" + line[:1], 2), (line[1:] + "\n", 3)):
        with path.open("a") as file:
            file.write(part)
        assert source.available() == opened(tmp_path).available() == {"1.jsonl": count}
    assert pairs(source.state({"1.jsonl": 3})) == [(1, "a"), (2, "b")]


def test_many_lines_are_found_without_reading_those_before(tmp_path):
    lines = [json.dumps(insert(i, "x" * (i % 50))) for i in range(10_000)]
    path = tmp_path / "1.jsonl"
    source = opened(tmp_path)
    for end in (4095, 4096, 4097, 9000, 10_000):
        path.write_text("\n".join(lines[:end]) + "\n")
        assert source.available() == {"1.jsonl": end}
    for first, end in ((0, 1), (4095, 4097), (4096, 8192), (8191, 8192), (8192, 10_000), (9_999, 10_000)):
        found = source.read({"1.jsonl": first}, {"1.jsonl": end})
        assert found["id"].to_pylist() == list(range(first, end))


def test_numbers_in_names_count_as_numbers(tmp_path):
    for number_ in (9, 10, 11):
        write(tmp_path / f"orders-{number_}.jsonl", insert(1, str(number_)))
    assert pairs(opened(tmp_path).state(opened(tmp_path).available())) == [(1, "11")]
    assert list(opened(tmp_path).advance({}, 2)) == ["orders-9.jsonl", "orders-10.jsonl"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("1.jsonl", "new events are in '1.jsonl', which comes before '2.jsonl'"),
        ("0.jsonl", "there is a new file '0.jsonl'"),
    ],
)
def test_events_before_those_that_were_read_are_refused(orders, name, message):
    source = opened(orders)
    begun = source.advance({}, 3)
    write(orders / "1.jsonl", insert(4, "x"))
    assert source.advance(begun, 1) == {"1.jsonl": 4}  # no event behind it was read
    position = source.advance(begun, 10)
    write(orders / name, insert(5, "late"))
    with pytest.raises(SourceError, match=message) as refused:
        source.advance(position, 10)
    assert "sort last" in refused.value.hint


@pytest.mark.parametrize("change", [lambda f: f.unlink(), lambda f: f.write_text("null\n")])
def test_events_that_are_gone_are_an_error_and_not_a_smaller_result(orders, change):
    end = opened(orders).available()
    change(orders / "1.jsonl")
    with pytest.raises(RowsLostError, match=r"1\.jsonl"):
        opened(orders).state(end)


def test_a_file_that_shrank_is_told(orders):
    source = opened(orders)
    source.available()
    (orders / "2.jsonl").write_text("null\n")
    with pytest.raises(SourceError, match=r"2.jsonl:1:1: SH212 the file shrank from \d+ to 5 bytes"):
        source.available()


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            {"path": "*.jsonl", "primary_key": ["id"]},
            "cdc needs the option 'columns'",
            "columns: what to take of each row",
        ),
        (
            {"path": "*.jsonl", "columns": COLUMNS},
            "cdc needs the option 'primary_key'",
            "primary_key: the columns that",
        ),
        (OPTIONS | {"primary_key": []}, "option 'primary_key' of cdc", "options of cdc"),
        (OPTIONS | {"primary_key": "id"}, "option 'primary_key' of cdc", "options of cdc"),
        (OPTIONS | {"primary_key": ["nr"]}, "primary_key names 'nr', which is not among the columns", "options of cdc"),
        (OPTIONS | {"primary_key": ["id", "id"]}, "primary_key names a column twice", "options of cdc"),
        (OPTIONS | {"columns": {"id": "double"}}, "'id' is double and cannot be part of a primary key", "options"),
        (OPTIONS | {"columns": {"id": "numbr"}}, "column 'id': 'numbr' is no", "options of cdc"),
        (OPTIONS | {"columns": {}}, "option 'columns' of cdc", "options of cdc"),
        (OPTIONS | {"time_unit": "s"}, "option 'time_unit' of cdc", "options of cdc"),
        (OPTIONS | {"key": ["id"]}, "unknown option 'key' of cdc", ""),
        (OPTIONS | {"path": "in/*.jsonl"}, "there is no folder 'in'", "relative to the project's folder"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_that_are_wrong_are_told(tmp_path, options, message, hint):
    with pytest.raises(SourceError) as refused:
        open_cdc(options, tmp_path, at=Location("flows/f.yaml", 3))
    assert refused.value.at == Location("flows/f.yaml", 3)
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_what_the_docs_show_is_true(tmp_path):
    docs = (Path(__file__).parents[3] / "docs" / "sources.md").read_text()
    shown = re.search(r"## `cdc`\n\n```yaml\n(.*?)```", docs, re.DOTALL).group(1)
    options = yaml.safe_load(shown)["sources"]["orders"]["cdc"]
    folder = tmp_path / "data" / "orders"
    folder.mkdir(parents=True)
    write(folder / "3.jsonl", *[""] * 16, event("c", None, {"order_id": 1, "amount": "x"}))
    source = open_cdc(options, tmp_path)
    with pytest.raises(SourceError) as refused:
        source.state(source.available())
    assert str(refused.value) in docs


@pytest.mark.parametrize(
    ("kind", "type_", "default", "other"),
    [("int32", "int", 5, 6), ("string", "string", "hey", "ho"), ("boolean", "boolean", False, True)],
)
def test_a_default_that_may_stand_for_null_is_refused(tmp_path, kind, type_, default, other):
    told = schema(id="int64", v=kind)
    for row in told["fields"][:2]:
        row["fields"][1]["default"] = default
    rows = [
        {"schema": told, "payload": event("c", None, {"id": n, "v": v})} for n, v in enumerate((other, None, default))
    ]
    write(tmp_path / "1.jsonl", *rows)
    columns = {"id": "bigint", "v": type_}
    with pytest.raises(SourceError, match=r"1\.jsonl:3:1: SH212 column 'v' is .*, its DEFAULT") as refused:
        opened(tmp_path, columns=columns).state({"1.jsonl": 3})
    assert "value.converter.replace.null.with.default=false" in str(refused.value)
    found = opened(tmp_path, columns=columns, nulls_kept=True).state({"1.jsonl": 3}).sort_by("id")
    assert found.column("v").to_pylist() == [other, None, default]
    for row in told["fields"][:2]:
        row["fields"][1]["optional"] = False  # NULL is not possible
    write(tmp_path / "2.jsonl", {"schema": told, "payload": event("c", None, {"id": 9, "v": default})})
    assert opened(tmp_path, path="2.jsonl", columns=columns).state({"2.jsonl": 1}).column("v").to_pylist() == [default]


MARK = "__debezium_unavailable_value"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", MARK),
        ("string", f'{{"{MARK}":"{MARK}"}}'),  # hstore as JSON
        ("string", "2b5d8ea0-1f6b-3d09-8d6f-1b7c1a2d3e4f"),  # any other UUID is a value
        ("binary", base64.b64encode(MARK.encode()).decode()),
        ("array<string>", [MARK]),
        ("array<binary>", [base64.b64encode(MARK.encode()).decode()]),
        ("array<int>", list(MARK.encode())),
        ("array<double>", [float(byte) for byte in MARK.encode()]),
        ("array<decimal(5,1)>", [float(byte) for byte in MARK.encode()]),
        ("map<string,string>", {MARK: MARK}),
        ("map<string,string>", {"a": MARK}),
        ("struct<a:array<string>,b:int>", {"a": ["x", MARK], "b": 1}),
    ],
)
def test_a_value_that_was_not_sent_is_refused_at_any_depth(tmp_path, kind, value):
    write(tmp_path / "1.jsonl", event("c", None, {"id": 1, "v": None}), event("u", None, {"id": 1, "v": value}))
    source = opened(tmp_path, columns={"id": "bigint", "v": kind})
    if kind == "string" and "2b5d" in value:
        assert source.state({"1.jsonl": 2}).to_pylist() == [{"id": 1, "v": value}]
        return
    with pytest.raises(SourceError, match=r"1\.jsonl:2:1: SH212 column 'v': the database did not send the value"):
        source.state({"1.jsonl": 2})


def test_the_mark_of_an_array_of_uuids(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, {"id": 1, "v": ["4b1ba9a3-0c8a-3bd2-a0a5-1d3a6c5bb28b"]}))
    source = opened(tmp_path, columns={"id": "bigint", "v": "array<string>"})
    assert source.state({"1.jsonl": 1}).num_rows == 1
    mark = str(uuid.UUID(bytes=hashlib.md5(MARK.encode()).digest(), version=3))
    write(tmp_path / "1.jsonl", event("u", None, {"id": 1, "v": [mark]}))
    with pytest.raises(SourceError, match="did not send the value"):
        source.state({"1.jsonl": 2})


@pytest.mark.parametrize("has_schema", [False, True])
def test_decimals_that_are_numbers_keep_their_digits(tmp_path, has_schema):
    number = "123456789012345678.91"
    after = f'{{"id": 1, "d": {number}, "l": [{number}], "m": {{"k": {number}}}, "s": {{"d": {number}, "x": 0.1}}}}'
    line = f'{{"op": "c", "before": null, "after": {after}}}'
    line = f'{{"schema": {{"type": "struct", "fields": []}}, "payload": {line}}}' if has_schema else line
    write(tmp_path / "1.jsonl", line, line)
    kind = "decimal(20,2)"
    columns = {
        "id": "bigint",
        "d": kind,
        "l": f"array<{kind}>",
        "m": f"map<string,{kind}>",
        "s": f"struct<d:{kind},x:double>",
    }
    exact = Decimal(number)
    assert opened(tmp_path, columns=columns).state({"1.jsonl": 2}).to_pylist() == [
        {"id": 1, "d": exact, "l": [exact], "m": [("k", exact)], "s": {"d": exact, "x": 0.1}}
    ]


def test_a_number_that_becomes_a_text_has_the_digits_that_are_written(tmp_path):
    write(tmp_path / "1.jsonl", '{"op": "c", "after": {"id": 1, "name": 123456789012345678.10}}')
    plan = open_cdc(OPTIONS, tmp_path, loose=("name",))
    assert plan.state({"1.jsonl": 1}).to_pylist() == [{"id": 1, "name": "123456789012345678.10"}]


def test_values_within_others_are_written_as_those_of_columns(tmp_path):
    fields = [
        {"field": "id", "type": "int64"},
        {"field": "days", "type": "array", "items": {"type": "int32", "name": "io.debezium.time.Date"}},
        {
            "field": "s",
            "type": "struct",
            "fields": [
                {"field": "at", "type": "int64", "name": "io.debezium.time.MicroTimestamp"},
                {"field": "b", "type": "bytes"},
                {
                    "field": "d",
                    "type": "bytes",
                    "name": "org.apache.kafka.connect.data.Decimal",
                    "parameters": {"scale": "2"},
                },
            ],
        },
    ]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": fields}]}
    after = {"id": 1, "days": [0, None, 1], "s": {"at": 5, "b": "aGk=", "d": "AfQ="}, "m": [[1, "x"]]}
    write(tmp_path / "1.jsonl", {"schema": schema, "payload": event("c", None, after)})
    kinds = {"days": "array<date>", "s": "struct<at:timestamp,b:binary,d:decimal(5,2)>", "m": "map<int,string>"}
    assert opened(tmp_path, columns={"id": "bigint", **kinds}).state({"1.jsonl": 1}).to_pylist() == [
        {
            "id": 1,
            "days": [date(1970, 1, 1), None, date(1970, 1, 2)],
            "s": {"at": datetime(1970, 1, 1, 0, 0, 0, 5, tzinfo=UTC), "b": b"hi", "d": Decimal("5.00")},
            "m": [(1, "x")],
        }
    ]


def test_a_value_within_another_that_does_not_fit_is_refused_with_its_line(tmp_path):
    for number, (kind, value) in enumerate(
        [("array<int>", [1.5]), ("array<int>", 3), ("map<string,int>", {"a": "x"}), ("struct<a:int>", []),
         ("array<boolean>", [1]), ("array<string>", [1])]
    ):  # fmt: skip
        write(tmp_path / f"{number}.jsonl", event("c", None, {"id": 1}), event("u", None, {"id": 1, "v": value}))
        source = opened(tmp_path, path=f"{number}.jsonl", columns={"id": "bigint", "v": kind})
        with pytest.raises(SourceError, match=rf"{number}\.jsonl:2:1: SH212 column 'v' is no"):
            source.state({f"{number}.jsonl": 2})


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    line = json.dumps(insert(1, "a"))
    for number, end in enumerate(("", "\n")):
        (tmp_path / f"{number}.jsonl").write_text(f"\ufeff{line}{end}", encoding="utf-8")
        source = opened(tmp_path, path=f"{number}.jsonl")
        assert source.columns()
        assert source.available() == {f"{number}.jsonl": 1}
        assert pairs(source.state({f"{number}.jsonl": 1})) == [(1, "a")]


@pytest.mark.parametrize(
    ("kind", "value"), [("date", 5_000_000), ("timestamp", 300_000_000_000_000_000), ("array<date>", [-800_000])]
)
def test_years_that_nobody_can_show_are_refused(tmp_path, kind, value):
    write(tmp_path / "1.jsonl", event("c", None, {"id": 1, "v": None}), event("u", None, {"id": 1, "v": value}))
    source = opened(tmp_path, columns={"id": "bigint", "v": kind}, time_unit="us")
    with pytest.raises(SourceError, match=r"1\.jsonl:2:1: SH212 column 'v' is no .*outside of the years 1 to 9999"):
        source.state({"1.jsonl": 2})

"""A source of changes whose rows are the changes: each one is a row with what it was and when."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import SourceError
from streamhouse.ingest.base import KeyedSource
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import planned_shape, source_shape
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_US = int(NOON.timestamp()) * 1_000_000
METADATA = {"op": "op", "at": "committed_at", "change": "number"}
OPTIONS = {
    "path": "*.jsonl",
    "mode": "append",
    "primary_key": ["id"],
    "columns": {"id": "int", "name": "string"},
    "metadata": METADATA,
}


def event(op, before=None, after=None, second=0):
    source = {"ts_ms": NOON_US // 1000 + second * 1000, "ts_us": NOON_US + second * 1_000_000}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1}


def row(id_, name):
    return {"id": id_, "name": name}


def write(path, *events):
    with path.open("a") as file:
        file.writelines((e if isinstance(e, str) else json.dumps(e)) + "\n" for e in events)


def source_of(root, **options):
    return open_source(Source(name="changes", kind="cdc", options=OPTIONS | options), root)


def rows(source, start=None, end=None, columns=None):
    return source.read(start or {}, end or source.available(), columns).to_pylist()


def changes(source):
    return [(one["op"], one["id"], one["name"]) for one in rows(source)]


def test_each_change_is_a_row_with_what_it_was_and_when(tmp_path):
    write(tmp_path / "1.jsonl", event("r", None, row(1, "a")), event("c", None, row(2, "b"), 1))
    write(tmp_path / "2.jsonl", event("u", row(1, "a"), row(1, "A"), 2), "null", event("d", row(2, "b"), None, 3))
    source = source_of(tmp_path)
    assert not isinstance(source, KeyedSource)
    assert [(c.name, c.type, c.nullable) for c in source.columns()] == [
        ("id", "int", False),
        ("name", "string", True),
        ("op", "string", False),
        ("at", "timestamp", False),
        ("change", "bigint", False),
    ]
    found = rows(source)
    assert [(one["op"], one["id"], one["name"]) for one in found] == [
        ("r", 1, "a"),
        ("c", 2, "b"),
        ("u", 1, "A"),
        ("d", 2, None),
    ]
    assert [(one["at"] - NOON).seconds for one in found] == [0, 1, 2, 3]
    numbers = [one["change"] for one in found]
    assert numbers == sorted(set(numbers))
    assert rows(source, columns=("op",)) == [{"op": op} for op in "rcud"]


def test_a_key_that_changes_is_a_delete_and_a_row(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, row(1, "a")), event("u", row(1, "a"), row(2, "a")))
    assert changes(source_of(tmp_path)) == [("c", 1, "a"), ("d", 1, None), ("u", 2, "a")]


def test_a_file_that_is_called_as_a_base_of_a_journal_is_a_file_as_any_other(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, row(1, "a")))
    write(tmp_path / "2.base.jsonl", event("u", None, row(1, "b")), event("d", row(1, "b")))
    write(tmp_path / "3.jsonl", event("c", None, row(2, "c")))
    found = rows(source_of(tmp_path))
    assert [(one["op"], one["id"]) for one in found] == [("c", 1), ("u", 1), ("d", 1), ("c", 2)]
    assert len({one["change"] for one in found}) == 4


def test_an_event_that_does_not_say_when_is_an_error_where_that_is_wanted(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, row(1, "a")), {**event("c", None, row(2, "b")), "source": {}})
    with pytest.raises(SourceError, match=r"1\.jsonl:2.* it has no ts_ms"):
        rows(source_of(tmp_path))
    assert len(rows(source_of(tmp_path, metadata={"op": "op"}))) == 2


def test_a_removal_of_all_rows_is_a_delete_of_each_key_and_no_question(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, row(1, "a")), event("c", None, row(2, "b")), event("d", row(1, "a")))
    write(tmp_path / "2.jsonl", event("c", None, row(3, "c")), event("t", second=9), event("c", None, row(2, "d")))
    source = source_of(tmp_path)
    removed = [("d", 2, None), ("d", 3, None)]
    found = changes(source)
    assert found[:4] + sorted(found[4:6]) + found[6:] == [
        *[("c", 1, "a"), ("c", 2, "b"), ("d", 1, None), ("c", 3, "c"), *removed],
        ("c", 2, "d"),
    ]
    assert [one["at"].second for one in rows(source)] == [0, 0, 0, 0, 9, 9, 0]
    planned = PlannedSource(name="changes", kind="cdc", options=OPTIONS, columns=source.columns())
    assert open_source(planned, tmp_path).read({}, source.available()).equals(source.read({}, source.available()))
    assert source_shape("changes", planned, tmp_path).truncated == ""


def test_columns_stay_in_the_order_of_the_plan(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, {**row(1, "a"), "more": 7}))
    columns = (*source_of(tmp_path).columns(), Column(name="more", type="int"))
    source = open_source(PlannedSource(name="changes", kind="cdc", options=OPTIONS, columns=columns), tmp_path)
    assert source.columns() == columns
    assert [list(one) for one in rows(source)] == [["id", "name", "op", "at", "change", "more"]]
    assert rows(source)[0]["more"] == 7


def test_the_trigger_misses_no_column_of_the_metadata(tmp_path):
    write(tmp_path / "1.jsonl", event("c", None, row(1, "a")))
    planned = PlannedSource(name="changes", kind="cdc", options=OPTIONS, columns=source_of(tmp_path).columns())
    live, pinned = source_shape("changes", planned, tmp_path), planned_shape("changes", planned)
    assert {c.name for c in live.columns} == {c.name for c in pinned.columns}
    assert live.primary_key == pinned.primary_key == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "upsert"}, "'metadata' describes each change, and is for mode: append"),
        ({"metadata": {"id": "op"}}, "metadata names 'id', which is among the columns"),
        ({"metadata": {"op": "lsn"}}, "metadata"),
        ({"mode": "both"}, "mode"),
        ({"on_bad_rows": {"action": "dead_letter"}}, "'on_bad_rows' is for mode: upsert"),
        ({"path": None, "kafka": {"servers": "b:1", "topic": "t"}}, "'mode: append' is for files and databases"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, message):
    given_options = {name: value for name, value in (OPTIONS | options).items() if value is not None}
    with pytest.raises(SourceError, match=message):
        open_source(Source(name="changes", kind="cdc", options=given_options), tmp_path)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("cu"), st.integers(1, 4), st.sampled_from("abc")).map(
            lambda one: event(one[0], None, row(one[1], one[2]))
        ),
        st.integers(1, 4).map(lambda key: event("d", row(key, None))),
        st.tuples(st.integers(1, 4), st.integers(1, 4)).map(lambda two: event("u", row(two[0], "x"), row(two[1], "y"))),
        st.just("null"),
    ),
    max_size=12,
)


@given(files=st.lists(EVENTS, min_size=1, max_size=3), steps=st.integers(1, 5))
def test_ranges_make_the_whole_and_the_last_change_of_each_key_is_the_state(tmp_path_factory, files, steps):
    root = tmp_path_factory.mktemp("changes")
    for number, events in enumerate(files):
        write(root / f"{number}.jsonl", *events)
    source = source_of(root)
    whole, parts, at = rows(source), [], {}
    while (further := source.advance(at, steps)) != at:
        parts += rows(source, at, further)
        at = further
    assert parts == whole
    last = {one["id"]: one for one in sorted(whole, key=lambda one: one["change"])}
    keyed = open_cdc({name: value for name, value in OPTIONS.items() if name not in ("mode", "metadata")}, root)
    state = {one["id"]: one["name"] for one in keyed.state(keyed.available()).to_pylist()}
    assert {key: one["name"] for key, one in last.items() if one["op"] != "d"} == state


def test_changes_of_one_transaction_have_its_name_and_rows_of_a_snapshot_none(tmp_path):
    of_postgres = event("c", None, row(2, "b")) | {"source": {"ts_ms": 1, "txId": 571}}
    of_mariadb = event("d", row(2, "b"), None) | {"source": {"ts_ms": 1, "gtid": "0-1-5"}}
    enriched = event("u", row(1, "a"), row(3, "b")) | {"transaction": {"id": "571:24", "total_order": 1}}
    in_snapshot = event("r", None, row(1, "a")) | {"source": {"ts_ms": 1, "txId": 570}}
    write(tmp_path / "1.jsonl", in_snapshot, of_postgres, enriched, of_mariadb, event("c", None, row(5, "e")))
    source = source_of(tmp_path, metadata={"op": "op", "tx": "transaction"})
    assert [(one["op"], one["tx"]) for one in rows(source)] == [
        ("r", None),
        ("c", "571"),
        ("d", "571:24"),
        ("u", "571:24"),
        ("d", "0-1-5"),
        ("c", None),
    ]
    assert {column.name: column.nullable for column in source.columns()}["tx"]


def test_a_truncate_is_one_transaction(tmp_path):
    removal = event("t") | {"source": {"ts_ms": 1, "txId": 572}}
    write(tmp_path / "1.jsonl", event("c", None, row(1, "a")), event("c", None, row(2, "b")), removal)
    source = source_of(tmp_path, metadata={"op": "op", "tx": "transaction"})
    assert [(one["op"], one["tx"]) for one in rows(source)][2:] == [("d", "572"), ("d", "572")]

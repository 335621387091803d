"""Paimon tables of others as sources, on real tables that pypaimon wrote."""

from itertools import pairwise

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.ingest.tables import base, paimon
from streamhouse.ingest.tables.paimon import PaimonTable
from streamhouse.ingest.tables.places import whole
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from tests.other_lakes import PaimonLake, contents

LOG, STATE = "sales.events", "sales.orders"
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("k", pa.string())])
KEY = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string()), ("k", pa.string())])
ADDED = {"connection": "lake", "table": LOG}
CHANGED = {"connection": "lake", "table": STATE, "mode": "upsert", "primary_key": ["id"]}
COMPARED = {**CHANGED, "mode": "snapshot_diff"}
HERE = Location("flows/f.yaml", 4, 3)


def rows(*given, kind="+I", schema=SCHEMA):
    return pa.Table.from_pylist([{"id": i, "name": name, "k": kind} for i, name in given], schema=schema)


@pytest.fixture
def lake(tmp_path):
    known = {"lake": {"kind": "paimon", "warehouse": "lake"}}
    (tmp_path / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": known}))
    made = PaimonLake(tmp_path / "lake")
    made.root = tmp_path
    made.create(LOG, SCHEMA)
    made.create(STATE, KEY, ("id",), **{"rowkind.field": "k"})
    return made


def opened(lake, options, **more):
    return open_source(Source(name="orders", kind="table", options={**options, **more}, at=HERE), lake.root)


def at(number):
    """The position where a snapshot was read as a whole."""
    return whole(number).position


def values(table, *names):
    return sorted(tuple(row.values()) for row in table.select(names or ["id", "name"]).to_pylist())


def test_rows_of_a_log_are_read_by_snapshots(lake):
    assert opened(lake, ADDED).available() == {}
    for i in range(3):
        lake.write(LOG, rows((i, "a"), (10 + i, "b")))
    source = opened(lake, ADDED)
    assert source.available() == at(3)
    assert source.advance({"snapshot": 1}, 1) == at(2)
    assert values(source.read({"snapshot": 1}, {"snapshot": 3})) == [(1, "a"), (2, "a"), (11, "b"), (12, "b")]
    assert source.rows_between({"snapshot": 1}, {"snapshot": 3}) == 4
    assert len(source.read({}, {"snapshot": 3})) == 6 == source.rows_between({}, {"snapshot": 3})
    lake.expire(LOG, [1, 2])
    later = opened(lake, ADDED)
    with pytest.raises(RowsLostError, match="no longer has snapshot 2") as lost:
        later.advance({"snapshot": 1}, 9)
    assert "snapshot.time-retained" in lost.value.hint
    assert later.oldest() == {"snapshot": 2}
    assert values(later.read({"snapshot": 2}, {"snapshot": 3})) == [(2, "a"), (12, "b")]
    lake.write(LOG, rows((9, "z")), overwrite=True)
    with pytest.raises(SourceError, match=r"snapshot 4 of sales.events removed rows \(overwrite\)"):
        opened(lake, ADDED).advance({"snapshot": 3}, 9)


@pytest.mark.parametrize("options", [CHANGED, COMPARED], ids=["upsert", "snapshot_diff"])
def test_changes_lead_from_one_state_to_the_next(lake, options):
    lake.write(STATE, rows((1, "a"), (2, "b"), (3, "c"), schema=KEY))
    lake.write(STATE, rows((1, "A"), (4, "d"), schema=KEY))
    lake.write(STATE, rows((2, None), kind="-D", schema=KEY))
    source = opened(lake, options, columns={"id": "bigint", "name": "string"})
    assert source.available() == at(3)
    done = source.changes({"snapshot": 1}, {"snapshot": 3})
    assert values(done.upserts) == [(1, "A"), (4, "d")]
    assert done.deletes.to_pylist() == [{"id": 2}]
    assert values(done.before) == [(1, "a"), (2, "b")]
    assert values(source.state({"snapshot": 3})) == [(1, "A"), (3, "c"), (4, "d")]
    assert values(source.changes({}, {"snapshot": 2}).upserts) == [(1, "A"), (2, "b"), (3, "c"), (4, "d")]
    lake.write(STATE, rows((3, "C"), schema=KEY), overwrite=True)
    later = opened(lake, options, columns={"id": "bigint", "name": "string"})
    done = later.changes({"snapshot": 3}, {"snapshot": 4})
    assert values(done.upserts) == [(3, "C")]
    assert sorted(done.deletes["id"].to_pylist()) == [1, 4]
    lake.expire(STATE, [1])
    with pytest.raises(RowsLostError, match="no longer has snapshot 1"):
        opened(lake, options).changes({"snapshot": 1}, {"snapshot": 3})
    with pytest.raises(RowsLostError, match="no longer has snapshot 1"):
        opened(lake, options).advance({"snapshot": 1}, 3)


def test_partial_rows_are_whole_when_they_arrive(lake):
    lake.create("sales.parts", KEY, ("id",), merge_engine="partial-update")
    lake.write("sales.parts", rows((1, "a"), kind=None, schema=KEY))
    lake.write("sales.parts", rows((1, None), kind="x", schema=KEY))
    source = opened(lake, CHANGED, table="sales.parts")
    assert values(source.changes({"snapshot": 1}, {"snapshot": 2}).upserts, "id", "name", "k") == [(1, "a", "x")]


def test_columns_are_found_by_their_ids(lake):
    from pypaimon.schema.data_types import AtomicType
    from pypaimon.schema.schema_change import SchemaChange

    lake.write(LOG, rows((1, "a")))
    lake.write(LOG, rows((2, "b")))
    known = (Column(name="id", type="bigint"), Column(name="name", type="string"))
    plan = PlannedSource(name="orders", kind="table", options=ADDED, columns=known)
    first = source_shape("f:orders", plan, lake.root)
    lake.alter(LOG, SchemaChange.rename_column("name", "title"), SchemaChange.add_column("note", AtomicType("STRING")))
    now = opened(lake, ADDED)
    assert [c.name for c in now.columns()] == ["id", "title", "k", "note"]
    assert values(now.read({"snapshot": 1}, {"snapshot": 2}), "id", "title", "note") == [(2, "b", None)]
    old = open_source(plan, lake.root)
    assert values(old.read({"snapshot": 1}, {"snapshot": 2})) == [(2, "b")]
    assert values(old.read({}, {"snapshot": 2})) == [(1, "a"), (2, "b")]
    then = source_shape("f:orders", plan, lake.root)
    assert {c.id: c.name for c in first.columns}["1"] == "name"
    assert {c.id: c.name for c in then.columns}["1"] == "title"
    assert then.version != first.version


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({**ADDED, "table": STATE}, "sales.orders has a primary key", "mode: upsert, primary_key: [id]"),
        ({**CHANGED, "table": LOG}, "sales.events has no primary key", "snapshot_diff"),
        ({**CHANGED, "primary_key": ["name"]}, "the key of sales.orders is another one", "primary_key: [id]"),
        ({**CHANGED, "table": "sales.firsts"}, "changes of sales.firsts cannot be followed", "snapshot_diff"),
        ({**ADDED, "table": "sales.none"}, "connection 'lake' has no table sales.none", "name one"),
        ({**ADDED, "table": "none.none"}, "connection 'lake' has no table none.none", "name one"),
        ({**ADDED, "table": "sales.events.x"}, "'sales.events.x' is no table of Paimon", "database.table"),
    ],
)
def test_wrong_modes_have_place_and_hint(lake, options, message, hint):
    lake.create("sales.firsts", KEY, ("id",), merge_engine="first-row")
    with pytest.raises(SourceError) as refused:
        opened(lake, options)
    assert message in refused.value.message
    assert hint in refused.value.hint
    assert refused.value.at == HERE


def test_nothing_of_the_table_is_changed(lake):
    lake.write(LOG, rows((1, "a")))
    lake.write(STATE, rows((1, "a"), schema=KEY))
    lake.write(STATE, rows((1, "b"), schema=KEY))
    before = contents(lake.folder)
    log = opened(lake, ADDED)
    log.advance({}, 9), log.oldest(), log.identity(), log.read({}, log.available())
    for options in (CHANGED, COMPARED):
        source = opened(lake, options)
        source.changes({"snapshot": 1}, {"snapshot": 2}), source.state({"snapshot": 2}), source.advance({}, 1)
    assert contents(lake.folder) == before
    assert not (lake.root / "none").exists()


def test_a_snapshot_is_asked_for_once_and_a_state_only_where_rows_changed(lake, monkeypatch):
    for i in range(4):
        lake.write(STATE, rows((i, "a"), schema=KEY))
    look = PaimonTable(STATE, {"warehouse": str(lake.folder)}, "lake", "upsert").look()
    asked, states = [], []
    real = look._manager.get_snapshot_by_id
    monkeypatch.setattr(look._manager, "get_snapshot_by_id", lambda number: asked.append(number) or real(number))
    monkeypatch.setattr(paimon.reading, "state", lambda *given: states.append(given))
    monkeypatch.setattr(look, "_changed", lambda number, columns: KEY.empty_table().select(columns))
    assert [one.number for one in look.commits(1, 4)] == [2, 3, 4]
    apart = look.apart(1, 4, ["id", "name"], ["id"])
    assert (apart.old.num_rows, apart.new.num_rows) == (0, 0)
    assert sorted(asked) == [2, 3, 4]
    assert states == []


@pytest.mark.parametrize(("name", "options"), [(LOG, ADDED), (STATE, CHANGED)])
def test_large_files_and_buckets_are_read_in_pieces(lake, name, options, monkeypatch):
    monkeypatch.setattr(base, "PART_ROWS", 7)
    schema = KEY if name != LOG else SCHEMA
    lake.write(name, rows(*((i, f"n{i}") for i in range(30)), schema=schema))
    lake.write(name, rows(*((i, f"m{i}") for i in range(10, 40)), schema=schema))
    found = [{}]
    while (end := opened(lake, options).advance(found[-1], 14)) != found[-1]:
        found.append(end)
    source = opened(lake, options)
    everything = source.read({}, found[-1])
    for columns in (None, ("name",)):
        taken = [opened(lake, options).read(*bounds, columns) for bounds in pairwise(found)]
        assert max(part.num_rows for part in taken) <= 14
        assert len(taken) > 4
        names = ["id", "name"] if columns is None or name != LOG else ["name"]
        assert values(pa.concat_tables(taken), *names) == values(everything, *names)


@pytest.mark.parametrize(("name", "options"), [(LOG, ADDED), (STATE, CHANGED), (STATE, COMPARED)])
def test_a_reader_that_begins_takes_the_rows_by_parts(lake, name, options):
    if name == STATE:
        options = {**options, "table": "sales.buckets"}
        lake.create("sales.buckets", KEY, ("id",), bucket="4")
        name = "sales.buckets"
    schema = KEY if name != LOG else SCHEMA
    for start in (0, 20, 40):
        lake.write(name, rows(*((i, f"n{i}") for i in range(start, start + 20)), schema=schema))
    lake.write(name, rows(*((i, "again") for i in ((100, 101) if name == LOG else (1, 41))), schema=schema))
    found = [{}]
    while (end := opened(lake, options).advance(found[-1], 20)) != found[-1]:
        found.append(end)
        lake.write(name, rows((200 + len(found), "later"), schema=schema)) if len(found) < 5 else None
    parts = [one for one in found if one.get("part", 0) < at(1)["part"]]
    assert len(parts) > 2
    assert {one["snapshot"] for one in parts[1:]} == {4}
    taken = [opened(lake, options).read(*bounds) for bounds in pairwise(found)]
    assert max(part.num_rows for part in taken) <= 20
    source = opened(lake, options)
    assert values(pa.concat_tables(taken)) == values(source.read({}, source.available()))
    if name != LOG:
        middle = found[2]
        assert values(source.state(middle)) == sorted(values(taken[0]) + values(taken[1]))

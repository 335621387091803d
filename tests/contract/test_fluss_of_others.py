"""Tables of others in a real Fluss, as sources."""

from uuid import uuid4

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.base import ForgetfulSource, KeyedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.shapes import source_shape
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.store import FlussStore
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    deep("wrong modes, columns and lost rows", stays=("test_a_log_and_a_changelog_are_followed",)),
]
COLUMNS = (Column(name="id", type="bigint"), Column(name="name", type="string"))
HERE = Location("flows/f.yaml", 4, 3)


class Owner:
    """Who owns two tables of the cluster."""

    def __init__(self, fluss, root):
        self.root, self.store, self._epoch = root, FlussStore(fluss), 0
        own = uuid4().hex[:8]
        self.log = Table(name=f"ods.oo_log_{own}", columns=COLUMNS, tiers=Tiers(hot="1d"), buckets=2)
        self.state = self.log.model_copy(update={"name": f"ods.oo_state_{own}", "primary_key": ("id",), "buckets": 1})
        for table in (self.log, self.state):
            self.store.create(table)

    def write(self, table, *given, deleted=()):
        rows = pa.Table.from_pylist([{"id": i, "name": name} for i, name in given], schema=SCHEMA)
        keys = pa.table({"id": pa.array(deleted, pa.int64())}) if deleted else None
        self._epoch += 1
        self.store.write(table, Changes(rows, keys), WriteContext("owner/owner", self._epoch))

    def opened(self, table, **more):
        options = {"connection": "cluster", "table": table.name, **more}
        return open_source(Source(name="rows", kind="table", options=options, at=HERE), self.root)


SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
CHANGES = {"mode": "upsert", "primary_key": ["id"]}


@pytest.fixture
def owner(fluss, tmp_path):
    known = {"cluster": {"kind": "fluss", "servers": fluss}}
    (tmp_path / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": known}))
    made = Owner(fluss, tmp_path)
    yield made
    for table in (made.log, made.state):
        made.store.drop(table.name)
    made.store.close()


def values(rows):
    return sorted(tuple(row.values()) for row in rows.to_pylist())


def test_a_log_and_a_changelog_are_followed(owner):
    assert {owner.log.name, owner.state.name} <= set(owner.store.names())
    owner.write(owner.log, (1, "a"), (2, "b"))
    owner.write(owner.state, (1, "a"), (2, "b"))
    log, state = owner.opened(owner.log), owner.opened(owner.state, **CHANGES)
    assert isinstance(log, ForgetfulSource)
    assert not isinstance(log, KeyedSource)
    assert isinstance(state, KeyedSource)
    first, begun = log.available(), state.available()
    assert values(log.read({}, first)) == [(1, "a"), (2, "b")]
    assert log.rows_between({}, first) == 2
    assert values(state.changes({}, begun).upserts) == [(1, "a"), (2, "b")]
    owner.write(owner.log, (3, "c"))
    owner.write(owner.state, (1, "A"), (3, "c"), deleted=[2])
    assert values(log.read(first, log.advance(first, 10))) == [(3, "c")]
    end = state.available()
    done = state.changes(begun, end)
    assert values(done.upserts) == [(1, "A"), (3, "c")]
    assert done.deletes.to_pylist() == [{"id": 2}]
    assert values(done.before) == [(1, "a"), (2, "b")]
    assert values(state.state(begun)) == [(1, "a"), (2, "b")]
    assert values(state.state(end, ("name",))) == [(1, "A"), (3, "c")]
    assert log.identity() == owner.opened(owner.log).identity() != state.identity()


def test_wrong_modes_and_new_columns(owner):
    for table, options, message in (
        (owner.state, {}, "has a primary key, so its rows change"),
        (owner.log, CHANGES, "has no primary key"),
        (owner.state, {**CHANGES, "primary_key": ["name"]}, "the key of .* is another one"),
        (owner.state, {**CHANGES, "mode": "snapshot_diff"}, "have no snapshots"),
    ):
        with pytest.raises(SourceError, match=message):
            owner.opened(table, **options)
    options = {"connection": "cluster", "table": owner.log.name}
    plan = PlannedSource(name="rows", kind="table", options=options, columns=COLUMNS)
    before = source_shape("f:rows", plan, owner.root)
    wide = owner.log.model_copy(update={"columns": (*COLUMNS, Column(name="n", type="int"))})
    owner.store.add_columns(wide)
    after = source_shape("f:rows", plan, owner.root)
    assert [c.name for c in after.columns] == ["id", "name", "n"]
    assert after.version != before.version
    planned = PlannedSource(name="rows", kind="table", options=options, columns=wide.columns)
    owner.write(owner.log, (1, "a"))
    source = open_source(planned, owner.root)
    assert source.read({}, source.available()).to_pylist() == [{"id": 1, "name": "a", "n": None}]


def test_what_the_log_no_longer_has_is_an_error(owner, monkeypatch):
    owner.write(owner.log, (1, "a"), (2, "b"))
    owner.write(owner.state, (1, "a"), (2, "b"))
    for source in (owner.opened(owner.log), owner.opened(owner.state, **CHANGES)):
        end = source.available()
        monkeypatch.setattr(type(source._store), "start", lambda _, __, end=end: end)
        gone = {bucket: max(0, at - 1) for bucket, at in end.items()}
        with pytest.raises(RowsLostError, match=r"rows of .* are gone") as lost:
            source.advance(gone, 10)
        assert "table.log.ttl" in lost.value.hint
        with pytest.raises(RowsLostError):
            source.read(gone, end)
        monkeypatch.undo()

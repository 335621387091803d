"""What the trigger sees of tables of others: columns that come, go and are renamed, and snapshots that expired."""

import pyarrow as pa
import pytest
import yaml

from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.upstream.observe import UpstreamObserver
from tests.other_lakes import IcebergLake

NAME = "sales.orders"
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("n", pa.int32())])
KEEP = "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"


def rows(*numbers):
    return pa.Table.from_pylist([{"id": i, "name": "a", "n": i} for i in numbers], schema=SCHEMA)


class World:
    """A flow over a table, and the look at it."""

    def __init__(self, root, options):
        self.root, self.lake = root, IcebergLake(root / "lake")
        self.lake.create(NAME, SCHEMA)
        self.lake.append(NAME, rows(1))
        flow = {
            "flow": "f",
            "sources": {"orders": {"table": {"connection": "lake", "table": NAME, **options}}},
            "steps": [{"use": "keep", "reads": {"rows": "orders"}, "writes": "ods.orders"}],
        }
        for name, text in {
            "streamhouse.yaml": yaml.safe_dump({"connections": {"lake": {"kind": "iceberg", "warehouse": "lake"}}}),
            "flows/f.yaml": yaml.safe_dump(flow, sort_keys=False),
            "actions/keep.sql": KEEP,
        }.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        checked = check_project(Project.at(root))
        assert checked.errors == ()
        self.plan = checked.plans["f"]

    def look(self, pins=None, *read):
        return UpstreamObserver(self.root, {}).look(self.plan, pins or {}, read=lambda _: list(read))

    def differs(self, live):
        return UpstreamObserver(self.root, {}).differs(self.plan, ["orders"], live, {})


def types(look):
    return [event.type.value for event in look.events]


@pytest.mark.parametrize(
    ("options", "news"),
    [
        ({}, ["rename_column", "add_column"]),
        ({"columns": {"id": "bigint", "name": "string"}}, ["rename_column", "unknown_field"]),
    ],
    ids=["all", "declared"],
)
def test_columns_are_news_once(tmp_path, options, news):
    world = World(tmp_path, options)
    first = world.look()
    assert first.events == ()
    assert "f:orders" not in first.unseen
    assert not world.differs(first.live)
    again = world.look(first.live)
    assert again.events == ()
    with world.lake.table(NAME).update_schema() as change:
        from pyiceberg.types import LongType

        change.rename_column("name", "title")
        change.add_column("note", LongType())
    world.lake.publish(NAME)
    assert world.differs(first.live), "before a row is read"
    later = world.look(first.live)
    assert types(later) == news
    assert world.look(later.live).events == ()


def test_the_owner_may_add_rows_without_news(tmp_path):
    world = World(tmp_path, {"mode": "snapshot_diff", "primary_key": ["id"]})
    first = world.look()
    world.lake.append(NAME, rows(2))
    assert not world.differs(first.live)
    assert world.look(first.live, {"snapshot": 1}).events == ()


@pytest.mark.parametrize(
    ("options", "lost"),
    [({}, {"snapshot": ((1, 2),)}), ({"mode": "snapshot_diff", "primary_key": ["id"]}, {})],
    ids=["append", "snapshot_diff"],
)
def test_an_unread_snapshot_that_expired_is_lost(tmp_path, options, lost):
    world = World(tmp_path, options)
    first = world.look({}, {"snapshot": 1})
    assert first.events == ()
    for number in (2, 3):
        world.lake.append(NAME, rows(number))
    world.lake.expire(NAME, [1, 2])
    later = world.look(first.live, {"snapshot": 1})
    assert types(later) == ["positions_lost"]
    assert later.events[0].lost == lost
    assert world.look(first.live, {"snapshot": 3}).events == (), "who has read them misses nothing"


def test_who_has_read_some_of_the_first_rows_cannot_go_on_behind_lost_ones(tmp_path):
    world = World(tmp_path, {})
    world.lake.append(NAME, rows(2))
    first = world.look({}, {"snapshot": 2, "part": 1})
    assert first.events == ()
    for number in (3, 4):
        world.lake.append(NAME, rows(number))
    world.lake.expire(NAME, [1, 2, 3])
    later = world.look(first.live, {"snapshot": 2, "part": 1})
    assert types(later) == ["positions_lost"]
    assert later.events[0].lost == {}


def test_a_table_that_is_gone_is_not_seen(tmp_path):
    world = World(tmp_path, {})
    first = world.look()
    (tmp_path / "lake" / "sales").rename(tmp_path / "lake" / "moved")
    look = world.look(first.live)
    assert "has no table sales.orders" in look.unseen["f:orders"]

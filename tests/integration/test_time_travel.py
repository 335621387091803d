"""Parts of a table and moments of its past, over real stores: the same rows as the model had then."""

import time

import pyarrow as pa
import pytest

from streamhouse.errors import QueryRefusedError, RowsLostError
from streamhouse.jobs.query import catalog_of, epochs_of
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.query.answer import answer
from streamhouse.query.parse import parse_query
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.tiering.move import tier
from tests.gate.levels import deep
from tests.live import Live, opened_project, write_action
from tests.oracle import assert_same_rows

pytestmark = [
    deep(
        "ends of history; a moment, an epoch and a version stay",
        only=(
            "test_the_hot_tier_tells_where_its_log_begins",
            "test_an_epoch_before_a_table_was_built_anew_is_of_the_version_that_served",
        ),
    ),
    pytest.mark.services,
    pytest.mark.spark,
]

COLUMNS = (Column(name="id", type="bigint"), Column(name="name", type="string"))
LOG_COLD = Table(name="dwd.tt_log", columns=COLUMNS, buckets=2, tiers={"hot": "1h", "cold": "forever"})
KEYED_WARM = Table(
    name="dws.tt_keyed", columns=COLUMNS, primary_key=("id",), buckets=2, tiers={"hot": "1h", "warm": "30d"}
)
LAKE = Table(name="dws.tt_lake", columns=COLUMNS, primary_key=("id",), tiers={"warm": "30d", "cold": "forever"})
CATALOG = {table.name: table for table in (LOG_COLD, KEYED_WARM, LAKE)}


class History:
    """Writes to a table and remembers what it held at every moment."""

    def __init__(self, stores, table):
        self.stores, self.table, self.rows, self.epoch = stores, table, [], 0
        self.moments = []  # milliseconds, rows as (id, name)
        stores[table.tiers.target].create(table)

    def write(self, upserts, deletes=()):
        schema = arrow_schema(self.table.columns)
        gone = pa.table({"id": pa.array(deletes, pa.int64())}) if deletes else None
        rows = pa.Table.from_pylist([{"id": i, "name": n} for i, n in upserts], schema=schema)
        self.stores[self.table.tiers.target].write(
            self.table, Changes(rows, gone), WriteContext(writer="test/travel", epoch=self.epoch)
        )
        self.epoch += 1
        touched = {i for i, _ in upserts} | set(deletes)
        kept = [r for r in self.rows if r[0] not in touched] if self.table.primary_key else self.rows
        self.rows = kept + list(upserts)
        time.sleep(0.005)
        self.moments.append((time.time_ns() // 1_000_000, sorted(self.rows)))
        time.sleep(0.005)

    def tier(self):
        tier(self.table, self.stores[self.table.tiers.target], self.stores[self.table.tiers.present[-1]])
        return sorted(self.rows)


@pytest.fixture(scope="module")
def past(fluss, spark, tmp_path_factory):
    """Each table with five moments, tiered after the second and the fourth."""
    stores = open_stores(Project(tmp_path_factory.mktemp("project"), Settings()), spark, fluss)
    found = {"stores": stores}
    for table in CATALOG.values():
        history = History(stores, table)
        history.write([(1, "a"), (2, "b")])
        history.write([(3, "c"), (2, "B")])
        tiered = [history.tier()]
        history.write([(4, "d"), (1, "A")], deletes=[3] if table.primary_key else ())
        history.write([(5, "e")])
        tiered.append(history.tier())
        history.write([(6, "f")], deletes=[2] if table.primary_key else ())
        found[table.name] = (history, tiered)
    yield found
    for store in stores.values():
        store.close()


@pytest.fixture
def ask(past, spark):
    def run(sql, **options):
        return answer(parse_query(sql, CATALOG), past["stores"], spark, **options).to_pylist()

    return run


def read(rows):
    return sorted((row["id"], row["name"]) for row in rows)


@pytest.mark.parametrize("name", list(CATALOG))
def test_every_moment_is_read_as_it_was(ask, past, name):
    history, _ = past[name]
    assert read(ask(f"select * from {name}")) == sorted(history.rows)
    for moment, rows in history.moments:
        second, rest = divmod(moment, 1000)
        text = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(second))}.{rest:03}"
        assert read(ask(f"select * from {name} timestamp as of '{text}'")) == rows
        assert ask(f"select count(*) as n from {name} timestamp as of '{text}'") == [{"n": len(rows)}]


@pytest.mark.parametrize("name", list(CATALOG))
def test_a_version_is_a_snapshot_of_the_lake(ask, past, name):
    _, tiered = past[name]
    found = ask(f"select snapshot, writer, kind from {name}$lake$snapshots where writer like 'tiering/%' order by 1")
    assert len(found) == 2
    for snapshot, rows in zip(found, tiered, strict=True):
        for of in (name, f"{name}$lake"):
            assert read(ask(f"select * from {of} version as of {snapshot['snapshot']}")) == rows
    with pytest.raises(RowsLostError, match=rf"{name.replace('.', '[.]')} cannot be read as of version 99: ") as error:
        ask(f"select * from {name} version as of 99")
    assert "snapshots lists those that exist" in str(error.value)


def test_two_moments_in_one_query(ask, past):
    (first, _), *_ = past["dws.tt_keyed"][0].moments
    then = f"timestamp as of '{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(first // 1000))}.{first % 1000:03}'"
    assert ask(f"""
        select n.id, o.name as was, n.name as `is` from dws.tt_keyed {then} o
        join dws.tt_keyed n using (id) where o.name <> n.name order by n.id
    """) == [{"id": 1, "was": "a", "is": "A"}]


def test_a_moment_before_the_lake_began_is_empty(ask):
    assert ask("select * from dws.tt_keyed timestamp as of '1999-01-01'") == []
    assert ask("select * from dws.tt_lake timestamp as of '1999-01-01'") == []
    assert ask("select * from dwd.tt_log$lake timestamp as of '1999-01-01'") == []


def kinds(rows):
    return [(row["_kind"], row["id"], row["name"]) for row in sorted(rows, key=lambda r: (r["_bucket"], r["_offset"]))]


def test_changes_tell_every_kind(ask):
    assert sorted(kinds(ask("select * from dws.tt_keyed$changes"))) == [
        ("+I", 1, "a"), ("+I", 2, "b"), ("+I", 3, "c"), ("+I", 4, "d"), ("+I", 5, "e"), ("+I", 6, "f"),
        ("+U", 1, "A"), ("+U", 2, "B"),
        ("-D", 2, "B"), ("-D", 3, "c"),
        ("-U", 1, "a"), ("-U", 2, "b"),
    ]  # fmt: skip
    log = ask("select _kind, id from dwd.tt_log$changes")
    assert sorted((row["_kind"], row["id"]) for row in log) == [("+I", i) for i in (1, 1, 2, 2, 3, 4, 5, 6)]
    lake = ask("select _kind, id, name, _offset, _at from dws.tt_lake$changes")
    assert [(r["_kind"], r["id"], r["name"]) for r in sorted(lake, key=lambda r: (r["_offset"], r["id"]))] == [
        ("+U", 1, "a"), ("+U", 2, "b"), ("+U", 2, "B"), ("+U", 3, "c"),
        ("+U", 1, "A"), ("-D", 3, None), ("+U", 4, "d"), ("+U", 5, "e"), ("-D", 2, None), ("+U", 6, "f"),
    ]  # fmt: skip
    assert all(row["_at"] is not None for row in lake)


@pytest.mark.parametrize("name", list(CATALOG))
def test_changes_between_two_moments(ask, past, name):
    history, _ = past[name]

    def text(moment):
        return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(moment // 1000))}.{moment % 1000:03}"

    for (first, old), (last, new) in zip(history.moments, history.moments[1:], strict=False):
        found = ask(f"select * from {name}$changes timestamp as of '{text(last)}' since timestamp '{text(first)}'")
        added = [(r["id"], r["name"]) for r in found if r["_kind"] in ("+I", "+U")]
        gone = {r["id"] for r in found if r["_kind"] == "-D"}
        touched = {i for i, _ in added} | gone if history.table.primary_key else set()
        assert sorted([r for r in old if r[0] not in touched] + added) == new


def test_files_of_every_lake(ask):
    found = ask("select tier, kind, rows, bytes, path from dwd.tt_log$files order by rows")
    assert {row["tier"] for row in found} == {"cold"}
    assert sum(row["rows"] for row in found) == 7
    assert all(row["bytes"] > 0 and row["path"].endswith(".parquet") for row in found)
    assert {row["tier"] for row in ask("select * from dws.tt_lake$files")} == {"warm", "cold"}
    assert ask("select count(*) as n from dws.tt_lake$warm$files")[0]["n"] > 0


# --- epochs, of a flow that runs ---------------------------------------------------------------------

SAME = """
    select (select sum(cents) from ods.lv_orders) as came, (select sum(cents) from dws.lv_spent) as spent
    as of epoch {epoch}
"""


@pytest.fixture(scope="module")
def live(fluss, spark, tmp_path_factory):
    with opened_project(tmp_path_factory.mktemp("live"), fluss, spark) as open_:
        yield open_


def test_tables_as_of_the_same_epoch(live, spark):
    def run(sql):
        return answer(
            parse_query(sql, catalog_of(live.project)), live.stores, spark, epochs=epochs_of(live.project)
        ).to_pylist()

    with Live(live) as flow:
        wanted = {}
        for _ in range(3):
            flow.add()
            flow.drained()
            came = sum(row["cents"] for row in flow.rows("ods.lv_orders").to_pylist())
            wanted[flow.epoch()] = {"came": came, "spent": came}
            # While the flow goes on, tables as of one epoch agree.
            for epoch, sums in wanted.items():
                assert run(SAME.format(epoch=epoch)) == [sums]
    assert len({sums["came"] for sums in wanted.values()}) == 3
    last = max(wanted)
    history = run("select epoch, flow, segment, rows from dws.lv_spent$history order by epoch desc")
    assert history[0] == {"epoch": last, "flow": "live", "segment": "main", "rows": history[0]["rows"]}
    assert {row["epoch"] for row in history} >= wanted.keys()
    first = min(wanted)
    found = run(f"select _kind, customer, cents from dws.lv_spent$changes as of epoch {last} since epoch {first}")
    before = {r["customer"]: r["cents"] for r in run(f"select * from dws.lv_spent as of epoch {first}")}
    for row in found:
        if row["_kind"] in ("+I", "+U"):
            before[row["customer"]] = row["cents"]
    assert before == {r["customer"]: r["cents"] for r in flow.rows("dws.lv_spent").to_pylist()}
    with pytest.raises(QueryRefusedError, match=f"live/main has not come to epoch {last + 5} yet; its last one is"):
        run(SAME.format(epoch=last + 5))


def test_an_epoch_before_a_table_was_built_anew_is_of_the_version_that_served(live, spark):
    with Live(live) as flow:
        flow.add()
        flow.drained()
        before, rows = flow.epoch(), flow.rows("dws.lv_average")
        sql = "SELECT customer, AVG(cents + 1) AS cents FROM orders GROUP BY customer"
        write_action(live.project.root, "average", sql)
        flow.apply()
    catalog = catalog_of(live.project)
    assert "dws.lv_average" in catalog
    assert not any("__v" in name for name in catalog)
    assert catalog["dws.lv_average"].name == "dws.lv_average__v2"

    def run(sql):
        query = parse_query(sql, catalog_of(live.project))
        return answer(query, live.stores, spark, epochs=epochs_of(live.project))

    asked = f"select * from dws.lv_average as of epoch {before}"
    assert_same_rows(run(asked), rows, key=("customer",), name="as of the epoch")
    assert run(f"select * from dws.lv_spent as of epoch {before}").num_rows == 7
    for held in catalog["dws.lv_average"].tiers.present:
        live.stores[held].drop("dws.lv_average")
    live.state.tables.dropped("dws.lv_average", 1)
    with pytest.raises(RowsLostError, match=r"is not stored any more; version 2 serves since"):
        run(asked)
    assert run(f"select * from dws.lv_spent as of epoch {before}").num_rows == 7


def test_the_hot_tier_tells_where_its_log_begins(past):
    stores = past["stores"]
    assert stores[Tier.HOT].position_at(LOG_COLD, 0) == {"0": 0, "1": 0}

"""Old days are dropped from tiers while a flow, tiering and queries go on: nobody misses a row, or has one twice."""

from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta

import pytest

from streamhouse.engine import stream
from streamhouse.errors import RowsLostError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs import tier as tier_module
from streamhouse.jobs import upkeep as module
from streamhouse.jobs.run import Meter, carry
from streamhouse.jobs.tier import tier_flows
from streamhouse.jobs.upkeep import keep_up
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.query.answer import answer
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.explain import reads_of
from streamhouse.query.parse import parse_query
from streamhouse.query.reading import readable
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.tiering.union import union_count, union_frame, union_read
from tests.gate.levels import deep, soak
from tests.live import drop_tables
from tests.oracle import assert_same_rows, batch
from tests.patience import SOAKING

pytestmark = [
    pytest.mark.spark,
    deep("days of three tiers that go while epochs die; test_hot_partitions.py has days that go"),
]

FLOW = "retention"
ORDERS = "{order_id: int, sold_on: date, customer: string, cents: bigint}"
ACTIONS = {
    "keep": ("ingest", f"{{rows: {ORDERS}}}", "", "SELECT order_id, sold_on, customer, cents FROM rows"),
    "last": (
        "clean",
        f"{{rows: {ORDERS}}}",
        "output: {primary_key: [order_id, sold_on]}\n",
        "SELECT order_id, sold_on, customer, cents FROM rows",
    ),
    "spent": (
        "aggregate",
        f"{{rows: {ORDERS}}}",
        "",
        "SELECT customer, SUM(cents) AS cents FROM rows GROUP BY customer",
    ),
    "days": (
        "aggregate",
        f"{{rows: {ORDERS}}}",
        "",
        "SELECT customer, sold_on, SUM(cents) AS cents, AVG(cents) AS average FROM rows GROUP BY customer, sold_on",
    ),
}
YAML = """\
flow: FLOW
freshness: 100ms
sources: {orders: {files: {path: data/*.csv, columns: ORDERS}}}
steps:
  - {use: keep, reads: {rows: orders}, writes: ods.rt_orders}
  - {use: last, reads: {rows: ods.rt_orders}, writes: dwd.rt_orders}
  - {use: spent, reads: {rows: ods.rt_orders}, writes: dws.rt_spent}
  - {use: days, reads: {rows: dwd.rt_orders}, writes: dws.rt_days}
tables:
  ods.rt_orders: {partition_by: [sold_on], tiers: TIERS}
  dwd.rt_orders: {partition_by: [sold_on], tiers: TIERS}
  dws.rt_spent: {tiers: {warm: forever}}
  dws.rt_days: {tiers: {warm: forever}}
"""
OLD = [date(2024, 1, day) for day in (1, 2, 3)]
PARTED = ("ods.rt_orders", "dwd.rt_orders")
ROUTES = [pytest.param("{hot: 7d, warm: 30d, cold: forever}", id="hot-warm-cold", marks=pytest.mark.services)]
if SOAKING:
    ROUTES += [
        pytest.param("{warm: 7d, cold: forever}", id="warm-cold"),
        pytest.param("{hot: 7d, cold: forever}", id="hot-cold", marks=pytest.mark.services),
    ]


@pytest.fixture(params=ROUTES)
def open_(tmp_path, spark, monkeypatch, request):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, (step, inputs, output, query) in ACTIONS.items():
        text = f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n{query}\n"
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(
        YAML.replace("FLOW", FLOW).replace("ORDERS", ORDERS).replace("TIERS", request.param)
    )
    project = Project(tmp_path, Settings(keep_snapshots=timedelta(0)))
    fluss = request.getfixturevalue("fluss") if "hot" in request.param else None
    tiers = [Tier.HOT, Tier.WARM, Tier.COLD][0 if fluss else 1 :]
    stores = open_stores(project, spark, fluss, tiers)
    with project.state() as state:
        found = Open(project, spark, fluss, stores, state)

        @contextmanager
        def as_it_is(*_, **__):
            yield found

        for opener in (module, tier_module):
            monkeypatch.setattr(opener, "opened", as_it_is)  # else it would stop the session that all tests share
        yield found
        drop_tables(found)


def drain(open_):
    plan = plan_of(open_.project, FLOW)
    carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def add(open_, number, *, days):
    """One more file; half of its orders come again from the file before, with other cents."""
    rows = [(number * 10 + n, day, (number * 10 + n) % 4, number * 100 + n) for n in range(-10, 10) for day in days]
    lines = [f"{order},{day},c{customer},{cents}" for order, day, customer, cents in rows if order >= 0]
    new = open_.project.root / "data" / ".new"
    new.write_text("\n".join(["order_id,sold_on,customer,cents", *lines]) + "\n")
    new.replace(open_.project.root / "data" / f"{number:04}.csv")


def days_in(open_, name, tier):
    """Up to today; upkeep makes tomorrow."""
    table = plan_of(open_.project, FLOW).tables[name]
    stored = table if tier is table.tiers.target else table.replica
    return [day for (day,) in open_.stores[tier].partitions(stored) if day <= datetime.now(UTC).date()]


def assert_complete(open_):
    """What each name reads equals one run of the SQL over all rows."""
    plan = plan_of(open_.project, FLOW)
    (source,) = plan.sources
    opened = open_source(source, open_.project.root)
    wanted = batch(open_.spark, plan, {source.name: opened.read({}, opened.available())})
    for name, table in plan.tables.items():
        found = union_read(table, open_.stores)
        assert_same_rows(found, wanted[name], key=table.primary_key, name=name)
        assert union_count(table, open_.stores, table.column_names[0]) == found.num_rows
        if name in PARTED:
            assert union_frame(open_.spark, table, open_.stores, ("cents",)).count() == found.num_rows


def by_table(done):
    return {(one.table, one.tier): one for one in done.tables if one.table in PARTED}


def asked(open_, text):
    tables = plan_of(open_.project, FLOW).tables
    return answer(parse_query(text, tables), open_.stores, open_.spark).to_pylist()


def test_old_days_go_once_colder_tiers_have_them_and_nobody_misses_a_row(open_):
    today = datetime.now(UTC).date()
    recent = [today - timedelta(days=1), today]
    tiers = plan_of(open_.project, FLOW).tables[PARTED[0]].tiers.present
    dropping = [tier for tier in tiers if tier is not Tier.COLD]
    first = dropping[0]
    add(open_, 0, days=OLD + recent)
    drain(open_)
    done = by_table(keep_up(open_.project, [FLOW]))
    for name in PARTED:
        kept = done[name, first]
        assert (kept.dropped, kept.waiting) == ((), tuple((day,) for day in OLD)), "cold has nothing yet"
        tomorrow = today + timedelta(days=1)
        table = plan_of(open_.project, FLOW).tables[name]
        assert kept.made == (((tomorrow,),) if first is Tier.HOT else ())
        assert ((tomorrow,) in open_.stores[first].partitions(table)) == (first is Tier.HOT)
    tier_flows(open_.project)
    add(open_, 1, days=[OLD[0], today])
    drain(open_)  # the first day changed, and cold does not have that yet
    for times in range(2):
        done = by_table(keep_up(open_.project, [FLOW]))
        for name in PARTED:
            kept = done[name, first]
            assert not kept.made, "it is there"
            assert kept.dropped == (() if times else ((OLD[1],), (OLD[2],)))
            assert kept.waiting == ((OLD[0],),)
            assert done[name, Tier.COLD].dropped == ()
            assert days_in(open_, name, first) == [OLD[0], *recent]
        assert_complete(open_)
    tier_flows(open_.project)
    done = by_table(keep_up(open_.project, [FLOW], full=True))
    assert_complete(open_)
    for name in PARTED:
        assert done[name, first].dropped == ((OLD[0],),)
        assert all(days_in(open_, name, tier) == recent for tier in dropping)
        assert days_in(open_, name, Tier.COLD) == [*OLD, *recent]
    add(open_, 2, days=[OLD[1], *recent])  # late rows of a day that was dropped
    drain(open_)
    assert_complete(open_)
    assert all(days_in(open_, name, first) == [OLD[1], *recent] for name in PARTED)
    tier_flows(open_.project)
    assert_complete(open_)
    done = by_table(keep_up(open_.project))
    assert [done[name, tier].dropped for name in PARTED for tier in dropping] == [((OLD[1],),)] * 2 * len(dropping)
    add(open_, 3, days=[OLD[1], *recent])  # other values for rows that were dropped
    drain(open_)
    assert_complete(open_)
    assert_told(open_)


def assert_told(open_):
    """What a table tells of itself, once days were dropped from it."""
    tables = plan_of(open_.project, FLOW).tables
    for name in PARTED:
        kinds = {row["_kind"] for row in asked(open_, f"select _kind from {name}$changes")}
        assert "-D" not in kinds
        if Tier.WARM in tables[name].tiers.present:
            snapshots = asked(open_, f"select distinct kind from {name}$warm$snapshots")
            assert {"kind": "drop"} in snapshots
        files = asked(open_, f"select distinct partition from {name}$files where tier = 'cold'")
        assert {"partition": f"sold_on={OLD[2]}"} in files
        query = parse_query(f"select cents from {name} where sold_on = DATE'{OLD[2]}'", tables)
        lake = next(read for read in reads_of(query, readable(query, open_.stores, Epochs())) if read.tier is Tier.COLD)
        assert 0 < lake.files < lake.of_files
        assert lake.bytes < lake.of_bytes
        assert len(lake.where) == 1
        if tables[name].tiers.target is Tier.WARM:
            with pytest.raises(RowsLostError, match="as of that moment"):
                union_read(tables[name], open_.stores, at={"snapshot": 1})


@pytest.mark.parametrize("epochs", [pytest.param(0, marks=soak), 1], ids=["the first one", "a later one"])
def test_days_stay_that_an_epoch_made_before_it_died(open_, monkeypatch, epochs):
    if epochs:
        add(open_, 0, days=[datetime.now(UTC).date()])
        drain(open_)
    add(open_, 1, days=OLD)

    def die(point, *_):
        if point == "after_last_write":
            raise RuntimeError("died")

    with monkeypatch.context() as dying:
        dying.setattr(stream, "reach", die)
        with pytest.raises(Exception, match="died"):
            drain(open_)
    first = plan_of(open_.project, FLOW).tables[PARTED[0]].tiers.target
    assert days_in(open_, PARTED[0], first)[: len(OLD)] == OLD
    for _ in range(2):
        tier_flows(open_.project)
        done = by_table(keep_up(open_.project, [FLOW]))
        for name in PARTED:
            assert done[name, first].dropped == (), "who replays the epoch looks for what it wrote"
            assert done[name, first].waiting == tuple((day,) for day in OLD)
    drain(open_)
    assert_complete(open_)
    tier_flows(open_.project)
    done = by_table(keep_up(open_.project, [FLOW]))
    for name in PARTED:
        assert done[name, first].dropped == tuple((day,) for day in OLD)
    assert_complete(open_)

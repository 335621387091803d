"""A column that appears upstream while a flow runs under load reaches every open layer, in every tier (design D8)."""

import threading
import time
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.change import follow
from streamhouse.errors import BlockedError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Phase
from streamhouse.state.upstream import EventStatus
from streamhouse.tiering.move import tier_all
from tests import patience
from tests.gate.levels import deep
from tests.patience import PATIENCE_S

pytestmark = [
    deep(
        "further changes upstream, and answers, which test_change_gate.py has; an added column under load stays",
        only=(
            "test_an_answer_reaches_the_flow_that_runs",
            "test_an_edit_is_followed_while_the_flow_runs",
            "test_a_frozen_flow_waits_for_a_person_and_goes_on_from_where_it_stood",
        ),
    ),
    pytest.mark.services,
    pytest.mark.spark,
]

FLOW = "grow"
ACTIONS = {
    "keep": ("ingest", "{rows: {}}", "{}", "SELECT * FROM rows"),
    "shops": ("ingest", "{rows: {}}", "{primary_key: [shop]}", "SELECT * FROM rows"),
    "valid": (
        "clean",
        "{orders: {order_id: bigint, shop: bigint, cents: bigint}}",
        "{extra_columns: pass}",
        "SELECT order_id, shop, cents FROM orders WHERE cents >= 0",
    ),
    "placed": (
        "clean",
        "{orders: {order_id: bigint, shop: bigint, cents: bigint}, shops: {shop: bigint, city: string}}",
        "{extra_columns: pass}",
        "SELECT o.order_id, o.shop, o.cents, s.city FROM orders AS o LEFT JOIN shops AS s ON s.shop = o.shop",
    ),
    "by_city": (
        "aggregate",
        "{orders: {city: string, cents: bigint}}",
        "{}",
        "SELECT city, SUM(cents) AS cents, COUNT(*) AS orders FROM orders GROUP BY city",
    ),
    "large": (
        "customize",
        "{orders: {order_id: bigint, city: string, cents: bigint}}",
        "{primary_key: [order_id], extra_columns: pass}",
        "SELECT order_id, city, cents FROM orders WHERE cents > 100",
    ),
    "cities": (
        "customize",
        "{cities: {city: string, cents: bigint}}",
        "{primary_key: [city]}",
        "SELECT city, cents FROM cities WHERE cents > 0",
    ),
}
YAML = f"""\
flow: {FLOW}
freshness: 2s
schema_change: evolve
sources:
  orders: {{files: {{path: orders/*.parquet}}}}
  shops: {{files: {{path: shops/*.parquet}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.gr_orders}}
  - {{use: shops, reads: {{rows: shops}}, writes: ods.gr_shops}}
  - {{use: valid, reads: {{orders: ods.gr_orders}}, writes: dwd.gr_orders}}
  - {{use: placed, reads: {{orders: dwd.gr_orders, shops: {{table: ods.gr_shops, as: lookup}}}}, writes: dwd.gr_placed}}
  - {{use: by_city, reads: {{orders: dwd.gr_placed}}, writes: dws.gr_cities}}
  - {{use: large, reads: {{orders: dwd.gr_placed}}, writes: ads.gr_large}}
  - {{use: cities, reads: {{cities: dws.gr_cities}}, writes: ads.gr_cities}}
tables:
  ods.gr_orders: {{tiers: {{hot: 1d, warm: 30d, cold: forever}}}}
  dwd.gr_orders: {{tiers: {{hot: 1d, warm: 30d, cold: forever}}}}
  dwd.gr_placed: {{tiers: {{hot: 1d, warm: 30d, cold: forever}}}}
  ads.gr_large: {{tiers: {{hot: 1d, warm: 30d, cold: forever}}}}
"""
OPEN = ("ods.gr_orders", "dwd.gr_orders", "dwd.gr_placed", "ads.gr_large")
CLOSED = ("dws.gr_cities", "ads.gr_cities")
ROWS = 500


class Upstream:
    """Writes a file of orders every so often; from some file on they have a column more."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.grown_at = None  # the first file with the column
        self.grown_ms = None  # when it was written
        self.files = 0
        self._grow = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def grow(self):
        self._grow.set()

    def _run(self):
        while not self._over.wait(0.2):
            self.write()

    def write(self):
        ids = range(self.files * ROWS, (self.files + 1) * ROWS)
        columns = {
            "order_id": pa.array(ids, pa.int64()),
            "shop": pa.array([i % 10 for i in ids], pa.int64()),
            "cents": pa.array([i % 203 - 1 for i in ids], pa.int64()),
        }
        if self._grow.is_set():
            if self.grown_at is None:
                self.grown_at, self.grown_ms = self.files, time.time() * 1000
            columns["note"] = pa.array([f"n{i}" for i in ids])
        pq.write_table(pa.table(columns), self.folder / ".new")
        (self.folder / ".new").replace(self.folder / f"{self.files:05}.parquet")
        self.files += 1


@pytest.fixture
def open_(tmp_path, fluss, spark):
    for folder in ("actions", "flows", "orders", "shops"):
        (tmp_path / folder).mkdir()
    for name, (step, inputs, output, sql) in ACTIONS.items():
        header = f"action: {name}\nstep: {step}\ninputs: {inputs}\noutput: {output}\n"
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}--- */\n{sql}\n")
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(YAML)
    shops = {"shop": pa.array(range(10), pa.int64()), "city": pa.array([f"c{i % 3}" for i in range(10)])}
    pq.write_table(pa.table(shops), tmp_path / "shops" / "0.parquet")
    project = Project(tmp_path, Settings(fluss=fluss, auto_apply="all"))
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        yield Open(project, spark, fluss, stores, state)
        for _, plan in state.plans().values():
            for name, table in plan.tables.items():
                for tier in table.tiers.present:
                    stores[tier].drop(name)
    for store in stores.values():
        store.close()


def columns(open_, table, tier=Tier.HOT):
    return {column.name for column in open_.stores[tier].columns(table) or ()}


def until(condition, failed):
    def look():
        found = condition()
        assert found or not failed, failed
        return found

    patience.until(look)


@contextmanager
def carried(open_, plan):
    """The flow runs in a thread and follows what changes; gives its runners, and what it failed with."""
    runners, failed = [], []

    def run():
        try:
            meter = Meter(plan, lambda _: None, once=False)
            carry(open_, plan, meter, once=False, follow=True, on_execution=runners.append)
        except Exception as error:  # noqa: BLE001  told to the test
            failed.append(error)

    running = threading.Thread(target=run)
    running.start()
    try:
        yield runners, failed
    finally:
        for runner in runners:
            runner.stop()
        running.join(PATIENCE_S)
    assert not failed, failed


def test_a_column_added_upstream_reaches_every_open_layer_and_tier_under_load(open_):
    state = open_.state
    upstream = Upstream(open_.project.root / "orders")
    upstream.write()
    plan = plan_of(open_.project, FLOW)
    with carried(open_, plan) as (_, failed):
        with upstream:
            until(lambda: (last := state.last_epoch(FLOW, "main")) is not None and last.epoch >= 2, failed)
            tier_all(plan, open_.stores)  # so that each lake has a copy, without the column
            queries = [query.runId for query in open_.spark.streams.active]
            upstream.grow()
            until(lambda: all("note" in columns(open_, table) for table in OPEN), failed)
            until(lambda: state.recent_changes(FLOW), failed)
            until(lambda: not state.recent_changes(FLOW)[0].is_open, failed)
            applied = state.last_epoch(FLOW, "main").epoch
            until(lambda: state.last_epoch(FLOW, "main").epoch >= applied + 2, failed)
        assert [query.runId for query in open_.spark.streams.active] == queries  # no restart
        changed_ms = state.recent_changes(FLOW)[0].updated_at.timestamp() * 1000
        between = [e.epoch for e in state.recent_epochs(FLOW) if upstream.grown_ms <= e.started_ms < changed_ms]
        assert len(between) <= 2, between  # its end was decided before the column came; the next has it
        until(lambda: sum(state.last_epoch(FLOW, "main").end["orders"].values()) > 0, failed)
        last = upstream.files * ROWS
        rows = lambda table: open_.stores[Tier.HOT].read_state(open_.state.plan(FLOW)[1].tables[table])  # noqa: E731
        until(lambda: rows("ods.gr_orders").num_rows >= last, failed)
    now = state.plan(FLOW)[1]
    tier_all(now, open_.stores)
    total = upstream.files * ROWS
    for name in OPEN:
        for tier in now.tables[name].tiers.present:
            assert "note" in columns(open_, name, tier), (name, tier)
    for name in CLOSED:
        assert "note" not in columns(open_, name)
    orders = rows("ods.gr_orders").to_pylist()
    assert sorted(row["order_id"] for row in orders) == list(range(total))  # none lost, none doubled
    placed = rows("dwd.gr_placed").to_pylist()
    valid = [i for i in range(total) if i % 203 - 1 >= 0]
    assert sorted(row["order_id"] for row in placed) == valid
    large = {row["order_id"]: row for row in rows("ads.gr_large").to_pylist()}
    assert set(large) == {i for i in valid if i % 203 - 1 > 100}
    grown = upstream.grown_at * ROWS
    # No row that has the column was read without it.
    assert {i: row["note"] for i, row in large.items()} == {i: f"n{i}" if i >= grown else None for i in large}
    assert max(large) > grown
    sums = {row["city"]: (row["cents"], row["orders"]) for row in rows("dws.gr_cities").to_pylist()}
    wanted = {}
    for i in valid:
        cents, count = wanted.get(f"c{i % 10 % 3}", (0, 0))
        wanted[f"c{i % 10 % 3}"] = (cents + i % 203 - 1, count + 1)
    assert sums == wanted
    for name in OPEN:
        table = now.tables[name]
        hot = {tuple(row.values()) for row in open_.stores[Tier.HOT].read_state(table).to_pylist()}
        for tier in (Tier.WARM, Tier.COLD):
            copy = open_.stores[tier].read_state(table.replica).select(table.column_names)
            assert {tuple(row.values()) for row in copy.to_pylist()} == hot, (name, tier)
    [event] = [r for r in state.upstream.events(FLOW) if r.event.column == "note"]
    assert event.status is EventStatus.APPLIED


def test_a_frozen_flow_waits_for_a_person_and_goes_on_from_where_it_stood(open_):
    file = open_.project.root / "flows" / f"{FLOW}.yaml"
    file.write_text(YAML.replace("schema_change: evolve", "schema_change: {on: {add_column: freeze}}"))
    upstream, state = Upstream(open_.project.root / "orders"), open_.state

    def drain():
        plan = plan_of(open_.project, FLOW)
        return carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    def rows():
        return open_.stores[Tier.HOT].read_state(state.plan(FLOW)[1].tables["ods.gr_orders"])

    upstream.write()
    drain()
    upstream.grow()
    upstream.write()
    with pytest.raises(BlockedError, match=r"main-aside\.ods\.gr_orders waits for a person's word"):
        drain()
    assert rows().num_rows == ROWS  # the file with the new column was not read
    assert "note" not in columns(open_, "ods.gr_orders")
    [question] = state.approvals.list()
    state.approvals.decide(question.id, grant=True, by="ann", reason="wanted")
    drain()
    found = {row["order_id"]: row["note"] for row in rows().to_pylist()}
    assert found == {i: None if i < ROWS else f"n{i}" for i in range(2 * ROWS)}


def test_an_answer_reaches_the_flow_that_runs(open_, monkeypatch):
    """Nobody restarts anything: what is asked about stands alone, and goes on with the answer."""
    looks, look = [], follow.Follower.look
    monkeypatch.setattr(
        follow.Follower, "look", lambda self, *given, **more: (look(self, *given, **more), looks.append(1))[0]
    )
    monkeypatch.setattr(follow, "_IDLE_S", 0.2)
    file = open_.project.root / "flows" / f"{FLOW}.yaml"
    file.write_text(YAML.replace("schema_change: evolve", "schema_change: {on: {add_column: freeze}}"))
    upstream, state = Upstream(open_.project.root / "orders"), open_.state
    upstream.write()
    plan = plan_of(open_.project, FLOW)

    def rows():
        return open_.stores[Tier.HOT].read_state(state.plan(FLOW)[1].tables["ods.gr_orders"])

    with carried(open_, plan) as (runners, failed):
        until(lambda: (last := state.last_epoch(FLOW, "main")) is not None and sum(last.end["orders"].values()), failed)
        upstream.grow()
        upstream.write()
        until(lambda: state.approvals.list(FLOW), failed)
        until(lambda: runners[0].paused == {"main-aside.ods.gr_orders"}, failed)
        seen = len(looks)
        until(lambda: len(looks) >= seen + 2, failed)
        assert rows().num_rows == ROWS, "read without a word"
        monkeypatch.setattr(follow, "_IDLE_S", 3600.0)  # a look in its turn would come too late
        state.approvals.decide(state.approvals.list(FLOW)[0].id, grant=True, by="ann", reason="wanted")
        until(lambda: rows().num_rows == 2 * ROWS, failed)
        found = {row["order_id"]: row["note"] for row in rows().to_pylist()}
        assert found == {i: None if i < ROWS else f"n{i}" for i in range(2 * ROWS)}
        until(lambda: [segment.name for segment in state.plan(FLOW)[1].segments] == ["main"], failed)


def test_an_edit_is_followed_while_the_flow_runs(open_):
    state = open_.state
    upstream = Upstream(open_.project.root / "orders")
    upstream.write()
    plan = plan_of(open_.project, FLOW)
    with carried(open_, plan) as (_, failed):
        until(lambda: state.last_epoch(FLOW, "main") is not None, failed)
        action = open_.project.root / "actions" / "large.sql"
        action.write_text(action.read_text().replace("city, cents FROM", "city, cents, cents * 2 AS twice FROM"))
        until(lambda: "twice" in columns(open_, "ads.gr_large"), failed)
        until(lambda: state.recent_changes(FLOW) and not state.recent_changes(FLOW)[0].is_open, failed)
        [change] = state.recent_changes(FLOW)
        assert change.phase is Phase.APPLIED, change.error
        upstream.write()
        wanted = {i for i in range(2 * ROWS) if i % 203 - 1 > 100}

        def large():
            return {r["order_id"]: r["twice"] for r in open_.stores[Tier.HOT].read_state(table).to_pylist()}

        table = state.plan(FLOW)[1].tables["ads.gr_large"]
        until(lambda: set(large()) == wanted, failed)
        assert all(large()[i] == 2 * (i % 203 - 1) for i in wanted if i >= ROWS)

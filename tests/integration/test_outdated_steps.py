"""A table that follows from all rows of its inputs is right after an edit or a rebuild, without a new row."""

import json
import threading

import pytest

from streamhouse.change.apply import apply
from streamhouse.change.building import Building
from streamhouse.engine.outdated_steps import definitions
from streamhouse.errors import LeaseHeldError, StreamhouseError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Strategy, Tier
from streamhouse.model.version import table_at
from streamhouse.project.compare import compare_project
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open
from streamhouse.runtime.owner import is_alive
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Phase, RunnerState
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = [
    deep(
        "edits while a flow runs; one of a flow at rest stays",
        only=(
            "test_a_rebuilt_input_shows_without_a_new_row_while_the_flow_runs",
            "test_a_runner_does_not_take_a_flow_from_an_apply_of_its_own_process",
        ),
    ),
    pytest.mark.spark,
]

FLOW = "outdated"
ACTIONS = {
    "take": "SELECT id, shop, price FROM rows",
    "clean": "SELECT id, shop, price FROM rows WHERE price > 0",
    "sums": "SELECT shop, sum(price) AS price FROM rows GROUP BY shop",
    "best": "SELECT shop, price FROM rows ORDER BY price DESC, shop LIMIT 2",
    "total": "SELECT 'all' AS what, sum(price) AS price, count(*) AS shops FROM rows",
}
TYPES = {
    "take": "{id: bigint, shop: string, price: bigint}",
    "clean": "{id: bigint, shop: string, price: bigint}",
    "sums": "{id: bigint, shop: string, price: bigint}",
    "best": "{shop: string, price: bigint}",
    "total": "{shop: string, price: bigint}",
}
KEYS = {"take": "[]", "clean": "[id]", "sums": "[shop]", "best": "[shop]", "total": "[what]"}
STEPS = {"take": "ingest", "clean": "clean", "sums": "aggregate", "best": "customize", "total": "customize"}
TABLES = {
    "take": "ods.od_rows",
    "clean": "dwd.od_rows",
    "sums": "dws.od_sums",
    "best": "ads.od_best",
    "total": "ads.od_total",
}
READS = {"take": "rows", "clean": "ods.od_rows", "sums": "dwd.od_rows", "best": "dws.od_sums", "total": "dws.od_sums"}
ROWS = [("a", 5), ("a", 7), ("b", 20), ("c", 1), ("d", 3), ("d", -4)]


def flow_text(*, rewrite=""):
    steps = "".join(
        f"  - {{use: {name}, reads: {{rows: {READS[name]}}}, writes: {TABLES[name]}}}\n" for name in ACTIONS
    )
    extra = {rewrite: "history: rewrite, "}
    tables = "".join(f"  {table}: {{{extra.get(table, '')}tiers: {{warm: forever}}}}\n" for table in TABLES.values())
    return (
        f"flow: {FLOW}\nfreshness: 200ms\ncommit_interval: 200ms\n"
        f"sources: {{rows: {{files: {{path: data/*.json}}}}}}\nsteps:\n{steps}tables:\n{tables}"
    )


class Shop:
    def __init__(self, open_):
        self.open, self.root, self.error = open_, open_.project.root, None
        self._executions, self._thread = [], None
        for name, sql in ACTIONS.items():
            self.write(name, sql)
        (self.root / "flows" / f"{FLOW}.yaml").write_text(flow_text())
        lines = [json.dumps({"id": n, "shop": shop, "price": price}) for n, (shop, price) in enumerate(ROWS)]
        (self.root / "data" / "1.json").write_text("\n".join(lines) + "\n")

    def write(self, name, sql):
        key = "" if KEYS[name] == "[]" else f"output: {{primary_key: {KEYS[name]}}}\n"
        head = f"/* ---\naction: {name}\nstep: {STEPS[name]}\ninputs: {{rows: {TYPES[name]}}}\n{key}--- */\n"
        (self.root / "actions" / f"{name}.sql").write_text(head + sql + "\n")

    def carry(self, *, once=False):
        wanted = to_run(self.open.project, FLOW)
        meter = Meter(wanted.plan, lambda _: None, once=once)
        carry(
            self.open, wanted.plan, meter, once=once, follow=True, wanted=wanted, on_execution=self._executions.append
        )

    def _run(self):
        try:
            self.carry()
        except StreamhouseError as error:
            self.error = error

    def __enter__(self):
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        # An apply before that carries the change out itself, and the runner would find its flow held.
        self.until(lambda: self.open.state.progress(FLOW, alive=is_alive).state is RunnerState.RUNNING)
        return self

    def __exit__(self, *_):
        self._executions[-1].stop()
        self._thread.join(PATIENCE_S)

    def apply(self):
        [compared] = compare_project(self.open.project, FLOW)
        return apply(self.open.project, compared, "ada")

    def rows(self, name):
        state = self.open.state
        table = state.plan(FLOW)[1].tables[TABLES[name]]
        table = table_at(table, state.versions())
        return sorted(tuple(row.values()) for row in self.open.stores[table.tiers.target].read_state(table).to_pylist())

    def epochs(self):
        return [(one.segment, one.epoch) for one in self.open.state.recent_epochs(FLOW, None, 100)]

    def until(self, condition):
        def look():
            found = condition()
            if self.error and not found:
                raise self.error
            return found

        until(look)


@pytest.fixture
def shop(tmp_path, spark):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    project = Project(tmp_path, Settings())
    stores = open_stores(project, spark, None, [Tier.WARM])
    with project.state() as state:
        yield Shop(Open(project, spark, None, stores, state))
    for store in stores.values():
        store.close()


def test_an_edit_of_what_sees_all_rows_shows_without_a_new_row(shop):
    shop.carry(once=True)
    assert shop.rows("best") == [("a", 12), ("b", 20)]
    assert shop.rows("total") == [("all", 36, 4)]
    strategies = {s.writes.name: s.strategy for s in shop.open.state.plan(FLOW)[1].steps}
    assert {strategies[TABLES["best"]], strategies[TABLES["total"]]} <= {Strategy.DELTA, Strategy.FULL}
    shop.write("best", ACTIONS["best"].replace("LIMIT 2", "LIMIT 3"))
    shop.write("total", ACTIONS["total"].replace("sum(price)", "max(price)"))
    shop.apply()
    shop.carry(once=True)
    assert shop.rows("best") == [("a", 12), ("b", 20), ("d", 3)]
    assert shop.rows("total") == [("all", 20, 4)]
    before = shop.epochs()
    shop.carry(once=True)
    assert shop.epochs() == before, "a second run finds every table up to date"


def test_a_rebuilt_input_shows_without_a_new_row_while_the_flow_runs(shop):
    shop.carry(once=True)
    with shop:
        shop.write("clean", ACTIONS["clean"].replace("price > 0", "price > 4"))
        (shop.root / "flows" / f"{FLOW}.yaml").write_text(flow_text(rewrite=TABLES["clean"]))
        shop.apply()
        shop.until(lambda: shop.rows("best") == [("a", 12), ("b", 20)] and shop.rows("total") == [("all", 32, 2)])
        shop.write("best", ACTIONS["best"].replace("LIMIT 2", "LIMIT 1"))
        shop.apply()
        shop.until(lambda: shop.rows("best") == [("b", 20)])
    before = shop.epochs()
    shop.carry(once=True)
    assert shop.epochs() == before


def test_a_runner_does_not_take_a_flow_from_an_apply_of_its_own_process(shop, monkeypatch):
    shop.carry(once=True)
    shop.write("clean", ACTIONS["clean"].replace("price > 0", "price > 4"))
    (shop.root / "flows" / f"{FLOW}.yaml").write_text(flow_text(rewrite=TABLES["clean"]))
    catch_up, refused = Building.catch_up, []

    def catch_up_amid_a_start(building):
        if not refused:
            refused.append(building.change.candidate)
            with pytest.raises(LeaseHeldError, match=f"flow '{FLOW}' is run by process"):
                shop.carry(once=True)
        return catch_up(building)

    monkeypatch.setattr(Building, "catch_up", catch_up_amid_a_start)
    assert shop.apply().phase is Phase.APPLIED
    assert refused == [f"{FLOW}-change-1"]
    shop.carry(once=True)
    assert (shop.rows("best"), shop.rows("total")) == ([("a", 12), ("b", 20)], [("all", 32, 2)])


def test_what_nobody_knows_counts_as_outdated(shop):
    shop.carry(once=True)
    state, plan = shop.open.state, shop.open.state.plan(FLOW)[1]
    [segment] = plan.segments
    last = state.last_epoch(FLOW, segment.name)
    assert last.computed == definitions(segment)
    assert set(last.computed) == {s.id for s in segment.steps if s.strategy.sees_all}

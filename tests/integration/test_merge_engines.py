"""Tables that select among the rows of a key, over three tiers: killed, replayed and tiered, they equal the model."""

import random
import signal

import pytest

from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Phase
from streamhouse.tiering.move import tier_all
from streamhouse.tiering.union import union_frame, union_read
from tests import live
from tests.flows import assert_equals_batch, drop_tables, with_stores
from tests.gate.levels import deep
from tests.kills import run
from tests.live import opened_project, served

FLOW = "merging"
COLUMNS = "{order_id: bigint, cents: bigint, changed: bigint, store: string}"
ACTIONS = {
    "keep": f"step: ingest\ninputs: {{rows: {COLUMNS}}}\n--- */\nSELECT * FROM rows",
    "clean": f"step: clean\ninputs: {{orders: {COLUMNS}}}\noutput: {{primary_key: [order_id]}}\n--- */\n"
    "SELECT order_id, cents, changed, store FROM orders WHERE cents >= 0",
    "mean": "step: aggregate\ninputs: {orders: {cents: bigint, store: string}}\n--- */\n"
    "SELECT store, AVG(cents) AS cents, COUNT(*) AS n FROM orders GROUP BY store",
}
YAML = f"""\
flow: {FLOW}
freshness: 50ms
commit_interval: 100ms
max_rows_per_epoch: 40
sources: {{orders: {{files: {{path: data/*.csv, columns: {COLUMNS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.mg_orders}}
  - {{use: clean, reads: {{orders: ods.mg_orders}}, writes: dwd.mg_hot_first}}
  - {{use: clean, reads: {{orders: ods.mg_orders}}, writes: dwd.mg_hot_newest}}
  - {{use: clean, reads: {{orders: ods.mg_orders}}, writes: dwd.mg_warm_first}}
  - {{use: clean, reads: {{orders: ods.mg_orders}}, writes: dwd.mg_warm_newest}}
  - {{use: mean, reads: {{orders: dwd.mg_hot_first}}, writes: dws.mg_of_first}}
  - {{use: mean, reads: {{orders: dwd.mg_hot_newest}}, writes: dws.mg_of_newest}}
  - {{use: mean, reads: {{orders: dwd.mg_warm_newest}}, writes: dws.mg_of_warm}}
tables:
  dwd.mg_hot_first: {{merge_engine: first_row, buckets: 2, tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dwd.mg_hot_newest: {{merge_engine: versioned, version_column: changed, tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dwd.mg_warm_first: {{merge_engine: first_row, tiers: {{warm: 30d, cold: forever}}}}
  dwd.mg_warm_newest: {{merge_engine: versioned, version_column: changed, tiers: {{warm: 30d, cold: forever}}}}
"""
FIRST = ("dwd.mg_hot_first", "dwd.mg_warm_first")
NEWEST = ("dwd.mg_hot_newest", "dwd.mg_warm_newest")
KILLS = [
    "between_writes:dwd.mg_hot_newest#2",
    "between_writes:dwd.mg_hot_first",  # while it recovers
    "between_writes:dwd.mg_warm_newest#2",
]

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("flows with each merge engine; tests/contract has their rules"),
]


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, text in ACTIONS.items():
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\naction: {name}\n{text}\n")
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(YAML)
    (tmp_path / "streamhouse.yaml").write_text(f"fluss: {fluss}\n")
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    found = Project(tmp_path, Settings(fluss=fluss))
    yield found
    drop_tables(found, FLOW, spark)


def add(project, number, rows=130):
    """A file of orders: some come twice, some late, some with the version of another, some with none."""
    chance = random.Random(number)
    lines = []
    for _ in range(rows):
        changed = chance.choice([*range(6 * number, 6 * number + 10), ""])
        cents = chance.choice([*range(100), -1])
        lines.append(f"{chance.randrange(60)},{cents},{changed},{chance.choice('abc')}")
    text = "\n".join(["order_id,cents,changed,store", *lines])
    (project.root / "data" / f"{number}.csv").write_text(f"{text}\n")


def model(project):
    """Order → its first row, and order → its newest row, from the files as a person reads them."""
    first, newest = {}, {}
    for file in sorted((project.root / "data").iterdir()):
        for line in file.read_text().splitlines()[1:]:
            order, cents, changed, store = line.split(",")
            row = (int(order), int(cents), int(changed) if changed else None, store)
            if row[1] < 0:
                continue
            first.setdefault(row[0], row)
            held = newest.get(row[0], row)
            if held[2] is None or (row[2] is not None and row[2] >= held[2]):
                newest[row[0]] = row
    assert any(first[order] != newest[order] for order in first)
    return dict.fromkeys(FIRST, first) | dict.fromkeys(NEWEST, newest)


def read(rows):
    found = [tuple(row.values()) for row in rows.select(["order_id", "cents", "changed", "store"]).to_pylist()]
    assert len({row[0] for row in found}) == len(found)
    return {row[0]: row for row in found}


def drain(project, spark, fluss):
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, FLOW)
    with project.state() as state:
        carry(Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True)
    for store in stores.values():
        store.close()


def assert_equals_model(project, spark, *, tiered):
    """The tables as one, and once tiered in each of their tiers."""

    def compare(plan, stores):
        for name, wanted in model(project).items():
            table = plan.tables[name]
            assert read(stores[table.tiers.target].read_state(table)) == wanted, name
            assert read(union_read(table, stores, through_lake=True)) == wanted, name
            assert read(union_frame(spark, table, stores, through_lake=True).toArrow()) == wanted, name
            for tier in table.tiers.present[1:] if tiered else ():
                assert read(stores[tier].read_state(table.replica)) == wanted, (name, tier)

    with_stores(project, FLOW, spark, compare)


def test_every_tier_holds_the_rows_that_win(project, spark, fluss):
    for number in range(2):
        add(project, number)
        drain(project, spark, fluss)
        assert_equals_model(project, spark, tiered=False)  # lakes as of the part before, and what came since
        with_stores(project, FLOW, spark, tier_all)
        assert_equals_model(project, spark, tiered=True)
        assert_equals_batch(project, FLOW, spark)
    again = with_stores(project, FLOW, spark, tier_all)
    assert {(moved.target, moved.rows) for moved in again} == {(Tier.WARM, 0), (Tier.COLD, 0)}


def test_killed_and_replayed_the_same_rows_win(project, spark):
    for number in range(2):
        add(project, number)
    flow = project.root / "flows" / f"{FLOW}.yaml"  # large epochs: their replay is on the other route
    flow.write_text(flow.read_text().replace("max_rows", "local_epoch_rows: 20\nmax_rows"))
    for point in KILLS:
        code, printed = run(project, FLOW, point)
        assert code == -signal.SIGKILL, f"{point} was not reached; exit {code}\n{printed}"
    code, printed = run(project, FLOW)
    assert code == 0, printed
    assert_equals_model(project, spark, tiered=False)
    assert_equals_batch(project, FLOW, spark)


def test_another_merge_engine_decides_every_key_anew_while_the_flow_runs(tmp_path, fluss, spark):
    with opened_project(tmp_path, fluss, spark) as open_:
        file = tmp_path / "flows" / f"{live.FLOW}.yaml"
        text, running = file.read_text(), live.Live(open_)
        running.add()
        running.add()
        with running:
            running.drained()
            seen = [served(open_, "dwd.lv_orders").sort_by("order_id").to_pylist()]
            for engine in ("first_row", "versioned, version_column: cents"):
                file.write_text(f"{text}tables: {{dwd.lv_orders: {{merge_engine: {engine}}}}}\n")
                found, change = running.apply()
                assert found.outcome is Outcome.REBUILD
                assert change.phase is Phase.APPLIED, change.error
                running.assert_equals_batch()
                seen.append(served(open_, "dwd.lv_orders").sort_by("order_id").to_pylist())
                assert seen[-1] not in seen[:-1]
                running.add()
                running.drained()
                running.assert_equals_batch()

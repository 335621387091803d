"""A backfill after an edit: tables equal the batch of today's SQL, the stream goes on where it stood."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.errors import LeaseHeldError, RestateError
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs import backfill as module
from streamhouse.jobs.backfill import backfill
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.version import stored_name, table_at
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Owner
from streamhouse.tiering.restate import TimeSpan
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch

pytestmark = [
    deep(
        "whole histories and their parts; test_backfill_order.py backfills one table in `make test`",
    ),
    pytest.mark.services,
    pytest.mark.spark,
]

ORDERS = "{order_id: int, customer: string, cents: bigint, at: timestamp}"
ACTIONS = {
    "keep": ("ingest", "{rows: {}}", "", "SELECT * FROM rows"),
    "valid": (
        "clean",
        f"{{rows: {ORDERS}}}",
        "output: {primary_key: [order_id], event_time: at}\n",
        "SELECT order_id, customer, cents, at FROM rows WHERE cents > 0",
    ),
    "spent": (
        "aggregate",
        f"{{rows: {ORDERS}}}",
        "",
        "SELECT customer, SUM(cents) AS cents, MAX(at) AS last_at FROM rows GROUP BY customer",
    ),
    "average": (
        "aggregate",
        "{orders: {customer: string, cents: bigint}}",
        "",
        "SELECT customer, AVG(cents) AS cents FROM orders GROUP BY customer",
    ),
    "best": (
        "customize",
        "{customers: {customer: string, cents: bigint}}",
        "output: {primary_key: [customer]}\n",
        "SELECT customer, cents FROM customers WHERE cents > 50",
    ),
}
FLOW = f"""\
flow: history
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.bf_orders}}
  - {{use: valid, reads: {{rows: ods.bf_orders}}, writes: dwd.bf_orders}}
  - {{use: spent, reads: {{rows: ods.bf_orders}}, writes: dws.bf_spent}}
  - {{use: spent, reads: {{rows: ods.bf_orders}}, writes: dws.bf_warm}}
  - {{use: average, reads: {{orders: dwd.bf_orders}}, writes: dws.bf_average}}
  - {{use: best, reads: {{customers: dws.bf_spent}}, writes: ads.bf_best}}
tables:
  dws.bf_warm: {{tiers: {{warm: 7d}}}}
"""
PARTS = [
    "1,ann,60,2026-01-01\n2,ann,-5,2026-01-02\n3,bob,10,2026-01-03\n",
    "4,bob,45,2026-02-01\n1,ann,70,2026-02-02\n5,eve,-9,2026-02-03\n",
    "6,eve,80,2026-03-01\n3,zoe,11,2026-03-02\n",
]


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    (tmp_path / "actions").mkdir()
    for name in ACTIONS:
        write_action(tmp_path, name)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "history.yaml").write_text(FLOW)
    (tmp_path / "data").mkdir()
    found = Project(tmp_path, Settings(fluss=fluss))
    stores = open_stores(found, spark, fluss)
    with found.state() as state:
        open_ = Open(found, spark, fluss, stores, state)

        class Opened:
            def __enter__(self):
                return open_

            def __exit__(self, *_):
                return None

        # The session and services of the test run; backfill would start its own.
        monkeypatch.setattr(module, "opened", lambda *_, **__: Opened())
        yield open_
    for name, table in plan_of(found, "history").tables.items():
        for version in (1, 2, 3):
            stores[table.tiers.target].drop(stored_name(name, version))
    for store in stores.values():
        store.close()


def write_action(root, name, sql=None):
    step, inputs, output, query = ACTIONS[name]
    (root / "actions" / f"{name}.sql").write_text(
        f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n{sql or query}\n"
    )


def run(open_, part):
    """Drain the flow, after one more file when `part` is a number."""
    if part is not None:
        file = open_.project.root / "data" / f"{part}.csv"
        file.write_text(f"order_id,customer,cents,at\n{PARTS[part]}")
    plan = plan_of(open_.project, "history")
    return carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def assert_equals_batch(open_):
    plan = plan_of(open_.project, "history")
    sources = {}
    for source in plan.sources:
        opened = open_source(source, open_.project.root)
        sources[source.name] = opened.read({}, opened.available())
    for name, expected in batch(open_.spark, plan, sources).items():
        table = table_at(plan.tables[name], open_.state.versions())
        actual = open_.stores[table.tiers.target].read_state(table)
        assert_same_rows(actual, expected, key=table.primary_key, name=name)


def test_after_an_edit_a_run_and_a_backfill_everything_equals_the_batch(project):
    root = project.project.root
    run(project, 0)
    run(project, 1)
    assert [(r.upserts, r.deletes) for r in backfill(project.project, "history")] == [(0, 0)] * 6
    write_action(root, "valid", "SELECT order_id, upper(customer) AS customer, cents, at FROM rows WHERE cents > 20")
    write_action(
        root, "spent", "SELECT customer, SUM(cents + 1) AS cents, MAX(at) AS last_at FROM rows GROUP BY customer"
    )
    untouched = [(r.upserts, r.deletes) for r in backfill(project.project, "history")]
    assert untouched == [(0, 0)] * 6, "history is restated by what is applied, and the edit waits"
    told = run(project, 2).warnings
    assert [text.split(":")[0] for text in told] == ["dwd.bf_orders"]
    assert set(project.state.versions()) == {"dws.bf_spent", "dws.bf_warm", "ads.bf_best"}
    dry = backfill(project.project, "history", dry_run=True)
    assert {r.table: (r.upserts, r.deletes) for r in dry if r.upserts or r.deletes} == {
        "dwd.bf_orders": (2, 1),
        "dws.bf_average": (2, 2),
    }
    assert backfill(project.project, "history") == dry
    assert_equals_batch(project)
    assert {(r.upserts, r.deletes) for r in backfill(project.project, "history")} == {(0, 0)}


def test_a_run_tells_which_older_rows_an_edit_leaves_as_they_were(project):
    root = project.project.root
    assert not run(project, 0).warnings
    write_action(root, "best", "SELECT customer, cents FROM customers WHERE 50 < cents")
    assert not run(project, 1).warnings  # the same meaning
    write_action(root, "valid", "SELECT order_id, customer, cents * 2 AS cents, at FROM rows WHERE cents > 0")
    told = run(project, 2).warnings
    assert told[0].startswith("dwd.bf_orders: forward (rule 14)")
    assert told[0] in [event.text for event in project.state.events("history")]
    backfill(project.project, "history", tables=["dwd.bf_orders"], dry_run=True)
    assert "backfill" not in {event.kind for event in project.state.events("history")}
    backfill(project.project, "history", tables=["dwd.bf_orders"])
    (done,) = [event.text for event in project.state.events("history") if event.kind == "backfill"]
    assert " keys removed in dwd.bf_orders" in done
    assert_equals_batch(project)


def test_a_part_of_the_history(project):
    run(project, 0)
    run(project, 1)
    root = project.project.root
    write_action(root, "valid", "SELECT order_id, customer, cents * 2 AS cents, at FROM rows WHERE cents > 0")
    run(project, None)
    span = TimeSpan(datetime(2026, 2, 2, tzinfo=UTC), None)
    with pytest.raises(RestateError, match="no event time"):
        backfill(project.project, "history", tables=["dwd.bf_orders"], span=span)
    table = plan_of(project.project, "history").tables["dwd.bf_orders"]
    rows = project.stores[table.tiers.target].read_state(table).to_pylist()
    assert {row["order_id"]: row["cents"] for row in rows} == {1: 140, 3: 10, 4: 45}  # that table was done
    write_action(root, "keep", "SELECT * FROM rows WHERE cents > 0")
    run(project, None)
    told = []
    for dry_run in (True, False):
        with pytest.raises(RestateError, match="2 of its rows are not in its history") as refused:
            backfill(project.project, "history", tables=["ods.bf_orders"], dry_run=dry_run)
        told.append(str(refused.value))
    assert told[0] == told[1]
    assert "streamhouse restore history --rebuild" in told[0]
    other = Owner("elsewhere", 1, datetime.now(UTC))
    lease = project.state.acquire("history", other, timedelta(seconds=60), datetime.now(UTC))
    with pytest.raises(LeaseHeldError):
        backfill(project.project, "history")
    project.state.release(lease)

"""Wide tables that several steps, of two flows, write a part each: in every tier, over several runs."""

import shutil
from pathlib import Path

import pytest

from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.gate.levels import deep

FIXTURE = Path(__file__).parents[1] / "fixtures" / "compile" / "valid" / "segments"
TIERS = {"hot": "hot: 7d", "warm": "warm: 7d", "cold": "cold: forever"}
ORDERS = [["1,ann,60", "2,bob,10"], ["3,ann,5", "1,eve,70", "2,bob,-1"], ["4,zoe,1", "3,bob,9"]]
CLICKS = [["ann"] * 11 + ["bob"] * 3, ["zoe"] * 12, ["bob"] * 9]

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "lakes; the hot tier stays, and tests/contract/test_partial_writes.py",
        stays=("test_each_writer_keeps_to_its_columns[hot]",),
    ),
]


@pytest.fixture
def project(tmp_path, fluss):
    for folder in ("actions", "flows"):
        shutil.copytree(FIXTURE / folder, tmp_path / folder)
    for folder in ("orders", "clicks"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    return Project(tmp_path, Settings(fluss=fluss))


def add_part(root: Path, number: int) -> None:
    orders = "\n".join(["order_id,customer,cents", *ORDERS[number]])
    clicks = "\n".join(["customer,at", *(f"{name},2026-01-01 00:00:00" for name in CLICKS[number])])
    (root / "data" / "orders" / f"{number}.csv").write_text(f"{orders}\n")
    (root / "data" / "clicks" / f"{number}.csv").write_text(f"{clicks}\n")


def expected(parts: int) -> tuple[dict, dict]:
    """Customer → (clicks, spent, orders), and order → cents, from the rows of the first parts."""
    orders: dict[int, tuple[str, int]] = {}
    for line in (line for part in ORDERS[:parts] for line in part):
        order, customer, cents = line.split(",")
        if int(cents) > 0:
            orders[int(order)] = (customer, int(cents))
    clicks = [name for part in CLICKS[:parts] for name in part]
    wide = {}
    for name in {*clicks, *(customer for customer, _ in orders.values())}:
        own = [cents for customer, cents in orders.values() if customer == name]
        wide[name] = (clicks.count(name) or None, sum(own) if own else None, len(own) or None)
    return wide, {order: cents for order, (_, cents) in orders.items()}


@pytest.mark.parametrize("tier", TIERS)
def test_each_writer_keeps_to_its_columns(project, spark, fluss, tier):
    for flow in (project.root / "flows").iterdir():
        text = "".join(
            line for line in flow.read_text().splitlines(keepends=True) if tier != "cold" or "active" not in line
        )
        text = text.replace("merge_engine: partial_update", f"merge_engine: partial_update, tiers: {{{TIERS[tier]}}}")
        flow.write_text(text)
    stores = open_stores(project, spark, fluss)
    tables = {}
    try:
        for number in range(len(ORDERS)):
            add_part(project.root, number)
            for flow in ("orders", "web") if number else ("web", "orders"):
                plan = plan_of(project, flow)
                tables |= plan.tables
                with project.state() as state:
                    open_ = Open(project, spark, fluss, stores, state)
                    carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
            wide, archive = expected(number + 1)
            table = tables["dws.customers"]
            found = stores[table.tiers.target].read_state(table).to_pylist()
            assert {r["customer"]: (r["clicks"], r["spent_cents"], r["orders"]) for r in found} == wide
            rows = stores[tables["ads.archive"].tiers.target].read_state(tables["ads.archive"]).to_pylist()
            assert {r["order_id"]: r["cents"] for r in rows} == archive
        plan = plan_of(project, "orders")  # the clicks of the last run are seen at the next one
        with project.state() as state:
            carry(Open(project, spark, fluss, stores, state), plan, Meter(plan, lambda _: None, once=True), once=True)
        if tier == "cold":  # its changes cannot be followed, so no step reads it
            return
        active = stores[tables["ads.active"].tiers.target].read_state(tables["ads.active"]).to_pylist()
        wanted = {n: (orders, clicks) for n, (clicks, _, orders) in wide.items() if clicks and clicks > 10}
        assert {r["customer"]: (r["orders"], r["clicks"]) for r in active} == wanted
    finally:
        for table in tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()

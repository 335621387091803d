"""Rows that come in parts, update and overtake each other: after each part every table equals the batch so far."""

from pathlib import Path

import pytest

from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Strategy
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.spark.probe import tried
from streamhouse.spark.shortcuts import Shortcut, Shortcuts, shortcuts_of, use_shortcuts
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch
from tests.patience import SOAKING
from tests.planted import KINDS, plant

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("hundreds of parts; test_histories.py compares whole flows with the batch in `make test`"),
]

HEADER = "/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\noutput: {{primary_key: [{key}]}}\n--- */\n{sql}\n"
ORDERS = "{order_id: bigint, customer: string, cents: bigint}"
CUSTOMERS = "{customer: string, city: string}"
ACTIONS = {
    "keep_orders": ("ingest", f"{{orders: {ORDERS}}}", "order_id", "SELECT order_id, customer, cents FROM orders"),
    "keep_customers": ("ingest", f"{{rows: {CUSTOMERS}}}", "customer", "SELECT customer, city FROM rows"),
    # Both sides change: an order that moves to another customer, a customer that moves to another city.
    "orders_in_city": (
        "clean",
        f"{{orders: {ORDERS}, customers: {CUSTOMERS}}}",
        "order_id, customer",
        "SELECT order_id, o.customer, city, cents FROM orders AS o JOIN customers AS c ON c.customer = o.customer",
    ),
    "big_customers": (
        "aggregate",
        f"{{orders: {ORDERS}}}",
        "customer",
        "SELECT customer, SUM(cents) AS cents, COUNT(*) AS n FROM orders GROUP BY customer HAVING SUM(cents) > 100",
    ),
    "largest_order": (
        "aggregate",
        f"{{orders: {ORDERS}}}",
        "customer",
        "SELECT customer, order_id, cents FROM orders"  # noqa: ISC004  one query in two lines
        " QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY cents DESC, order_id) = 1",
    ),
    "without_orders": (
        "customize",
        f"{{customers: {CUSTOMERS}, orders: {ORDERS}}}",
        "customer",
        "SELECT customer, city FROM customers LEFT ANTI JOIN orders ON orders.customer = customers.customer",
    ),
    "cheap_orders": (
        "customize",
        f"{{orders: {ORDERS}}}",
        "order_id",
        "SELECT order_id, cents FROM orders WHERE cents < 50",
    ),
    "orders_by_size": (
        "aggregate",
        f"{{orders: {ORDERS}}}",
        "size",
        "SELECT CASE WHEN cents >= 60 THEN 'big' ELSE 'small' END AS size, COUNT(DISTINCT customer) AS n FROM orders"  # noqa: ISC004  one query in two lines
        " GROUP BY 1",
    ),
    "customers_by_letter": (  # read from a source, beside steps that read it without the letter
        "ingest",
        f"{{rows: {CUSTOMERS}}}",
        "letter",
        "SELECT left(city, 1) AS letter, COUNT(DISTINCT customer) AS n FROM rows GROUP BY left(city, 1)",
    ),
    "all_of_it": (
        "customize",
        f"{{orders: {ORDERS}}}",
        "place",
        "SELECT ROW_NUMBER() OVER (ORDER BY cents DESC, order_id) AS place, order_id, cents FROM orders",
    ),
}
FLOW = f"""\
flow: increments
max_rows_per_epoch: 3
local_epoch_rows: LOCAL_ROWS
sources:
  orders: {{files: {{path: data/orders/*.csv, columns: {ORDERS}}}}}
  customers: {{files: {{path: data/customers/*.csv, columns: {CUSTOMERS}}}}}
steps:
  - {{use: keep_orders, reads: {{orders: orders}}, writes: ods.inc_orders}}
  - {{use: keep_customers, reads: {{rows: customers}}, writes: ods.inc_customers}}
  - {{use: orders_in_city, reads: {{orders: ods.inc_orders, customers: ods.inc_customers}}, writes: dwd.inc_in_city}}
  - {{use: big_customers, reads: {{orders: ods.inc_orders}}, writes: dws.inc_big}}
  - {{use: largest_order, reads: {{orders: ods.inc_orders}}, writes: dws.inc_largest}}
  - {{use: without_orders, reads: {{customers: ods.inc_customers, orders: ods.inc_orders}}, writes: ads.inc_without}}
  - {{use: cheap_orders, reads: {{orders: ods.inc_orders}}, writes: ads.inc_cheap}}
  - {{use: orders_by_size, reads: {{orders: ods.inc_orders}}, writes: dws.inc_sizes}}
  - {{use: customers_by_letter, reads: {{rows: customers}}, writes: ods.inc_letters}}
  - {{use: all_of_it, reads: {{orders: ods.inc_orders}}, writes: ads.inc_all}}
"""
LOCAL_ROWS = {"local": "50000", "executors": "0", "public": "50000"}
PARTS = [
    (["1,ann,60", "2,ann,60", "3,bob,10"], ["ann,oslo", "bob,rome", "eve,bern"]),
    (["3,bob,200", "4,eve,30"], ["bob,oslo"]),  # an order grows, a customer moves
    (["2,bob,60", "1,ann,5", "4,bob,30"], ["zoe,rome"]),  # orders change hands: ann shrinks, eve has none left
    (["5,new,70"], []),  # no such customer yet
    ([], ["new,bern", "eve,oslo"]),  # now there is
]


FAULTS = {f"{shortcut}: {kind}": (shortcut, kind) for shortcut in Shortcut for kind in KINDS}


@pytest.fixture(params=["local", "executors", "public", *(FAULTS if SOAKING else ())])
def project(tmp_path, fluss, request, spark, monkeypatch):
    before = shortcuts_of(spark)
    if request.param in FAULTS:  # the fault stays while the flow runs
        shortcut, kind = FAULTS[request.param]
        with monkeypatch.context() as quick:
            plant(monkeypatch, shortcut, kind)
            quick.setattr("streamhouse.spark.probe._STREAM_S", 20.0)
            found = tried(spark, frozenset(Shortcut), tmp_path / "known")
        assert shortcut in found.refused
        use_shortcuts(spark, found)
    if request.param == "public":  # through Spark's public ways alone
        use_shortcuts(spark, Shortcuts(frozenset()))
    (tmp_path / "actions").mkdir()
    for name, (step, inputs, key, sql) in ACTIONS.items():
        text = HEADER.format(name=name, step=step, inputs=inputs, key=key, sql=sql)
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "increments.yaml").write_text(
        FLOW.replace("LOCAL_ROWS", LOCAL_ROWS.get(request.param, "50000"))
    )
    for folder in ("orders", "customers"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    yield Project(tmp_path, Settings(fluss=fluss))
    use_shortcuts(spark, before)


def add(folder: Path, number: int, header: str, rows: list[str]) -> None:
    if rows or not number:
        (folder / f"{number}.csv").write_text("\n".join([header, *rows]) + "\n")


def test_after_each_part_the_tables_equal_the_batch(project, spark, fluss):
    stores = open_stores(project, spark, fluss)
    plan = None
    try:
        for number, (orders, customers) in enumerate(PARTS):
            add(project.root / "data" / "orders", number, "order_id,customer,cents", orders)
            add(project.root / "data" / "customers", number, "customer,city", customers)
            plan = plan_of(project, "increments")
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
            sources = {}
            for source in plan.sources:
                opened = open_source(source, project.root)
                sources[source.name] = opened.read({}, opened.available())
            for name, expected in batch(spark, plan, sources).items():
                table = plan.tables[name]
                actual = stores[table.tiers.target].read_state(table)
                assert_same_rows(actual, expected, key=table.primary_key, name=f"{name} after part {number}")
        assert {step.strategy for step in plan.steps} == {Strategy.MAP, Strategy.RECOMPUTE, Strategy.FULL}
    finally:
        for table in plan.tables.values() if plan else ():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()

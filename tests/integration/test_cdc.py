"""Change events that insert, update, move and delete rows: after each part every table equals the batch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Strategy
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.arrow import arrow_schema, conform
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch

pytestmark = [
    deep(
        "change events in parts and kills; test_capture.py has a flow over a database, tests/unit/ingest the events",
        only=("test_after_each_part_the_tables_equal_the_batch",),
    ),
    pytest.mark.services,
    pytest.mark.spark,
]

HEADER = "/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\noutput: {{primary_key: [{key}]}}\n--- */\n{sql}\n"
ORDERS = "{order_id: bigint, customer: string, cents: bigint}"
CUSTOMERS = "{customer: string, city: string}"
BY_CUSTOMER = "SELECT customer, SUM(cents) AS cents, COUNT(*) AS n FROM orders GROUP BY customer"
BY_SIZE = "SELECT cents DIV 50 AS size, COUNT(DISTINCT customer) AS n FROM orders GROUP BY cents DIV 50"
JOINED = "SELECT order_id, o.customer, city, cents FROM orders AS o JOIN customers AS c ON c.customer = o.customer"
WITHOUT = "SELECT customer, city FROM customers LEFT ANTI JOIN orders ON orders.customer = customers.customer"
ACTIONS = {
    "ingest_as_is": ("ingest", "{rows: {}}", "", "SELECT * FROM rows"),
    "large": ("clean", f"{{orders: {ORDERS}}}", "order_id", "SELECT order_id, cents FROM orders WHERE cents >= 50"),
    "with_city": ("clean", f"{{orders: {ORDERS}, customers: {CUSTOMERS}}}", "order_id, customer", JOINED),
    "by_customer": ("aggregate", f"{{orders: {ORDERS}}}", "customer", BY_CUSTOMER),
    "without_orders": ("customize", f"{{customers: {CUSTOMERS}, orders: {ORDERS}}}", "customer", WITHOUT),
    "by_size": ("aggregate", f"{{orders: {ORDERS}}}", "size", BY_SIZE),
    "ranking": (
        "customize",
        f"{{orders: {ORDERS}}}",
        "place",
        "SELECT ROW_NUMBER() OVER (ORDER BY cents DESC, order_id) AS place, order_id, cents FROM orders",
    ),
}
FLOW = f"""\
flow: changes
max_rows_per_epoch: 6
sources:
  orders: {{cdc: {{path: data/orders/*.jsonl, primary_key: [order_id], columns: {ORDERS}}}}}
  customers: {{cdc: {{path: data/customers/*.jsonl, primary_key: [customer], columns: {CUSTOMERS}}}}}
steps:
  - {{use: ingest_as_is, reads: {{rows: orders}}, writes: ods.cdc_orders}}
  - {{use: ingest_as_is, reads: {{rows: customers}}, writes: ods.cdc_customers}}
  - {{use: large, reads: {{orders: ods.cdc_orders}}, writes: dwd.cdc_large}}
  - {{use: with_city, reads: {{orders: ods.cdc_orders, customers: ods.cdc_customers}}, writes: dwd.cdc_with_city}}
  - {{use: by_customer, reads: {{orders: ods.cdc_orders}}, writes: dws.cdc_by_customer}}
  - {{use: without_orders, reads: {{customers: ods.cdc_customers, orders: ods.cdc_orders}}, writes: ads.cdc_without}}
  - {{use: ranking, reads: {{orders: ods.cdc_orders}}, writes: ads.cdc_ranking}}
  - {{use: by_size, reads: {{orders: ods.cdc_orders}}, writes: dws.cdc_by_size}}
  # The same without a table between the source and the step.
  - {{use: large, reads: {{orders: orders}}, writes: dwd.cdc_large_at_once}}
  - {{use: with_city, reads: {{orders: orders, customers: customers}}, writes: dwd.cdc_with_city_at_once}}
  - {{use: by_customer, reads: {{orders: orders}}, writes: dws.cdc_by_customer_at_once}}
  - {{use: without_orders, reads: {{customers: customers, orders: orders}}, writes: ads.cdc_without_at_once}}
  - {{use: ranking, reads: {{orders: orders}}, writes: ads.cdc_ranking_at_once}}
  - {{use: by_size, reads: {{orders: orders}}, writes: dws.cdc_by_size_at_once}}
"""
KEYS = {"orders": "order_id", "customers": "customer"}
Event = dict[str, Any] | None  # None: a tombstone
Row = dict[str, Any]


class Database:
    """A table as its database has it, and the events that Debezium makes of it."""

    def __init__(self, key: str, *, whole_before: bool) -> None:
        self.key = key
        self.rows: dict[Any, Row] = {}
        self._whole_before = whole_before  # REPLICA IDENTITY FULL; else an update does not tell the row before

    def put(self, snapshot: bool = False, **row: Any) -> list[Event]:
        """Insert or update."""
        before = self.rows.get(row[self.key])
        self.rows[row[self.key]] = row
        op = "r" if snapshot else "c" if before is None else "u"
        return [_event(op, before if op == "u" and self._whole_before else None, row)]

    def delete(self, key: Any) -> list[Event]:
        """Delete, with the tombstone behind it."""
        before = self.rows.pop(key)
        return [_event("d", before if self._whole_before else {self.key: key}, None), None]

    def move(self, old: Any, new: Any) -> list[Event]:
        """Change the key: Debezium tells a delete and an insert."""
        row = self.rows[old] | {self.key: new}
        return [*self.delete(old), *self.put(**row)]


def _event(op: str, before: Row | None, after: Row | None) -> Event:
    return {"before": before, "after": after, "source": {"table": "t"}, "op": op, "ts_ms": 1}


def history() -> list[tuple[list[Event], list[Event], list[Row], list[Row]]]:
    """For each part the new events of both tables, and the rows that are there after it."""
    o, c = Database("order_id", whole_before=True), Database("customer", whole_before=False)
    parts: list[tuple[list[Event], list[Event], list[Row], list[Row]]] = []

    def order(order_id: int, customer: str, cents: int, **more: bool) -> list[Event]:
        return o.put(order_id=order_id, customer=customer, cents=cents, **more)

    def customer(name: str, city: str) -> list[Event]:
        return c.put(customer=name, city=city)

    def part(orders: Sequence[list[Event]], customers: Sequence[list[Event]]) -> None:
        parts.append(
            ([e for s in orders for e in s], [e for s in customers for e in s], [*o.rows.values()], [*c.rows.values()])
        )

    snapshot = [
        order(i, who, cents, snapshot=True) for i, who, cents in ((1, "ann", 60), (2, "ann", 60), (3, "bob", 10))
    ]
    part(snapshot, [customer("ann", "oslo"), customer("bob", "rome"), customer("eve", "bern")])
    # An order grows, one leaves the filter, one changes hands; a customer moves.
    part([order(3, "bob", 200), order(1, "ann", 5), order(2, "eve", 60)], [customer("bob", "oslo")])
    # Deletes: ann has no order left, eve's comes back at once, a customer goes.
    first = [o.delete(1), o.delete(2), order(2, "eve", 80), order(4, "zoe", 70)]
    part(first, [c.delete("bob")])
    # Keys change; what was delivered is delivered again.
    moved = o.move(3, 30)
    again = [moved, order(5, "new", 55), moved, order(5, "new", 55)]
    part(again, [c.move("eve", "zoe"), customer("bob", "bern")])
    # All of the first part again, and then what came after it, as after a restart of Debezium; a new snapshot too.
    resent = [e for orders, _, _, _ in parts for e in orders]
    part([resent, order(4, "ann", 71, snapshot=True)], [[e for _, customers, _, _ in parts for e in customers]])
    # Nothing but tombstones and what is the same; and everything goes.
    part([[None, None], order(4, "ann", 71)], [])
    part([o.delete(key) for key in list(o.rows)], [c.delete(key) for key in list(c.rows)])
    part([order(1, "ann", 90)], [customer("ann", "oslo")])
    return parts


@pytest.fixture
def project(tmp_path, fluss):
    (tmp_path / "actions").mkdir()
    for name, (step, inputs, key, sql) in ACTIONS.items():
        text = HEADER.format(name=name, step=step, inputs=inputs, key=key, sql=sql)
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "changes.yaml").write_text(FLOW)
    for folder in KEYS:
        (tmp_path / "data" / folder).mkdir(parents=True)
    return Project(tmp_path, Settings(fluss=fluss))


def add(folder: Path, number: int, events: list[Event]) -> None:
    """Some events to the last file, the others to a new one."""
    lines = [json.dumps(event) for event in events]
    half = len(lines) // 2 if number else 0
    for name, some in ((number - 1, lines[:half]), (number, lines[half:])):
        with (folder / f"{name}.jsonl").open("a") if some else Path("/dev/null").open("a") as file:
            file.writelines(f"{line}\n" for line in some)


def test_after_each_part_the_tables_equal_the_batch(project, spark, fluss):
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "changes")
    assert {step.strategy for step in plan.steps} == {Strategy.MAP, Strategy.RECOMPUTE, Strategy.FULL}
    assert plan.tables["ods.cdc_orders"].primary_key == ("order_id",)
    try:
        for number, (orders, customers, *there) in enumerate(history()):
            add(project.root / "data" / "orders", number, orders)
            add(project.root / "data" / "customers", number, customers)
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                shown = []
                carry(open_, plan, Meter(plan, shown.append, once=True), once=True)
                assert shown[-1].rows == shown[-1].total_rows, "events are counted on both sides"
            rows = dict(zip(KEYS, there, strict=True))
            sources = {
                source.name: conform(
                    pa.Table.from_pylist(rows[source.name], arrow_schema(source.columns)), source.columns
                )
                for source in plan.sources
            }
            for name, expected in batch(spark, plan, sources).items():
                table = plan.tables[name]
                actual = stores[table.tiers.target].read_state(table)
                assert_same_rows(actual, expected, key=table.primary_key, name=f"{name} after part {number}")
    finally:
        for table in plan.tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()

"""Flows over tables of others in Iceberg and Paimon: killed, changed and expired under them."""

import os
import signal
from contextlib import ExitStack

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import StreamhouseError
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.flows import assert_equals_batch
from tests.gate.levels import deep
from tests.kills import run
from tests.live import drop_tables, served
from tests.other_lakes import IcebergLake, PaimonLake, contents

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("flows over lakes of others; tests/unit/ingest/tables has the sources"),
]

FLOW, ORDERS, CUSTOMERS = "others", "sales.orders", "crm.customers"
KEEP = "/* ---\naction: {0}\nstep: ingest\ninputs: {{rows: {{}}}}\n--- */\nSELECT * FROM rows\n"
FILES = {
    "actions/keep.sql": KEEP.format("keep"),
    "actions/cents.sql": "/* ---\naction: cents\nstep: aggregate\ninputs: {orders: {}, customers: {}}\n--- */\n"
    "SELECT c.city, SUM(o.cents) AS cents, COUNT(*) AS orders FROM orders AS o "
    "JOIN customers AS c ON c.id = o.customer GROUP BY c.city\n",
    "flows/others.yaml": f"""\
flow: {FLOW}
schema_change: evolve
sources:
  orders: {{table: {{connection: lake, table: {ORDERS}}}}}
  customers:
    table: {{connection: crm, table: {CUSTOMERS}, mode: MODE, primary_key: [id], columns: {{id: bigint, city: string}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.ot_orders}}
  - {{use: keep, reads: {{rows: customers}}, writes: ods.ot_customers}}
  - {{use: cents, reads: {{orders: ods.ot_orders, customers: ods.ot_customers}}, writes: dws.ot_cents}}
""",
}
ORDER = pa.schema([("id", pa.int64()), ("customer", pa.int64()), ("cents", pa.int64())])
CUSTOMER = pa.schema([pa.field("id", pa.int64(), nullable=False), ("city", pa.string()), ("k", pa.string())])
CONNECTIONS = {
    "lake": {"kind": "iceberg", "warehouse": "lake"},
    "crm": {"kind": "paimon", "warehouse": "crm"},
}


def orders(*numbers, schema=ORDER, **more):
    given = [{"id": i, "customer": i % 3, "cents": 10 * i, **more} for i in numbers]
    return pa.Table.from_pylist(given, schema=schema)


def customers(*given, kind="+I"):
    return pa.Table.from_pylist([{"id": i, "city": city, "k": kind} for i, city in given], schema=CUSTOMER)


class World:
    """The flow, and the lakes of others."""

    def __init__(self, open_, spark):
        self.open, self.state, self.spark = open_, open_.state, spark
        self.root = open_.project.root
        self.lake, self.crm = IcebergLake(self.root / "lake"), PaimonLake(self.root / "crm")
        self.lake.create(ORDERS, ORDER)
        self.crm.create(CUSTOMERS, CUSTOMER, ("id",), **{"rowkind.field": "k"})
        self.lake.append(ORDERS, orders(1, 2, 3, 4))
        self.crm.write(CUSTOMERS, customers((0, "Oslo"), (1, "Rome"), (2, "Rome")))

    def run(self):
        plan = plan_of(self.open.project, FLOW)
        return carry(self.open, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)

    def rows(self, table, *names):
        found = served(self.open, table, flow=FLOW).select(list(names))
        return sorted(tuple(row.values()) for row in found.to_pylist())

    def events(self):
        return [record.event.type.value for record in self.state.upstream.events(FLOW)]


@pytest.fixture(params=["upsert", "snapshot_diff"])
def mode(request):
    return request.param


@pytest.fixture
def world(tmp_path, fluss, spark, mode, monkeypatch):
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("MODE", mode))
    (root / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": CONNECTIONS}))
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    settings = {"connections": CONNECTIONS, "auto_apply": "all", "patience": "1s"}
    with ExitStack() as stack:
        project = Project(root, Settings.model_validate({"fluss": fluss, **settings}))
        stores = open_stores(project, spark, fluss)
        for store in stores.values():
            stack.callback(store.close)
        open_ = Open(project, spark, fluss, stores, stack.enter_context(project.state()))
        stack.callback(drop_tables, open_)
        yield World(open_, spark)


@pytest.mark.parametrize("mode", ["upsert"], indirect=True)
def test_killed_between_read_and_commit_it_equals_the_batch(world):
    world.run()
    world.lake.append(ORDERS, orders(5, 6))
    world.crm.write(CUSTOMERS, customers((1, "Bern"), (3, "Riga")))
    world.crm.write(CUSTOMERS, customers((2, None), kind="-D"))
    before = {folder: contents(world.root / folder) for folder in ("lake", "crm")}
    code, printed = run(world.open.project, FLOW, "between_writes:ods.ot_orders#1")
    assert code == -signal.SIGKILL, printed
    assert {folder: contents(world.root / folder) for folder in before} == before, "others own it"
    world.lake.append(ORDERS, orders(7))
    code, printed = run(world.open.project, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    assert_equals_batch(world.open.project, FLOW, world.spark)
    assert world.rows("ods.ot_orders", "id") == [(i,) for i in range(1, 8)]
    assert world.rows("ods.ot_customers", "id", "city") == [(0, "Oslo"), (1, "Bern"), (3, "Riga")]
    assert world.rows("dws.ot_cents", "city", "cents", "orders") == [("Bern", 120, 3), ("Oslo", 90, 2)]


@pytest.mark.parametrize("mode", ["snapshot_diff"], indirect=True)
def test_killed_among_the_first_rows_it_equals_the_batch(world):
    """They come in parts, so the process dies in the second epoch."""
    file = world.root / "flows" / "others.yaml"
    file.write_text(f"max_rows_per_epoch: 20\n{file.read_text()}")
    for first in (10, 30, 50):
        world.lake.append(ORDERS, orders(*range(first, first + 10)))
    code, printed = run(world.open.project, FLOW, "between_writes:ods.ot_orders#2")
    assert code == -signal.SIGKILL, printed
    world.lake.append(ORDERS, orders(70))
    code, printed = run(world.open.project, FLOW, environment=dict(os.environ))
    assert code == 0, printed
    assert_equals_batch(world.open.project, FLOW, world.spark)
    ids = [1, 2, 3, 4, *range(10, 20), *range(30, 40), *range(50, 60), 70]
    assert world.rows("ods.ot_orders", "id") == [(i,) for i in ids]


def test_changes_arrive_as_they_happened(world, mode):
    world.run()
    world.crm.write(CUSTOMERS, customers((1, "Bern")))
    world.crm.write(CUSTOMERS, customers((2, None), kind="-D"))
    world.run()
    assert world.rows("dws.ot_cents", "city", "cents", "orders") == [("Bern", 50, 2), ("Oslo", 30, 1)]
    world.crm.write(CUSTOMERS, customers((2, "Bari"), (1, "Bonn")), overwrite=True)
    world.run()
    assert world.rows("dws.ot_cents", "city", "cents", "orders") == [("Bari", 20, 1), ("Bonn", 50, 2)], mode


@pytest.mark.parametrize("mode", ["upsert"], indirect=True)
def test_a_new_column_is_followed_before_its_first_row(world):
    world.run()
    assert world.events() == []
    with world.lake.table(ORDERS).update_schema() as change:
        from pyiceberg.types import LongType

        change.add_column("tax", LongType())
    world.lake.publish(ORDERS)
    wide = ORDER.append(pa.field("tax", pa.int64()))
    world.lake.append(ORDERS, orders(5, schema=wide, tax=7))
    world.run()
    assert world.events() == ["add_column"]
    assert world.rows("ods.ot_orders", "id", "tax")[-1] == (5, 7)
    with world.lake.table(ORDERS).update_schema() as change:
        change.rename_column("tax", "vat")
    world.lake.publish(ORDERS)
    world.lake.append(ORDERS, orders(6, schema=ORDER.append(pa.field("vat", pa.int64())), vat=8))
    world.run()
    assert world.events()[1:] == ["rename_column"]
    assert sorted(served(world.open, "ods.ot_orders", flow=FLOW)["id"].to_pylist()) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("mode", ["snapshot_diff"], indirect=True)
def test_what_expired_unread_stops_the_flow(world):
    world.run()
    world.crm.write(CUSTOMERS, customers((1, "Bern")))
    world.lake.append(ORDERS, orders(5))
    world.lake.append(ORDERS, orders(6))
    world.lake.expire(ORDERS, [1, 2])
    with pytest.raises(StreamhouseError) as stopped:
        world.run()
    assert "sales.orders" in str(stopped.value) or "orders" in str(stopped.value)
    assert world.events() == ["positions_lost"]
    assert world.rows("ods.ot_orders", "id") == [(1,), (2,), (3,), (4,)], "no row was passed over"

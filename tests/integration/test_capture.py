"""Changes of a real PostgreSQL: what is read from the journal equals the database, whatever dies meanwhile."""

import json
import os
import random
import threading
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import psutil
import psycopg
import pytest

from streamhouse.capture import calls
from streamhouse.capture.process import database_of
from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import CaptureFailedError, RowsLostError
from streamhouse.ingest.checked_lines import without_checksum
from streamhouse.ingest.journal import groups, segments
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.runners import Life
from tests.capture import ORDERS, PASSWORD, TABLES, Shop, java_of, kill, random_transaction
from tests.chance import drawn_seed
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, pause
from tests.production import postgres

SOAK = bool(os.environ.get("STREAMHOUSE_SOAK"))
pytestmark = [
    pytest.mark.services,
    pytest.mark.timeout(7200 if SOAK else 1200),
    deep(
        "every type, a lost slot, journals that shrink, a large snapshot, captures that are killed; a flow stays",
        only=(
            "test_a_snapshot_may_be_larger_than_the_memory_of_java",
            "test_types_later_tables_and_secrets",
            "test_a_lost_slot_is_an_error_and_no_new_snapshot",
            "test_a_journal_shrinks_behind_its_readers",
            "test_journal_equals_database_after_kills",
        ),
    ),
]
CUSTOMERS = {"customer": "string", "region": "int", "city": "string"}


@pytest.fixture(scope="module")
def server():
    with postgres("wal_level=logical", "max_slot_wal_keep_size=-1", "max_replication_slots=40") as url:
        yield url


@pytest.fixture
def shop(server, tmp_path, request):
    name = f"shop_{abs(hash(request.node.name)) % 10**8}"
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}".encode())
    return Shop(tmp_path / "shop", server.rpartition("/")[0] + f"/{name}")


def rows_of(source):
    return sorted(tuple(row.values()) for row in source.state(source.available()).to_pylist())


def same(shop, source, query):
    with shop.session() as session:
        there = sorted(tuple(row) for row in session.execute(query.encode()).fetchall())
    assert rows_of(source) == there


def test_journal_equals_database_after_kills(shop):
    chance = random.Random(drawn_seed(17))
    with shop.session() as session:
        session.execute(TABLES.encode())
        for _ in range(50):
            with suppress(psycopg.errors.UniqueViolation):
                random_transaction(session, chance)
    orders = shop.source("public.orders", ORDERS, ["id"])
    customers = shop.source("public.customers", CUSTOMERS, ["customer", "region"])
    shop.reads("follows", orders=("public.orders", ORDERS, ["id"]))
    over = threading.Event()

    def load():
        with shop.session() as session:
            while not over.wait(0.02):
                with suppress(psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):  # rolled back
                    random_transaction(session, chance)

    loads = [threading.Thread(target=load) for _ in range(3)]
    for one in loads:
        one.start()
    kept, start = [], {}
    try:
        for number in range(30 if SOAK else 3):
            with shop.capture() as process:
                if number % 5:
                    shop.until_begun(process)
                    before = orders.rows_between({}, orders.available())
                    more = chance.randint(1, 300)
                    shop.until(lambda at=before + more: orders.rows_between({}, orders.available()) > at, process)
                else:  # at any moment, also in the snapshot
                    shop.until(lambda: shop.folder.exists() and process_has_java(process), process)
                    pause(chance.random() * 5)
                kill(process, java=bool(number % 2))
            end = orders.available()
            if start:
                kept.append((start, end, orders.changes(start, end).upserts))
            if end and chance.random() < 0.7:  # what is before may go from now on
                shop.is_at("follows", orders=end)
                kept.clear()
            start = end
    finally:
        over.set()
        for one in loads:
            one.join()
    with shop.capture() as process:
        shop.until_begun(process)
        shop.until_caught_up(process)
    same(shop, orders, "SELECT * FROM orders")
    same(shop, customers, "SELECT * FROM customers")
    same(shop, shop.source("public.orders", ORDERS, ["id"]), "SELECT * FROM orders")  # one that begins now
    for start, end, rows in kept:  # what was read is read again
        assert orders.changes(start, end).upserts.equals(rows)
    for folder in groups(shop.folder):
        lines = [line for file in segments(folder) for line in file.read_bytes().splitlines()]
        assert [without_checksum(line) for line in lines]


def test_a_journal_shrinks_behind_its_readers(shop):
    with shop.session() as session:
        session.execute(TABLES.encode())
        session.execute("INSERT INTO orders SELECT n, 'ann', n FROM generate_series(1, 500) AS n")
    orders = shop.source("public.orders", ORDERS, ["id"])
    for flow in ("follows", "removed"):
        shop.reads(flow, orders=("public.orders", ORDERS, ["id"]))
    old = {}
    for change in ("UPDATE orders SET amount = amount + 1", "DELETE FROM orders WHERE id > 400"):
        with shop.capture() as process:
            shop.until_begun(process)
            old = old or orders.advance({}, 10)
            with shop.session() as session:
                session.execute(change.encode())
            shop.until_caught_up(process)
    (group,) = groups(shop.folder)
    first, *_, last = segments(group)
    with shop.capture() as process:
        with shop.session() as session:
            session.execute("UPDATE orders SET note = 'x' WHERE id = 7")
        shop.until_caught_up(process)
        shop.is_at("follows", orders=orders.available())
        (status,) = calls.status(shop.project)
        assert [(hold.by, hold.segment) for hold in status.holds] == [("flow removed", f"{group.name}/{first.name}")]
        assert status.oldest == (f"{group.name}/{first.name}",)
        size = status.journal_bytes
        (shop.root / "flows" / "removed.yaml").unlink()
        shop.until(lambda: not last.exists(), process)
        (status,) = calls.status(shop.project)
        assert status.holds == ()
        assert status.journal_bytes < size
        kill(process, java=False)
    with shop.capture() as process:
        with shop.session() as session:
            session.execute("INSERT INTO orders VALUES (1000, 'joe', 1)")
        shop.until_caught_up(process)
    fresh = shop.source("public.orders", ORDERS, ["id"])
    same(shop, fresh, "SELECT * FROM orders")
    same(shop, orders, "SELECT * FROM orders")
    assert fresh.advance({}, 1) != {}
    with pytest.raises(RowsLostError, match="begins after the position of this reader"):
        fresh.advance(old, 100)
    with pytest.raises(RowsLostError, match="begins after the position of this reader"):
        fresh.changes(old, fresh.available())


def process_has_java(process):
    try:
        java_of(process)
    except ValueError:
        return False
    return True


TYPES = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE kinds (id int PRIMARY KEY, n numeric, n2 numeric(10,2) DEFAULT 5, a int[], ta text[], j json, jb jsonb,
  m mood, u uuid, b bytea, tz timestamptz, ts timestamp, ts3 timestamp(3), d date, ti time, iv interval, r real,
  dp double precision, bo boolean, mny money, rng int4range, p point,
  gen int GENERATED ALWAYS AS (id + 1) STORED);
INSERT INTO kinds VALUES (1, 12.345, NULL, '{1,null}', '{a,"b c"}', '{"a":1}', '{"b": 2}', 'ok',
  'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\xdead', '2024-01-02 03:04:05.123456+02', '2024-01-02 03:04:05.123456',
  '2024-01-02 03:04:05.123', '1960-01-02', '10:11:12.5', '1 year 2 mons 3 days', 1.5, 2.5, true, '12.34', '[1,3)',
  '(1,2)');
INSERT INTO kinds (id) VALUES (2);
"""
KINDS = {
    "id": "int",
    "n": "decimal(20,5)",
    "n2": "decimal(10,2)",
    "a": "array<int>",
    "ta": "array<string>",
    "j": "string",
    "jb": "string",
    "m": "string",
    "u": "string",
    "b": "binary",
    "tz": "timestamp",
    "ts": "timestamp_ntz",
    "ts3": "timestamp_ntz",
    "d": "date",
    "ti": "bigint",
    "iv": "string",
    "r": "float",
    "dp": "double",
    "bo": "boolean",
    "mny": "decimal(10,2)",
    "rng": "string",
}
FIRST_KIND = {
    "id": 1,
    "n": Decimal("12.345"),
    "n2": None,
    "a": [1, None],
    "ta": ["a", "b c"],
    "j": '{"a":1}',
    "jb": '{"b": 2}',
    "m": "ok",
    "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "b": b"\xde\xad",
    "tz": datetime(2024, 1, 2, 1, 4, 5, 123456, UTC),
    "ts": datetime(2024, 1, 2, 3, 4, 5, 123456),
    "ts3": datetime(2024, 1, 2, 3, 4, 5, 123000),
    "d": date(1960, 1, 2),
    "ti": 36_672_500_000,
    "iv": "P1Y2M3DT0H0M0S",
    "r": 1.5,
    "dp": 2.5,
    "bo": True,
    "mny": Decimal("12.34"),
    "rng": "[1,3)",
}


def test_types_later_tables_and_secrets(shop):
    with shop.session() as session:
        session.execute(TYPES.encode())
        session.execute(TABLES.encode())
    kinds = shop.source("public.kinds", KINDS, ["id"])
    with shop.capture() as process:
        shop.until_begun(process)
        first, second = sorted(kinds.state(kinds.available()).to_pylist(), key=lambda row: row["id"])
        assert {name: value for name, value in first.items() if value != FIRST_KIND[name]} == {}
        assert {name for name, value in second.items() if value is not None} == {"id", "n2"}

        customers = shop.source("public.customers", CUSTOMERS, ["customer", "region"])  # while the other goes on
        with shop.session() as session:
            session.execute("INSERT INTO customers VALUES ('ann', 1, 'oslo')")
            session.execute("UPDATE kinds SET n = 1 WHERE id = 2")
            session.execute(
                "INSERT INTO customers VALUES ('long', 1, (SELECT string_agg(random()::text, '') FROM "
                "generate_series(1, 1000)))"
            )
            session.execute("UPDATE customers SET region = 2 WHERE customer = 'long'")
            session.execute("UPDATE customers SET region = 2 WHERE customer = 'long'")
        shop.until_begun(process, 2)
        shop.until_caught_up(process)
        same(shop, customers, "SELECT * FROM customers")
        assert {row["n"] for row in kinds.state(kinds.available()).to_pylist()} == {Decimal("12.345"), Decimal(1)}

        shop.until(lambda: calls.status(shop.project)[0].lives, process)  # while its beat is late it counts as lost
        (status,) = calls.status(shop.project)
        assert status.tables == {"public.customers": True, "public.kinds": True}
        assert [slot.retained_bytes > 0 for slot in status.slots.values()] == [True, True]
        found = psutil.Process(process.pid)
        words = [word for one in [found, *found.children(recursive=True)] for word in one.cmdline()]
        assert not any(PASSWORD in word for word in words)
        with pytest.raises(CaptureFailedError, match="cannot be captured"):
            database_of(shop.project, "shop").check([wanted("public.kinds", {"id": "int", "p": "string"})])
        with pytest.raises(CaptureFailedError, match="'gen' is a generated column"):
            database_of(shop.project, "shop").check([wanted("public.kinds", {"id": "int", "gen": "int"})])
        with pytest.raises(CaptureFailedError, match="cannot be read as timestamp") as refused:
            database_of(shop.project, "shop").check([wanted("public.kinds", {"id": "int", "d": "timestamp"})])
        assert PASSWORD not in str(refused.value)
    files = [file for file in shop.root.rglob("*") if file.is_file() and PASSWORD.encode() in file.read_bytes()]
    assert files == []

    calls.reset(shop.project, "shop")
    assert kinds.available() == {}
    assert slots_of(shop) == []


def test_a_lost_slot_is_an_error_and_no_new_snapshot(shop):
    with shop.session() as session:
        session.execute(TABLES.encode())
        session.execute("INSERT INTO orders VALUES (1, 'ann', 1)")
    orders = shop.source("public.orders", ORDERS, ["id"])
    record = calls.start(shop.project, "shop", wait=timedelta(minutes=10))
    try:
        assert calls.start(shop.project, "shop", wait=timedelta(minutes=10)).owner == record.owner
        with pytest.raises(CaptureFailedError, match="runs"):
            calls.reset(shop.project, "shop")
        shop.until_begun(None)
    finally:
        assert calls.stop(shop.project, "shop", wait=timedelta(minutes=10))
    assert not calls.stop(shop.project, "shop", wait=timedelta(minutes=10))
    before = orders.available()
    (group,) = groups(shop.folder).values()
    assert slots_of(shop) == [group.slot]
    database_of(shop.project, "shop").drop(group)
    with shop.session() as session:
        session.execute("DELETE FROM orders")
    with shop.capture() as process:
        assert process.wait(PATIENCE_S) == 6
    assert "SH526 connection 'shop': the replication slot" in shop.log()
    assert orders.available() == before
    assert "gone" in calls.status(shop.project)[0].warnings[0]


def wanted(table, columns):
    return WantedTable(connection="shop", table=table, primary_key=("id",), columns=columns)


def test_a_snapshot_may_be_larger_than_the_memory_of_java(shop):
    """Of 512 MB; each event takes some 2 kB there while Java may not forget it."""
    rows = 220_000
    with shop.session() as session:
        session.execute(TABLES.encode())
        session.execute(
            b"INSERT INTO orders SELECT n, 'c' || n, n, 'note ' || n, now() FROM generate_series(1, 220000) n"
        )
    orders = shop.source("public.orders", ORDERS, ["id"])
    with shop.capture() as process:
        shop.until_begun(process)
        assert orders.rows_between({}, orders.available()) == rows


def slots_of(shop):
    with shop.session() as session:
        query = "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"
        return [row[0] for row in session.execute(query)]


FLOW = """\
flow: shop
sources:
  orders: {cdc: {postgres: {connection: shop, table: public.orders}, primary_key: [id], columns: %s}}
steps:
  - {use: ingest_as_is, reads: {rows: orders}, writes: ods.pg_orders}
  - {use: by_customer, reads: {orders: ods.pg_orders}, writes: dws.pg_by_customer}
"""
ACTIONS = {
    "ingest_as_is": ("ingest", "{rows: {}}", "", "SELECT * FROM rows"),
    "by_customer": (
        "aggregate",
        '{orders: {customer: string, amount: "decimal(12,2)"}}',
        "output: {primary_key: [customer]}\n",
        "SELECT customer, SUM(amount) AS amount FROM orders GROUP BY customer",
    ),
}


@pytest.mark.spark
def test_a_flow_reads_a_database(shop, spark, fluss):
    (shop.root / "actions").mkdir()
    for name, (step, inputs, output, sql) in ACTIONS.items():
        header = f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n{output}--- */\n"
        (shop.root / "actions" / f"{name}.sql").write_text(f"{header}{sql}\n")
    (shop.root / "flows" / "shop.yaml").write_text(FLOW % json.dumps(ORDERS))
    project = Project(shop.root, shop.project.settings.model_copy(update={"fluss": fluss}))
    with shop.session() as session:
        session.execute(TABLES.encode())
        session.execute("INSERT INTO orders VALUES (1, 'ann', 1), (2, 'bob', 2), (3, 'ann', 3)")
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "shop")
    try:
        for change, expected in (
            ("UPDATE orders SET amount = NULL WHERE id = 2", {"ann": Decimal(4), "bob": None}),
            ("DELETE FROM orders WHERE id = 1", {"ann": Decimal(3), "bob": None}),
        ):
            with shop.session() as session:
                session.execute(change.encode())
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
            table = plan.tables["dws.pg_by_customer"]
            rows = stores[table.tiers.target].read_state(table).to_pylist()
            assert {row["customer"]: row["amount"] for row in rows} == expected
    finally:
        for table in plan.tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()
    assert calls.status(project)[0].record.life is Life.STOPPED

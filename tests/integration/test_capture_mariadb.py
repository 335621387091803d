"""Changes of a real MariaDB: what is read from the journal equals the database, whatever dies meanwhile."""

import json
import random
import re
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter

import psutil
import pymysql
import pytest

from streamhouse.capture import calls, kinds
from streamhouse.capture.binlog import MYSQL
from streamhouse.capture.process import database_of, host
from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import CaptureFailedError
from streamhouse.ingest.checked_lines import event_alone
from streamhouse.ingest.journal import groups, segments
from streamhouse.ingest.shapes import source_shape
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import PlannedSource
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from tests.capture import ORDERS, PASSWORD, java_of, kill
from tests.capture_mariadb import TABLES, Server, random_transaction
from tests.chance import drawn_seed
from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S, SOAKING, pause, until

pytestmark = [
    pytest.mark.services,
    pytest.mark.timeout(7200 if SOAKING else 1200),
    deep(
        "kills; test_capture.py has them for PostgreSQL",
        stays=("test_types_later_tables_secrets_and_a_binlog_that_is_gone",),
    ),
]
CUSTOMERS = {"customer": "string", "region": "int", "city": "string"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    found = Server(tmp_path_factory.mktemp("mariadb"))
    found.start()
    yield found
    found.stop()


@pytest.fixture
def shop(server, tmp_path, request):
    return server.shop(tmp_path / "shop", f"shop_{abs(hash(request.node.name)) % 10**8}")


def rows_of(source):
    return sorted((tuple(row.values()) for row in source.state(source.available()).to_pylist()), key=repr)


def same(shop, source, table):
    columns = ", ".join(column.name for column in source.columns())
    there = [
        tuple(v.replace(tzinfo=UTC) if isinstance(v, datetime) else v for v in row)
        for row in shop.do(f"SELECT {columns} FROM {table}")
    ]
    assert rows_of(source) == sorted(there, key=repr)


def test_journal_equals_database_after_kills(server, shop):
    chance = random.Random(drawn_seed(17))
    shop.do(TABLES)
    with shop.session() as session:
        for _ in range(50):
            with suppress(pymysql.IntegrityError):
                random_transaction(session, chance)
    orders = shop.source(shop.name("orders"), ORDERS, ["id"])
    customers = shop.source(shop.name("customers"), CUSTOMERS, ["customer", "region"])
    shop.reads("behind", orders=(shop.name("orders"), ORDERS, ["id"]))  # so the journal keeps all
    over = threading.Event()

    def load():
        while not over.is_set():
            with suppress(pymysql.MySQLError), shop.session() as session:  # the server is away for a while
                while not over.wait(0.1):  # a capture that is killed again and again must keep up
                    with suppress(pymysql.IntegrityError):
                        random_transaction(session, chance)
            over.wait(0.1)

    loads = [threading.Thread(target=load) for _ in range(3)]
    for one in loads:
        one.start()
    kept = []
    try:
        for number in range(30) if SOAKING else (2,):
            with shop.capture() as process:
                if number % 5 != 0:
                    shop.until_begun(process)
                    before = orders.rows_between({}, orders.available())
                    more = chance.randint(1, 300 if SOAKING else 60)
                    shop.until(lambda at=before + more: orders.rows_between({}, orders.available()) > at, process)
                    # The columns of earlier events and of later ones are others, and no snapshot tells which.
                    again(shop, f"ALTER TABLE orders ADD COLUMN x{number} int DEFAULT 7 FIRST")
                    shop.until(lambda at=before + more * 2: orders.rows_between({}, orders.available()) > at, process)
                else:  # at any moment, also in the snapshot
                    shop.until(lambda: shop.folder.exists() and has_java(process), process)
                    pause(chance.random() * 5)
                if number % 3 == 2:
                    server.stop()
                    server.start()
                    before = orders.rows_between({}, orders.available())
                    shop.until(lambda at=before: orders.rows_between({}, orders.available()) > at, process)
                kill(process, java=bool(number % 2))
            end = orders.available()
            kept.append((end, orders.changes({}, end).upserts))
    finally:
        over.set()
        for one in loads:
            one.join()
    with shop.capture() as process:
        shop.until_begun(process)
        shop.until_caught_up(process)
    same(shop, orders, "orders")
    same(shop, customers, "customers")
    for end, rows in kept:  # what was read is read again
        assert orders.changes({}, end).upserts.equals(rows)
    assert_each_once(shop)


def test_a_statement_that_comes_again_is_dropped(shop):
    """The engine begins again with the last statement, and gives it another `row` than before."""
    shop.do(TABLES)
    shop.do("INSERT INTO orders (id, customer) VALUES (1, 'ann'), (2, 'bob'), (3, 'cid')")
    orders = shop.source(shop.name("orders"), ORDERS, ["id"])
    shop.source(shop.name("customers"), CUSTOMERS, ["customer", "region"])
    shop.reads("behind", orders=(shop.name("orders"), ORDERS, ["id"]))  # so the journal keeps all
    for statement in ("TRUNCATE customers", "ALTER TABLE orders ADD COLUMN x int", "TRUNCATE TABLE customers"):
        with shop.capture() as process:
            shop.until_begun(process)
            shop.do(f"UPDATE orders SET customer = concat(customer, '!');\n{statement}")
            shop.until_caught_up(process)
    with shop.capture() as process:
        shop.do("INSERT INTO orders (id, customer) VALUES (4, 'joe')")
        shop.until_caught_up(process)
    same(shop, orders, "orders")
    assert_each_once(shop, least=12)


def again(shop, text):
    """Execute a statement that a deadlock may end."""

    def done():
        try:
            shop.do(text)
        except pymysql.OperationalError:
            return False
        return True

    until(done, what=text)


def assert_each_once(shop, *, least=100):
    """No place in the binlog is in the journal twice, but for an update of the key, which is two events.

    Args:
        shop: Its journal is looked at.
        least: More events than these are expected in each group.
    """
    for folder in groups(shop.folder):
        found = [(place, op, file.name) for file in segments(folder) for place, op in streamed(file)]
        places = [place for place, _, _ in found]
        assert len(places) > least, found[:50]
        breaks = [at for at in range(1, len(places)) if places[at] < places[at - 1]]
        around = "\n".join(str(one) for at in breaks[:1] for one in found[max(0, at - 5) : at + 6])
        assert not breaks, f"{len(breaks)} of {len(places)} events go back; around event {breaks[0]}:\n{around}"
        for place, events in groupby(found, itemgetter(0)):
            assert "".join(op for _, op, _ in events) in ("c", "u", "d", "dc", "t", "ddl"), place


def streamed(segment):
    """The place and the operation of each event of a segment that is no part of a snapshot."""
    for line in segment.read_bytes().splitlines():
        if b'"snapshot":null' in line:
            event = json.loads(event_alone(line))["value"]
            source, op = event["source"], event.get("op", "ddl")
            row = source["row"] if op in ("c", "u", "d") else 0  # a statement has that of the event before it
            yield (source["file"], source["pos"], row), op


def has_java(process):
    try:
        java_of(process)
    except ValueError:
        return False
    return True


KINDS = {  # column → type in the database, declared, literal, value
    "id": ("bigint PRIMARY KEY", "bigint", "1", 1),
    "ti": ("tinyint unsigned", "int", "255", 255),
    "bo": ("boolean", "tinyint", "true", 1),
    "si": ("smallint unsigned", "int", "65535", 65535),
    "mi": ("mediumint unsigned", "int", "16777215", 16777215),
    "i": ("int unsigned", "bigint", "4294967295", 4294967295),
    "bi": ("bigint unsigned", "decimal(20,0)", "18446744073709551615", Decimal(18446744073709551615)),
    "de": (
        "decimal(30,5)",
        "decimal(30,5)",
        "-1234567890123456789012345.12345",
        Decimal("-1234567890123456789012345.12345"),
    ),
    "dd": ("decimal(5,2) DEFAULT 7", "decimal(5,2)", "NULL", None),
    "fl": ("float", "float", "1.5", 1.5),
    "db": ("double", "double", "2.25", 2.25),
    "b1": ("bit(1)", "boolean", "b'1'", True),
    "b10": ("bit(10)", "binary", "b'1000000001'", b"\x01\x02"),  # the lowest byte is the first
    "se": ("set('a','b','c')", "string", "'a,c'", "a,c"),
    "en": ("enum('x','y')", "string", "'y'", "y"),
    "js": ("json", "string", """'{"a": 1}'""", '{"a": 1}'),
    "d": ("date", "date", "'1960-01-02'", date(1960, 1, 2)),
    "dt": ("datetime", "timestamp_ntz", "'2024-01-02 03:04:05'", datetime(2024, 1, 2, 3, 4, 5)),
    "dt6": ("datetime(6)", "timestamp", "'2024-01-02 03:04:05.123456'", datetime(2024, 1, 2, 3, 4, 5, 123456, UTC)),
    "ts": (
        "timestamp(6) NULL",
        "timestamp",
        "'2024-01-02 03:04:05.123456'",
        datetime(2024, 1, 2, 1, 4, 5, 123456, UTC),
    ),
    "tm": ("time(6)", "bigint", "'-10:11:12.5'", -36_672_500_000),
    "y": ("year", "int", "2024", 2024),
    "la": ("varchar(9) CHARACTER SET latin1", "string", "'é'", "é"),
    "tx": ("longtext", "string", "'é😀'", "é😀"),
    "bn": ("binary(3)", "binary", "x'0100'", b"\x01\0\0"),
    "bl": ("blob", "binary", "x'dead00'", b"\xde\xad\0"),
    "uu": ("uuid", "string", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "gv": ("bigint AS (id + 1) VIRTUAL", "bigint", None, 2),
    "zd": ("date", "date", "'0000-00-00'", None),
    "zdt": ("datetime", "timestamp_ntz", "'0000-00-00 00:00:00'", None),
    "zts": ("timestamp NULL", "timestamp", "'0000-00-00 00:00:00'", None),
}
KINDS_DECLARED = {name: declared for name, (_, declared, _, _) in KINDS.items()}


def insert_kinds(shop, number):
    given = {name: literal for name, (_, _, literal, _) in KINDS.items() if literal is not None} | {"id": str(number)}
    with shop.session() as session, session.cursor() as cursor:
        cursor.execute("SET time_zone = '+02:00'")
        cursor.execute(f"INSERT INTO kinds ({', '.join(given)}) VALUES ({', '.join(given.values())})")


def test_a_journal_shrinks_behind_its_readers(shop):
    shop.do(TABLES)
    shop.do("INSERT INTO orders (id, customer) VALUES (1, 'ann'), (2, 'bob'), (3, 'ann')")
    orders = shop.source(shop.name("orders"), ORDERS, ["id"])
    shop.reads("behind", orders=(shop.name("orders"), ORDERS, ["id"]))
    for change in ("UPDATE orders SET customer = 'eve' WHERE id = 1", "DELETE FROM orders WHERE id = 2"):
        with shop.capture() as process:
            shop.until_begun(process)
            shop.do(change)
            shop.until_caught_up(process)
    (group,) = groups(shop.folder)
    (first, *_) = segments(group)
    with shop.capture() as process:
        shop.do("INSERT INTO orders (id, customer) VALUES (4, 'joe')")
        shop.until_caught_up(process)
        assert first.exists()
        shop.is_at("behind", orders=orders.available())
        shop.until(lambda: not first.exists(), process)
        kill(process, java=False)
    with shop.capture() as process:
        shop.do("INSERT INTO orders (id, customer) VALUES (5, 'sue')")
        shop.until_caught_up(process)
    fresh = shop.source(shop.name("orders"), ORDERS, ["id"])
    same(shop, fresh, "orders")
    same(shop, orders, "orders")


def test_types_later_tables_secrets_and_a_binlog_that_is_gone(server, shop):
    columns = ", ".join(f"{name} {type_}" for name, (type_, _, _, _) in KINDS.items())
    shop.do(f"{TABLES};\nCREATE TABLE kinds ({columns}, pt point) DEFAULT CHARSET utf8mb4")
    insert_kinds(shop, 1)
    kinds = shop.source(shop.name("kinds"), KINDS_DECLARED, ["id"])
    with shop.capture() as process:
        shop.until_begun(process)
        customers = shop.source(shop.name("customers"), CUSTOMERS, ["customer", "region"])  # while the other goes on
        insert_kinds(shop, 2)
        shop.do("CREATE TABLE others (i inet6);\nINSERT INTO customers VALUES ('ann', 1, 'oslo')")
        shop.until_begun(process, 2)
        shop.do("RENAME TABLE customers TO old_customers;\nCREATE TABLE customers LIKE old_customers")
        shop.do("INSERT INTO customers VALUES ('bob', 1, 'rome');\nCREATE USER secret IDENTIFIED BY 'canary-of-ddl'")
        shop.until_caught_up(process)
        first, second = sorted(kinds.state(kinds.available()).to_pylist(), key=itemgetter("id"))
        assert first | second == {name: value for name, (*_, value) in KINDS.items()} | {"id": 2, "gv": 3}
        assert {name for name in first if first[name] != second[name]} == {"id", "gv"}
        assert {row[0] for row in rows_of(customers)} == {"ann", "bob"}  # no one said that the rows were gone

        shop.do("ALTER TABLE kinds RENAME COLUMN fl TO fl2, ADD COLUMN tax int;\nUPDATE kinds SET tax = 3")
        shop.until_caught_up(process)
        shape = source_shape("kinds", planned(shop, "kinds", KINDS_DECLARED), shop.root)
        assert shape.renames == (("fl2", "fl"),)
        assert {column.name: column.type for column, _ in shape.unknown}["tax"] == "bigint"

        shop.until(lambda: calls.status(shop.project)[0].lives, process)  # while its beat is late it counts as lost
        (status,) = calls.status(shop.project)
        assert status.lives, status.record
        assert status.tables == {shop.name("customers"): True, shop.name("kinds"): True}
        assert [slot.status for slot in status.slots.values()] == ["reserved", "reserved"]
        found = psutil.Process(process.pid)
        words = [word for one in [found, *found.children(recursive=True)] for word in one.cmdline()]
        assert not any(PASSWORD in word for word in words)
    secrets = (PASSWORD.encode(), b"canary-of-ddl")
    files = [
        file for file in shop.root.rglob("*") if file.is_file() and any(one in file.read_bytes() for one in secrets)
    ]
    assert files == []

    shop.do("INSERT INTO customers VALUES ('cid', 1, 'bonn');\nFLUSH BINARY LOGS")
    ((last, *_),) = shop.do("SHOW MASTER STATUS")

    def is_purged():  # the server keeps it while the reader that is gone seems to read it
        shop.do(f"PURGE BINARY LOGS TO '{last}'")
        return any("removed the part" in one for one in calls.status(shop.project)[0].warnings)

    shop.until(is_purged)
    before = customers.available()
    with shop.capture() as process:
        assert process.wait(PATIENCE_S) == 6
    assert "SH526 connection 'shop': the server has removed the part of its binlog" in shop.log()
    assert customers.available() == before
    calls.reset(shop.project, "shop")
    assert customers.available() == {}


def planned(shop, table, columns):
    options = {"mariadb": {"connection": "shop", "table": shop.name(table)}, "primary_key": ["id"], "columns": columns}
    return PlannedSource(name=table, kind="cdc", columns=(), options=options)


def test_what_cannot_be_captured_is_said_with_what_to_do(server, shop):
    shop.do(
        "CREATE TABLE t (id int, i6 inet6);\nCREATE TABLE g (id int, g geometry, d date);\nCREATE VIEW v AS SELECT 1"
    )
    name = shop.at.database
    for table, columns, said, hint in (
        ("h", {"id": "int"}, f"there is no table {name}.h", f"did you mean '{name}."),
        ("t", {"id": "int"}, "'i6' is inet6, and the engine reads no table", "table of its own"),
        ("g", {"id": "int", "g": "string"}, "'g' is geometry, which cannot be captured", "leave it out"),
        ("g", {"id": "int", "d": "timestamp"}, "'d' is date, and cannot be read as timestamp", "declare it as date"),
        ("g", {"id": "int", "dd": "date"}, "has no column 'dd'", "did you mean 'd'?"),
        ("v", {"id": "int"}, "is no plain table, but a view", "name a table"),
    ):
        assert_refused(shop, said, hint, (table, columns))
    for setting, value, usual in (("binlog_format", "MIXED", "ROW"), ("binlog_row_image", "MINIMAL", "FULL")):
        try:
            shop.do(f"SET GLOBAL {setting} = '{value}'")
            assert_refused(shop, f"the server has {setting}={value}", f"SET GLOBAL {setting} = '{usual}'")
        finally:
            shop.do(f"SET GLOBAL {setting} = '{usual}'")
    shop.do(f"REVOKE RELOAD, REPLICATION SLAVE ON *.* FROM {name}@'%'")
    assert_refused(
        shop, "the user of the connection lacks REPLICATION SLAVE, RELOAD", "GRANT REPLICATION SLAVE, RELOAD"
    )
    shop.do(f"REVOKE SELECT ON *.* FROM {name}@'%';\nGRANT RELOAD, REPLICATION SLAVE ON *.* TO {name}@'%'")
    assert_refused(shop, f"there is no table {name}.g that the user may read", "GRANT SELECT", ("g", {"id": "int"}))
    shop.do(f"GRANT SELECT (id) ON {name}.g TO {name}@'%'")
    assert_refused(shop, f"the user may not read all of {name}.g", "GRANT SELECT", ("g", {"id": "int"}))
    shop.do(f"ALTER USER {name}@'%' IDENTIFIED BY 'another'")
    assert_refused(shop, "the server refuses the user or the password: Access denied", "where 'password' is")
    (shop.root / "streamhouse.yaml").write_text(
        f"connections:\n  shop: {{{shop.connection().replace('mariadb', 'mysql')}}}\n"
    )
    shop.do(f"ALTER USER {name}@'%' IDENTIFIED BY '{PASSWORD}'")
    assert_refused(shop, "the server is MariaDB", "say 'kind: mariadb'")


def assert_refused(shop, said, hint, *tables):
    wanted = [
        WantedTable(connection="shop", table=shop.name(table), primary_key=("id",), columns=columns)
        for table, columns in tables
    ]
    with pytest.raises(CaptureFailedError, match=re.escape(said)) as refused:
        database_of(Project.at(shop.root), "shop").check(wanted)
    assert hint in (refused.value.hint or "")
    assert PASSWORD not in str(refused.value)


@soak
def test_the_connector_of_mysql_reads_mariadb(server, shop, monkeypatch):
    """There is no MySQL server here: this shows its jars, its settings, and places without GTIDs, and no more."""
    monkeypatch.setattr(kinds, "MARIADB", replace(MYSQL, kind="mariadb", title="MariaDB", oldest=(10, 5)))
    chance = random.Random(7)
    shop.do(TABLES)
    orders = shop.source(shop.name("orders"), ORDERS, ["id"])
    for number in range(3):
        over = threading.Event()
        capture = threading.Thread(target=host, args=(shop.project, "shop"), kwargs={"over": over})
        capture.start()
        try:
            shop.until_begun(None)
            with shop.session() as session:
                for _ in range(100):
                    with suppress(pymysql.IntegrityError):
                        random_transaction(session, chance)
            shop.do(f"ALTER TABLE orders ADD COLUMN x{number} int DEFAULT 7 FIRST;\nUPDATE orders SET x{number} = 1")
            shop.until_caught_up(None)
        finally:
            over.set()
            capture.join()
        same(shop, orders, "orders")
        (folder,) = groups(shop.folder)
        place = folder / "place.json"
        if number == 0:
            first = place.read_bytes()
        place.write_bytes(first)  # as after a kill: it is older than the journal's end
    assert_each_once(shop)


@soak
@pytest.mark.spark
def test_a_flow_reads_a_database(server, shop, spark, fluss):
    (shop.root / "actions").mkdir()
    (shop.root / "actions" / "ingest_as_is.sql").write_text(ACTION)
    (shop.root / "flows" / "shop.yaml").write_text(FLOW % (shop.name("orders"), json.dumps(ORDERS)))
    project = Project(shop.root, shop.project.settings.model_copy(update={"fluss": fluss}))
    shop.do(f"{TABLES};\nINSERT INTO orders (id, customer, amount) VALUES (1, 'ann', 1), (2, 'bob', 2)")
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "shop")
    table = plan.tables["ods.my_orders"]
    try:
        for change, expected in (
            ("UPDATE orders SET amount = NULL WHERE id = 2", {1: Decimal(1), 2: None}),
            ("DELETE FROM orders WHERE id = 1", {2: None}),
        ):
            shop.do(change)
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
            rows = stores[table.tiers.target].read_state(table).to_pylist()
            assert {row["id"]: row["amount"] for row in rows} == expected
    finally:
        stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()


ACTION = """/* ---
action: ingest_as_is
step: ingest
inputs: {rows: {}}
--- */
SELECT * FROM rows
"""
FLOW = """\
flow: shop
sources:
  orders: {cdc: {mariadb: {connection: shop, table: %s}, primary_key: [id], columns: %s}}
steps:
  - {use: ingest_as_is, reads: {rows: orders}, writes: ods.my_orders}
"""


@soak
def test_a_server_without_a_binlog_is_refused(tmp_path):
    server = Server(tmp_path / "server", "skip-log-bin")
    server.start()
    try:
        assert_refused(
            server.shop(tmp_path / "shop", "shop"), "the server has log_bin=OFF", "start the server with log_bin"
        )
    finally:
        server.stop()

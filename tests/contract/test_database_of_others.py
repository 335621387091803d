"""Tables of a real PostgreSQL and of a real MariaDB as sources: copies of them are compared."""

import os
import subprocess
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pymysql
import pytest
import yaml
from sqlalchemy.engine import make_url

from streamhouse.errors import SourceError, StoreUnavailableError
from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from tests.gate.levels import deep
from tests.integration.test_capture import FIRST_KIND, TYPES
from tests.integration.test_capture import KINDS as POSTGRES_KINDS
from tests.integration.test_capture_mariadb import KINDS as MARIADB_KINDS
from tests.ports import take_ports
from tests.production import mariadb, postgres

pytestmark = [
    pytest.mark.services,
    deep(
        "every type of both databases, and MariaDB; changes of a table of PostgreSQL stay",
        stays=("test_changes_of_a_table_of_postgres",),
    ),
]
PASSWORD = "canary-d4b2-password"
ORDERS = "(id bigint PRIMARY KEY, city varchar(50), amount decimal(12,2))"


@pytest.fixture(scope="module")
def postgres_url():
    with postgres() as url:
        yield url


@pytest.fixture(scope="module")
def mariadb_url():
    with mariadb() as url:
        yield url


class World:
    """A project and a database; the user of the project may only read."""

    def __init__(self, kind, url, root, monkeypatch, **more):
        self.kind, self.root, at = kind, root, make_url(url)
        self.port = at.port
        monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
        place = {"kind": kind, "host": at.host, "port": at.port, "user": "reader", **more}
        if kind == "postgres":
            place["database"] = at.database
        self.place = {**place, "password": {"environment": "SHOP_PASSWORD"}}
        self.configure()

    def configure(self, **more):
        known = {"connections": {"shop": {**self.place, **more}}}
        (self.root / "streamhouse.yaml").write_text(yaml.safe_dump(known))

    def opened(self, table, **more):
        for file in self.root.rglob("looked"):  # the next copy is due
            os.utime(file, (0, 0))
        options = {"connection": "shop", "table": table, "mode": "snapshot_diff", "primary_key": ["id"], **more}
        return open_source(Source(name="rows", kind="table", options=options), self.root)


class Postgres(World):
    def __init__(self, url, root, monkeypatch):
        super().__init__("postgres", url, root, monkeypatch)
        self.url = url.replace("+psycopg", "")
        self.do("DROP TABLE IF EXISTS orders, kinds")
        self.do("DROP TYPE IF EXISTS mood")
        self.do(
            "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'reader') THEN "
            f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'; END IF; END $$"
        )

    def do(self, *texts):
        with psycopg.connect(self.url, autocommit=True) as session:
            for text in texts:
                session.execute(text.encode())


class MariaDb(World):
    def __init__(self, url, root, monkeypatch):
        super().__init__("mariadb", url, root, monkeypatch)
        self.do(
            "DROP DATABASE IF EXISTS store",
            "CREATE DATABASE store",
            f"CREATE OR REPLACE USER reader@'%' IDENTIFIED BY '{PASSWORD}'",
            "GRANT SELECT ON store.* TO reader@'%'",
        )

    def do(self, *texts):
        with pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True) as session:
            for text in texts:
                session.cursor().execute(text)


def rows(table):
    return sorted((row["id"], row["city"], str(row["amount"])) for row in table.to_pylist())


def follow(world, table):
    """Changes of a table, as the copies have them, lead from one of its states to the next."""
    world.do(f"CREATE TABLE {table} {ORDERS}", f"INSERT INTO {table} VALUES (1, 'a', 1.5), (2, 'ü', NULL), (3, 'c', 9)")
    if world.kind == "postgres":
        world.do(f"GRANT SELECT ON {table} TO reader")
    source = world.opened(table)
    assert [(one.name, one.type) for one in source.columns()] == [
        ("id", "bigint"),
        ("city", "string"),
        ("amount", "decimal(12,2)"),
    ]
    first = source.available()
    assert rows(source.changes({}, first).upserts) == [(1, "a", "1.50"), (2, "ü", "None"), (3, "c", "9.00")]
    world.do(
        f"UPDATE {table} SET city = 'A' WHERE id = 1",
        f"DELETE FROM {table} WHERE id = 2",
        f"INSERT INTO {table} VALUES (4, 'd', 0)",
    )
    source = world.opened(table)
    second = source.advance(first, 100)
    done = source.changes(first, second)
    assert rows(done.upserts) == [(1, "A", "1.50"), (4, "d", "0.00")]
    assert done.deletes.to_pylist() == [{"id": 2}]
    assert rows(done.before) == [(1, "a", "1.50"), (2, "ü", "None")]
    world.do(f"ALTER TABLE {table} RENAME COLUMN city TO town")
    assert [one.name for one in world.opened(table).columns()] == ["id", "town", "amount"]
    assert world.opened(table).available() != second, "a column has another name"
    return second


def test_changes_of_a_table_of_postgres(postgres_url, tmp_path, monkeypatch):
    world = Postgres(postgres_url, tmp_path, monkeypatch)
    second = follow(world, "public.orders")
    assert sorted(world.opened("public.orders").state(second)["town"].to_pylist()) == ["A", "c", "d"], "by its number"
    with pytest.raises(SourceError, match=r"has no table public\.ordres"):
        world.opened("public.ordres")
    world.do("REVOKE SELECT ON orders FROM reader")
    with pytest.raises(SourceError, match="permission denied for table orders"):
        world.opened("public.orders").available()
    world.configure(database="nowhere")
    with pytest.raises(SourceError, match='database "nowhere" does not exist'):
        world.opened("public.orders")
    world.configure(port=take_ports(1)[0])
    with pytest.raises(StoreUnavailableError, match="no server answers at this port"):
        world.opened("public.orders")


def test_changes_of_a_table_of_mariadb(mariadb_url, tmp_path, monkeypatch):
    world = MariaDb(mariadb_url, tmp_path, monkeypatch)
    follow(world, "store.orders")
    monkeypatch.setenv("SHOP_PASSWORD", "canary-another")
    with pytest.raises(SourceError, match="Access denied for user 'reader'") as refused:
        world.opened("store.orders")
    assert "canary" not in str(refused.value)
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    with pytest.raises(SourceError, match=r"has no table store\.ordres"):
        world.opened("store.ordres")
    world.configure(port=take_ports(1)[0])
    with pytest.raises(StoreUnavailableError, match="no server answers at this port"):
        world.opened("store.orders")


def test_servers_that_speak_german(tmp_path, monkeypatch):
    """Texts of refusals are in the server's language; the code names the cause."""
    with TemporaryDirectory() as folder:  # where the user of the server may go
        Path(folder).chmod(0o755)
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], check=False)
        monkeypatch.setenv("LOCPATH", folder)
        with postgres("lc_messages=de_DE.UTF-8") as url:
            world = Postgres(url, tmp_path, monkeypatch)
            world.configure(database="nowhere")
            with pytest.raises(SourceError, match=r"the server has no such database: .*existiert nicht"):
                world.opened("public.orders")
            world.configure(user="nobody_there")
            with pytest.raises(SourceError, match=r"the server does not let this user in: .*existiert nicht"):
                world.opened("public.orders")
    with mariadb("lc-messages=de_DE") as url:
        world = MariaDb(url, tmp_path, monkeypatch)
        monkeypatch.setenv("SHOP_PASSWORD", "canary-another")
        with pytest.raises(SourceError, match="the server refuses the user or the password: Benutzer 'reader'"):
            world.opened("store.orders")


def test_every_type_of_postgres(postgres_url, tmp_path, monkeypatch):
    world = Postgres(postgres_url, tmp_path, monkeypatch)
    world.do(*(text for text in TYPES.split(";\n") if text.strip()), "GRANT SELECT ON kinds TO reader")
    declared = {**POSTGRES_KINDS, "n": "string", "mny": "decimal(19,2)", "gen": "int"}
    source = world.opened("public.kinds", columns=declared)
    first, second = sorted(source.state(source.available()).to_pylist(), key=lambda row: row["id"])
    wanted = {**FIRST_KIND, "n": "12.345", "iv": "P1Y2M3D", "mny": Decimal("12.34"), "gen": 2}
    assert {name: value for name, value in first.items() if value != wanted[name]} == {}
    assert {name for name, value in second.items() if value is not None} == {"id", "n2", "gen"}
    with pytest.raises(SourceError, match="column 'p' of public"):
        world.opened("public.kinds")
    world.do("UPDATE kinds SET tz = 'infinity' WHERE id = 2")
    with pytest.raises(SourceError, match=r"cannot be read: .*infinity"):
        world.opened("public.kinds", columns=declared).available()


def test_every_type_of_mariadb(mariadb_url, tmp_path, monkeypatch):
    world = MariaDb(mariadb_url, tmp_path, monkeypatch)
    left_out = {"b10": "its bits have another order in the log"}
    kinds = {name: one for name, one in MARIADB_KINDS.items() if one[2] is not None}
    written = ", ".join(f"{name} {type_}" for name, (type_, *_) in kinds.items())
    world.do(f"CREATE TABLE store.kinds ({written}) DEFAULT CHARSET utf8mb4")
    names, values = ", ".join(kinds), ", ".join(literal for _, _, literal, _ in kinds.values())
    world.do(f"SET STATEMENT time_zone = '+02:00' FOR INSERT INTO store.kinds ({names}) VALUES ({values})")
    declared = {name: one[1] for name, one in kinds.items() if name not in left_out}
    source = world.opened("store.kinds", columns={**declared, "dt6": "timestamp_ntz"})
    (row,) = source.state(source.available()).to_pylist()
    wanted = {name: one[3] for name, one in kinds.items()} | {"dt6": datetime(2024, 1, 2, 3, 4, 5, 123456)}
    assert {name: value for name, value in row.items() if value != wanted[name]} == {}
    with pytest.raises(SourceError, match="column 'b10' of store"):
        world.opened("store.kinds")

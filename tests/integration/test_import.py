"""`streamhouse import` over real servers: what it writes compiles, and names all that it leaves out."""

import json

import psycopg
import pytest
import yaml

from streamhouse.cli.main import main
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from tests.capture import PASSWORD, Shop
from tests.capture_mariadb import Server
from tests.production import postgres

ODD = """
CREATE SCHEMA other;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL, boss bigint REFERENCES customers, password text);
COMMENT ON TABLE customers IS 'who buys: "us", and https://me:canary-in-a-comment@host/x';
COMMENT ON COLUMN customers.name IS E'first\n# and: last {name}';
CREATE TABLE places (country text, city text, PRIMARY KEY (country, city));
CREATE TABLE "Order Lines" (id int PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customers, buyer_id bigint
  REFERENCES customers, country text, city text, "select" int, "Odd Name" int, "A" int, a int, n numeric, n2
  numeric(12,2), n3 numeric(50,4), d positive, p point, m mood, i int[], dp double precision, created_at timestamptz,
  updated_at timestamptz, twice int GENERATED ALWAYS AS ("A" * 2) STORED,
  FOREIGN KEY (country, city) REFERENCES places);
CREATE TABLE other.orders (id uuid PRIMARY KEY, at timestamp);
CREATE TABLE log (line text);
CREATE TABLE floats (f double precision PRIMARY KEY);
CREATE UNLOGGED TABLE quick (id int PRIMARY KEY);
CREATE TABLE parts (id int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE VIEW orders_view AS SELECT id FROM orders;
CREATE TABLE secret_plans (id int PRIMARY KEY);
CREATE ROLE reader LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
REVOKE ALL ON secret_plans FROM reader;
"""
REFUSED = {
    "other.orders": "the user may not read it",
    "public.Order Lines": "its name has a space",
    "public.floats": "'f' of its primary key is double",
    "public.log": "it has no primary key",
    "public.orders_view": "it is a view",
    "public.parts": "it is a partitioned table",
    "public.quick": "it is unlogged",
    "public.secret_plans": "the user may not read it",
}
LEFT_OUT = {
    "Odd Name": "its name has other characters",
    "a": "another column has its name",
    "d": "cannot be captured",
    "p": "cannot be captured",
    "twice": "generated",
}


@pytest.fixture(scope="module")
def server():
    with postgres("wal_level=logical") as url:
        yield url


@pytest.fixture
def shop(server, tmp_path, request):
    name = f"import_{abs(hash(request.node.name)) % 10**8}"
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}".encode())
    return Shop(tmp_path / "shop", server.rpartition("/")[0] + f"/{name}")


def call(shop, *words, code=0):
    assert main([*words, "--project", str(shop.root)]) == code


def flow_of(shop, name="shop"):
    return yaml.safe_load((shop.root / "flows" / f"{name}.yaml").read_text())


def test_a_database_with_all_that_is_odd(shop, capsys):
    with shop.session() as session:
        session.execute(ODD.encode())
    settings = shop.root / "streamhouse.yaml"
    settings.write_text(settings.read_text().replace("user: streamhouse", "user: reader"))
    call(shop, "import", "shop", "--join")
    said = capsys.readouterr().out
    call(shop, "validate")
    flow = flow_of(shop)
    text = (shop.root / "flows" / "shop.yaml").read_text()
    assert sorted(flow["sources"]) == ["customers", "orders", "parts_1", "places"]
    for table, why in REFUSED.items():
        assert f"# left out: {table}: {why}" in text
        assert f"left out: {table}: {why}" in said
    orders = flow["sources"]["orders"]["cdc"]
    assert orders["columns"] == {
        "id": "bigint", "customer_id": "bigint", "buyer_id": "bigint", "country": "string", "city": "string",
        "select": "int", "A": "int", "n": "string", "n2": "decimal(12,2)", "n3": "string", "m": "string",
        "i": "array<int>", "dp": "double", "created_at": "timestamp", "updated_at": "timestamp",
    }  # fmt: skip
    for column, why in LEFT_OUT.items():
        assert any(f"# left out: {column} (" in line and why in line for line in text.splitlines()), column
    assert orders["primary_key"] == ["id"]
    assert flow["tables"]["ods.orders"] == {
        "event_time": "created_at",
        "columns": {
            "customer_id": {"references": "ods.customers.id"},
            "buyer_id": {"references": "ods.customers.id"},
        },
    }
    assert "# ods.orders (country, city) points to ods.places (country, city)" in text
    assert flow["tables"]["ods.customers"]["columns"]["name"] == "first # and: last {name}"
    assert "canary" not in text + said
    joined = check_project(Project.at(shop.root)).plans["shop"].tables["dwd.orders"]
    names = joined.column_names
    assert {"customer_name", "customer_boss", "buyer_name", "a", "select", "created_at"} <= set(names)
    assert len(set(names)) == len(names)


def test_what_exists_stays(shop, capsys):
    with shop.session() as session:
        session.execute(b"CREATE TABLE orders (id int PRIMARY KEY)")
    call(shop, "import", "shop", "--dry-run", code=10)
    written = capsys.readouterr().out
    call(shop, "import", "shop", "--dry-run", "--json", code=10)
    document = json.loads(capsys.readouterr().out)
    assert document["tables"][0] == {
        "from": "public.orders",
        "table": "ods.orders",
        "columns": {"id": "int"},
        "primary_key": ["id"],
        "event_time": None,
        "foreign_keys": [],
    }
    assert (document["written"], document["left_out"], document["joins"]) == (False, [], [])
    assert document["files"][-1] == {"file": "flows/shop.yaml", "text": written}
    assert list((shop.root / "flows").iterdir()) == []
    action = shop.root / "actions" / "ingest" / "ingest_as_is.sql"
    action.parent.mkdir(parents=True)
    action.write_text("/* ---\naction: other\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n")
    call(shop, "import", "shop", code=3)
    assert "SH221 actions/ingest/ingest_as_is.sql exists" in capsys.readouterr().err
    assert list((shop.root / "flows").iterdir()) == []
    action.unlink()
    call(shop, "import", "shop")
    flow = shop.root / "flows" / "shop.yaml"
    assert flow.read_text() == written
    capsys.readouterr()
    call(shop, "import", "shop", code=3)
    assert "SH221 there is a flow 'shop' already" in capsys.readouterr().err
    assert flow.read_text() == written
    call(shop, "import", "shop", "--flow", "again", "--join")
    assert "nothing to join" in capsys.readouterr().out
    assert flow_of(shop, "again")["steps"] == [
        {"use": "ingest_as_is", "reads": {"rows": "again_orders"}, "writes": "ods.again_orders"}
    ]
    call(shop, "validate")


def test_hundreds_of_tables_by_patterns(shop, capsys):
    with shop.session() as session:
        for number in range(400):
            schema = f"s{number % 4}"
            session.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
            session.execute(f"CREATE TABLE {schema}.t_{number // 2} (id int PRIMARY KEY, v text)".encode())
    call(shop, "import", "shop", "--tables", "s[012].*", "--tables", "s3.t_1", "--exclude", "*.t_9?")
    flow = flow_of(shop)
    tables = {one["cdc"]["postgres"]["table"] for one in flow["sources"].values()}
    wanted = {f"s{n % 4}.t_{n // 2}" for n in range(400) if n % 4 < 3 or n == 3}
    assert tables == {one for one in wanted if not (one.partition("t_9")[1] and len(one) == 7)}
    call(shop, "validate")
    capsys.readouterr()
    call(shop, "import", "shop", "--flow", "none", "--tables", "s0.x*", code=3)
    assert "SH221 's0.x*' matches no table" in capsys.readouterr().err


def test_what_is_asked_for_is_not_there(shop, capsys):
    for words, cause in (
        (("shop", "--flow", "../../x"), "SH221 '../../x' is no name of a flow"),
        (("shop", "--servers", "broker:9092"), "SH221 'shop' is a database"),
        (("shp",), "SH221 there is no connection 'shp'\n  hint: did you mean 'shop'?"),
        (("shop",), "SH221 there are no tables"),
    ):
        call(shop, "import", *words, code=3)
        assert cause in capsys.readouterr().err
    settings = shop.root / "streamhouse.yaml"
    settings.write_text(settings.read_text().replace(f"port: {shop.at.port}", "port: 1"))
    call(shop, "import", "shop", code=5)
    assert "SH401 connection 'shop': no server answers at this port" in capsys.readouterr().err


MARIA = """
CREATE TABLE customers (id int unsigned PRIMARY KEY, name varchar(50) NOT NULL COMMENT 'as on the card') COMMENT 'who';
CREATE TABLE orders (id bigint unsigned PRIMARY KEY, customer_id int unsigned NOT NULL, amount decimal(12,2),
  huge decimal(65,30), tiny tinyint unsigned, flag bit(1), y year, placed_at timestamp(6) NULL, shape point,
  double_amount decimal(13,2) AS (amount * 2) VIRTUAL, e enum('a','b'), f float,
  FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE addresses (id int PRIMARY KEY, at inet6);
CREATE TABLE log (line text);
CREATE VIEW v AS SELECT id FROM orders;
"""


def test_a_mariadb_database(tmp_path, capsys):
    server = Server(tmp_path)
    server.start()
    try:
        shop = server.shop(tmp_path / "shop", "shop")
        shop.do(MARIA.strip().removesuffix(";"))
        call(shop, "import", "shop", "--tables", "shop.*", "--join")
        said = capsys.readouterr().out
        call(shop, "validate")
        text, flow = (shop.root / "flows" / "shop.yaml").read_text(), flow_of(shop)
    finally:
        server.stop()
    assert flow["sources"]["orders"]["cdc"] == {
        "mariadb": {"connection": "shop", "table": "shop.orders"},
        "primary_key": ["id"],
        "columns": {
            "id": "decimal(20,0)", "customer_id": "bigint", "amount": "decimal(12,2)", "huge": "string",
            "tiny": "smallint", "flag": "boolean", "y": "int", "placed_at": "timestamp",
            "double_amount": "decimal(13,2)", "e": "string", "f": "float",
        },
    }  # fmt: skip
    for what in (
        "shop.addresses: the engine reads no table",
        "shop.log: it has no primary key",
        "shop.v: it is a view",
    ):
        assert f"# left out: {what}" in text
    assert "# left out: shape (point): " in text
    assert flow["tables"]["ods.orders"]["columns"] == {"customer_id": {"references": "ods.customers.id"}}
    assert flow["tables"]["ods.customers"] == {"description": "who", "columns": {"name": "as on the card"}}
    assert flow["steps"][-1]["writes"] == "dwd.orders"
    assert PASSWORD not in text + said

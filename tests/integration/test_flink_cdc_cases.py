"""Cases of Flink CDC's `PostgreSQLConnectorITCase` and `SimilarTableNamesITCase`, with a real PostgreSQL.

Source: github.com/apache/flink-cdc, flink-cdc-connect/flink-cdc-source-connectors/flink-connector-postgres-cdc/src/test
(Apache License 2.0): its tables, its statements, and the results that it expects.

Ours refuses more: `testStartupFromLatestOffset` and `testStartupFromCommittedOffset` (a table that is made again would
begin at another place), and geometries of `testAllTypes` (PostGIS). Of `testExceptionForReplicaIdentity`, which expects
an error where the identity is not FULL, the rows are read. A `float` is declared as `double` and not as a decimal. A
delete as a row has the values of its key alone (`testMetadataColumns` has all).
"""

from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal

import psycopg
import pytest

from streamhouse.capture.process import database_of
from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import CaptureFailedError
from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from tests.capture import Shop
from tests.gate.levels import deep
from tests.production import postgres

pytestmark = [
    pytest.mark.services,
    pytest.mark.timeout(1200),
    deep("cases of another capture; the gate has a flow over a database"),
]
PRODUCTS = {"id": "int", "name": "string", "description": "string", "weight": "double"}
PRODUCT_ROWS = """
  (default,'scooter','Small 2-wheel scooter',3.14),
  (default,'car battery','12V car battery',8.1),
  (default,'12-pack drill bits','12-pack of drill bits with sizes ranging from #40 to #3',0.8),
  (default,'hammer','12oz carpenter''s hammer',0.75),
  (default,'hammer','14oz carpenter''s hammer',0.875),
  (default,'hammer','16oz carpenter''s hammer',1.0),
  (default,'rocks','box of assorted rocks',5.3),
  (default,'jacket','water resistent black wind breaker',0.1),
  (default,'spare tire','24 inch spare tire',22.2)
"""
TABLES = f"""
CREATE SCHEMA inventory;
CREATE TABLE inventory.products (id serial NOT NULL PRIMARY KEY, name varchar(255) NOT NULL DEFAULT 'flink',
  description varchar(512), weight float);
ALTER SEQUENCE inventory.products_id_seq RESTART WITH 101;
ALTER TABLE inventory.products REPLICA IDENTITY FULL;
INSERT INTO inventory.products VALUES {PRODUCT_ROWS};

CREATE SCHEMA replica_identity;
CREATE TABLE replica_identity.products (id serial NOT NULL PRIMARY KEY, name varchar(255) NOT NULL,
  description varchar(512), weight float);
ALTER SEQUENCE replica_identity.products_id_seq RESTART WITH 101;
INSERT INTO replica_identity.products VALUES {PRODUCT_ROWS};

CREATE TABLE inventory.full_types (id integer NOT NULL PRIMARY KEY, bytea_c bytea, small_c smallint, int_c integer,
  big_c bigint, real_c real, double_precision double precision, numeric_c numeric(10, 5), decimal_c decimal(10, 1),
  boolean_c boolean, text_c text, char_c char, character_c character(3), character_varying_c character varying(20),
  timestamp3_c timestamp(3), timestamp6_c timestamp(6), date_c date, time_c time(0), default_numeric_c numeric);
ALTER TABLE inventory.full_types REPLICA IDENTITY FULL;
INSERT INTO inventory.full_types VALUES (1, '2', 32767, 65535, 2147483647, 5.5, 6.6, 123.12345, 404.4443, true,
  'Hello World', 'a', 'abc', 'abcd..xyz', '2020-07-17 18:00:22.123', '2020-07-17 18:00:22.123456', '2020-07-17',
  '18:00:22', 500);

CREATE TABLE inventory.array_types (id serial PRIMARY KEY, text_a1 text[], int_a1 integer[], int_s1 integer[],
  uuid_a1 uuid[]);
ALTER TABLE inventory.array_types REPLICA IDENTITY FULL;
INSERT INTO inventory.array_types VALUES (1, ARRAY['electronics', 'gadget', 'sale'], '{{85, 90, 78}}', '{{42}}',
  ARRAY['227496Ad-fdE9-CCFb-1F04-892fc505AFD5', '9d33f9E2-DfC7-fDef-9478-BCc5dBf7a6d7']::uuid[]);

CREATE SCHEMA indexes;
CREATE TABLE indexes.functional_unique_index (id integer NOT NULL, char_c char);
CREATE UNIQUE INDEX test_tbl_idx ON indexes.functional_unique_index (id, COALESCE(char_c, ''::text));
ALTER TABLE indexes.functional_unique_index REPLICA IDENTITY FULL;
INSERT INTO indexes.functional_unique_index VALUES (1, 'a');

CREATE SCHEMA similar_names;
CREATE TABLE similar_names.ndi_pg_user_sink_1 (id integer NOT NULL PRIMARY KEY, name varchar(255) NOT NULL);
CREATE TABLE similar_names.ndi_pg_userbsink_1 (id integer NOT NULL PRIMARY KEY, name varchar(255) NOT NULL);
CREATE TABLE similar_names."user%data" (id integer NOT NULL PRIMARY KEY, name varchar(255) NOT NULL);
CREATE TABLE similar_names.user_test_data (id integer NOT NULL PRIMARY KEY, name varchar(255) NOT NULL);
INSERT INTO similar_names.ndi_pg_user_sink_1 VALUES (1, 'user_1'), (2, 'user_2'), (3, 'user_3');
INSERT INTO similar_names.ndi_pg_userbsink_1 VALUES (101, 'userb_1'), (102, 'userb_2'), (103, 'userb_3');
INSERT INTO similar_names."user%data" VALUES (201, 'percent_1'), (202, 'percent_2'), (203, 'percent_3');
INSERT INTO similar_names.user_test_data VALUES (301, 'test_1'), (302, 'test_2'), (303, 'test_3');

CREATE SCHEMA inventory_partitioned;
CREATE TABLE inventory_partitioned.products (id serial NOT NULL, country varchar(20) NOT NULL,
  PRIMARY KEY (id, country)) PARTITION BY LIST (country);
"""
CHANGES = """
UPDATE {0}.products SET description='18oz carpenter hammer' WHERE id=106;
UPDATE {0}.products SET weight='5.1' WHERE id=107;
INSERT INTO {0}.products VALUES (default,'jacket','water resistent white wind breaker',0.2);
INSERT INTO {0}.products VALUES (default,'scooter','Big 2-wheel scooter ',5.18);
UPDATE {0}.products SET description='new water resistent white wind breaker', weight='0.5' WHERE id=110;
UPDATE {0}.products SET weight='5.17' WHERE id=111;
DELETE FROM {0}.products WHERE id=111;
"""
OTHER_CHANGES = """
UPDATE inventory.full_types SET small_c=0 WHERE id=1;
UPDATE inventory.array_types SET text_a1=ARRAY['updated', 'array'], int_a1='{100, 200}',
  uuid_a1=ARRAY['aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 'ffffffff-1111-2222-3333-444444444444']::uuid[] WHERE id=1;
UPDATE indexes.functional_unique_index SET char_c=NULL WHERE id=1;
INSERT INTO similar_names.ndi_pg_userbsink_1 VALUES (104, 'userb_4');
INSERT INTO similar_names.ndi_pg_user_sink_1 VALUES (4, 'user_4');
INSERT INTO similar_names."user%data" VALUES (204, 'percent_4');
INSERT INTO similar_names.user_test_data VALUES (304, 'test_4');
"""
WEIGHTS = {
    "scooter": 3.14,
    "car battery": 8.1,
    "12-pack drill bits": 0.8,
    "hammer": 2.625,
    "rocks": 5.1,
    "jacket": 0.6,
    "spare tire": 22.2,
}
TYPES = {
    "id": "int",
    "bytea_c": "binary",
    "small_c": "smallint",
    "int_c": "int",
    "big_c": "bigint",
    "real_c": "float",
    "double_precision": "double",
    "numeric_c": "decimal(10,5)",
    "decimal_c": "decimal(10,1)",
    "boolean_c": "boolean",
    "text_c": "string",
    "char_c": "string",
    "character_c": "string",
    "character_varying_c": "string",
    "timestamp3_c": "timestamp_ntz",
    "timestamp6_c": "timestamp_ntz",
    "date_c": "date",
    "time_c": "bigint",
    "default_numeric_c": "decimal(10,0)",
}
FULL_TYPES = {
    "id": 1,
    "bytea_c": b"2",
    "small_c": 0,
    "int_c": 65535,
    "big_c": 2147483647,
    "real_c": 5.5,
    "double_precision": 6.6,
    "numeric_c": Decimal("123.12345"),
    "decimal_c": Decimal("404.4"),
    "boolean_c": True,
    "text_c": "Hello World",
    "char_c": "a",
    "character_c": "abc",
    "character_varying_c": "abcd..xyz",
    "timestamp3_c": datetime(2020, 7, 17, 18, 0, 22, 123000),
    "timestamp6_c": datetime(2020, 7, 17, 18, 0, 22, 123456),
    "date_c": date(2020, 7, 17),
    "time_c": 64_822_000_000,
    "default_numeric_c": Decimal(500),
}
ARRAYS = {"id": "int", "text_a1": "array<string>", "int_a1": "array<int>", "int_s1": "array<int>"}
NAMED = {"id": "int", "name": "string"}
SIMILAR = {
    "ndi_pg_user_sink_1": [(1, "user_1"), (2, "user_2"), (3, "user_3"), (4, "user_4")],
    "ndi_pg_userbsink_1": [(101, "userb_1"), (102, "userb_2"), (103, "userb_3"), (104, "userb_4")],
    "user%data": [(201, "percent_1"), (202, "percent_2"), (203, "percent_3"), (204, "percent_4")],
    "user_test_data": [(301, "test_1"), (302, "test_2"), (303, "test_3"), (304, "test_4")],
}
READ = {
    "inventory.products": PRODUCTS,
    "replica_identity.products": PRODUCTS,
    "inventory.full_types": TYPES,
    "inventory.array_types": {**ARRAYS, "uuid_a1": "array<string>"},
    "indexes.functional_unique_index": {"id": "int", "char_c": "string"},
    **{f"similar_names.{name}": NAMED for name in SIMILAR},
}


@contextmanager
def captured(shop):
    """Table → its source, after the capture has read all changes."""
    with shop.session() as session:
        session.execute(TABLES.encode())
    sources = {table: shop.source(table, columns, ["id"]) for table, columns in READ.items()}
    with shop.capture() as process:
        shop.until_begun(process)
        with shop.session() as session:
            for changes in (CHANGES.format("inventory"), CHANGES.format("replica_identity"), OTHER_CHANGES):
                session.execute(changes.encode())
        shop.until_caught_up(process)
        yield sources


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with postgres("wal_level=logical", "max_replication_slots=40") as url:
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as session:
            session.execute(b"CREATE DATABASE flink_cdc")
        yield Shop(tmp_path_factory.mktemp("flink-cdc") / "shop", url.rpartition("/")[0] + "/flink_cdc")


@pytest.fixture(scope="module")
def sources(shop):
    with captured(shop) as sources:
        yield sources


def rows_of(source):
    return sorted(source.state(source.available()).to_pylist(), key=lambda row: row["id"])


@pytest.mark.parametrize("table", ["inventory.products", "replica_identity.products"])
def test_consuming_all_events_and_upsert_mode(sources, table):
    """`testConsumingAllEvents`; `testUpsertMode` and `testExceptionForReplicaIdentity` without the identity FULL."""
    rows = rows_of(sources[table])
    weights: dict[str, float] = {}
    for row in rows:
        weights[row["name"]] = weights.get(row["name"], 0.0) + row["weight"]
    assert weights == pytest.approx(WEIGHTS)
    assert [row["id"] for row in rows] == list(range(101, 111))
    assert {row["id"]: row["description"] for row in rows if row["id"] in (106, 110)} == {
        106: "18oz carpenter hammer",
        110: "new water resistent white wind breaker",
    }


@pytest.mark.parametrize("schema", ["inventory", "replica_identity"])
def test_metadata_columns(shop, sources, schema):
    """`testMetadataColumns`: sixteen changes with their kinds."""
    options = {
        "postgres": {"connection": "shop", "table": f"{schema}.products"},
        "primary_key": ["id"],
        "columns": PRODUCTS,
        "mode": "append",
        "metadata": {"kind": "op", "n": "number", "tx": "transaction"},
    }
    source = open_source(Source(name="rows", kind="cdc", options=options), shop.root)
    found = source.read({}, source.available()).to_pylist()
    assert len({row["tx"] for row in found if row["kind"] != "r"} - {None}) == 1  # all were sent at once
    assert {row["tx"] for row in found if row["kind"] == "r"} == {None}
    assert [row["n"] for row in found] == sorted({row["n"] for row in found})
    snapshot, changes = found[:9], found[9:]
    assert [(row["kind"], row["id"]) for row in snapshot] == [("r", number) for number in range(101, 110)]
    assert [(row["kind"], row["id"], row["description"], row["weight"]) for row in changes] == [
        ("u", 106, "18oz carpenter hammer", 1.0),
        ("u", 107, "box of assorted rocks", 5.1),
        ("c", 110, "water resistent white wind breaker", 0.2),
        ("c", 111, "Big 2-wheel scooter ", 5.18),
        ("u", 110, "new water resistent white wind breaker", 0.5),
        ("u", 111, "Big 2-wheel scooter ", 5.17),
        ("d", 111, None, None),
    ]


def test_all_types(sources):
    """`testAllTypes`, without its geometries."""
    assert rows_of(sources["inventory.full_types"]) == [FULL_TYPES]


def test_array_types(sources):
    """`testArrayTypes`, after its update."""
    assert rows_of(sources["inventory.array_types"]) == [
        {
            "id": 1,
            "text_a1": ["updated", "array"],
            "int_a1": [100, 200],
            "int_s1": [42],
            "uuid_a1": ["aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "ffffffff-1111-2222-3333-444444444444"],
        }
    ]


def test_a_unique_index_that_includes_a_function(sources):
    """`testUniqueIndexIncludingFunction`: a table without a primary key."""
    assert rows_of(sources["indexes.functional_unique_index"]) == [{"id": 1, "char_c": None}]


@pytest.mark.parametrize("table", SIMILAR)
def test_similar_table_names(sources, table):
    """`SimilarTableNamesITCase`: `_` and `%` in a name are no wildcards."""
    assert [tuple(row.values()) for row in rows_of(sources[f"similar_names.{table}"])] == SIMILAR[table]


def test_a_partitioned_table_is_refused(shop, sources):
    """`testConsumingAllEventsForPartitionedTable`: its partitions are sources of their own."""
    columns = {"id": "int", "country": "string"}
    one = WantedTable(
        connection="shop", table="inventory_partitioned.products", primary_key=("id", "country"), columns=columns
    )
    with pytest.raises(CaptureFailedError, match=r"inventory_partitioned\.products is no plain table"):
        database_of(shop.project, "shop").check([one])

"""Cases of Flink CDC's `MySqlConnectorITCase`, with a real MariaDB.

Source: github.com/apache/flink-cdc, flink-cdc-connect/flink-cdc-source-connectors/flink-connector-mysql-cdc/src/test
(Apache License 2.0): its tables, its statements, and the results that it expects.

Ours refuses more: `testStartupFrom…` (a table that is made again would begin at another place), tables without a key
(`testNoPKTable…`), names with a point (`testReadingWithDotTableName`), geometries and decimals of more than 38 digits
(`testAllDataTypes`). A `float` is declared as `float` and not as a decimal, `set` is a text, and `bit(64)` has its
lowest byte first. A delete as a row has the values of its key alone.
"""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from tests.capture_mariadb import Server
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    pytest.mark.timeout(1200),
    deep("cases of another capture; the gate has a table with every type"),
]
FULL_TYPES = {  # column → type in the database, declared, literal, value
    "id": ("bigint unsigned AUTO_INCREMENT PRIMARY KEY", "decimal(20,0)", "DEFAULT", Decimal(1)),
    "tiny_c": ("tinyint", "tinyint", "127", 127),
    "tiny_un_c": ("tinyint unsigned", "smallint", "255", 255),
    "tiny_un_z_c": ("tinyint unsigned zerofill", "smallint", "255", 255),
    "small_c": ("smallint", "smallint", "32767", 32767),
    "small_un_c": ("smallint unsigned", "int", "65535", 65535),
    "small_un_z_c": ("smallint unsigned zerofill", "int", "65535", 65535),
    "medium_c": ("mediumint", "int", "8388607", 8388607),
    "medium_un_c": ("mediumint unsigned", "int", "16777215", 16777215),
    "medium_un_z_c": ("mediumint unsigned zerofill", "bigint", "16777215", 16777215),
    "int_c": ("integer", "int", "2147483647", 2147483647),
    "int_un_c": ("integer unsigned", "bigint", "4294967295", 4294967295),
    "int_un_z_c": ("integer unsigned zerofill", "bigint", "4294967295", 4294967295),
    "int11_c": ("int(11)", "bigint", "2147483647", 2147483647),
    "big_c": ("bigint", "bigint", "9223372036854775807", 9223372036854775807),
    "big_un_c": ("bigint unsigned", "decimal(20,0)", "18446744073709551615", Decimal(18446744073709551615)),
    "big_un_z_c": ("bigint unsigned zerofill", "decimal(20,0)", "18446744073709551615", Decimal(18446744073709551615)),
    "varchar_c": ("varchar(255)", "string", "'Hello World'", "Hello World"),
    "char_c": ("char(3)", "string", "'abc'", "abc"),
    "real_c": ("real", "double", "123.102", 123.102),
    "float_c": ("float", "float", "123.102", pytest.approx(123.102, rel=1e-6)),
    "float_un_c": ("float unsigned", "float", "123.103", pytest.approx(123.103, rel=1e-6)),
    "float_un_z_c": ("float unsigned zerofill", "float", "123.104", pytest.approx(123.104, rel=1e-6)),
    "double_c": ("double", "double", "404.4443", 404.4443),
    "double_un_c": ("double unsigned", "double", "404.4444", 404.4444),
    "double_un_z_c": ("double unsigned zerofill", "double", "404.4445", 404.4445),
    "decimal_c": ("decimal(8, 4)", "decimal(8,4)", "123.4567", Decimal("123.4567")),
    "decimal_un_c": ("decimal(8, 4) unsigned", "decimal(8,4)", "123.4568", Decimal("123.4568")),
    "decimal_un_z_c": ("decimal(8, 4) unsigned zerofill", "decimal(8,4)", "123.4569", Decimal("123.4569")),
    "numeric_c": ("numeric(6, 0)", "decimal(6,0)", "345.6", Decimal(346)),
    "bit1_c": ("bit", "boolean", "0", False),
    "tiny1_c": ("tinyint(1)", "tinyint", "1", 1),
    "boolean_c": ("boolean", "tinyint", "true", 1),
    "date_c": ("date", "date", "'2020-07-17'", date(2020, 7, 17)),
    "time_c": ("time(0)", "bigint", "'18:00:22'", 64_822_000_000),
    "datetime3_c": (
        "datetime(3)",
        "timestamp_ntz",
        "'2020-07-17 18:00:22.123'",
        datetime(2020, 7, 17, 18, 0, 22, 123000),
    ),
    "datetime6_c": (
        "datetime(6)",
        "timestamp_ntz",
        "'2020-07-17 18:00:22.123456'",
        datetime(2020, 7, 17, 18, 0, 22, 123456),
    ),
    "timestamp_c": (
        "timestamp",
        "timestamp",
        "'2020-07-17 18:00:22'",
        datetime(2020, 7, 17, 18, 33, 22, tzinfo=UTC),  # by the update
    ),
    "file_uuid": (
        "binary(16)",
        "binary",
        "unhex(replace('651aed08-390f-4893-b2f1-36923e7b7400', '-', ''))",
        bytes.fromhex("651aed08390f4893b2f136923e7b7400"),
    ),
    "bit_c": (
        "bit(64)",
        "binary",
        "b'0000010000000100000001000000010000000100000001000000010000000100'",
        b"\4" * 8,
    ),
    "text_c": ("text", "string", "'text'", "text"),
    "tiny_blob_c": ("tinyblob", "binary", "unhex(hex(16))", b"\x10"),
    "blob_c": ("blob", "binary", "unhex(hex(16))", b"\x10"),
    "medium_blob_c": ("mediumblob", "binary", "unhex(hex(16))", b"\x10"),
    "long_blob_c": ("longblob", "binary", "unhex(hex(16))", b"\x10"),
    "year_c": ("year", "int", "2021", 2021),
    "enum_c": ("enum('red', 'white') DEFAULT 'red'", "string", "'red'", "red"),
    "set_c": ("set('a', 'b')", "string", "'a,b,a'", "a,b"),
    "json_c": ("json", "string", """'{"key1": "value1"}'""", '{"key1": "value1"}'),
    "varchar_len0_c": ("varchar(0)", "string", "''", ""),
}
PRODUCTS = {"id": "int", "name": "string", "description": "string", "weight": "float"}
ADDRESS = {"id": "decimal(20,0)", "country": "string", "city": "string", "detail_address": "string"}
DEFAULTS = {"id": "bigint", "name": "string", "address": "string", "phone_number": "bigint"}
READ = {
    "products": (PRODUCTS, ["id"]),
    "full_types": ({name: declared for name, (_, declared, _, _) in FULL_TYPES.items()}, ["id"]),
    "varbinary_pk_table": ({"order_id": "binary", "quantity": "int", "purchaser": "string"}, ["order_id"]),
    "multi_max_table": ({"order_id": "string", "index": "int", "desc": "string"}, ["order_id", "index"]),
    "address": (ADDRESS, ["id"]),
    "default_value_test": (DEFAULTS, ["id"]),
}
TABLES = f"""
CREATE TABLE products (id integer NOT NULL AUTO_INCREMENT PRIMARY KEY, name varchar(255) NOT NULL DEFAULT 'flink',
  description varchar(512), weight float);
ALTER TABLE products AUTO_INCREMENT = 101;
INSERT INTO products VALUES (default,'scooter','Small 2-wheel scooter',3.14),
  (default,'car battery','12V car battery',8.1),
  (default,'12-pack drill bits','12-pack of drill bits with sizes ranging from #40 to #3',0.8),
  (default,'hammer','12oz carpenter''s hammer',0.75),
  (default,'hammer','14oz carpenter''s hammer',0.875),
  (default,'hammer','16oz carpenter''s hammer',1.0),
  (default,'rocks','box of assorted rocks',5.3),
  (default,'jacket','water resistent black wind breaker',0.1),
  (default,'spare tire','24 inch spare tire',22.2);
CREATE TABLE full_types ({", ".join(f"{name} {type_}" for name, (type_, _, _, _) in FULL_TYPES.items())})
  DEFAULT CHARSET=utf8;
INSERT INTO full_types VALUES ({", ".join(literal for _, _, literal, _ in FULL_TYPES.values())});
CREATE TABLE varbinary_pk_table (order_id varbinary(8) NOT NULL PRIMARY KEY, order_date date NOT NULL,
  quantity int(11) NOT NULL, product_id int(11) NOT NULL, purchaser varchar(512) NOT NULL) DEFAULT CHARSET=utf8;
INSERT INTO varbinary_pk_table VALUES (x'0404040404040400', '2021-03-08', 0, 0, 'flink'),
  (x'0404040404040401', '2021-03-08', 10, 100, 'flink'), (x'0404040404040402', '2021-03-08', 20, 200, 'flink'),
  (x'0404040404040403', '2021-03-08', 30, 300, 'flink'), (x'0404040404040404', '2021-03-08', 40, 400, 'flink');
CREATE TABLE multi_max_table (`order_id` varchar(128) NOT NULL, `index` int(11) NOT NULL, `desc` varchar(512) NOT NULL,
  PRIMARY KEY (`order_id`, `index`)) DEFAULT CHARSET=utf8;
INSERT INTO multi_max_table VALUES ('', 0, 'flink'), ('', 1, 'flink'), ('', 2, 'flink'), ('a', 0, 'flink'),
  ('b', 0, 'flink'), ('c', 0, 'flink'), ('d', 0, 'flink'), ('E', 0, 'flink'), ('E', 1, 'flink'), ('E', 2, 'flink'),
  ('e', 4, 'flink'), ('E', 3, 'flink');
CREATE TABLE address (id bigint unsigned NOT NULL PRIMARY KEY, country varchar(255) NOT NULL,
  city varchar(255) NOT NULL, detail_address varchar(1024));
INSERT INTO address VALUES (416874195632735147, 'China', 'Beijing', 'West Town address 1'),
  (416927583791428523, 'China', 'Beijing', 'West Town address 2'),
  (418161258277847979, 'Germany', 'Berlin', 'West Town address 2');
CREATE TABLE default_value_test (id integer NOT NULL PRIMARY KEY, name varchar(255) NOT NULL DEFAULT 'flink',
  address varchar(1024), phone_number integer DEFAULT ' 123 ');
INSERT INTO default_value_test VALUES (1,'user1','Shanghai',123567), (2,'user2','Shanghai',123567)"""
CHANGES = """
UPDATE products SET description='18oz carpenter hammer' WHERE id=106;
UPDATE products SET weight='5.1' WHERE id=107;
INSERT INTO products VALUES (default,'jacket','water resistent white wind breaker',0.2);
INSERT INTO products VALUES (default,'scooter','Big 2-wheel scooter ',5.18);
UPDATE products SET description='new water resistent white wind breaker', weight='0.5' WHERE id=110;
UPDATE products SET weight='5.17' WHERE id=111;
DELETE FROM products WHERE id=111;
UPDATE full_types SET timestamp_c = '2020-07-17 18:33:22' WHERE id=1;
INSERT INTO varbinary_pk_table VALUES (x'0404040404040405', '2021-03-08', 30, 500, 'flink');
INSERT INTO varbinary_pk_table VALUES (x'0404040404040406', '2021-03-08', 30, 500, 'flink-sql');
UPDATE varbinary_pk_table SET quantity=50 WHERE order_id=x'0404040404040405';
DELETE FROM varbinary_pk_table WHERE order_id=x'0404040404040406';
UPDATE address SET city = 'Hangzhou' WHERE id=416927583791428523;
INSERT INTO address VALUES (418257940021724075, 'Germany', 'Berlin', 'West Town address 3');
DELETE FROM default_value_test WHERE id=1;
CREATE TABLE temp_default_value_test (id integer NOT NULL PRIMARY KEY, tiny_c tinyint DEFAULT ' 0 ',
  small_c smallint DEFAULT ' 3 ', decimal_c decimal(8, 4) DEFAULT ' 16  ', real_c real DEFAULT ' 21.0');
ALTER TABLE temp_default_value_test ALTER COLUMN small_c SET DEFAULT ' 29 ';
ALTER TABLE default_value_test ADD COLUMN new_col smallint(1) unsigned DEFAULT ' 31 ';
ALTER TABLE default_value_test ADD COLUMN collate_test int DEFAULT ' 29 ' COLLATE 'utf8_general_ci';
ALTER TABLE default_value_test ADD COLUMN int_test int DEFAULT ' 30 ';
INSERT INTO default_value_test (id, address) VALUES (3, 'Oslo')"""
WEIGHTS = {
    "scooter": 3.14,
    "car battery": 8.1,
    "12-pack drill bits": 0.8,
    "hammer": 2.625,
    "rocks": 5.1,
    "jacket": 0.6,
    "spare tire": 22.2,
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("mariadb"))
    server.start()
    yield server.shop(tmp_path_factory.mktemp("flink-cdc") / "shop", "flink_cdc")
    server.stop()


@pytest.fixture(scope="module")
def sources(shop):
    """Table → its source, after the capture has read all changes."""
    shop.do(TABLES)
    found = {table: shop.source(shop.name(table), columns, key) for table, (columns, key) in READ.items()}
    with shop.capture() as process:
        shop.until_begun(process)
        shop.do(CHANGES)
        shop.until_caught_up(process)
        yield found


def rows_of(source):
    return sorted(source.state(source.available()).to_pylist(), key=lambda row: repr(list(row.values())))


def test_consuming_all_events(sources):
    rows = rows_of(sources["products"])
    weights: dict[str, float] = {}
    for row in rows:
        weights[row["name"]] = weights.get(row["name"], 0.0) + row["weight"]
    assert weights == pytest.approx(WEIGHTS, rel=1e-6)
    assert [row["id"] for row in rows] == list(range(101, 111))


def test_metadata_columns(shop, sources):
    """`testMetadataColumns` and `testReadChangelogAppendOnly`, with the changes of `testConsumingAllEvents`."""
    assert sources
    options = {
        "mariadb": {"connection": "shop", "table": shop.name("products")},
        "primary_key": ["id"],
        "columns": PRODUCTS,
        "mode": "append",
        "metadata": {"kind": "op", "n": "number", "tx": "transaction"},
    }
    source = open_source(Source(name="rows", kind="cdc", options=options), shop.root)
    found = source.read({}, source.available()).to_pylist()
    assert len({row["tx"] for row in found if row["kind"] != "r"} - {None}) == 7
    assert {row["tx"] for row in found if row["kind"] == "r"} == {None}
    assert [row["n"] for row in found] == sorted({row["n"] for row in found})
    assert [(row["kind"], row["id"]) for row in found[:9]] == [("r", number) for number in range(101, 110)]
    assert [(row["kind"], row["id"], row["description"]) for row in found[9:]] == [
        ("u", 106, "18oz carpenter hammer"),
        ("u", 107, "box of assorted rocks"),
        ("c", 110, "water resistent white wind breaker"),
        ("c", 111, "Big 2-wheel scooter "),
        ("u", 110, "new water resistent white wind breaker"),
        ("u", 111, "Big 2-wheel scooter "),
        ("d", 111, None),
    ]


def test_all_data_types(sources):
    """`testMysql57AllDataTypes`, without its geometries and `decimal(65, 1)`."""
    [row] = rows_of(sources["full_types"])
    assert row == {name: value for name, (_, _, _, value) in FULL_TYPES.items()}


def test_a_primary_key_of_binary_type(sources):
    """`testPrimaryKeyWithVarbinaryType`."""
    assert [tuple(row.values()) for row in rows_of(sources["varbinary_pk_table"])] == [
        (b"\4" * 7 + bytes([last]), quantity, "flink") for last, quantity in enumerate([0, 10, 20, 30, 40, 50])
    ]


def test_keys_that_differ_by_case(sources):
    """`testReadingWithMultiMaxValue`: keys whose collation takes `E` and `e` for one."""
    assert {(row["order_id"], row["index"]) for row in rows_of(sources["multi_max_table"])} == {
        *(("", number) for number in range(3)),
        *((letter, 0) for letter in "abcd"),
        *(("E", number) for number in range(4)),
        ("e", 4),
    }


def test_a_primary_key_of_large_numbers(sources):
    """`testPrimaryKeyWithSnowflakeAlgorithm`, of three of its rows."""
    assert [(int(row["id"]), row["city"]) for row in rows_of(sources["address"])] == [
        (416874195632735147, "Beijing"),
        (416927583791428523, "Hangzhou"),
        (418161258277847979, "Berlin"),
        (418257940021724075, "Berlin"),
    ]


def test_defaults_with_blanks(sources):
    """`testDdlWithDefaultStringValue`, `testAlterWithDefaultStringValue`, `testColumnOptionalWithDefaultValue`."""
    assert rows_of(sources["default_value_test"]) == [
        {"id": 2, "name": "user2", "address": "Shanghai", "phone_number": 123567},
        {"id": 3, "name": "flink", "address": "Oslo", "phone_number": 123},
    ]


@pytest.mark.parametrize("table", ["flink_cdc.customers3.0", "customers"])
def test_names_that_are_refused(shop, table):
    """`testReadingWithDotTableName`."""
    options = {
        "mariadb": {"connection": "shop", "table": table},
        "primary_key": ["id"],
        "columns": {"id": "int"},
    }
    with pytest.raises(SourceError, match="table"):
        open_source(Source(name="rows", kind="cdc", options=options), shop.root)

"""Cold tables read without Spark: rows, history and files are those that Spark and Iceberg tell of."""

import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError, StoreError, TableMissingError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.project.settings import ColdSettings
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, LakeMetadata, NeedsSparkError, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.snapshots import JavaCatalog
from streamhouse.stores.iceberg.tables import FolderTables, RestTables, Tables
from streamhouse.stores.iceberg.upkeep import IcebergUpkeep
from streamhouse.stores.where import RowCondition
from tests.gate.levels import deep
from tests.iceberg_rest import ID, SCOPE, SECRET, named, rest_catalog
from tests.oracle import assert_same_rows
from tests.patience import SOAKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep(
        "each place and key of Iceberg; a folder stays",
        stays=(
            "test_rows_and_history_are_those_of_spark[folder-key0-by0]",
            "test_deletes_by_value_are_left_to_spark[folder]",
            "test_a_file_that_upkeep_removed_is_told[folder]",
        ),
    ),
]

TYPES = {
    "k": "bigint",
    "day": "date",
    "tiny": "tinyint",
    "small": "smallint",
    "n": "int",
    "price": "decimal(12,2)",
    "wide": "decimal(38,10)",
    "x": "double",
    "y": "float",
    "s": "string",
    "flag": "boolean",
    "raw": "binary",
    "at": "timestamp",
    "ntz": "timestamp_ntz",
}
DAYS = [date(1969, 12, 30), date(2024, 2, 29), date(2026, 1, 1)]
TIERS = Tiers(cold="1d")
KEY, DAY = ("day", "k"), ("day",)
KINDS = [((), DAY), (KEY, ())] + ([((), ()), (KEY, DAY)] if SOAKING else [])


class Both(NamedTuple):
    spark: IcebergStore
    upkeep: IcebergUpkeep
    light: IcebergReader
    catalog: str


def both_of(spark: "SparkSession", catalog: str, tables: Tables, locks: Path) -> Both:
    store, upkeep = (kind(lambda: spark, catalog, locks) for kind in (IcebergStore, IcebergUpkeep))
    return Both(store, upkeep, IcebergReader(tables), catalog)


@pytest.fixture(scope="module")
def warehouse(spark: "SparkSession") -> Path:
    folder = spark.conf.get("spark.sql.catalog.cold.warehouse")
    assert folder is not None
    return Path(folder)


@pytest.fixture(scope="module")
def folder(spark: "SparkSession", warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return both_of(spark, "cold", FolderTables(warehouse), tmp_path_factory.mktemp("light") / "locks")


@pytest.fixture(scope="module")
def rest(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    place = tmp_path_factory.mktemp("light_rest")
    with rest_catalog(place, str(place / "warehouse")) as running:
        options = {"type": "rest", "uri": running.url, "credential": f"{ID}:{SECRET}", "scope": SCOPE}
        settings = ColdSettings(catalog=running.url, credential=options["credential"], scope=SCOPE)
        yield both_of(spark, named(spark, "light_rest", settings), RestTables(options), place / "locks")


@pytest.fixture(params=["folder", "rest"])
def both(request: pytest.FixtureRequest) -> Both:
    found: Both = request.getfixturevalue(request.param)
    return found


def make_table(name: str, key: tuple[str, ...] = (), by: tuple[str, ...] = (), types: dict[str, str] = TYPES) -> Table:
    columns = tuple(Column(name=name, type=kind) for name, kind in types.items())
    return Table(name=f"dwd.light_{name}", columns=columns, primary_key=key, partition_by=by, tiers=TIERS)


def row(rng: random.Random, number: int) -> dict[str, Any]:
    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.2 else value

    return {
        "k": number,
        "day": rng.choice(DAYS),
        "tiny": maybe(rng.choice([-128, 0, 127])),
        "small": maybe(rng.choice([-32768, 32767])),
        "n": maybe(rng.randrange(-5, 5)),
        "price": maybe(Decimal(rng.randrange(-10_000, 10_000)) / 100),
        "wide": maybe(Decimal("12345678901234567890.0123456789")),
        "x": maybe(rng.choice([float("nan"), -0.0, 0.1])),
        "y": maybe(0.5),
        "s": maybe(rng.choice(["", "ä", "😀"])),
        "flag": maybe(True),
        "raw": maybe(b"\x00\xff"),
        "at": maybe(datetime(1960, 1, 1, 1, 2, 3, 456789, tzinfo=UTC)),
        "ntz": maybe(datetime(2024, 1, 1, 0, 0, 0, 1)),
    }


def write(store: IcebergStore, table: Table, epoch: int, rows: list[dict[str, Any]], deletes: Any = ()) -> None:
    schema = arrow_schema(table.columns)
    keys = pa.schema([schema.field(name) for name in table.primary_key])
    gone = pa.Table.from_pylist(list(deletes), schema=keys) if deletes else None
    context = WriteContext("test/light", epoch, properties={"n": str(epoch)})
    store.write(table, Changes(pa.Table.from_pylist(rows, schema=schema), gone), context)


def assert_alike(both: Both, table: Table) -> None:
    """Now and at every snapshot."""
    assert both.light.snapshot_properties(table) == both.spark.snapshot_properties(table)
    assert both.light.end(table) == both.spark.end(table)
    assert both.light.list_snapshots(table) == both.spark.list_snapshots(table)
    moments = [None, *({"snapshot": one.number} for one in both.spark.list_snapshots(table)), {"snapshot": 0}]
    for at in moments:
        ours, theirs = both.light.read_state(table, at), both.spark.read_state(table, at)
        assert ours.schema == theirs.schema
        assert_same_rows(ours, theirs, key=table.primary_key, name=f"{table.name} at {at}")
        files = both.light.list_files(table, at)
        assert sorted(files, key=str) == sorted(both.spark.list_files(table, at), key=str)
    assert both.light.read_state(table, columns=("s", "k")).column_names == ["s", "k"]


@pytest.mark.parametrize(("key", "by"), KINDS)
def test_rows_and_history_are_those_of_spark(both: Both, key: tuple[str, ...], by: tuple[str, ...]) -> None:
    rng = random.Random(3)
    table = make_table(f"{'keyed' if key else 'log'}_{len(by)}", key, by)
    assert both.light.columns(table.name) is None
    with pytest.raises(TableMissingError):
        both.light.end(table)
    both.spark.create(table)
    assert both.light.columns(table.name) is not None
    assert both.light.read_state(table).num_rows == 0
    at_ms = 0
    for epoch in range(3):
        rows = [row(rng, n) for n in range(epoch * 10, epoch * 10 + 20)]
        gone = [{"day": one["day"], "k": one["k"] + 10} for one in rows[:5]] if key else ()
        write(both.spark, table, epoch, rows, gone)
        at_ms = both.spark.list_snapshots(table)[-1].committed_ms
    assert_alike(both, table)
    wider = table.model_copy(update={"columns": (*table.columns, Column(name="late", type="smallint"))})
    both.spark.add_columns(wider)
    assert both.light.read_state(wider).column("late").null_count == both.light.read_state(table).num_rows
    write(both.spark, wider, 3, [{**row(rng, 99), "late": 7}])
    if by:
        both.spark.drop_partitions(wider, [(DAYS[0],)])
    both.upkeep.compact(wider, full=bool(by))
    both.upkeep.expire(wider, datetime.now(UTC) + timedelta(days=1), {})
    assert_alike(both, wider)
    assert both.light.position_at(wider, at_ms + 10**9) == both.spark.position_at(wider, at_ms + 10**9)
    with pytest.raises(RowsLostError):
        both.light.position_at(wider, 1)
    for number in (1, 99_999):
        with pytest.raises(RowsLostError):
            both.light.read_state(wider, {"snapshot": number})


WHERE = [
    [RowCondition("day", "=", (DAYS[1],))],
    [RowCondition("day", ">", (DAYS[0],)), RowCondition("s", "=", ("ä",))],
    [RowCondition("day", "in", (DAYS[0], DAYS[2])), RowCondition("k", "<", (12,))],
    [RowCondition("k", "=", (7_000,))],
    [RowCondition("tiny", ">=", (-128,)), RowCondition("small", "<=", (-1,))],
    [RowCondition("price", "<", (Decimal("-12.50"),))],
    [RowCondition("wide", "=", (Decimal("12345678901234567890.0123456789"),))],
    [RowCondition("s", "in", ("", "😀"))],
    [RowCondition("s", ">", ("a",))],
    [RowCondition("flag", "=", (True,))],
    [RowCondition("at", "=", (datetime(1960, 1, 1, 1, 2, 3, 456789, tzinfo=UTC),))],
    [RowCondition("at", ">", (datetime(1960, 1, 1, 1, 2, 3, 456789, tzinfo=UTC),))],
    [RowCondition("ntz", "<=", (datetime(2024, 1, 1, 0, 0, 0, 1),))],
    [RowCondition("ntz", "<", (datetime(2024, 1, 1, 0, 0, 0, 1),))],
    [RowCondition("x", "is null"), RowCondition("late", "is null")],
    [RowCondition("late", "is not null")],
    [RowCondition("late", "=", (5,))],
    [RowCondition("raw", "is not null"), RowCondition("y", "is null")],
]


@pytest.mark.parametrize(("key", "by"), KINDS)
def test_conditions_leave_out_what_spark_leaves_out(both: Both, key: tuple[str, ...], by: tuple[str, ...]) -> None:
    rng = random.Random(5)
    table = make_table(f"where_{'keyed' if key else 'log'}_{len(by)}", key, by)
    both.spark.create(table)
    write(both.spark, table, 0, [row(rng, n) for n in range(20)])
    wider = table.model_copy(update={"columns": (*table.columns, Column(name="late", type="smallint"))})
    both.spark.add_columns(wider)
    write(both.spark, wider, 1, [{**row(rng, n), "late": 5} for n in range(10, 30)])
    assert isinstance(both.light, LakeMetadata)
    every = both.spark.dataframe(wider)
    for where in WHERE:
        asked = " and ".join(_sql(one) for one in where)
        files = both.light.list_files(wider, None, where)
        assert sorted(files, key=str) == sorted(both.spark.list_files(wider, None, where), key=str), asked
        found = both.light.read_where(wider, None, ("k", "day"), where)
        assert_same_rows(found, every.where(asked).select("k", "day").toArrow(), key=(), name=asked)


def _sql(condition: RowCondition) -> str:
    def shown(value: Any) -> str:
        kinds = {datetime: "timestamp_ntz", date: "date", str: "string", Decimal: "decimal(38,10)"}
        kind = "timestamp" if getattr(value, "tzinfo", None) else kinds.get(type(value))
        return f"cast('{value}' as {kind})" if kind else str(value)

    values = ", ".join(shown(one) for one in condition.values)
    return f"{condition.column} {condition.operator} {f'({values})' if condition.operator == 'in' else values}"


def test_another_engine_finds_the_key_and_its_snapshots_are_known_here(both: Both) -> None:
    rng = random.Random(6)
    table = make_table("others", ("k", "day"), ("day",))
    both.spark.create(table)
    for epoch in range(3):
        write(both.spark, table, epoch, [row(rng, n) for n in range(epoch, 9)])
    stored = both.light._opened(table.name)  # what PyIceberg says
    assert stored is not None
    assert sorted(stored.schema().identifier_field_names()) == ["day", "k"]
    assert [field.name for field in stored.schema().fields] == list(table.column_names)
    for one in stored.metadata.snapshots:
        for store in (both.light, both.spark):
            assert store.position_of(table, one.snapshot_id) == {"snapshot": one.sequence_number}
            assert store.position_of(table, one.sequence_number) == {"snapshot": one.sequence_number}


def test_nulls_may_be_partitions(both: Both, spark: "SparkSession") -> None:
    table = make_table("nulls", by=("day", "s"), types={"k": "int", "day": "date", "s": "string"})
    both.spark.create(table)
    spark.sql(
        f"insert into {both.catalog}.{table.name} values (1, null, 'a'), (2, date '1969-12-30', null), "
        "(3, null, null), (4, date '2026-01-01', '')"
    )
    assert_alike(both, table)
    for where, rows in (
        ([RowCondition("day", "is null")], [1, 3]),
        ([RowCondition("s", "is not null")], [1, 4]),
        ([RowCondition("day", "<", (DAYS[2],))], [2]),
        ([RowCondition("s", "=", ("",)), RowCondition("day", "is not null")], [4]),
    ):
        assert sorted(both.light.read_where(table, None, ("k",), where).column("k").to_pylist()) == rows
        assert len(both.light.list_files(table, None, where)) == len(rows)


def test_columns_that_were_renamed_or_dropped_are_what_they_were(both: Both, spark: "SparkSession") -> None:
    names = ("a", "b", "c", "d")
    table = make_table("renamed", types=dict.fromkeys(names, "int"))
    both.spark.create(table)
    for change in (
        "rename column a to e",
        "drop column b",
        "add column b int",
        "rename column e to a",
        "drop column d",
    ):
        width = len(spark.table(f"{both.catalog}.{table.name}").columns)
        spark.sql(f"insert into {both.catalog}.{table.name} select {', '.join(str(n) for n in range(width))}")
        spark.sql(f"alter table {both.catalog}.{table.name} {change}")
        shown = make_table("renamed", types=dict.fromkeys((*names, "e"), "int"))
        for at in (None, *({"snapshot": one.number} for one in both.spark.list_snapshots(table))):
            ours, theirs = both.light.read_state(shown, at), both.spark.read_state(shown, at)
            assert_same_rows(ours, theirs, key=(), name=f"{change}, at {at}")
            for name in shown.column_names:  # a condition leaves out no row that fulfils it
                kept = both.light.read_where(shown, at, (name,), [RowCondition(name, "is null")])
                assert kept.column(name).null_count == theirs.column(name).null_count


def test_rows_that_this_process_wrote_are_found_by_their_values(folder: Both, spark: "SparkSession") -> None:
    from pyspark.sql import functions as f

    rng = random.Random(5)
    table = make_table("found", by=DAY)
    folder.spark.create(table)
    rows = [row(rng, n) for n in range(80)]
    for epoch in range(2):
        write(folder.spark, table, epoch, rows[epoch * 40 : epoch * 40 + 40])
    stored = spark.table(f"{folder.catalog}.{table.name}")
    for column in table.columns:
        values = [one[column.name] for one in rows]
        there = {value for value in values if value is not None and value == value}  # NaN does not equal itself
        for value in sorted(there, key=repr)[:2]:
            shown = f.lit(value).cast(column.type)
            assert stored.where(f.col(column.name) == shown).count() == values.count(value), (column, value)
    later = folder.spark.list_files(table, None, [RowCondition("k", ">=", (40,))])
    assert len(later) == len(folder.spark.list_files(table)) // 2  # the bounds of each file are known
    assert folder.spark.list_files(table, None, [RowCondition("k", ">", (999,))]) == []


@pytest.mark.parametrize("text", [None, "", "x", "77"])
def test_a_version_hint_that_is_lost_or_damaged_is_found_out_again_as_by_spark(
    folder: Both, warehouse: Path, text: str | None
) -> None:
    table = make_table("odd", types={"k": "int"})
    folder.spark.create(table)
    for epoch in range(2):
        write(folder.spark, table, epoch, [{"k": epoch}])
    hint = warehouse / "dwd" / "light_odd" / "metadata" / "version-hint.text"
    hint.unlink() if text is None else hint.write_text(text)
    assert folder.light.read_state(table).num_rows == folder.spark.read_state(table).num_rows == 2
    hint.write_text("1")
    assert folder.light.read_state(table).num_rows == 2  # the hint is behind, as between a commit and its hint
    if text == "77":
        hint.with_name(f".{hint.name}.crc").unlink()
        hint.write_text(text)
        with pytest.raises(StoreError, match=r"v77\.metadata\.json: it is gone"):
            folder.light.read_state(table)
        hint.write_text("1")
    folder.spark.drop(table.name)


def test_nested_columns_and_large_tables_are_left_to_spark(folder: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table("nested", types={"k": "int", "tags": "array<string>"})
    folder.spark.create(table)
    write(folder.spark, table, 0, [{"k": 1, "tags": ["a"]}, {"k": 2, "tags": None}])
    assert folder.light.read_state(table, columns=("k",)).num_rows == 2
    with pytest.raises(NeedsSparkError, match="tags"):
        folder.light.read_state(table)
    monkeypatch.setattr("streamhouse.stores.iceberg.light._MOST_ROWS", 1)
    with pytest.raises(NeedsSparkError, match="2 rows"):
        folder.light.read_state(table, columns=("k",))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("alter table {} alter column k type bigint", "column k of the cold tier is stored as bigint"),
        ("alter table {} set tblproperties ('format-version' = '3')", "format 3"),
        ("alter table {} set tblproperties ('write.format.default' = 'orc')", "format ORC"),
    ],
)
def test_what_we_do_not_write_is_left_to_spark(both: Both, spark: "SparkSession", change: str, why: str) -> None:
    table = make_table("other", key=("k",), types={"k": "int"})  # Spark writes its files
    both.spark.create(table)
    spark.sql(change.format(f"{both.catalog}.{table.name}"))
    write(both.spark, table, 0, [{"k": 1}])
    with pytest.raises(NeedsSparkError, match=why):
        both.light.read_state(table)
    both.spark.drop(table.name)


def test_deletes_by_value_are_left_to_spark(both: Both, spark: "SparkSession") -> None:
    table = make_table("by_value", types={"k": "int"})
    both.spark.create(table)
    write(both.spark, table, 0, [{"k": 1}])
    stored = JavaCatalog(spark, both.catalog).table(table.name)
    assert stored is not None
    jvm: Any = spark._jvm
    fields = spark.sparkContext._gateway.new_array(jvm.int, 1)
    fields[0] = 1
    deletes = jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(stored.spec()).ofEqualityDeletes(fields)
    file = deletes.withPath(f"{stored.location()}/data/none.parquet").withFileSizeInBytes(1).withRecordCount(1).build()
    stored.newRowDelta().addDeletes(file).commit()
    with pytest.raises(NeedsSparkError, match="equality deletes"):
        both.light.read_state(table)


# A table is read, and nothing imported that takes longer.
ALONE = """
import sys
from pathlib import Path
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.tables import FolderTables, RestTables, Tables

heavy = {"pandas", "pyiceberg", "pypaimon", "pyspark"}
before = sorted(heavy & set(sys.modules))
table = Table(name=sys.argv[2], columns=(Column(name="k", type="int"),), tiers=Tiers(cold="1d"))
rows = IcebergReader(FolderTables(Path(sys.argv[1]))).read_state(table)
print(rows.to_pylist(), before, sorted(heavy & set(sys.modules)))
import pandas  # it is kept away no longer
print(rows.to_pandas()["k"].tolist())
"""


def test_reading_imports_little(folder: Both, warehouse: Path) -> None:
    table = make_table("alone", types={"k": "int"})
    folder.spark.create(table)
    write(folder.spark, table, 0, [{"k": 1}])
    command = [sys.executable, "-c", ALONE, str(warehouse), table.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[{'k': 1}] [] ['pyiceberg']", "[1]"], done.stderr


def test_a_file_that_upkeep_removed_is_told(both: Both) -> None:
    table = make_table("gone", types={"k": "int"})
    both.spark.create(table)
    write(both.spark, table, 0, [{"k": 1}])
    (file,) = both.light.list_files(table)
    Path(file.path.removeprefix("file:")).unlink()
    with pytest.raises(StoreError, match="is gone"):
        both.light.read_state(table)

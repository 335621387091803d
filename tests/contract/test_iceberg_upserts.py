"""Keyed tables of the cold tier that this process writes: the rows are those of the last write of each key."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.iceberg import IcebergStore, statements
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.tables import FolderTables
from streamhouse.stores.iceberg.upkeep import IcebergUpkeep
from tests.gate.levels import deep
from tests.oracle import assert_same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep(
        "more random histories",
        only=(
            "test_each_key_has_the_row_written_last[0]",
            "test_each_key_has_the_row_written_last[2]",
            "test_each_key_has_the_row_written_last[3]",
            "test_each_key_has_the_row_written_last[4]",
            "test_each_key_has_the_row_written_last[5]",
        ),
    ),
]

DAYS = [date(1969, 12, 30), date(2024, 2, 29), date(2026, 1, 1)]
VALUES: dict[str, Callable[[random.Random], Any]] = {
    "int": lambda rng: rng.randrange(6),
    "tinyint": lambda rng: rng.randrange(-128, 127, 40),
    "bigint": lambda rng: rng.choice([-(2**62), 0, 2**62, 7]),
    "string": lambda rng: rng.choice(["", "a", "😀", "a" * 40, "a" * 40 + "b"]),
    "date": lambda rng: rng.choice(DAYS),
    "decimal(12,2)": lambda rng: rng.choice([Decimal("0.10"), Decimal("-7.00")]),
    "timestamp": lambda rng: rng.choice(
        [datetime(1960, 1, 1, 1, 2, 3, 456789, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)]
    ),
    "binary": lambda rng: rng.choice([b"", b"\x00\xff"]),
    "boolean": lambda rng: rng.random() < 0.5,
}
KEYS = [
    ("int",),
    ("string",),
    ("date", "int"),
    ("decimal(12,2)", "timestamp", "tinyint"),
    ("bigint", "binary", "boolean"),
]


@pytest.fixture
def no_merge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark writes nothing."""

    def refuse(*_: object) -> str:
        raise AssertionError("Spark would have written")

    monkeypatch.setattr(statements, "merge_into", refuse)


@pytest.fixture(scope="module")
def locks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("upserts") / "locks"


def keyed(name: str, kinds: tuple[str, ...], by: tuple[str, ...] = ()) -> Table:
    columns = [Column(name=f"k{number}", type=kind) for number, kind in enumerate(kinds)]
    return Table(
        name=f"dwd.upserts_{name}",
        columns=(*columns, Column(name="v", type="smallint")),
        primary_key=tuple(column.name for column in columns),
        partition_by=by,
        tiers=Tiers(cold="1d"),
    )


@pytest.mark.usefixtures("no_merge")
@pytest.mark.parametrize("number", range(len(KEYS) + 1))
def test_each_key_has_the_row_written_last(spark: "SparkSession", locks: Path, number: int) -> None:
    rng = random.Random(number)
    kinds, by = (("date", "int"), ("k0",)) if number == len(KEYS) else (KEYS[number], ())
    table = keyed(str(number), kinds, by)
    store, upkeep = (made(lambda: spark, "cold", locks) for made in (IcebergStore, IcebergUpkeep))
    warehouse = spark.conf.get("spark.sql.catalog.cold.warehouse")
    assert warehouse is not None
    light = IcebergReader(FolderTables(Path(warehouse)))
    store.create(table)
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    states = []
    for epoch in range(5):
        if epoch == 3:
            table = table.model_copy(update={"columns": (*table.columns, Column(name="late", type="string"))})
            store.add_columns(table)
            upkeep.compact(table, full=True)
        schema = arrow_schema(table.columns)
        keys = pa.schema([schema.field(name) for name in table.primary_key])

        def drawn() -> tuple[Any, ...]:
            return tuple(VALUES[kind](rng) for kind in kinds)

        gone = [drawn() for _ in range(4)] if epoch else []
        upserts = [drawn() for _ in range(0 if epoch == 2 else 6)]
        for key in gone:
            rows.pop(key, None)
        given = []
        for key in upserts:
            rows[key] = {**dict(zip(table.primary_key, key, strict=True)), "v": rng.randrange(-9, 9), "late": None}
            rows[key] |= {"late": str(epoch)} if epoch > 3 else {}
            given.append(rows[key])
        changes = Changes(
            pa.Table.from_pylist([{name: row[name] for name in table.column_names} for row in given], schema=schema),
            pa.Table.from_pylist([dict(zip(table.primary_key, key, strict=True)) for key in gone], schema=keys),
        )
        for _ in range(2):  # a repeated epoch changes nothing
            end = store.write(table, changes, WriteContext("w", epoch, properties={"n": str(epoch)}))
        wanted = pa.Table.from_pylist([{n: r[n] for n in table.column_names} for r in rows.values()], schema=schema)
        for reader in (store, light):
            assert_same_rows(reader.read_state(table), wanted, key=table.primary_key, name=f"{kinds} at {epoch}")
        assert store.snapshot_properties(table)["n"] == str(epoch)
        states.append((end, wanted, table))
        files = store.list_files(table)
        assert len([file for file in files if file.deletes]) <= len([file for file in files if not file.deletes])
    for end, wanted, then in states[:3]:
        assert_same_rows(store.read_state(then, end), wanted, key=then.primary_key, name=f"{kinds} at {end}")
    upkeep.compact(table, full=True)
    assert_same_rows(store.read_state(table), states[-1][1], key=table.primary_key, name="compacted")
    assert upkeep.expire(table, datetime.now(UTC) + timedelta(days=1), {}) > 0


@pytest.mark.usefixtures("no_merge")
def test_only_files_that_may_have_a_key_are_opened(
    spark: "SparkSession", locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = keyed("pruned", ("int",))
    store = IcebergStore(lambda: spark, "cold", locks)
    store.create(table)
    for epoch in range(3):
        rows = [{"k0": epoch * 10 + n, "v": n} for n in range(10)]
        store.write(table, Changes(pa.Table.from_pylist(rows)), WriteContext("w", epoch))
    opened: list[str] = []
    from streamhouse.stores.iceberg import committing

    read = committing._read
    monkeypatch.setattr(committing, "_read", lambda path, *rest: opened.append(path) or read(path, *rest))
    store.write(table, Changes(pa.Table.from_pylist([{"k0": 12, "v": 99}, {"k0": 14, "v": 99}])), WriteContext("w", 3))
    assert len(opened) == 1
    assert sorted(store.read_state(table).column("v").to_pylist())[-2:] == [99, 99]


@pytest.mark.parametrize("kinds", [("double",), ("int", "float")], ids=["double", "float"])
def test_what_sql_compares_in_its_own_way_is_left_to_spark(
    spark: "SparkSession", locks: Path, kinds: tuple[str, ...]
) -> None:
    table = keyed("floats_" + kinds[-1], kinds)
    store = IcebergStore(lambda: spark, "cold", locks)
    store.create(table)
    for epoch, zero in enumerate((0.0, -0.0)):
        row = {column.name: zero if column.type in ("double", "float") else 1 for column in table.columns}
        rows = pa.Table.from_pylist([row | {"v": epoch}], schema=arrow_schema(table.columns))
        store.write(table, Changes(rows), WriteContext("w", epoch))
    assert store.read_state(table).column("v").to_pylist() == [1]


@pytest.mark.usefixtures("no_merge")
def test_a_commit_beside_ours_makes_it_fail_and_not_wrong(
    spark: "SparkSession", locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever does without our lock, such as a catalog that keeps up its tables, may rewrite a file meanwhile."""
    from streamhouse.errors import StoreError
    from streamhouse.stores.iceberg import data_files

    table = keyed("raced", ("int",))
    store, upkeep = (
        made(lambda: spark, "cold", folder) for made, folder in ((IcebergStore, locks), (IcebergUpkeep, locks / "x"))
    )
    store.create(table)
    for epoch in range(2):
        store.write(table, Changes(pa.Table.from_pylist([{"k0": epoch, "v": 1}])), WriteContext("w", epoch))
    written = data_files.written

    def raced(*given: Any) -> Any:
        upkeep.compact(table, full=True)
        return written(*given)

    monkeypatch.setattr(data_files, "written", raced)
    changed = Changes(pa.Table.from_pylist([{"k0": 0, "v": 2}]))
    with pytest.raises(StoreError):
        store.write(table, changed, WriteContext("w", 2))
    monkeypatch.setattr(data_files, "written", written)
    store.write(table, changed, WriteContext("w", 2))
    assert sorted(store.read_state(table).to_pylist(), key=str) == [{"k0": 0, "v": 2}, {"k0": 1, "v": 1}]


NESTED = {
    "id": ("int", [1, 2, 3]),
    "tags": ("array<smallint>", [[1, None], None, []]),
    "counts": ("map<string,int>", [[("a", 1), ("b", None)], None, []]),
    "place": (
        "struct<street:string,number:tinyint>",
        [{"street": "ä", "number": 7}, {"street": None, "number": -1}, None],
    ),
    "deep": (
        "struct<at:timestamp,parts:array<struct<price:decimal(5,2),more:map<string,array<int>>>>>",
        [
            {"at": datetime(1960, 1, 1, 1, 2, 3, 456789, tzinfo=UTC), "parts": [None, {"price": None, "more": None}]},
            {"at": None, "parts": [{"price": Decimal("-1.50"), "more": [("k", [1, None]), ("n", None)]}]},
            None,
        ],
    ),
}


@pytest.mark.usefixtures("no_merge")
@pytest.mark.parametrize("key", [(), ("id",)], ids=["log", "keyed"])
def test_nested_columns_are_written_here(
    spark: "SparkSession", locks: Path, monkeypatch: pytest.MonkeyPatch, key: tuple[str, ...]
) -> None:
    columns = tuple(Column(name=name, type=kind) for name, (kind, _) in NESTED.items())
    table = Table(name=f"dwd.nested_{len(key)}", columns=columns, primary_key=key, tiers=Tiers(cold="1d"))
    store = IcebergStore(lambda: spark, "cold", locks)
    store.create(table)
    monkeypatch.setattr(store, "_session", lambda: pytest.fail("Spark would have written"))
    schema = arrow_schema(columns)
    rows = pa.table(
        [pa.array(values, field.type) for field, (_, values) in zip(schema, NESTED.values(), strict=True)],
        schema=schema,
    )
    store.write(table, Changes(rows), WriteContext("w", 0))
    assert sorted(store.read_state(table).to_pylist(), key=str) == sorted(rows.to_pylist(), key=str)
    wider = table.model_copy(update={"columns": (*columns, Column(name="late", type="array<string>"))})
    store.add_columns(wider)
    more = [{**row, "id": row["id"] + 2, "late": ["x"]} for row in rows.to_pylist()]
    store.write(wider, Changes(pa.Table.from_pylist(more, schema=arrow_schema(wider.columns))), WriteContext("w", 1))
    kept = [{**row, "late": None} for row in rows.to_pylist() if not key or row["id"] < 3]
    assert sorted(store.read_state(wider).to_pylist(), key=str) == sorted([*kept, *more], key=str)
    inner = store.dataframe(wider).where("place.number = 7 and deep.at < timestamp '1970-01-01 00:00:00Z'")
    assert sorted(row["id"] for row in inner.collect()) == [1, 3]

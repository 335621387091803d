"""Warm tables read by Paimon's Rust engine alone: rows and history are pypaimon's, soon after a start."""

import random
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError, TableMissingError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore
from streamhouse.stores.paimon.light import PaimonReader, small_state
from streamhouse.stores.paimon.upkeep import PaimonUpkeep
from streamhouse.stores.where import RowCondition
from tests.gate.levels import deep
from tests.oracle import assert_same_rows

pytestmark = deep(
    "each kind of table; a log, one by day and a compacted one stay",
    only=(
        "test_rows_and_history_are_those_of_pypaimon[keyed_by_day]",
        "test_compacted_and_expired_tables_are_read_alike[merging]",
        "test_rows_and_history_are_those_of_pypaimon[merging]",
        "test_rows_and_history_are_those_of_pypaimon[keyed]",
        "test_rows_and_history_are_those_of_pypaimon[first_row]",
        "test_compacted_and_expired_tables_are_read_alike[log_by_day]",
        "test_compacted_and_expired_tables_are_read_alike[keyed_by_day]",
        "test_compacted_and_expired_tables_are_read_alike[first_row]",
        "test_compacted_and_expired_tables_are_read_alike[versioned]",
        "test_compacted_and_expired_tables_are_read_alike[keyed]",
    ),
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {
    "k": "bigint",
    "day": "date",
    "tiny": "tinyint",
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
    "tags": "array<string>",
    "m": "map<string,int>",
    "st": "struct<a:int,b:struct<c:string,d:decimal(5,1)>>",
    "v": "bigint",
}
FOLDED = {
    "v": "sum",
    "n": "max",
    "price": "min",
    "flag": "bool_or",
    "s": "first_value",
    **dict.fromkeys(("tiny", "wide", "x", "y", "raw", "at", "ntz", "tags", "m", "st"), "last_value"),
}
DAYS = [date(1969, 12, 30), date(2024, 2, 29), date(2026, 1, 1)]
COLUMNS = tuple(Column(name=name, type=kind) for name, kind in TYPES.items())
KEY = ("k", "day")
KINDS: dict[str, dict[str, Any]] = {
    "log": {},
    "log_by_day": {"partition_by": ("day",)},
    "keyed": {"primary_key": KEY},
    "keyed_by_day": {"primary_key": KEY, "partition_by": ("day",)},
    "first_row": {"primary_key": KEY, "first_row": True},
    "versioned": {"primary_key": KEY, "version_column": "v"},
    "merging": {"primary_key": KEY, "partition_by": ("day",), "merge": FOLDED},
}
WHERE = [
    [RowCondition("day", "=", (DAYS[1],))],
    [RowCondition("day", "in", (DAYS[0], DAYS[2])), RowCondition("k", "<", (12,))],
    [RowCondition("k", ">=", (7_000,))],
    [RowCondition("price", "<", (Decimal("-12.50"),)), RowCondition("wide", "is not null")],
    [RowCondition("s", "in", ("", "😀")), RowCondition("flag", "=", (True,))],
    [RowCondition("at", ">", (datetime(1960, 1, 1, tzinfo=UTC),)), RowCondition("ntz", "<=", (datetime(2024, 1, 2),))],
    [RowCondition("v", ">", (3,))],
    [RowCondition("late", "is null")],
    [RowCondition("late", "=", (5,))],
]


def make_table(kind: str) -> Table:
    return Table(name=f"dwd.{kind}", columns=COLUMNS, buckets=2, tiers=Tiers(warm="1d"), **KINDS[kind])


def row(rng: random.Random, number: int) -> dict[str, Any]:
    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.2 else value

    return {
        "k": number,
        "day": rng.choice(DAYS),
        "tiny": maybe(rng.choice([-128, 0, 127])),
        "n": maybe(rng.randrange(-5, 5)),
        "price": maybe(Decimal(rng.randrange(-10_000, 10_000)) / 100),
        "wide": maybe(Decimal("12345678901234567890.0123456789")),
        "x": maybe(rng.choice([-0.0, 0.1])),
        "y": maybe(0.5),
        "s": maybe(rng.choice(["", "ä", "😀"])),
        "flag": maybe(rng.random() < 0.5),
        "raw": maybe(b"\x00\xff"),
        "at": maybe(datetime(1960, 1, 1, 1, 2, 3, 456789, tzinfo=UTC)),
        "ntz": maybe(datetime(2024, 1, 1, 0, 0, 0, 1)),
        "tags": maybe([maybe("a"), "b"]),
        "m": maybe([("x", maybe(1))]),
        "st": maybe({"a": 1, "b": maybe({"c": "z", "d": Decimal("1.5")})}),
        "v": rng.randrange(10),
    }


def write(store: PaimonStore, table: Table, epoch: int, rows: Sequence[dict[str, Any]], gone: Any = ()) -> None:
    given = list({(one["k"], one["day"]): one for one in rows}.values())
    schema = arrow_schema(table.columns)
    keys = pa.schema([schema.field(name) for name in table.primary_key])
    deletes = pa.Table.from_pylist(gone, schema=keys) if gone else None
    context = WriteContext("test/light", epoch, properties={"n": str(epoch)})
    store.write(table, Changes(pa.Table.from_pylist(given, schema=schema), deletes), context)


def filled(store: PaimonStore, kind: str, rng: random.Random) -> Table:
    """A table of several epochs that change, delete and drop rows, and between which it got a column."""
    table = make_table(kind)
    store.create(table)
    for epoch in range(3):
        rows = [row(rng, n) for n in range(epoch * 10, epoch * 10 + 20)]
        deletes = bool(table.primary_key) and not table.selects and not table.merge
        write(store, table, epoch, rows, [{"k": one["k"] + 100, "day": one["day"]} for one in rows] if deletes else ())
        if deletes:
            write(store, table, epoch + 10, [], [{"k": one["k"], "day": one["day"]} for one in rows[:5]])
    wider = table.model_copy(update={"columns": (*table.columns, Column(name="late", type="smallint"))})
    store.add_columns(wider)
    write(store, wider, 20, [{**row(rng, n), "late": 5} for n in range(25, 35)])
    return wider


def assert_alike(whole: PaimonStore, light: PaimonReader, table: Table) -> None:
    """Now, with conditions and without, and at every snapshot; Rust alone reads all of it."""
    assert light.columns(table.name) == whole.columns(table.name)
    assert light.end(table) == whole.end(table)
    assert light.snapshot_properties(table) == whole.snapshot_properties(table)
    assert light.list_snapshots(table) == whole.list_snapshots(table)
    stored, every = light._stored(table.name), tuple(table.column_names)
    for number in (one.number for one in whole.list_snapshots(table)):
        for where in ([], *WHERE) if number == whole.end(table)["snapshot"] else ([], WHERE[1]):
            ours = small_state(stored, table, number, every, where)
            assert ours is not None, f"left to pypaimon: {where}"
            theirs = whole.read_where(table, {"snapshot": number}, every, where)
            assert ours.schema == theirs.schema
            assert_same_rows(ours, theirs, key=(), name=f"{table.name} at {number}, {where}")
        assert light.read_state(table, {"snapshot": number}, ("late", "k")).column_names == ["late", "k"]
        assert (
            light.read_state(table, {"snapshot": number}, ("late",)).num_rows
            == whole.read_state(table, {"snapshot": number}, ("k",)).num_rows
        )
    assert_same_rows(light.read_state(table), whole.read_state(table), key=(), name=table.name)
    assert light.read_state(table, {"snapshot": 0}).num_rows == 0


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_history_are_those_of_pypaimon(tmp_path: Path, kind: str) -> None:
    whole, light = (one(tmp_path / "warm", tmp_path / "locks") for one in (PaimonStore, PaimonReader))
    assert light.columns(f"dwd.{kind}") is None
    with pytest.raises(TableMissingError):
        light.read_state(make_table(kind))
    table = filled(whole, kind, random.Random(kind))
    assert_alike(whole, light, table)
    assert light.read_state(table).num_rows > 20
    if table.partition_by:
        whole.drop_partitions(table, [(DAYS[0],)])
        assert_alike(whole, light, table)


@pytest.mark.spark
@pytest.mark.parametrize("kind", KINDS)
def test_compacted_and_expired_tables_are_read_alike(tmp_path: Path, spark: "SparkSession", kind: str) -> None:
    whole, light = (one(tmp_path / "warm", tmp_path / "locks") for one in (PaimonStore, PaimonReader))
    upkeep = PaimonUpkeep(lambda: spark, tmp_path / "warm", tmp_path / "locks")
    rng = random.Random(kind)
    table = filled(whole, kind, rng)
    before = light.read_state(table)
    upkeep.compact(table, full=True)
    assert_same_rows(light.read_state(table), before, key=(), name=kind)
    write(whole, table, 21, [{**row(rng, n), "late": 6} for n in range(20, 40)])
    assert_alike(whole, light, table)
    upkeep.compact(table)
    upkeep.expire(table, datetime.now(UTC) + timedelta(days=1), {})
    assert_alike(whole, light, table)
    newest = light.list_snapshots(table)[-1]
    assert light.position_at(table, newest.committed_ms) == {"snapshot": newest.number}
    with pytest.raises(RowsLostError):
        light.position_at(table, 1)
    for number in (1, 99_999):
        with pytest.raises(RowsLostError):
            light.read_state(table, {"snapshot": number})


def test_many_rows_and_other_files_are_left_to_pypaimon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, light = (one(tmp_path / "warm", tmp_path / "locks") for one in (PaimonStore, PaimonReader))
    table = filled(whole, "keyed", random.Random(1))
    end = whole.end(table)["snapshot"]
    monkeypatch.setattr("streamhouse.stores.paimon.light._MOST_ROWS", 5)
    assert small_state(light._stored(table.name), table, end, ("k",)) is None
    assert_same_rows(light.read_state(table), whole.read_state(table), key=(), name="many")
    monkeypatch.undo()
    _set_option(whole, table, "file.compression", "zstd")
    _set_option(whole, table, "file.format", "orc")
    write(whole, table, 30, [{**row(random.Random(2), 70), "late": 1}])
    assert small_state(light._stored(table.name), table, end + 1, ("k",)) is None
    ours, theirs = (one.read_state(table, columns=("k", "v")) for one in (light, whole))
    assert_same_rows(ours, theirs, key=(), name="orc")


def _set_option(store: PaimonStore, table: Table, key: str, value: str) -> None:
    from pypaimon.schema.schema_change import SchemaChange

    store._catalog.alter_table(table.name, [SchemaChange.set_option(key, value)], False)


# What takes longer to import than a small table to be read.
HEAVY = """
import sys
from pathlib import Path
from streamhouse.model.table import Column, Table
from streamhouse.stores.paimon.light import PaimonReader
from streamhouse.stores.where import RowCondition

columns = (Column(name="k", type="bigint"), Column(name="v", type="bigint"))
table = Table(name="dwd.keyed", columns=columns, primary_key=("k",), tiers={"warm": "1d"})
reader = PaimonReader(Path(sys.argv[1]), Path(sys.argv[2]))
assert reader.columns(table.name) and reader.snapshot_properties(table) and reader.list_snapshots(table)
assert reader.read_where(table, None, ("k", "v"), [RowCondition("v", ">", (3,))]).num_rows
heavy = {"pandas", "polars", "fastavro", "pyarrow.dataset", "pypaimon.read.table_read"}
print(reader.read_state(table).num_rows, sorted(heavy & set(sys.modules)))
"""


def test_nothing_slow_is_imported_for_a_small_table(tmp_path: Path) -> None:
    whole = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    table = filled(whole, "keyed", random.Random(1))
    command = [sys.executable, "-c", HEAVY, str(tmp_path / "warm"), str(tmp_path / "locks")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"{whole.read_state(table).num_rows} []", done.stderr

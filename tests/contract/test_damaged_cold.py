"""A damaged file of a cold table, metadata or data, is the rows that were written or an error, by Spark or Python."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, NeedsSparkError, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.tables import FolderTables
from streamhouse.stores.where import RowCondition
from tests.gate.levels import deep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep("each kind of table; one stays", stays=("test_a_damaged_file_is_the_same_rows_or_an_error[keyed]",)),
]
COLUMNS = (Column(name="k", type="bigint"), Column(name="day", type="string"), Column(name="v", type="bigint"))
KINDS: dict[str, dict[str, Any]] = {
    "keyed": {"primary_key": ("k",)},
    "log": {},
    "log_by_day": {"partition_by": ("day",)},
    "keyed_by_day": {"primary_key": ("k", "day"), "partition_by": ("day",)},
}
WHERE = (RowCondition("v", ">", (150,)),)


def filled(store: IcebergStore, kind: str) -> Table:
    table = Table(name=f"dwd.damaged_{kind}", columns=COLUMNS, tiers=Tiers(cold="1d"), **KINDS[kind])
    store.create(table)
    for epoch in range(3):
        rows = [{"k": n, "day": f"d{n % 2}", "v": epoch * 100 + n} for n in range(epoch * 5, epoch * 5 + 20)]
        upserts = pa.Table.from_pylist(rows, arrow_schema(COLUMNS))
        store.write(table, Changes(upserts), WriteContext("f/s", epoch, properties={"note": str(epoch)}))
    return table


@contextmanager
def damaged(file: Path, content: bytes) -> Iterator[None]:
    before = file.read_bytes()
    file.write_bytes(content)
    try:
        yield
    finally:
        file.write_bytes(before)


def rows_of(found: pa.Table) -> list[str]:
    return sorted(map(repr, found.to_pylist()))


def by_spark(store: IcebergStore, table: Table) -> list[Any]:
    return [rows_of(store.read_state(table)), store.last_commit(table, "f/s"), store.end(table)]


def by_python(reader: IcebergReader, table: Table) -> list[Any]:
    return [
        rows_of(reader.read_state(table)),
        rows_of(reader.read_where(table, None, ("k", "v"), WHERE)),
        reader.snapshot_properties(table),
        reader.end(table),
        len(reader.list_files(table)),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_the_same_rows_or_an_error(spark: "SparkSession", tmp_path: Path, kind: str) -> None:
    warehouse = Path(str(spark.conf.get("spark.sql.catalog.cold.warehouse")))
    store, reader = IcebergStore(lambda: spark, "cold", tmp_path / "locks"), IcebergReader(FolderTables(warehouse))
    table = filled(store, kind)
    place = warehouse / "dwd" / table.name.partition(".")[2]
    assert all((file.parent / f".{file.name}.crc").exists() for file in place.rglob("*.parquet")), "ours have them, too"
    asked: list[tuple[int, Callable[[], list[Any]]]] = [
        (3, lambda: by_python(reader, table)),
        (1, lambda: by_spark(store, table)),
    ]
    chance, wrong, errors = random.Random(8), [], 0
    newest = max(place.glob("metadata/*.json"), key=lambda file: int(file.name[1:].partition(".")[0]))
    files = [newest, *sorted(place.rglob("*.avro")), *sorted(place.rglob("*.parquet"))]
    for times, ask in asked:
        whole = ask()
        for file in files:
            content = file.read_bytes()
            flips = [bytearray(content) for _ in range(times)]
            for flipped in flips:
                flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            for damage in (*map(bytes, flips), content[: chance.randrange(len(content))]):
                with damaged(file, damage):
                    try:
                        found = ask()
                    except (StoreError, NeedsSparkError):
                        errors += 1
                    else:
                        wrong += [
                            (file.name, times, one) for one, right in zip(found, whole, strict=True) if one != right
                        ]
    assert not wrong, "\n".join(map(str, wrong))
    assert errors > len(files), "most files are needed"

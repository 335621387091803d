"""A file of a cold table that an older copy put in its place is an error; what Spark itself wrote never is."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.iceberg.described import _footer, difference
from streamhouse.stores.iceberg.light import IcebergReader
from streamhouse.stores.iceberg.tables import FolderTables
from tests.gate.levels import deep
from tests.oracle import assert_same_rows

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import StaticTable
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep("each kind of table; one stays", stays=("test_older_deletes_in_place_of_the_newest_are_an_error[whole]",)),
]
KEYED = (Column(name="k", type="int"), Column(name="day", type="string"), Column(name="v", type="int"))
TYPES = {
    "n": "int",
    "small": "smallint",
    "big": "bigint",
    "day": "date",
    "at": "timestamp",
    "ntz": "timestamp_ntz",
    "price": "decimal(7,2)",
    "wide": "decimal(38,10)",
    "x": "double",
    "y": "float",
    "s": "string",
    "flag": "boolean",
    "raw": "binary",
    "late": "int",
}
ROWS = """
SELECT cast(id AS int), cast(id - 9 AS smallint), (id - 3) * 230584300921369395,
    date_add(date'1969-12-28', cast(id % 6 AS int)),
    timestamp_micros((id - 9) * 86399999999 - 1), cast(timestamp_micros(-id * 7) AS timestamp_ntz),
    cast(id - 5.25 AS decimal(7,2)), cast(-id AS decimal(38,10)), if(id % 3 = 0, double('NaN'), -0.0),
    if(id % 2 = 0, float('inf'), 0.0), concat(repeat('ü', cast(id AS int)), repeat('long', 30), id), id % 2 = 0,
    cast(repeat('b', cast(id * 9 AS int)) AS binary), {late}
FROM range({start}, {end}, 1, 2) SORT BY id
"""


@pytest.fixture(scope="module")
def warehouse(spark: "SparkSession") -> Path:
    return Path(str(spark.conf.get("spark.sql.catalog.cold.warehouse")))


@pytest.mark.parametrize("by", [(), ("day",)], ids=["whole", "by_day"])
def test_older_deletes_in_place_of_the_newest_are_an_error(
    spark: "SparkSession", warehouse: Path, tmp_path: Path, by: tuple[str, ...]
) -> None:
    table = Table(
        name=f"dwd.replaced_{len(by)}",
        columns=KEYED,
        primary_key=("k", *by),
        partition_by=by,
        tiers=Tiers(cold="1d"),
    )
    store, reader = IcebergStore(lambda: spark, "cold", tmp_path), IcebergReader(FolderTables(warehouse))
    store.create(table)
    found: list[Path] = []
    place = warehouse / "dwd" / table.name.partition(".")[2]
    for epoch in range(3):
        rows = pa.table({"k": pa.array(range(4), pa.int32()), "day": ["d"] * 4, "v": pa.array([epoch] * 4, pa.int32())})
        store.write(table, Changes(rows), WriteContext("f/s", epoch))
        found += [file for file in place.rglob("*.deletes.parquet") if file not in found]
    assert [row["v"] for row in reader.read_state(table).to_pylist()] == [2] * 4
    older, newest = found
    shutil.copyfile(older, newest)
    newest.with_name(f".{newest.name}.crc").unlink()
    with pytest.raises(StoreError, match=rf"damaged: .*{newest.name}"):
        reader.read_state(table)


def all_files(stored: "StaticTable") -> "list[DataFile]":
    manifests = [one for snapshot in stored.metadata.snapshots for one in snapshot.manifests(stored.io)]
    return [entry.data_file for one in manifests for entry in one.fetch_manifest_entry(stored.io)]


@pytest.mark.parametrize("granularity", ["file", "partition"])
@pytest.mark.parametrize("by", [(), ("day",)], ids=["whole", "by_day"])
def test_what_spark_wrote_is_as_its_manifests_say(
    spark: "SparkSession", warehouse: Path, tmp_path: Path, by: tuple[str, ...], granularity: str
) -> None:
    name = f"spark_{granularity}_{len(by)}"
    table = Table(
        name=f"dwd.{name}",
        columns=tuple(Column(name=column, type=kind) for column, kind in TYPES.items()),
        partition_by=by,
        tiers=Tiers(cold="1d"),
    )
    store, reader = IcebergStore(lambda: spark, "cold", tmp_path), IcebergReader(FolderTables(warehouse))
    store.create(table)

    def run(text: str) -> None:
        spark.sql(text.format(t=f"cold.{table.name}"))

    run(
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', "
        f"'write.delete.granularity'='{granularity}', 'write.parquet.row-group-size-bytes'='2048', "
        "'write.parquet.row-group-check-min-record-count'='3')"
    )
    run("INSERT INTO {t} " + ROWS.format(start=0, end=40, late="NULL"))
    run("INSERT INTO {t} " + ROWS.format(start=20, end=40, late="NULL"))
    run("DELETE FROM {t} WHERE n % 7 = 2")
    run("UPDATE {t} SET small = -1, at = at + interval 1 microsecond WHERE n % 5 = 1")
    run("INSERT INTO {t} SELECT NULL, NULL, NULL, date'2024-01-01'" + ", NULL" * 10)
    for column, kind in {"n": "bigint", "y": "double", "price": "decimal(9,2)"}.items():
        run(f"ALTER TABLE {{t}} ALTER COLUMN {column} TYPE {kind}")
    run("ALTER TABLE {t} RENAME COLUMN small TO little")
    run("ALTER TABLE {t} DROP COLUMN late")
    run("ALTER TABLE {t} ADD COLUMN late bigint FIRST")
    run("DELETE FROM {t} WHERE n = 8")
    evolved = {**TYPES, "n": "bigint", "y": "double", "price": "decimal(9,2)", "late": "bigint"}
    columns = [Column(name="little" if one == "small" else one, type=kind) for one, kind in evolved.items()]
    now = table.model_copy(update={"columns": tuple(columns)})
    assert_same_rows(reader.read_state(now), store.read_state(now), key=(), name=name)
    stored = reader._opened(table.name)
    assert stored is not None
    found = all_files(stored)
    assert [what for one in found if (what := difference(one)) is not None] == []
    data, deletes = ([one for one in found if (one.content.name == "DATA") is is_data] for is_data in (True, False))
    assert deletes, "rows are deleted by their positions"
    for one in data:
        compared = _footer(Path(one.file_path.removeprefix("file:"))).bounds
        assert all(number in compared for number in one.lower_bounds if number in range(1, 7)), one.file_path
    if granularity == "partition" and not by:
        assert any(not one.lower_bounds for one in deletes), "of several data files, no bounds are said"

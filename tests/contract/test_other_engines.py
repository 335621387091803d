"""What another engine sees of a lake table, read as docs/engines.md tells: by PyIceberg, DuckDB and pypaimon alone."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.stores.base import Changes, LakeStore, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.paimon import PaimonStore
from streamhouse.stores.serving import ServingLinks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Make = Callable[..., Table]


def written(store: LakeStore, table: Table) -> None:
    """Keys 0 to 5, of which 3 to 5 came twice and 0 is deleted."""
    store.create(table)
    for epoch, (start, gone) in enumerate([(0, []), (3, [0])]):
        rows = pa.table({"k": pa.array(range(start, 6), pa.int64()), "v": pa.array([epoch] * (6 - start), pa.int64())})
        changes = Changes(rows, pa.table({"k": pa.array(gone, pa.int64())}) if gone else None)
        store.write(table, changes, WriteContext("f/s", epoch, properties={}))


WANTED = [(1, 0), (2, 0), (3, 1), (4, 1), (5, 1)]


@pytest.mark.spark
def test_iceberg(spark: "SparkSession", make_table: Make, tmp_path: Path) -> None:
    from pyiceberg.table import StaticTable

    store, table = IcebergStore(lambda: spark, "cold", tmp_path), make_table(k="bigint", v="bigint", key=("k",))
    written(store, table)
    warehouse = spark.conf.get("spark.sql.catalog.cold.warehouse")
    links = ServingLinks(Tier.COLD, Path(str(warehouse)))
    links.show(table.name)
    folder = links.folder / table.name.replace(".", "/") / "metadata"
    version = (folder / "version-hint.text").read_text().strip()
    found = StaticTable.from_metadata(str(folder / f"v{version}.metadata.json"))
    assert found.schema().identifier_field_names() == {"k"}
    assert [(field.name, field.required) for field in found.schema().fields] == [("k", True), ("v", False)]
    rows = found.scan().to_arrow()  # noqa: F841  DuckDB reads it
    assert duckdb.sql("SELECT k, v FROM rows ORDER BY k").fetchall() == WANTED
    rebuilt = table.model_copy(update={"name": f"{table.name}__v2"})
    written(store, rebuilt)
    spark.sql(f"INSERT INTO cold.{rebuilt.name} VALUES (6, 6)")
    links.show(rebuilt.name)
    reader = spark.newSession()
    reader.conf.set("spark.sql.catalog.others", "org.apache.iceberg.spark.SparkCatalog")
    reader.conf.set("spark.sql.catalog.others.type", "hadoop")
    reader.conf.set("spark.sql.catalog.others.warehouse", str(links.folder))
    found_again = reader.table(f"others.{table.name}").orderBy("k").collect()
    assert [tuple(row) for row in found_again] == [*WANTED, (6, 6)]


def test_paimon(make_table: Make, tmp_path: Path) -> None:
    from pypaimon import CatalogFactory

    store, table = PaimonStore(tmp_path / "warm", tmp_path / "locks"), make_table(k="bigint", v="bigint", key=("k",))
    written(store, table)
    links = ServingLinks(Tier.WARM, tmp_path / "warm")
    links.show(table.name)
    catalog = CatalogFactory.create({"warehouse": str(links.folder)})
    assert catalog.list_tables(table.name.partition(".")[0]) == [table.name.partition(".")[2]]
    found = catalog.get_table(table.name)
    assert [field.name for field in found.fields] == ["k", "v", "_rk"], "the one column that docs/engines.md tells of"
    assert "no part of the row" in found.fields[-1].description
    builder = found.new_read_builder().with_projection(["k", "v"])
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    assert sorted(map(tuple, (row.values() for row in rows.to_pylist()))) == WANTED
    rebuilt = table.model_copy(update={"name": f"{table.name}__v2"})
    written(store, rebuilt)
    more = Changes(pa.table({"k": pa.array([6], pa.int64()), "v": pa.array([6], pa.int64())}))
    store.write(rebuilt, more, WriteContext("f/s", 2, properties={}))
    links.show(rebuilt.name)
    builder = catalog.get_table(table.name).new_read_builder().with_projection(["k", "v"])
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    assert sorted(map(tuple, (row.values() for row in rows.to_pylist()))) == [*WANTED, (6, 6)]

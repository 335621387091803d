"""Compaction and expiry, done by the lakes' own JVM tools, change neither rows nor what is known of epochs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.model.table import Table
from streamhouse.stores.base import Changes, LakeStore, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.paimon import PaimonStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
Make = Callable[..., Table]


def write(store: LakeStore, table: Table, epoch: int, keys: range) -> None:
    rows = pa.table({"k": pa.array(keys, pa.int64()), "v": pa.array([epoch] * len(keys), pa.int64())})
    store.write(table, Changes(rows), WriteContext("f/s", epoch, properties={"offsets": f"0:{epoch}"}))


def filled(store: LakeStore, table: Table) -> list[dict[str, Any]]:
    """The rows after five epochs, each of which overwrites half of the one before."""
    store.create(table)
    for epoch in range(5):
        write(store, table, epoch, range(epoch * 10, epoch * 10 + 20))
    return sorted(store.read_state(table).to_pylist(), key=str)


def check(store: LakeStore, table: Table, before: list[dict[str, Any]]) -> None:
    assert sorted(store.read_state(table).to_pylist(), key=str) == before
    assert store.snapshot_properties(table)["offsets"] == "0:4"
    write(store, table, 4, range(1000))
    assert sorted(store.read_state(table).to_pylist(), key=str) == before
    write(store, table, 5, range(1000, 1001))
    assert sorted(store.read_state(table).to_pylist(), key=str) == sorted([*before, {"k": 1000, "v": 5}], key=str)


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_iceberg(iceberg_store: IcebergStore, spark: "SparkSession", make_table: Make, key: tuple[str, ...]) -> None:
    table = make_table(k="bigint", v="bigint", key=key)
    before = filled(iceberg_store, table)
    table_ = {"table": table.name}
    spark.sql("CALL cold.system.rewrite_data_files(table => :table, options => map('rewrite-all', 'true'))", table_)
    spark.sql(
        "CALL cold.system.expire_snapshots(table => :table, older_than => TIMESTAMP '2100-01-01', retain_last => 1)",
        table_,
    )
    assert spark.table(f"cold.{table.name}.snapshots").count() == 2
    check(iceberg_store, table, before)


def test_paimon(spark: "SparkSession", tmp_path: Path, make_table: Make) -> None:
    store = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    table = make_table(k="bigint", v="bigint", key=("k",))
    before = filled(store, table)
    end = store.end(table)
    compact_and_expire(spark, tmp_path / "warm", table.name, tmp_path / "io")
    assert store.end(table) != end
    assert [path.name for path in (tmp_path / "warm").glob("ods.db/*/snapshot/snapshot-*")] == ["snapshot-6"]
    after = store.read_changes(table, end, store.end(table))
    assert after.upserts.num_rows == 0
    assert after.deletes is None
    check(store, table, before)


def compact_and_expire(spark: "SparkSession", warehouse: Path, name: str, scratch: Path) -> None:
    """Full compaction of every bucket, then expiry of all but the newest snapshot."""
    jvm: Any = spark._jvm
    paimon = jvm.org.apache.paimon
    options = paimon.options.Options()
    options.set("warehouse", str(warehouse))
    catalog = paimon.catalog.CatalogFactory.createCatalog(paimon.catalog.CatalogContext.create(options))
    dynamic = jvm.java.util.HashMap()
    dynamic.put("write-only", "false")
    table = catalog.getTable(paimon.catalog.Identifier.create(*name.split("."))).copy(dynamic)
    builder = paimon.table.sink.BatchWriteBuilderImpl(table)
    write = builder.newWrite()
    scratch.mkdir()
    write.withIOManager(paimon.disk.IOManager.create(str(scratch)))
    for entry in table.newSnapshotReader().bucketEntries():
        write.compact(entry.partition(), entry.bucket(), True)
    builder.newCommit().commit(write.prepareCommit())
    kept = paimon.options.ExpireConfig.builder().snapshotRetainMax(1).snapshotRetainMin(1)
    kept = kept.snapshotTimeRetain(jvm.java.time.Duration.ZERO).build()
    table.newExpireSnapshots().config(kept).expire()

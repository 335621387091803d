"""Iceberg tables of others that Spark wrote, as Spark sees them: deletes by place and by value, compaction, expiry."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.kinds import open_source
from streamhouse.model.flow import Source
from streamhouse.stores.iceberg.snapshots import JavaCatalog
from tests.gate.levels import deep

pytestmark = [pytest.mark.spark, deep("tables that Spark writes; tests/unit/ingest/tables has those of PyIceberg")]
KEYED = {"mode": "snapshot_diff", "primary_key": ["id"]}


class Owner:
    """Who owns a table of the catalog."""

    def __init__(self, spark, root, version):
        self.spark, self.root, self.name = spark, root, f"others.t_{uuid4().hex[:8]}"
        warehouse = spark.conf.get("spark.sql.catalog.cold.warehouse")
        known = {"lake": {"kind": "iceberg", "warehouse": warehouse}}
        (root / "streamhouse.yaml").write_text(yaml.safe_dump({"connections": known}))
        spark.sql("CREATE NAMESPACE IF NOT EXISTS cold.others")
        modes = ", ".join(f"'write.{what}.mode'='merge-on-read'" for what in ("delete", "update", "merge"))
        spark.sql(
            f"CREATE TABLE cold.{self.name} (id BIGINT, name STRING, day DATE, amount DECIMAL(12,2)) USING iceberg "
            f"PARTITIONED BY (day) TBLPROPERTIES ({modes}, 'format-version'='{version}')"
        )

    def sql(self, text):
        self.spark.sql(text.format(t=f"cold.{self.name}", name=f"'{self.name}'"))

    def opened(self, **more):
        options = {"connection": "lake", "table": self.name, **more}
        return open_source(Source(name="r", kind="table", options=options, at=Location("f.yaml", 1, 1)), self.root)

    def stored(self):
        return JavaCatalog(self.spark, "cold").table(self.name)

    def rows(self, number):
        """What Spark sees at a snapshot."""
        ids = {s.sequenceNumber(): s.snapshotId() for s in self.stored().snapshots()}
        return values(self.spark.sql(f"SELECT * FROM cold.{self.name} VERSION AS OF {ids[number]}").toArrow())


@pytest.fixture(params=[2, 3])
def owner(spark, tmp_path, request):
    made = Owner(spark, tmp_path, request.param)
    yield made
    made.sql("DROP TABLE {t}")


def values(rows):
    return sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)


def folded(before, changes):
    """Rows by key, with changes."""
    found = {row[0]: row for row in before}
    for (key,) in values(changes.deletes) if changes.deletes is not None else ():
        del found[key]
    return sorted({**found, **{row[0]: row for row in values(changes.upserts)}}.values(), key=repr)


def test_each_snapshot_is_what_spark_sees(owner):
    owner.sql("INSERT INTO {t} SELECT id, concat('n', id), DATE'2024-01-01' + CAST(id % 3 AS INT), id FROM range(30)")
    owner.sql("DELETE FROM {t} WHERE id % 7 = 0")
    owner.sql("UPDATE {t} SET amount = amount + 1, day = day + 1 WHERE id % 5 = 1")
    owner.sql("ALTER TABLE {t} RENAME COLUMN name TO title")
    owner.sql(
        "MERGE INTO {t} t USING (SELECT id, 'm' AS n FROM range(25, 35)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET title = s.n WHEN NOT MATCHED THEN INSERT (id, title) VALUES (s.id, s.n)"
    )
    owner.sql("CALL cold.system.rewrite_data_files(table => {name}, options => map('min-input-files', '1'))")
    owner.sql("DELETE FROM {t} WHERE day = DATE'2024-01-02'")
    source = owner.opened(**KEYED)
    last = source.available()["snapshot"]
    assert last >= 6
    for number in range(1, last + 1):
        assert values(source.state({"snapshot": number})) == owner.rows(number), number
    for start in range(1, last):
        for end in range(start + 1, last + 1):
            changes = source.changes({"snapshot": start}, {"snapshot": end})
            assert folded(owner.rows(start), changes) == owner.rows(end), (start, end)


def test_compacted_rows_are_read_once_and_expired_ones_are_missed(owner):
    for first in (0, 10, 20):
        owner.sql(f"INSERT INTO {{t}} SELECT id, 'a', DATE'2024-01-01', 1 FROM range({first}, {first} + 10)")
    owner.sql("CALL cold.system.rewrite_data_files(table => {name}, options => map('min-input-files', '1'))")
    owner.sql("INSERT INTO {t} SELECT id, 'a', DATE'2024-01-01', 1 FROM range(30, 40)")
    source = owner.opened()
    assert sorted(source.read({"snapshot": 1}, source.available())["id"].to_pylist()) == list(range(10, 40))
    assert sorted(source.read({}, source.available())["id"].to_pylist()) == list(range(40))
    owner.sql(
        "CALL cold.system.expire_snapshots(table => {name}, older_than => TIMESTAMP '2999-01-01', retain_last => 2)"
    )
    later = owner.opened()
    with pytest.raises(RowsLostError, match="no longer has each snapshot after 1"):
        later.advance({"snapshot": 1}, 100)
    assert sorted(later.read({"snapshot": 4}, {"snapshot": 5})["id"].to_pylist()) == list(range(30, 40))
    owner.sql("DELETE FROM {t} WHERE id = 39")
    with pytest.raises(SourceError, match="removed rows"):
        owner.opened().advance({"snapshot": 5}, 100)


def test_deletes_by_value_leave_what_they_leave_to_spark(owner, spark):
    owner.sql("INSERT INTO {t} SELECT id, concat('n', id), DATE'2024-01-01', id FROM range(10)")
    owner.sql("INSERT INTO {t} VALUES (10, NULL, DATE'2024-01-01', 1), (11, 'x', DATE'2024-01-02', 1)")
    delete(owner, spark, {"name": ["n3", "x", None]}, 2, day="2024-01-01")
    owner.sql("INSERT INTO {t} VALUES (3, 'n3', DATE'2024-01-01', 7)")
    delete(owner, spark, {"id": [4, 5], "name": ["n4", "other"]}, 1, 2, day="2024-01-01")
    source = owner.opened(**KEYED)
    for number in range(1, 6):
        assert values(source.state({"snapshot": number})) == owner.rows(number), number
    changes = source.changes({"snapshot": 2}, {"snapshot": 5})
    assert folded(owner.rows(2), changes) == owner.rows(5)
    assert 11 in source.state({"snapshot": 5})["id"].to_pylist(), "a row of another partition"
    assert 4 not in source.state({"snapshot": 5}, ("amount",))["id"].to_pylist()


def delete(owner: Owner, spark: Any, columns: dict[str, list[Any]], *ids: int, day: str) -> None:
    """Commit a delete file that names values, as Flink does."""
    stored = owner.stored()
    types = {"id": pa.int64(), "name": pa.string()}
    facts = {name: {"PARQUET:field_id": str(number)} for name, number in zip(columns, ids, strict=True)}
    schema = pa.schema([pa.field(name, types[name], metadata=facts[name]) for name in columns])
    path = Path(str(stored.location()).removeprefix("file:")) / "data" / f"deletes-{uuid4().hex}.parquet"
    pq.write_table(pa.table(columns, schema=schema), path)
    jvm = spark._jvm
    numbers = spark.sparkContext._gateway.new_array(jvm.int, len(ids))
    for at, number in enumerate(ids):
        numbers[at] = number
    rows = len(next(iter(columns.values())))
    built = jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(stored.spec()).ofEqualityDeletes(numbers)
    built = built.withPath(str(path)).withFileSizeInBytes(path.stat().st_size).withRecordCount(rows)
    built = built.withFormat("parquet").withPartitionPath(f"day={day}")
    stored.newRowDelta().addDeletes(built.build()).commit()

"""Upkeep of a warm table keeps its checksums, and neither copies nor removes by what is damaged."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.paimon import PaimonStore
from streamhouse.stores.paimon.upkeep import PaimonUpkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
COLUMNS = (Column(name="k", type="bigint"), Column(name="v", type="bigint"))
TABLE = Table(name="ods.kept", columns=COLUMNS, primary_key=("k",), tiers=Tiers(warm="1d"))


def test_upkeep_keeps_checksums_and_stops_at_damage(spark: "SparkSession", tmp_path: Path) -> None:
    store = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    upkeep = PaimonUpkeep(lambda: spark, tmp_path / "warm", tmp_path / "locks")
    store.create(TABLE)
    for epoch in range(4):
        rows = [{"k": n, "v": epoch} for n in range(epoch * 5, epoch * 5 + 10)]
        upserts = pa.Table.from_pylist(rows, arrow_schema(COLUMNS))
        store.write(TABLE, Changes(upserts), WriteContext("f/s", epoch, properties={"n": str(epoch)}))
    place, soon = tmp_path / "warm" / "ods.db" / "kept", datetime.now(UTC) + timedelta(days=1)
    before = sorted(map(repr, store.read_state(TABLE).to_pylist()))

    def damages(file: Path) -> None:
        content = file.read_bytes()
        flipped = bytearray(content)
        flipped[len(flipped) // 2] ^= 4
        file.write_bytes(flipped)
        there = {one for one in place.rglob("*") if one.is_file()}
        for work in (
            lambda: upkeep.compact(TABLE, full=True),
            *(
                ()
                if file.suffix == ".parquet"
                else (
                    lambda: upkeep.expire(TABLE, soon, store_end),
                    lambda: upkeep.remove_orphans(TABLE, soon),
                )
            ),
        ):
            with pytest.raises(StoreError, match=file.name):
                work()
        assert {one for one in place.rglob("*") if one.is_file()} == there
        file.write_bytes(content)

    store_end = store.end(TABLE)
    newest = (place / "checksums" / f"snapshot-{store_end['snapshot']}").read_text()
    damages(next(one for one in sorted((place / "manifest").glob("manifest-*")) if one.name in newest))
    damages(next(iter(sorted(place.rglob("*.parquet")))))
    damages(place / "schema" / "schema-0")

    upkeep.compact(TABLE, full=True)
    upkeep.expire(TABLE, soon, store.end(TABLE))
    upkeep.remove_orphans(TABLE, soon)
    assert sorted(map(repr, store.read_state(TABLE).to_pylist())) == before
    assert (place / "checksums" / f"snapshot-{store.end(TABLE)['snapshot']}").exists(), "our compaction is recorded"
    assert not (place / "checksums" / "snapshot-1").exists(), "what expired is forgotten"
    ledger = (place / "checksums" / "files").read_text()
    assert all(file.name in ledger for file in place.rglob("*.parquet"))
    assert store.last_commit(TABLE, "f/s") is not None

"""Compaction and expiry change neither rows nor what is known of epochs, and leave what somebody has yet to read."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError
from streamhouse.model.table import Table
from streamhouse.stores.base import Changes, LakeStore, WriteContext
from streamhouse.stores.iceberg import IcebergStore
from streamhouse.stores.iceberg.upkeep import IcebergUpkeep
from streamhouse.stores.paimon import PaimonStore
from streamhouse.stores.paimon.upkeep import PaimonUpkeep
from streamhouse.stores.upkeep import LakeUpkeep
from tests.gate.levels import deep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep(
        "many commits, tables without rows, and further kinds of tables; one kind of each store stays",
        only=(
            "test_rows_and_what_is_known_of_epochs_outlive_compaction_and_expiry[iceberg-full-keyed]",
            "test_what_somebody_has_yet_to_read_stays[iceberg-log]",
            "test_a_flow_writes_while_its_table_is_compacted[iceberg-keyed]",
            "test_the_newest_commits_of_all_writers_outlive_their_snapshots[paimon]",
            "test_who_has_yet_to_read_what_expired_is_told_so_also_where_it_was_counted_before[iceberg-log]",
            "test_rows_and_what_is_known_of_epochs_outlive_compaction_and_expiry[paimon-minor-keyed]",
            "test_what_lies_on_disk_is_bounded_however_many_commits_there_were",
            "test_a_table_without_rows_stays_as_it_is",
            "test_files_of_no_snapshot_are_removed_when_they_are_old",
            "test_rows_and_what_is_known_of_epochs_outlive_compaction_and_expiry[iceberg-minor-log]",
            "test_rows_and_what_is_known_of_epochs_outlive_compaction_and_expiry[iceberg-full-log]",
        ),
    ),
]
Make = Callable[..., Table]


class Lake(NamedTuple):
    store: LakeStore
    upkeep: LakeUpkeep
    root: Path


@pytest.fixture(params=["paimon", "iceberg"])
def lake(request: pytest.FixtureRequest, spark: "SparkSession", tmp_path: Path) -> Iterator[Lake]:
    if request.param == "paimon":
        store: LakeStore = PaimonStore(tmp_path / "warm", tmp_path / "locks")
        yield Lake(store, PaimonUpkeep(lambda: spark, tmp_path / "warm", tmp_path / "locks"), tmp_path / "warm")
    else:
        store = IcebergStore(lambda: spark, "cold", tmp_path / "locks")
        yield Lake(store, IcebergUpkeep(lambda: spark, "cold", tmp_path / "locks"), Path(spark.conf.get(_WAREHOUSE)))


_WAREHOUSE = "spark.sql.catalog.cold.warehouse"
KEYS = pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])


def write(store: LakeStore, table: Table, epoch: int, keys: range) -> None:
    rows = pa.table({"k": pa.array(keys, pa.int64()), "v": pa.array([epoch] * len(keys), pa.int64())})
    store.write(table, Changes(rows), WriteContext("f/s", epoch, properties={"offsets": f"0:{epoch}"}))


def rows_of(store: LakeStore, table: Table) -> list[dict[str, Any]]:
    return sorted(store.read_state(table).to_pylist(), key=str)


def filled(store: LakeStore, table: Table, epochs: int = 6) -> list[dict[str, Any]]:
    """The rows after some epochs, each of which overwrites half of the one before."""
    store.create(table)
    for epoch in range(epochs):
        write(store, table, epoch, range(epoch * 10, epoch * 10 + 20))
    return rows_of(store, table)


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(days=1)


@KEYS
@pytest.mark.parametrize("full", [False, True], ids=["minor", "full"])
def test_rows_and_what_is_known_of_epochs_outlive_compaction_and_expiry(
    lake: Lake, make_table: Make, key: tuple[str, ...], full: bool
) -> None:
    store, upkeep, _ = lake
    table = make_table(k="bigint", v="bigint", key=key)
    before = filled(store, table)
    files, end = upkeep.files(table), store.end(table)
    assert files.files >= 6
    upkeep.compact(table, full=full)
    assert upkeep.files(table).files < files.files
    assert store.end(table) != end
    nothing = store.read_changes(table, end, store.end(table))
    assert nothing.upserts.num_rows == 0
    assert not nothing.deletes
    compacted = store.end(table)
    upkeep.compact(table)
    assert store.end(table) == compacted, "what is compacted already is left alone"
    assert upkeep.expire(table, soon(), {}) > 0
    assert upkeep.expire(table, soon(), {}) == 0
    assert rows_of(store, table) == before
    assert store.snapshot_properties(table)["offsets"] == "0:5"
    write(store, table, 5, range(1000))
    assert rows_of(store, table) == before, "the epoch is known"
    write(store, table, 6, range(1000, 1001))
    assert rows_of(store, table) == sorted([*before, {"k": 1000, "v": 6}], key=str)


@KEYS
def test_what_lies_on_disk_is_bounded_however_many_commits_there_were(
    lake: Lake, make_table: Make, key: tuple[str, ...]
) -> None:
    store, upkeep, root = lake
    table = make_table(k="bigint", v="bigint", key=key)
    before = filled(store, table, epochs=40)
    now = datetime.now(UTC)
    for _ in range(2):
        upkeep.compact(table)
        upkeep.expire(table, now - timedelta(days=1), {}, unless_many=now + timedelta(hours=1))
    found = [path for path in (root / table.name.replace(".", ".db/")).rglob("*") if path.is_file()] or [
        path for path in (root / table.name.replace(".", "/")).rglob("*") if path.is_file()
    ]
    assert len([path for path in found if path.suffix == ".parquet"]) <= 30, sorted(map(str, found))
    assert len([path for path in found if path.name.endswith(".metadata.json")]) <= 11
    assert rows_of(store, table) == before
    write(store, table, 39, range(1000))
    assert rows_of(store, table) == before, "the epoch is known"
    assert store.snapshot_properties(table)["offsets"] == "0:39"


def test_the_newest_commits_of_all_writers_outlive_their_snapshots(lake: Lake, make_table: Make) -> None:
    store, upkeep, _ = lake
    table = make_table(k="bigint", v="bigint", key=("k",))
    store.create(table)

    def written(writer: str, epoch: int, value: int) -> None:
        rows = pa.table({"k": pa.array([epoch], pa.int64()), "v": pa.array([value], pa.int64())})
        store.write(table, Changes(rows), WriteContext(writer, epoch, properties={"offsets": f"{writer}:{epoch}"}))

    for epoch in range(7):
        written("a/s", epoch, epoch)
    written("b/s", 3, 3)
    for _ in range(2):
        upkeep.compact(table, full=True)
        upkeep.expire(table, soon(), {})
    before = rows_of(store, table)
    for writer, epoch in (("a/s", 6), ("b/s", 3), ("a/s", 2)):
        written(writer, epoch, 99)
    assert rows_of(store, table) == before
    assert store.snapshot_properties(table)["offsets"] == "b/s:3", "the last that was written"
    written("b/s", 4, 4)
    assert len(rows_of(store, table)) == len(before)
    assert store.snapshot_properties(table)["offsets"] == "b/s:4"


@KEYS
@pytest.mark.parametrize("full", [False, True], ids=["minor", "full"])
def test_a_table_without_rows_stays_as_it_is(lake: Lake, make_table: Make, key: tuple[str, ...], full: bool) -> None:
    store, upkeep, _ = lake
    table = make_table(k="bigint", v="bigint", key=key)
    store.create(table)
    for _ in range(2):
        assert upkeep.files(table).files == 0
        upkeep.compact(table, full=full)
        assert upkeep.expire(table, soon(), {}) == 0
        assert upkeep.remove_orphans(table, datetime.now(UTC) - timedelta(days=3)) == 0
        assert rows_of(store, table) == []
        no_rows = pa.table({"k": pa.array([], pa.int64()), "v": pa.array([], pa.int64())})
        store.write(table, Changes(no_rows), WriteContext("f/s", 0, properties={"offsets": "0:0"}))  # a commit


@KEYS
def test_what_somebody_has_yet_to_read_stays(lake: Lake, make_table: Make, key: tuple[str, ...]) -> None:
    store, upkeep, _ = lake
    table = make_table(k="bigint", v="bigint", key=key)
    filled(store, table, epochs=2)
    reader = store.end(table)
    for epoch in range(2, 6):
        write(store, table, epoch, range(epoch * 10, epoch * 10 + 20))
    upkeep.compact(table, full=True)
    assert upkeep.expire(table, soon(), reader) > 0
    found = store.read_changes(table, reader, store.end(table)).upserts
    assert {row["v"] for row in found.to_pylist()} == {2, 3, 4, 5}
    assert upkeep.expire(table, datetime.now(UTC) - timedelta(hours=1), {}) == 0, "young ones stay"


@KEYS
def test_who_has_yet_to_read_what_expired_is_told_so_also_where_it_was_counted_before(
    lake: Lake, make_table: Make, key: tuple[str, ...]
) -> None:
    store, upkeep, _ = lake
    table = make_table(k="bigint", v="bigint", key=key)
    filled(store, table, epochs=1)
    reader = store.end(table)
    for epoch in range(1, 4):
        write(store, table, epoch, range(epoch * 10, epoch * 10 + 20))
    assert store.rows_between(table, reader, store.end(table)) > 0
    assert upkeep.expire(table, soon(), {}) > 0
    with pytest.raises(RowsLostError):
        store.advance(table, reader, 1000)


@KEYS
def test_a_flow_writes_while_its_table_is_compacted(lake: Lake, make_table: Make, key: tuple[str, ...]) -> None:
    store, upkeep, _ = lake
    table = make_table(k="bigint", v="bigint", key=key)
    filled(store, table, epochs=1)
    over, errors, rounds = Event(), [], []

    def compacting() -> None:
        while not over.is_set():
            try:
                upkeep.compact(table, full=True)
                upkeep.expire(table, soon(), {})
            except Exception as error:  # noqa: BLE001  told to the test
                errors.append(error)
            rounds.append(1)
            over.wait(0.2)

    thread = Thread(target=compacting)
    thread.start()
    epoch = 1
    while len(rounds) < 2 or epoch < 3:
        write(store, table, epoch, range(epoch * 10, epoch * 10 + 20))
        epoch += 1
        over.wait(0.2)  # a lock is nobody's turn: without a pause the writer takes it again and again
    over.set()
    thread.join()
    assert not errors
    wanted = [{"k": k, "v": e} for e in range(epoch) for k in range(e * 10, e * 10 + 20)]
    if key:
        wanted = list({row["k"]: row for row in wanted}.values())
    assert rows_of(store, table) == sorted(wanted, key=str)


def test_files_of_no_snapshot_are_removed_when_they_are_old(lake: Lake, make_table: Make) -> None:
    store, upkeep, root = lake
    table = make_table(k="bigint", v="bigint")
    before = filled(store, table)
    data = next(root.rglob(f"{table.name.split('.')[1]}/**/*.parquet"), None)
    assert data is not None, sorted(map(str, root.rglob("*")))[:20]
    lost = data.with_name("data-lost-0.parquet")
    lost.write_bytes(data.read_bytes())
    young = datetime.now(UTC) - timedelta(days=3)
    assert upkeep.remove_orphans(table, young) == 0
    assert lost.exists()
    old = (datetime.now(UTC) - timedelta(days=9)).timestamp()
    os.utime(lost, (old, old))
    assert upkeep.remove_orphans(table, young) == 1
    assert not lost.exists()
    assert rows_of(store, table) == before

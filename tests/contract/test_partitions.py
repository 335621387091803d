"""Tables whose rows are kept apart by day, and drops of old days that readers do not notice."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, WriteRefusedError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import (
    Changes,
    FilteredStore,
    LakeMetadata,
    LakeStore,
    PartitionedStore,
    Store,
    WriteContext,
)
from streamhouse.stores.upkeep import LakeUpkeep
from streamhouse.stores.where import RowCondition
from tests.gate.levels import deep

pytestmark = deep(
    "log tables of Iceberg, odd names, and compaction of each partition, which test_lake_upkeep.py has of tables",
    only=(
        "test_rows_of_many_days_are_read_as_they_were_written[iceberg-log]",
        "test_partitions_are_told_and_dropped[iceberg-log]",
        "test_who_follows_a_table_does_not_see_a_drop[iceberg-log]",
        "test_odd_names_of_partitions[iceberg-log]",
        "test_odd_names_of_partitions[iceberg-keyed]",
        "test_each_partition_is_compacted",
    ),
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]
_numbers = count(1)
KEYS = pytest.mark.parametrize("key", [(), ("k", "day")], ids=["log", "keyed"])
DAYS = [date(2024, 1, day) for day in range(1, 6)]
OLD = date(1969, 12, 30)
ODD = [
    *("", " ", "  ", " lead", "trail ", "a/b", "/", "//", "x=y", "%", "%2F", "%00", "a%2Fb", "a%252Fb", "a+b"),
    *("Zürich %20", "São Paulo", "Sa\u0303o Paulo", "東京", "😀", "\u2028", ".", "..", "...", ".x", "_x", "_metadata"),
    *("a", "A", "null", "NULL", "true", "-1", "2026-01-31", "__DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"),
    *(
        "\n",
        "a\nb",
        "\r",
        "\t",
        "\x00",
        "\x01",
        "\x7f",
        "a:b",
        "*",
        "?",
        "a\\b",
        "'",
        '"',
        "{}",
        "#",
        "^",
        "[",
        "a,b",
        "a|b",
    ),
]


def make_table(key: tuple[str, ...] = (), *, more: tuple[str, ...] = (), **other: Any) -> Table:
    """By day, and by what `more` names."""
    columns = {"k": "bigint", "day": "date", **dict.fromkeys(more, "string"), "v": "int"}
    return Table(
        name=f"dwd.parts_{next(_numbers)}",
        columns=tuple(Column(name=name, type=kind) for name, kind in columns.items()),
        primary_key=(*key, *more) if key else (),
        partition_by=("day", *more),
        buckets=2,
        tiers=Tiers(hot="1d", warm="1d", cold="1d"),
        **other,
    )


def rows(table: Table, *values: tuple[Any, ...]) -> pa.Table:
    listed = [dict(zip(table.column_names, one, strict=True)) for one in values]
    return pa.Table.from_pylist(listed, schema=arrow_schema(table.columns))


def keys(table: Table, *values: tuple[Any, ...]) -> pa.Table:
    schema = arrow_schema([table.column(name) for name in table.primary_key])
    return pa.Table.from_pylist([dict(zip(table.primary_key, one, strict=True)) for one in values], schema=schema)


def write(store: Store, table: Table, epoch: int, *values: tuple[Any, ...], gone: pa.Table | None = None) -> None:
    store.write(table, Changes(rows(table, *values), gone), WriteContext("f/s", epoch, properties={"n": str(epoch)}))


def listed(found: pa.Table | None) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr) if found is not None else []


def state(store: Store, table: Table) -> list[tuple[Any, ...]]:
    return listed(store.read_state(table))


@pytest.fixture
def parted(store: Store) -> Store:
    if not isinstance(store, PartitionedStore):
        pytest.fail(f"{store.tier} keeps no partitions")
    return store


@KEYS
def test_rows_of_many_days_are_read_as_they_were_written(store: Store, key: tuple[str, ...]) -> None:
    table = make_table(key)
    store.create(table)
    store.create(table)
    first = [(n, DAYS[n % 5], n) for n in range(20)] + [(99, OLD, 0)]
    begun = store.end(table)
    write(store, table, 0, *first)
    store.write(table, Changes(rows(table, *first)), WriteContext("f/s", 0, begun, {"n": "0"}))  # a replay
    middle = store.end(table)
    write(store, table, 1, (3, DAYS[3], 33), (7, DAYS[0], 70))
    expected = [one for one in first if not key or one[0] != 3] + [(3, DAYS[3], 33), (7, DAYS[0], 70)]
    assert state(store, table) == sorted(expected, key=repr), "the same k on two days is two rows"
    assert listed(store.read_changes(table, {}, middle).upserts) == sorted(first, key=repr)
    assert listed(store.read_changes(table, middle, store.end(table)).upserts) == [(3, DAYS[3], 33), (7, DAYS[0], 70)]
    if key:
        before = store.end(table)
        write(store, table, 2, (1, OLD, 1), gone=keys(table, (3, DAYS[3]), (5, DAYS[0]), (5, DAYS[1])))
        found = store.read_changes(table, before, store.end(table))
        assert listed(found.upserts) == [(1, OLD, 1)]
        assert {(3, DAYS[3]), (5, DAYS[0])} <= set(listed(found.deletes))
        left = [one for one in expected if one[:2] not in ((3, DAYS[3]), (5, DAYS[0]))]
        assert state(store, table) == sorted([*left, (1, OLD, 1)], key=repr)


@KEYS
def test_odd_names_of_partitions(lake: LakeStore, key: tuple[str, ...]) -> None:
    table = make_table(key, more=("shop",))
    lake.create(table)
    first = [(n, DAYS[0], name, n + 1) for n, name in enumerate(ODD)]
    write(lake, table, 0, *first)
    before = lake.end(table)
    second = [(n, DAYS[0], name, -n - 1) for n, name in enumerate(ODD) if n % 2]
    write(lake, table, 1, *second)
    expected = [one for one in first if not key or not one[0] % 2] + second
    assert state(lake, table) == sorted(expected, key=repr)
    assert listed(lake.read_state(table, before)) == sorted(first, key=repr)
    assert listed(lake.read_changes(table, before, lake.end(table)).upserts) == sorted(second, key=repr)
    _each_is_found(lake, table)
    if isinstance(lake, PartitionedStore):
        assert lake.partitions(table) == sorted((DAYS[0], name) for name in ODD)
        gone = [(DAYS[0], name) for name in ODD[::2]]
        assert sorted(lake.drop_partitions(table, gone)) == sorted(gone)
        assert state(lake, table) == sorted((one for one in expected if one[0] % 2), key=repr)


@KEYS
def test_a_text_that_no_folder_can_be_called_by(lake: LakeStore, key: tuple[str, ...]) -> None:
    """Paimon's folders have the text in their names; Iceberg's need not."""
    table = make_table(key, more=("shop",))
    lake.create(table)
    write(lake, table, 0, (1, DAYS[0], "x" * 240, 1))
    try:
        write(lake, table, 1, (2, DAYS[0], "x" * 300, 2))
    except WriteRefusedError as error:
        assert "too long a text" in error.message  # noqa: PT017  other lakes take it
        assert error.hint  # noqa: PT017
        assert state(lake, table) == [(1, DAYS[0], "x" * 240, 1)]
    else:
        assert [len(one[2]) for one in state(lake, table)] == [240, 300]


def _each_is_found(lake: LakeStore, table: Table) -> None:
    """A condition on a partition leaves out neither its files nor its rows."""
    for name in ODD:
        where = [RowCondition("shop", "=", (name,))]
        if isinstance(lake, LakeMetadata):
            assert {file.partition for file in lake.list_files(table, None, where)} == {(DAYS[0], name)}
        if isinstance(lake, FilteredStore):
            found = lake.read_where(table, None, table.column_names, where).column("shop").to_pylist()
            assert set(found) == {name}


@KEYS
@pytest.mark.parametrize("column", ["day", "shop"])
def test_a_null_is_no_partition(store: Store, key: tuple[str, ...], column: str) -> None:
    table = make_table(key, more=("shop",))
    store.create(table)
    row = {"k": 1, "day": DAYS[0], "shop": "a", "v": 1, column: None}
    with pytest.raises(WriteRefusedError, match=column):
        write(store, table, 0, tuple(row.values()))
    assert state(store, table) == []


def test_other_partitions_are_another_table(lake: LakeStore) -> None:
    table = make_table()
    lake.create(table)
    with pytest.raises(SchemaConflictError, match="partitions"):
        lake.create(table.model_copy(update={"partition_by": ()}))


@KEYS
def test_partitions_are_told_and_dropped(parted: Any, key: tuple[str, ...]) -> None:
    table = make_table(key, more=("shop",))
    parted.create(table)
    assert parted.partitions(table) == []
    write(parted, table, 0, (1, DAYS[1], "b", 1), (2, DAYS[0], "a", 2), (3, DAYS[0], "b", 3))
    first = parted.end(table)
    write(parted, table, 1, (4, DAYS[0], "a", 4), (5, DAYS[2], "c", 5))
    assert parted.partitions(table) == [(DAYS[0], "a"), (DAYS[0], "b"), (DAYS[1], "b"), (DAYS[2], "c")]
    assert parted.partitions(table, first) == [(DAYS[0], "a"), (DAYS[2], "c")]
    assert parted.partitions(table, parted.end(table)) == []
    asked = [(DAYS[0], "a"), (DAYS[0], "b"), (DAYS[4], "z")]
    assert parted.drop_partitions(table, asked, first) == [(DAYS[0], "b")], "the others changed since, or are not there"
    assert parted.drop_partitions(table, asked) == [(DAYS[0], "a")]
    assert parted.drop_partitions(table, asked) == []
    assert state(parted, table) == [(1, DAYS[1], "b", 1), (5, DAYS[2], "c", 5)]
    assert parted.partitions(table) == [(DAYS[1], "b"), (DAYS[2], "c")]


@KEYS
def test_who_follows_a_table_does_not_see_a_drop(parted: Any, key: tuple[str, ...]) -> None:
    table = make_table(key)
    parted.create(table)
    write(parted, table, 0, *((n, day, 0) for n, day in enumerate(DAYS)))
    before = parted.end(table)
    known = parted.snapshot_properties(table) if hasattr(parted, "snapshot_properties") else None
    assert parted.drop_partitions(table, [(DAYS[0],), (DAYS[1],)]) == [(DAYS[0],), (DAYS[1],)]
    dropped = parted.end(table)
    if known is not None:
        assert parted.snapshot_properties(table) == known
    found = parted.read_changes(table, before, dropped)
    assert (found.upserts.num_rows, found.deletes) == (0, None)
    assert parted.rows_between(table, before, dropped) <= 1
    if known is not None:
        write(parted, table, 0, (9, DAYS[0], 9))  # a replay of what was dropped
    assert [day for _, day, _ in state(parted, table)] == DAYS[2:]
    late = [(0, DAYS[0], 7), (2, DAYS[2], 2)]
    write(parted, table, 1, *late)
    end = parted.end(table)
    for start in (before, dropped):
        found = parted.read_changes(table, start, end)
        assert (listed(found.upserts), found.deletes) == (late, None)
    assert listed(parted.read_changes(table, before, end, ("v",)).upserts) == [(2,), (7,)]
    at, steps = before, []
    while (then := parted.advance(table, at, 1)) != at:
        steps += listed(parted.read_changes(table, at, then).upserts)
        at = then
    assert (at, steps) == (end, late)
    assert (DAYS[0],) in parted.partitions(table)


def test_a_lake_tells_what_was_deleted_around_a_drop(lake: Any) -> None:
    table = make_table(("k", "day"))
    lake.create(table)
    write(lake, table, 0, *((n, day, 0) for n, day in enumerate(DAYS)))
    before = lake.end(table)
    write(lake, table, 1, (2, DAYS[2], 22), gone=keys(table, (0, DAYS[0]), (3, DAYS[3])))
    lake.drop_partitions(table, [(DAYS[0],), (DAYS[1],)])
    write(lake, table, 2, (3, DAYS[3], 33), gone=keys(table, (4, DAYS[4])))
    lake.drop_partitions(table, [(DAYS[2],)])
    found = lake.read_changes(table, before, lake.end(table))
    assert listed(found.upserts) == [(2, DAYS[2], 22), (3, DAYS[3], 33)]
    assert listed(found.deletes) == [(0, DAYS[0]), (4, DAYS[4])]
    if found.before is not None:
        assert listed(found.before) == [(0, DAYS[0], 0), (2, DAYS[2], 0), (3, DAYS[3], 0), (4, DAYS[4], 0)]


def test_rows_set_in_a_table_that_merges_are_no_drop(paimon_store: Any) -> None:
    table = make_table(("k", "day"), merge={"v": "sum"})
    paimon_store.create(table)
    write(paimon_store, table, 0, *((n, day, 1) for n, day in enumerate(DAYS)))
    before = paimon_store.end(table)
    gone = Changes(rows(table, (1, DAYS[1], 5)), keys(table, (0, DAYS[0])))
    paimon_store.replace(table, gone, WriteContext("f/s", 1, properties={"n": "1"}))
    assert paimon_store.partitions(table) == [(day,) for day in DAYS[1:]], "a partition without rows is gone"
    paimon_store.drop_partitions(table, [(DAYS[4],)])
    write(paimon_store, table, 2, (2, DAYS[2], 1))
    found = paimon_store.read_changes(table, before, paimon_store.end(table))
    assert listed(found.upserts) == [(1, DAYS[1], 5), (2, DAYS[2], 2)]
    assert listed(found.deletes) == [(0, DAYS[0])]


@KEYS
def test_a_condition_on_a_partition_leaves_out_files(lake: LakeStore, key: tuple[str, ...]) -> None:
    table = make_table(key)
    lake.create(table)
    write(lake, table, 0, *((n, DAYS[n % 5], n) for n in range(20)))
    assert isinstance(lake, LakeMetadata)
    where = [RowCondition("day", "=", (DAYS[2],))]
    few, every = lake.list_files(table, None, where), lake.list_files(table)
    assert {file.partition for file in few} == {(DAYS[2],)}
    assert {file.partition for file in every} == {(day,) for day in DAYS}
    assert sum(file.rows for file in few) == 4
    if isinstance(lake, FilteredStore):
        assert {row["day"] for row in lake.read_where(table, None, table.column_names, where).to_pylist()} == {DAYS[2]}
    write(lake, table, 1, (2, DAYS[2], 200))
    assert {file.partition for file in lake.list_files(table)} == {(day,) for day in DAYS}


class Kept(NamedTuple):
    store: Any
    upkeep: LakeUpkeep


@pytest.fixture(params=["paimon", "iceberg"])
def kept(request: pytest.FixtureRequest, spark: "SparkSession", tmp_path: Path) -> Iterator[Kept]:
    from streamhouse.stores.iceberg import IcebergStore
    from streamhouse.stores.iceberg.upkeep import IcebergUpkeep
    from streamhouse.stores.paimon import PaimonStore
    from streamhouse.stores.paimon.upkeep import PaimonUpkeep

    locks = tmp_path / "locks"
    if request.param == "paimon":
        yield Kept(PaimonStore(tmp_path / "warm", locks), PaimonUpkeep(lambda: spark, tmp_path / "warm", locks))
    else:
        yield Kept(IcebergStore(lambda: spark, "cold", locks), IcebergUpkeep(lambda: spark, "cold", locks))


@pytest.mark.spark
@KEYS
@pytest.mark.parametrize("full", [False, True], ids=["minor", "full"])
def test_each_partition_is_compacted(kept: Kept, key: tuple[str, ...], full: bool) -> None:
    store, upkeep = kept
    table = make_table(key, more=("shop",))
    store.create(table)
    for epoch in range(6):
        write(
            store,
            table,
            epoch,
            *((n, day, shop, epoch) for n in range(4) for day in [OLD, *DAYS] for shop in ("", "São %2F/Paulo")),
        )
    before, files, end = state(store, table), upkeep.files(table).files, store.end(table)
    upkeep.compact(table, full=full)
    assert upkeep.files(table).files < files / 2
    assert state(store, table) == before
    found = store.read_changes(table, end, store.end(table))
    assert (found.upserts.num_rows, found.deletes) == (0, None)
    write(store, table, 6, (0, OLD, "", 66))
    store.drop_partitions(table, [(DAYS[0], ""), (DAYS[1], "São %2F/Paulo")])
    upkeep.compact(table, full=full)
    upkeep.expire(table, datetime.now(UTC) + timedelta(days=1), {})
    left = [one for one in before if one[1:3] not in ((DAYS[0], ""), (DAYS[1], "São %2F/Paulo"))]
    left = [one for one in left if not key or one[:3] != (0, OLD, "")]
    assert state(store, table) == sorted([*left, (0, OLD, "", 66)], key=repr)
    assert store.snapshot_properties(table)["n"] == "6"
    reopened = type(store)(*_opened_with(store))
    assert state(reopened, table) == state(store, table)


def _opened_with(store: Any) -> tuple[Any, ...]:
    """What a store was made of."""
    if hasattr(store, "_spark_provider"):
        return store._spark_provider, store._catalog_name, store._locks.directory
    return store._locks.directory.parent / "warm", store._locks.directory

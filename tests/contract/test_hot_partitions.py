"""Partitioned tables in Fluss: partitions that appear, are dropped and made anew, under writers and readers."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, WriteRefusedError
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, PartitionedStore, WriteContext
from streamhouse.stores.fluss import FlussStore
from streamhouse.stores.fluss.catalog import FlussCatalog
from streamhouse.stores.fluss.wire.cluster import Wire
from streamhouse.stores.fluss.wire.refusal import LeaderMovedError
from streamhouse.stores.lock import TableLocks
from tests.gate.levels import deep

pytestmark = [
    pytest.mark.services,
    deep(
        "each number of partitions that are written before it dies; two of them stay",
        only=tuple(
            f"test_an_epoch_that_died_between_partitions_is_completed[{case}]"
            for case in ("None-1", "None-2", "None-3", "merge1-0", "merge1-1", "merge1-3")
        ),
    ),
]

Make = Callable[..., Table]
FIRST = WriteContext("flow/segment", 0)
DAY = date(2026, 11, 21)
NEXT = DAY + timedelta(days=1)
FAR = date(2999, 1, 1)  # never past its time
OLD = date(2024, 1, 1)


@pytest.fixture
def make(make_table: Make) -> Make:
    """Builds a table that is partitioned by `d`, a date, unless `by` says otherwise."""

    def build(*, by: tuple[str, ...] = ("d",), key: tuple[str, ...] = (), **others: Any) -> Table:
        columns = {"d": "date", "k": "bigint", "v": "int"} | others.pop("columns", {})
        merge = others.pop("merge", None)
        table = make_table(key=key, merge=merge, **columns)
        return Table.model_validate(table.model_dump() | {"partition_by": by} | others)

    return build


def rows(table: Table, *values: tuple[Any, ...]) -> pa.Table:
    names = table.column_names
    return pa.Table.from_pylist(
        [dict(zip(names, value, strict=True)) for value in values], schema=arrow_schema(table.columns)
    )


def listed(found: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in found.to_pylist())


def again(replay_from: Position) -> WriteContext:
    return WriteContext("flow/segment", 1, replay_from)


# --- names ------------------------------------------------------------------------------------


def test_partitions_are_those_of_the_rows_and_each_has_a_position_of_its_own(
    fluss_store: FlussStore, make: Make
) -> None:
    table = make(by=("d", "c", "n"), columns={"c": "string", "n": "int"})
    fluss_store.create(table)
    assert isinstance(fluss_store, PartitionedStore)
    assert (fluss_store.end(table), fluss_store.partitions(table)) == ({}, [])
    assert fluss_store.read_state(table).num_rows == 0
    values = [(DAY, 1, 1, "de", -5), (DAY, 2, 2, "fr_A-1", 7), (NEXT, 3, 3, "de", -5), (DAY, 4, 4, "de", -5)]
    end = fluss_store.write(table, Changes(rows(table, *values)), FIRST)
    assert fluss_store.partitions(table) == [(DAY, "de", -5), (DAY, "fr_A-1", 7), (NEXT, "de", -5)]
    assert len(end) == 6  # two buckets each
    assert {key.partition("#")[0] for key in end} == {"2026-11-21$de$-5", "2026-11-21$fr_A-1$7", "2026-11-22$de$-5"}
    assert sum(end.values()) == 4
    assert listed(fluss_store.read_state(table)) == sorted(values)
    shape = fluss_store.shape(table.name)
    assert shape is not None
    assert shape.layout.endswith("partitions by (d, c, n)")


def test_other_partitions_than_the_stored_ones_are_refused(fluss_store: FlussStore, make: Make) -> None:
    table = make()
    fluss_store.create(table)
    fluss_store.create(table)
    for other, told in (((), "stored d; planned none"), (("k",), "stored d; planned k")):
        with pytest.raises(SchemaConflictError, match=f"partitions: {told}"):
            fluss_store.create(Table.model_validate(table.model_dump() | {"partition_by": other}))


@pytest.mark.parametrize("value", [None, "", "New York", "a/b", "a$b", "ä", "__x", "x" * 201])
def test_a_value_that_names_no_partition_is_refused_before_anything_is_written(
    fluss_store: FlussStore, make: Make, value: str | None
) -> None:
    table = make(by=("c",), columns={"c": "string"})
    fluss_store.create(table)
    with pytest.raises(WriteRefusedError, match="partition"):
        fluss_store.write(table, Changes(rows(table, (DAY, 1, 1, "good"), (DAY, 2, 2, value))), FIRST)
    assert fluss_store.partitions(table) == []


def test_two_writers_may_need_a_new_partition_at_once(fluss: str, make: Make) -> None:
    table = make(key=("d", "k"))
    stores = [FlussStore(fluss) for _ in range(3)]
    try:
        stores[0].create(table)
        days = [DAY + timedelta(days=n) for n in range(4)]
        with ThreadPoolExecutor(len(stores)) as pool:
            writes = [
                pool.submit(store.write, table, Changes(rows(table, *((day, n, n) for day in days))), FIRST)
                for n, store in enumerate(stores)
            ]
            for write in writes:
                write.result()
        for store in stores:
            assert listed(store.read_state(table)) == [(day, n, n) for day in days for n in range(3)]
    finally:
        for store in stores:
            store.close()


# --- reading over new partitions --------------------------------------------------------------


def test_a_reader_takes_up_partitions_that_others_made(fluss: str, fluss_store: FlussStore, make: Make) -> None:
    table = make()
    fluss_store.create(table)
    first = fluss_store.write(table, Changes(rows(table, *((DAY, n, n) for n in range(50)))), FIRST)
    other = FlussStore(fluss)
    try:
        assert other.end(table) == first
        second = fluss_store.write(
            table, Changes(rows(table, *((day, n, n) for n in range(50, 80) for day in (DAY, NEXT)))), FIRST
        )
        # Its look at the table is older than the partition, and the range tells of it.
        assert other.read_changes(table, first, second).upserts.num_rows == 60
        assert (other.end(table), other.rows_between(table, first, second)) == (second, 60)
        assert other.rows_between(table, {}, second) == 110
        at, taken = Position(), list[tuple[Any, ...]]()
        while (further := other.advance(table, at, 20)) != at:
            step = other.read_changes(table, at, further).upserts
            assert step.num_rows == other.rows_between(table, at, further) <= 20
            taken += listed(step)
            at = further
        assert sorted(taken) == listed(fluss_store.read_state(table))
        log = other.read_log(table, first, second, ("d", "k"))
        assert log.num_rows == 60
        assert set(log.column("_bucket").to_pylist()) <= {0, 1}
        assert listed(other.read_state(table, first)) == [(DAY, n, n) for n in range(50)]
    finally:
        other.close()


@pytest.mark.parametrize("count", [3, 60])  # few rows are each waited for, many are looked up in the log
def test_keyed_states_and_changes_over_new_partitions(fluss_store: FlussStore, make: Make, count: int) -> None:
    table = make(key=("d", "k"))
    fluss_store.create(table)
    old = [(DAY, n, 0) for n in range(count)]
    first = fluss_store.write(table, Changes(rows(table, *old)), FIRST)
    new = [(DAY, 0, 7), (NEXT, 0, 8), *((NEXT, n, 1) for n in range(1, count))]
    gone = rows(table, (DAY, 1, None), (FAR, 1, None)).select(["d", "k"])
    second = fluss_store.write(table, Changes(rows(table, *new), gone), FIRST)
    kept = [row for row in old if row[1] > 1]
    assert listed(fluss_store.read_state(table)) == sorted([*kept, *new])
    assert listed(fluss_store.read_state(table, first)) == sorted(old)
    assert listed(fluss_store.read_state(table, {})) == []
    assert listed(fluss_store.read_state(table, second, ("v", "k"))) == sorted((v, k) for _, k, v in [*kept, *new])
    changes = fluss_store.read_changes(table, first, second)
    assert changes.deletes is not None
    assert changes.before is not None
    assert listed(changes.upserts) == sorted(new)
    assert listed(changes.deletes) == [(DAY, 1)]
    assert listed(changes.before) == [(DAY, 0, 0), (DAY, 1, 0)]
    assert fluss_store.partitions(table) == [(DAY,), (NEXT,)]  # a delete makes none


@pytest.mark.parametrize("count", [3, 60])
def test_values_are_folded_and_columns_written_apart_in_every_partition(
    fluss_store: FlussStore, make: Make, count: int
) -> None:
    summed = make(key=("d", "k"), merge={"v": "sum"})
    fluss_store.create(summed)
    for day in (DAY, NEXT, DAY):
        fluss_store.write(summed, Changes(rows(summed, *((day, n, 2) for n in range(count)))), FIRST)
    assert listed(fluss_store.read_state(summed)) == [(d, n, v) for d, v in ((DAY, 4), (NEXT, 2)) for n in range(count)]
    fluss_store.replace(
        summed,
        Changes(rows(summed, (DAY, 0, 100), (date(2026, 1, 1), 0, 9)), rows(summed, (NEXT, 0, 0)).select(["d", "k"])),
        FIRST,
    )
    fluss_store.write(summed, Changes(rows(summed, (DAY, 0, 1))), FIRST)
    state = {row[:2]: row[2] for row in listed(fluss_store.read_state(summed))}
    assert (state[DAY, 0], state[date(2026, 1, 1), 0]) == (101, 9)
    assert (NEXT, 0) not in state

    parts = make(key=("d", "k"), columns={"w": "int"})
    fluss_store.create(parts)
    for day, column in ((DAY, "v"), (NEXT, "w"), (DAY, "w")):
        given = rows(parts, *((day, n, 1, 2) for n in range(count))).select(["d", "k", column])
        fluss_store.write(parts, Changes(given), WriteContext(f"flow/{column}", 0, columns=(column,)))
    whole = [(DAY, n, 1, 2) for n in range(count)]
    assert [row for row in listed(fluss_store.read_state(parts.model_copy())) if row[0] == DAY] == whole
    assert [row["w"] for row in fluss_store.read_state(parts).to_pylist() if row["d"] == NEXT] == [2] * count


@pytest.mark.parametrize("rule", [{"first_row": True}, {"version_column": "v"}])
def test_rows_that_lose_in_a_partition_leave_the_stored_ones(
    fluss_store: FlussStore, make: Make, rule: dict[str, Any]
) -> None:
    table = make(key=("d", "k"), **rule)
    fluss_store.create(table)
    first = [(day, n, 5) for day in (DAY, NEXT) for n in range(30)]
    fluss_store.write(table, Changes(rows(table, *first)), FIRST)
    fluss_store.write(table, Changes(rows(table, *((NEXT, n, 4) for n in range(31)))), FIRST)
    assert listed(fluss_store.read_state(table)) == sorted([*first, (NEXT, 30, 4)])


# --- attempts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("written", [0, 1, 2, 3])
@pytest.mark.parametrize("merge", [None, {"v": "sum"}])
def test_an_epoch_that_died_between_partitions_is_completed(
    fluss_store: FlussStore, make: Make, merge: dict[str, str] | None, written: int
) -> None:
    table = make(key=("d", "k") if merge else (), merge=merge)
    fluss_store.create(table)
    before = fluss_store.write(table, Changes(rows(table, (DAY, 0, 1))), FIRST)
    days = [DAY + timedelta(days=n) for n in range(3)]
    epoch = [(day, n, 1) for day in days for n in range(10)]
    dead = [row for row in epoch if row[0] in days[:written]]
    if dead:
        fluss_store.write(table, Changes(rows(table, *dead)), FIRST)
    for _ in range(2):
        fluss_store.write(table, Changes(rows(table, *epoch)), again(before))
        if merge:
            expected = {row[:2]: 1 for row in epoch} | {(DAY, 0): 2}
            assert listed(fluss_store.read_state(table)) == sorted((*key, v) for key, v in expected.items())
        else:
            assert listed(fluss_store.read_state(table)) == sorted([(DAY, 0, 1), *epoch])


# --- dropped partitions -----------------------------------------------------------------------


@pytest.mark.parametrize("key", [(), ("d", "k")])
def test_a_dropped_partition_has_no_rows_and_no_error(
    fluss: str, fluss_store: FlussStore, make: Make, key: tuple[str, ...]
) -> None:
    table = make(key=key)
    fluss_store.create(table)
    first = fluss_store.write(table, Changes(rows(table, *((DAY, n, n) for n in range(20)))), FIRST)
    other = FlussStore(fluss)
    try:
        assert other.read_state(table).num_rows == 20
        second = other.write(table, Changes(rows(table, (DAY, 20, 20), (NEXT, 1, 1))), FIRST)
        assert fluss_store.drop_partitions(table, [(DAY,), (date(1999, 1, 1),)]) == [(DAY,)]
        assert fluss_store.partitions(table) == [(NEXT,)]
        for store in (other, fluss_store):  # the one that knew the partition first
            assert listed(store.read_changes(table, {}, second).upserts) == [(NEXT, 1, 1)]
            changes = store.read_changes(table, first, second)
            assert listed(changes.upserts) == [(NEXT, 1, 1)]
            assert changes.deletes is None
            assert listed(store.read_state(table)) == [(NEXT, 1, 1)]
            assert listed(store.read_state(table, first)) == []
            end = store.end(table)
            assert store.rows_between(table, second, end) == 0
            assert store.advance(table, second, 10) == second
            assert store.rows_between(table, first, end) == 1
            assert store.advance(table, first, 10) == end
            assert store.advance(table, {}, 10) == end
    finally:
        other.close()


@pytest.mark.parametrize("key", [(), ("d", "k")])
def test_a_partition_made_anew_is_another_one(
    fluss: str, fluss_store: FlussStore, make: Make, key: tuple[str, ...]
) -> None:
    table = make(key=key)
    fluss_store.create(table)
    other = FlussStore(fluss)
    try:
        at = other.write(table, Changes(rows(table, *((DAY, n, 1) for n in range(30)))), FIRST)
        assert other.read_state(table).num_rows == 30
        for value in (2, 3):
            fluss_store.drop_partitions(table, [(DAY,)])
            # One store knew the partition that is gone, and writes; the other one reads what both wrote.
            anew = [(DAY, n, value) for n in range(40)]
            end = other.write(table, Changes(rows(table, *anew[:20])), FIRST)
            end = fluss_store.write(table, Changes(rows(table, *anew[20:])), FIRST)
            for store in (other, fluss_store):
                assert listed(store.read_changes(table, at, end).upserts) == anew
                assert listed(store.read_state(table)) == anew
                assert listed(store.read_state(table, end)) == anew
            at = end
    finally:
        other.close()


def test_what_is_not_covered_is_not_dropped(fluss_store: FlussStore, make: Make) -> None:
    table = make()
    fluss_store.create(table)
    covered = fluss_store.write(table, Changes(rows(table, (DAY, 1, 1), (NEXT, 1, 1))), FIRST)
    assert fluss_store.partitions(table, covered) == []
    fluss_store.write(table, Changes(rows(table, (DAY, 2, 2))), FIRST)
    assert fluss_store.partitions(table, covered) == [(DAY,)]
    assert fluss_store.drop_partitions(table, [(DAY,), (NEXT,)], covered) == [(NEXT,)]
    assert fluss_store.partitions(table, {}) == [(DAY,)]
    assert fluss_store.drop_partitions(table, [(DAY,)], fluss_store.end(table)) == [(DAY,)]
    assert listed(fluss_store.read_state(table)) == []


def test_a_late_row_is_not_lost_when_its_day_is_dropped_at_that_moment(
    fluss: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make()
    locks = TableLocks(tmp_path / "locks")
    writer, keeper = (FlussStore(fluss, locks=locks) for _ in range(2))
    try:
        writer.create(table)
        covered = writer.write(table, Changes(rows(table, (OLD, 1, 1))), FIRST)
        drop = keeper._catalog.drop_partitions
        with ThreadPoolExecutor(2) as pool:
            late: list[Future[Position]] = []

            def drop_late(*given: Any) -> None:
                written = [Changes(rows(table, (day, 2, 2))) for day in (OLD, FAR)]
                late.extend(pool.submit(writer.write, table, changes, FIRST) for changes in written)
                late[1].result()  # a row of a recent day waits for nobody
                assert not wait(late[:1], 0.5).done
                drop(*given)

            monkeypatch.setattr(keeper._catalog, "drop_partitions", drop_late)
            assert keeper.drop_partitions(table, [(OLD,)], covered) == [(OLD,)]
        assert listed(writer.read_state(table)) == [(OLD, 2, 2), (FAR, 2, 2)]
        assert [write.exception() for write in late] == [None, None]
    finally:
        for store in (writer, keeper):
            store.close()


@pytest.mark.parametrize("count", [3, 60])
def test_a_delete_of_rows_that_only_colder_tiers_hold_is_told(fluss_store: FlussStore, make: Make, count: int) -> None:
    table = make(key=("d", "k"))
    fluss_store.create(table)
    fluss_store.write(table, Changes(rows(table, *((day, n, 1) for n in range(count) for day in (OLD, FAR)))), FIRST)
    fluss_store.drop_partitions(table, [(OLD,)])
    at = fluss_store.write(table, Changes(rows(table, (OLD, 0, 2))), FIRST)  # made anew, without the others
    gone = rows(table, *((day, n, None) for n in range(count + 1) for day in (OLD, FAR))).select(["d", "k"])
    end = fluss_store.write(table, Changes(rows(table, (OLD, 99, 9)), gone), FIRST)
    found = fluss_store.read_changes(table, at, end)
    assert found.deletes is not None
    assert found.before is not None
    assert listed(found.upserts) == [(OLD, 99, 9)]
    assert listed(found.deletes) == [*((OLD, n) for n in range(count + 1)), *((FAR, n) for n in range(count))]
    assert listed(found.before) == [(OLD, 0, 2), *((FAR, n, 1) for n in range(count))]
    assert listed(fluss_store.read_state(table)) == [(OLD, 99, 9)]
    hot_only = Table.model_validate(table.model_dump() | {"name": f"{table.name}_hot", "tiers": {"hot": "1d"}})
    fluss_store.create(hot_only)
    assert fluss_store.write(hot_only, Changes(rows(hot_only), gone), FIRST) == {}


def test_many_partitions_at_once(fluss_store: FlussStore, make: Make) -> None:
    table = make(buckets=1)
    fluss_store.create(table)
    days = [DAY + timedelta(days=n) for n in range(40)]
    written = [(day, n, n) for n, day in enumerate(days * 5)]
    end = fluss_store.write(table, Changes(rows(table, *written)), FIRST)
    assert len(end) == 40
    assert listed(fluss_store.read_state(table)) == sorted(written)
    fluss_store.drop_partitions(table, [(day,) for day in days[1:]])
    assert listed(fluss_store.read_changes(table, {}, end).upserts) == sorted(r for r in written if r[0] == DAY)


def test_rows_may_be_written_the_moment_a_table_is_made(fluss: str, make: Make) -> None:
    """By as many clients at once as are likely: a coordinator that hears of a table late must not be asked too soon."""

    def write(_: int) -> list[list[tuple[Any, ...]]]:
        store = FlussStore(fluss)
        try:
            found = []
            for number in range(5):
                table = make(key=("d", "k") if number % 2 else ())
                store.create(table)
                store.write(table, Changes(rows(table, (DAY, number, 1), (NEXT, number, 2))), FIRST)
                found.append(listed(store.read_state(table)))
            return found
        finally:
            store.close()

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(write, range(4)):
            assert found == [[(DAY, number, 1), (NEXT, number, 2)] for number in range(5)]


@pytest.mark.parametrize("key", [("d", "k"), ()])
def test_whether_the_coordinator_knows_a_table_is_asked_without_a_change(
    fluss_store: FlussStore, make: Make, key: tuple[str, ...]
) -> None:
    table = make(key=key)
    fluss_store.create(table)
    with Wire(fluss_store.bootstrap) as wire:
        catalog = FlussCatalog(wire)
        known = catalog.locate(table.name)
        catalog._refuse_overlooked(known)
        overlooked = replace(known, stored=replace(known.stored, table_id=999_999))
        with pytest.raises(LeaderMovedError, match="coordinator does not know"):
            catalog._refuse_overlooked(overlooked)
        assert catalog.stored(table.name) == known.stored

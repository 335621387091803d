"""Several writers of one wide table, each with columns of its own."""

import random
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext
from tests.gate.levels import deep

pytestmark = deep(
    "random histories and threads over Iceberg; each rule stays for each store",
    only=(
        "test_random_histories_of_two_writers_in_any_order[iceberg]",
        "test_two_threads_write_their_columns_at_the_same_time[iceberg]",
        "test_composite_keys_and_nested_columns[iceberg]",
        "test_a_row_without_any_value_lives_until_a_delete[iceberg]",
    ),
)

Make = Callable[..., Table]
Row = dict[str, Any]


def at(epoch: int, writer: str, columns: tuple[str, ...], replay_from: Position | None = None) -> WriteContext:
    return WriteContext(writer, epoch, replay_from, columns=columns)


def part(table: Table, columns: tuple[str, ...], values: Iterable[Row] = (), deletes: Iterable[Row] = ()) -> Changes:
    """Upserts with the key and `columns` only."""
    names = (*table.primary_key, *columns)
    schema = arrow_schema([table.column(name) for name in names])
    key = arrow_schema([table.column(name) for name in table.primary_key])
    gone = list(deletes)
    return Changes(
        pa.Table.from_pylist(list(values), schema=schema), pa.Table.from_pylist(gone, schema=key) if gone else None
    )


def state(store: Store, table: Table, **options: Any) -> list[Row]:
    return sorted(store.read_state(table, **options).to_pylist(), key=repr)


@pytest.fixture
def wide(store: Store, make_table: Make) -> Table:
    table = make_table(k="bigint", a="int", b="string", c="decimal(12,2)", key=("k",))
    store.create(table)
    return table


A, BC = ("a",), ("b", "c")


def test_other_columns_keep_their_values(store: Store, wide: Table) -> None:
    store.write(wide, part(wide, A, [{"k": 1, "a": 10}, {"k": 2, "a": 20}]), at(0, "one/s", A))
    assert state(store, wide) == [{"k": 1, "a": 10, "b": None, "c": None}, {"k": 2, "a": 20, "b": None, "c": None}]
    money = Decimal("1.50")
    start = store.write(
        wide, part(wide, BC, [{"k": 2, "b": "x", "c": money}, {"k": 3, "b": "y", "c": None}]), at(0, "two/s", BC)
    )
    both = [
        {"k": 1, "a": 10, "b": None, "c": None},
        {"k": 2, "a": 20, "b": "x", "c": money},
        {"k": 3, "a": None, "b": "y", "c": None},
    ]
    assert state(store, wide) == both
    end = store.write(wide, part(wide, A, [{"k": 3, "a": 30}, {"k": 2, "a": None}]), at(1, "one/s", A))
    assert state(store, wide) == [both[0], both[1] | {"a": None}, both[2] | {"a": 30}]
    changed = store.read_changes(wide, start, end)
    assert sorted(changed.upserts.to_pylist(), key=repr) == [both[1] | {"a": None}, both[2] | {"a": 30}]
    assert changed.deletes is None


def test_a_delete_takes_the_columns_of_its_writer_and_the_last_one_the_row(store: Store, wide: Table) -> None:
    store.write(wide, part(wide, A, [{"k": 1, "a": 1}, {"k": 2, "a": 2}]), at(0, "one/s", A))
    store.write(wide, part(wide, BC, [{"k": 1, "b": "x", "c": None}]), at(0, "two/s", BC))
    start = store.end(wide)
    store.write(wide, part(wide, A, deletes=[{"k": 1}, {"k": 2}, {"k": 99}]), at(1, "one/s", A))
    assert state(store, wide) == [{"k": 1, "a": None, "b": "x", "c": None}]
    store.write(wide, part(wide, A, deletes=[{"k": 1}]), at(2, "one/s", A))
    assert state(store, wide) == [{"k": 1, "a": None, "b": "x", "c": None}]
    end = store.write(wide, part(wide, BC, deletes=[{"k": 1}]), at(1, "two/s", BC))
    assert state(store, wide) == []
    deletes = store.read_changes(wide, start, end).deletes
    assert deletes is not None
    assert sorted(row["k"] for row in deletes.to_pylist()) == [1, 2]
    store.write(wide, part(wide, BC, [{"k": 1, "b": "z", "c": None}]), at(2, "two/s", BC))
    assert state(store, wide) == [{"k": 1, "a": None, "b": "z", "c": None}]


def test_a_row_without_any_value_lives_until_a_delete(store: Store, wide: Table) -> None:
    store.write(wide, part(wide, A, [{"k": 1, "a": None}]), at(0, "one/s", A))
    assert state(store, wide) == [{"k": 1, "a": None, "b": None, "c": None}]
    store.write(wide, part(wide, BC, deletes=[{"k": 1}]), at(0, "two/s", BC))
    assert state(store, wide) == []


def test_the_repeated_epoch_of_each_writer_changes_nothing(store: Store, wide: Table) -> None:
    # Both writers count their epochs from 0 and are as far as each other: neither is taken for the other.
    one = part(wide, A, [{"k": 1, "a": 1}, {"k": 2, "a": 1}])
    two = part(wide, BC, [{"k": 1, "b": "x", "c": None}], deletes=[{"k": 2}])
    before_one = store.end(wide)
    before_two = store.write(wide, one, at(0, "one/s", A))
    store.write(wide, two, at(0, "two/s", BC))
    once = state(store, wide)
    assert once == [{"k": 1, "a": 1, "b": "x", "c": None}, {"k": 2, "a": 1, "b": None, "c": None}]
    store.write(wide, one, at(0, "one/s", A, before_one))
    store.write(wide, two, at(0, "two/s", BC, before_two))
    assert state(store, wide) == once
    store.write(wide, part(wide, A, deletes=[{"k": 2}]), at(1, "one/s", A))
    store.write(wide, two, at(0, "two/s", BC, before_two))
    assert state(store, wide) == once[:1]
    store.write(wide, part(wide, BC, [{"k": 2, "b": "z", "c": None}]), at(1, "two/s", BC))
    assert state(store, wide) == [once[0], {"k": 2, "a": None, "b": "z", "c": None}]


def test_random_histories_of_two_writers_in_any_order(store: Store, wide: Table) -> None:
    chance = random.Random(11)
    columns = {"one/s": A, "two/s": BC}
    epochs = dict.fromkeys(columns, 0)
    expected: dict[int, Row] = {}
    ends: list[tuple[Position, list[Row]]] = [(store.end(wide), [])]
    for step in range(8):
        writer = chance.choice(list(columns))
        owned = columns[writer]
        touched = chance.sample(range(30), 24)
        upserts = [
            {"k": k}
            | dict(zip(owned, (chance.choice([None, step]),) if owned == A else (str(step), None), strict=True))
            for k in touched[:16]
        ]
        changes = part(wide, owned, upserts, [{"k": k} for k in touched[16:]])
        start = store.end(wide)
        store.write(wide, changes, at(epochs[writer], writer, owned))
        if step % 3 == 2:
            store.write(wide, changes, at(epochs[writer], writer, owned, start))
        epochs[writer] += 1
        for row in upserts:
            expected[row["k"]] = dict.fromkeys(wide.column_names) | expected.get(row["k"], {}) | row
        for k in touched[16:]:
            if k in expected:
                expected[k] = expected[k] | dict.fromkeys(owned)
                if all(expected[k][name] is None for name in (*A, *BC)):
                    del expected[k]
        ends.append((store.end(wide), sorted(expected.values(), key=repr)))
        assert state(store, wide) == ends[-1][1], step
    if store.capabilities.state_as_of:
        for position, rows in ends[::3]:
            assert state(store, wide, at=position) == rows


def test_two_threads_write_their_columns_at_the_same_time(store: Store, wide: Table) -> None:
    def fill(writer: str, owned: tuple[str, ...], value: Callable[[int, int], Row]) -> None:
        for epoch in range(4):
            rows = [{"k": k} | value(k, epoch) for k in range(epoch * 50, epoch * 50 + 100)]
            store.write(wide, part(wide, owned, rows), at(epoch, writer, owned))

    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(fill, "one/s", A, lambda k, epoch: {"a": epoch}),
            pool.submit(fill, "two/s", BC, lambda k, epoch: {"b": f"{k}", "c": Decimal(epoch)}),
        ]
        for job in jobs:
            job.result()
    assert state(store, wide) == sorted(
        ({"k": k, "a": min(k // 50, 3), "b": f"{k}", "c": Decimal(f"{min(k // 50, 3)}.00")} for k in range(250)),
        key=repr,
    )


def test_composite_keys_and_nested_columns(store: Store, make_table: Make) -> None:
    kinds = {"words": "array<string>", "pairs": "map<string,bigint>", "both": "struct<x:int,y:string>"}
    table = make_table(day="date", n="int", key=("n", "day"), plain="string", **kinds)
    store.create(table)
    schema = arrow_schema([table.column(name) for name in ("n", "day", *kinds)])
    nested = {"words": ["a", None], "pairs": [("k", 1)], "both": {"x": 1, "y": None}}
    days = pa.array([17000, 17001], pa.date32())
    keys = [{"n": n, "day": day} for n, day in ((1, days[0].as_py()), (1, days[1].as_py()), (2, days[0].as_py()))]
    rows = pa.Table.from_pylist([key | nested for key in keys[:2]], schema=schema)
    store.write(table, Changes(rows), at(0, "one/s", tuple(kinds)))
    store.write(table, part(table, ("plain",), [key | {"plain": "p"} for key in keys[1:]]), at(0, "two/s", ("plain",)))
    none = dict.fromkeys(kinds)
    expected = [keys[0] | nested | {"plain": None}, keys[1] | nested | {"plain": "p"}, keys[2] | none | {"plain": "p"}]
    order = table.column_names
    assert state(store, table) == sorted(({name: row[name] for name in order} for row in expected), key=repr)
    store.write(table, part(table, ("plain",), deletes=keys), at(1, "two/s", ("plain",)))
    expected = [key | nested | {"plain": None} for key in keys[:2]]
    assert state(store, table) == sorted(({name: row[name] for name in order} for row in expected), key=repr)


def test_many_rows_that_change_nothing_or_something(store: Store, wide: Table) -> None:
    rows = [{"k": k, "a": k % 5} for k in range(3000)]
    store.write(wide, part(wide, A, rows), at(0, "one/s", A))
    store.write(wide, part(wide, BC, [{"k": k, "b": None, "c": None} for k in range(3000)]), at(0, "two/s", BC))
    assert store.read_state(wide, columns=("k", "a")).sort_by("k").to_pylist() == rows


def test_what_cannot_be_written_in_parts_is_refused(store: Store, wide: Table, make_table: Make) -> None:
    log = make_table(k="bigint", a="int")
    tables = [log]
    store.create(log)
    if store.capabilities.merge:
        tables.append(make_table(k="bigint", a="int", key=("k",), merge={"a": "sum"}))
        store.create(tables[-1])
    for table in tables:
        with pytest.raises(WriteRefusedError, match="cannot be written in parts"):
            store.write(table, Changes(pa.table({"k": [1], "a": [1]})), at(0, "one/s", A))
        assert state(store, table) == []
    rows = pa.table({"k": [1], "a": [1]})
    for owned, reason in (((), "none is named"), (("k", "a"), "k is none"), (("a", "zz"), "zz is none")):
        with pytest.raises(WriteRefusedError, match=reason):
            store.write(wide, Changes(rows), at(0, "one/s", owned))
    with pytest.raises(WriteRefusedError, match="lack a column"):
        store.write(wide, Changes(rows), at(0, "two/s", BC))
    with pytest.raises(WriteRefusedError, match="k"):
        store.write(wide, part(wide, A, deletes=[{"k": None}]), at(0, "one/s", A))
    assert state(store, wide) == []

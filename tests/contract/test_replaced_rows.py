"""Rows that are set, whatever the merge functions of their table say."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext

Make = Callable[..., Table]
Row = dict[str, Any]
MERGE = {"total": "sum", "least": "min", "newest": "last_value", "oldest": "first_value", "every": "bool_and"}
KINDS = {"total": "bigint", "least": "int", "newest": "string", "oldest": "string", "every": "boolean"}


def at(epoch: int, replay_from: Position | None = None, writer: str = "flow/segment") -> WriteContext:
    return WriteContext(writer, epoch, replay_from)


def changes(table: Table, *values: Row, deletes: tuple[int, ...] = ()) -> Changes:
    gone = pa.table({"k": pa.array(deletes, pa.int64())}) if deletes else None
    return Changes(pa.Table.from_pylist(list(values), schema=arrow_schema(table.columns)), gone)


def state(store: Store, table: Table, **options: Any) -> list[Row]:
    return store.read_state(table, **options).sort_by("k").to_pylist()


def row(k: int, n: int, text: str, flag: bool = True) -> Row:
    return {"k": k, "total": n, "least": n, "newest": text, "oldest": text, "every": flag}


@pytest.fixture
def merging(store: Store, make_table: Make) -> Table:
    if not store.capabilities.merge:
        pytest.skip("covered by test_merge_functions_fold: such a table cannot be created")
    table = make_table(k="bigint", key=("k",), merge=MERGE, **KINDS)
    store.create(table)
    store.write(table, changes(table, row(1, 5, "a", False), row(2, 5, "a"), row(3, 5, "a")), at(0))
    store.write(table, changes(table, row(1, 7, "b"), row(2, 7, "b")), at(1))
    return table


def test_values_are_set_and_later_ones_folded_into_them(store: Store, merging: Table) -> None:
    start = store.end(merging)
    before = state(store, merging)
    given = changes(merging, row(1, 9, "r"), row(4, 1, "old"), row(4, 4, "r"), deletes=(3, 99))
    end = store.replace(merging, given, at(0, writer="backfill/1"))
    assert end == store.end(merging)
    after = [row(1, 9, "r"), row(2, 12, "b") | {"least": 5, "oldest": "a"}, row(4, 4, "r")]
    assert state(store, merging) == after
    found = store.read_changes(merging, start, end)
    assert found.upserts.sort_by("k").to_pylist() == [row(1, 9, "r"), row(4, 4, "r")]
    assert found.deletes is not None
    assert found.deletes.to_pylist() == [{"k": 3}]
    if store.capabilities.before_images:
        assert found.before is not None
        assert found.before.sort_by("k").to_pylist() == [before[0], before[2]]
    store.write(merging, changes(merging, row(1, 1, "c", False), row(3, 2, "c")), at(2))
    assert state(store, merging) == [
        row(1, 10, "c", False) | {"least": 1, "oldest": "r"}, after[1], row(3, 2, "c"), after[2],
    ]  # fmt: skip
    if store.capabilities.state_as_of:
        assert state(store, merging, at=start) == before
        assert state(store, merging, at=end) == after
    whole = store.read_changes(merging, start, store.end(merging))
    assert sorted(r["k"] for r in whole.upserts.to_pylist()) == [1, 3, 4]


def test_nulls_are_set(store: Store, merging: Table) -> None:
    nothing = {"k": 1} | dict.fromkeys(KINDS)
    store.replace(merging, changes(merging, nothing), at(2))
    assert state(store, merging)[0] == nothing


def test_the_repeated_epoch_changes_nothing(store: Store, merging: Table) -> None:
    given = changes(merging, row(1, 9, "r"), deletes=(3,))
    start = store.end(merging)
    store.replace(merging, given, at(2))
    once = state(store, merging)
    store.replace(merging, given, at(2, start))
    assert state(store, merging) == once
    more = changes(merging, row(1, 1, "c"))
    start = store.write(merging, changes(merging), at(3))
    store.write(merging, more, at(4))
    store.write(merging, more, at(4, start))
    assert state(store, merging)[0] == row(1, 10, "c") | {"least": 1, "oldest": "r"}


def test_every_row_is_set_or_deleted(store: Store, merging: Table) -> None:
    store.replace(merging, changes(merging, *(row(k, k, "r") for k in range(500))), at(2))
    assert state(store, merging) == [row(k, k, "r") for k in range(500)]
    store.replace(merging, changes(merging, deletes=tuple(range(500))), at(3))
    assert state(store, merging) == []
    store.write(merging, changes(merging, row(1, 1, "n")), at(4))
    assert state(store, merging) == [row(1, 1, "n")]


def test_an_empty_replacement_is_no_change(store: Store, merging: Table) -> None:
    before, end = state(store, merging), store.end(merging)
    store.replace(merging, changes(merging), at(2))
    assert state(store, merging) == before
    assert store.read_changes(merging, end, store.end(merging)).upserts.num_rows == 0


def test_without_merge_it_is_a_write(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", a="int", b="int", key=("k",))
    store.create(table)
    store.write(table, changes(table, {"k": 1, "a": 1, "b": 1}, {"k": 2, "a": 1, "b": 1}), at(0))
    store.replace(table, changes(table, {"k": 1, "a": 2, "b": None}, deletes=(2,)), at(1))
    store.replace(table, changes(table, {"k": 1, "a": 2, "b": None}, deletes=(2,)), at(1, store.end(table)))
    assert state(store, table) == [{"k": 1, "a": 2, "b": None}]
    part = WriteContext("other/s", 0, columns=("b",))
    store.replace(table, Changes(pa.table({"k": [1], "b": [7]})), part)
    assert state(store, table) == [{"k": 1, "a": 2, "b": 7}]


def test_what_cannot_be_set_is_refused(store: Store, make_table: Make) -> None:
    log = make_table(k="bigint")
    store.create(log)
    with pytest.raises(WriteRefusedError, match="no primary key"):
        store.replace(log, changes(log, {"k": 1}), at(0))
    assert store.read_state(log).num_rows == 0
    if not store.capabilities.merge:
        return
    merging = make_table(k="bigint", v="bigint", key=("k",), merge={"v": "sum"})
    store.create(merging)
    with pytest.raises(WriteRefusedError, match="cannot be written in parts"):
        store.replace(merging, changes(merging, {"k": 1, "v": 1}), WriteContext("f/s", 0, columns=("v",)))
    with pytest.raises(WriteRefusedError, match="have no k"):
        store.replace(merging, changes(merging, {"k": None, "v": 1}), at(0))
    assert state(store, merging) == []

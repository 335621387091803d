"""Tables that become wider while they are written and read."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, TableMissingError
from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext
from tests.gate.levels import deep

pytestmark = deep(
    "further writers of Iceberg; old and new rows stay for each store",
    only=(
        "test_old_rows_have_nulls_and_new_ones_values[iceberg-log]",
        "test_old_rows_are_changed_through_the_wider_table[iceberg]",
        "test_columns_are_added_again_and_again[iceberg]",
        "test_a_writer_of_the_narrower_table_goes_on[iceberg-keyed]",
    ),
)

Make = Callable[..., Table]
Row = dict[str, Any]


def wider(table: Table, merge: dict[str, str] | None = None, **columns: str) -> Table:
    added = tuple(Column(name=name, type=kind) for name, kind in columns.items())
    return Table.model_validate(
        table.model_dump() | {"columns": [*table.columns, *added], "merge": table.merge | (merge or {})}
    )


def write(store: Store, table: Table, epoch: int, *values: Row, deletes: tuple[int, ...] = ()) -> None:
    rows = pa.Table.from_pylist(list(values), schema=arrow_schema(table.columns))
    gone = pa.table({"k": pa.array(deletes, pa.int64())}) if deletes else None
    store.write(table, Changes(rows, gone), WriteContext("flow/segment", epoch))


def state(store: Store, table: Table, **options: Any) -> list[Row]:
    return sorted(store.read_state(table, **options).to_pylist(), key=repr)


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_old_rows_have_nulls_and_new_ones_values(store: Store, make_table: Make, key: tuple[str, ...]) -> None:
    narrow = make_table(k="bigint", v="string", key=key)
    store.create(narrow)
    start = store.end(narrow)
    write(store, narrow, 0, {"k": 1, "v": "a"}, {"k": 2, "v": "b"})
    between = store.end(narrow)
    wide = wider(narrow, w="smallint", s="struct<x:int,y:array<string>>")
    store.add_columns(wide)
    found = store.columns(wide.name)
    assert found is not None
    assert [(c.name, c.type) for c in found] == [(c.name, c.type) for c in wide.columns]
    store.create(wide)  # what a flow that starts with the wider plan does
    nested = {"x": 1, "y": ["z", None]}
    old = [{"k": 1, "v": "a", "w": None, "s": None}, {"k": 2, "v": "b", "w": None, "s": None}]
    new = {"k": 3, "v": "c", "w": 7, "s": nested}
    assert state(store, wide) == old
    write(store, wide, 1, new)
    end = store.end(wide)
    assert state(store, wide) == [*old, new]
    assert state(store, wide, columns=("w", "k")) == sorted(
        ({"w": row["w"], "k": row["k"]} for row in [*old, new]), key=repr
    )
    assert state(store, narrow) == [{"k": row["k"], "v": row["v"]} for row in [*old, new]]
    every = store.read_changes(wide, start, end)
    assert sorted(every.upserts.to_pylist(), key=repr) == [*old, new]
    for columns in (("w",), ("s", "k"), ("v",)):
        part = store.read_changes(wide, between, end, columns).upserts
        assert part.to_pylist() == [{name: new[name] for name in columns}]
        part = store.read_changes(wide, start, end, columns).upserts
        assert sorted(part.to_pylist(), key=repr) == sorted(
            ({name: row[name] for name in columns} for row in [*old, new]), key=repr
        )
    if store.capabilities.state_as_of:
        assert state(store, wide, at=between) == old


def test_old_rows_are_changed_through_the_wider_table(store: Store, make_table: Make) -> None:
    narrow = make_table(k="bigint", v="string", key=("k",))
    store.create(narrow)
    write(store, narrow, 0, *({"k": k, "v": "a"} for k in (1, 2, 3)))
    wide = wider(narrow, w="bigint")
    store.add_columns(wide)
    start = store.end(wide)
    write(store, wide, 1, {"k": 1, "v": "b", "w": 1}, deletes=(2,))
    assert state(store, wide) == [{"k": 1, "v": "b", "w": 1}, {"k": 3, "v": "a", "w": None}]
    changes = store.read_changes(wide, start, store.end(wide))
    assert changes.upserts.to_pylist() == [{"k": 1, "v": "b", "w": 1}]
    assert changes.deletes is not None
    assert changes.deletes.to_pylist() == [{"k": 2}]
    if store.capabilities.before_images:
        assert changes.before is not None
        assert sorted(changes.before.to_pylist(), key=repr) == [{"k": k, "v": "a", "w": None} for k in (1, 2)]


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_a_writer_of_the_narrower_table_goes_on(store: Store, make_table: Make, key: tuple[str, ...]) -> None:
    narrow = make_table(k="bigint", v="string", key=key)
    store.create(narrow)
    write(store, narrow, 0, {"k": 1, "v": "a"})
    wide = wider(narrow, w="tinyint")
    store.add_columns(wide)
    write(store, narrow, 1, {"k": 2, "v": "b"})
    write(store, wide, 2, {"k": 3, "v": "c", "w": 3})
    write(store, narrow, 3, {"k": 4, "v": "d"})
    assert state(store, wide, columns=("k", "w")) == [{"k": k, "w": 3 if k == 3 else None} for k in (1, 2, 3, 4)]


def test_a_partial_writer_brings_its_own_columns(store: Store, make_table: Make) -> None:
    narrow = make_table(k="bigint", a="int", key=("k",))
    store.create(narrow)
    own, theirs = (WriteContext(f"{n}/s", 0, columns=c) for n, c in (("own", ("a",)), ("other", ("b",))))
    store.write(narrow, Changes(pa.table({"k": [1, 2], "a": [1, 2]})), own)
    wide = wider(narrow, b="string")
    store.add_columns(wide)
    store.write(wide, Changes(pa.table({"k": [2, 3], "b": ["x", "y"]})), theirs)
    after = WriteContext("own/s", 1, columns=("a",))
    store.write(narrow, Changes(pa.table({"k": [3], "a": [3]}), pa.table({"k": [1, 2]})), after)
    assert state(store, wide) == [{"k": 2, "a": None, "b": "x"}, {"k": 3, "a": 3, "b": "y"}]


def test_columns_are_added_again_and_again(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", key=("k",))
    store.create(table)
    for n in range(4):
        write(store, table, n, {"k": n} | {c.name: n for c in table.columns[1:]})
        table = wider(table, **{f"c{n}": "int"})
        store.add_columns(table)
        store.add_columns(table)  # a repeated apply
    write(store, table, 4, {"k": 4} | {c.name: 4 for c in table.columns[1:]})
    assert state(store, table) == [
        {"k": n} | {f"c{c}": (n if c < n else None) for c in range(4)} for n in range(5)
    ]  # fmt: skip


def test_columns_are_told_by_name(store: Store, make_table: Make) -> None:
    table = make_table(a="tinyint", k="bigint", key=("k",))
    a, k, b, c = (Column(name=n, type=t) for n, t in (("a", "tinyint"), ("k", "bigint"), ("b", "string"), ("c", "int")))
    store.create(table)
    write(store, table, 0, {"a": 1, "k": 1})
    other = table.model_copy(update={"columns": (k, b, a)})
    store.add_columns(other)
    between = store.end(other)
    write(store, other, 1, {"k": 2, "b": "x", "a": 2}, {"k": 1, "b": "y", "a": 3})
    third = table.model_copy(update={"columns": (c, k)})
    store.add_columns(third)
    assert [column.name for column in store.columns(table.name) or ()] == ["a", "k", "b", "c"]
    assert [column.type for column in store.columns(table.name) or ()] == ["tinyint", "bigint", "string", "int"]
    store.write(third, Changes(pa.table({"c": [7], "k": [2]})), WriteContext("third/s", 0, columns=("c",)))
    every = table.model_copy(update={"columns": (b, c, a, k)})
    assert state(store, every) == [{"b": "x", "c": 7, "a": 2, "k": 2}, {"b": "y", "c": None, "a": 3, "k": 1}]
    changes = store.read_changes(every, between, store.end(every), ("c", "k", "b"))
    assert sorted(changes.upserts.to_pylist(), key=repr) == [
        {"c": 7, "k": 2, "b": "x"}, {"c": None, "k": 1, "b": "y"},
    ]  # fmt: skip
    if store.capabilities.state_as_of:
        assert state(store, every, at=between) == [{"b": None, "c": None, "a": 1, "k": 1}]
        assert state(store, every, at=between, columns=("b", "a")) == [{"b": None, "a": 1}]


def test_anything_but_an_addition_is_refused(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="int", key=("k",))
    with pytest.raises(TableMissingError):
        store.add_columns(table)
    store.create(table)
    k, v, w = (Column(name=n, type=t) for n, t in (("k", "bigint"), ("v", "int"), ("w", "int")))
    for other in (
        {"columns": (k, Column(name="v", type="bigint"), w)},
        {"columns": (k, v, w), "primary_key": ("k", "w")},
        {"columns": (k, v, w), "primary_key": ()},
    ):
        with pytest.raises(SchemaConflictError, match=table.name):
            store.add_columns(table.model_copy(update=other))
    assert [c.name for c in store.columns(table.name) or ()] == ["k", "v"]


def test_a_merging_table_folds_what_was_added(store: Store, make_table: Make) -> None:
    if not store.capabilities.merge:
        pytest.skip("covered by test_merge_functions_fold: such a table cannot be created")
    table = make_table(k="bigint", v="bigint", key=("k",), merge={"v": "sum"})
    store.create(table)
    write(store, table, 0, {"k": 1, "v": 1})
    wide = wider(table, {"w": "max"}, w="bigint")
    if not store.capabilities.add_merged_columns:
        with pytest.raises(SchemaConflictError, match="cannot add w"):
            store.add_columns(wide)
        assert [c.name for c in store.columns(table.name) or ()] == ["k", "v"]
        write(store, table, 1, {"k": 1, "v": 1})
        assert state(store, table) == [{"k": 1, "v": 2}]
        return
    store.add_columns(wide)
    store.create(wide)
    assert state(store, wide) == [{"k": 1, "v": 1, "w": None}]
    write(store, wide, 1, {"k": 1, "v": 1, "w": 5})
    write(store, wide, 2, {"k": 1, "v": 1, "w": 3})
    assert state(store, wide) == [{"k": 1, "v": 3, "w": 5}]


def test_a_merging_table_goes_on_without_a_column_that_the_plan_gave_up(store: Store, make_table: Make) -> None:
    if not store.capabilities.merge:
        pytest.skip("covered by test_merge_functions_fold: such a table cannot be created")
    whole = make_table(k="bigint", v="bigint", most="bigint", key=("k",), merge={"v": "sum", "most": "max"})
    store.create(whole)
    write(store, whole, 0, {"k": 1, "v": 1, "most": 5})
    less = Table.model_validate(whole.model_dump() | {"columns": whole.columns[:2], "merge": {"v": "sum"}})
    store.add_columns(less)
    write(store, less, 1, {"k": 1, "v": 2})
    assert state(store, less) == [{"k": 1, "v": 3}]
    assert state(store, whole) == [{"k": 1, "v": 3, "most": 5}]

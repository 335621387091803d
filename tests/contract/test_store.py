"""What every store keeps to. A capability a store does not declare must be refused."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, StoreError, TableMissingError, WriteRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import EPOCH, SNAPSHOT_ID, WRITER, Changes, LakeStore, Store, WriteContext

Make = Callable[..., Table]
Rows = list[dict[str, Any]]

ONE_OF_EACH_TYPE: dict[str, tuple[str, Any]] = {
    "c_boolean": ("boolean", True),
    "c_tinyint": ("tinyint", -128),
    "c_smallint": ("smallint", -32768),
    "c_int": ("int", -(2**31)),
    "c_bigint": ("bigint", 2**63 - 1),
    "c_float": ("float", 1.5),
    "c_double": ("double", -0.1),
    "c_string": ("string", "Grüße, 世界 \U0001f680"),
    "c_empty": ("string", ""),
    "c_binary": ("binary", b"\x00\xff"),
    "c_date": ("date", date(1969, 12, 31)),
    "c_timestamp": ("timestamp", datetime(2017, 1, 1, 11, 53, 26, 999_999, tzinfo=UTC)),
    "c_before_1970": ("timestamp", datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
    "c_timestamp_ntz": ("timestamp_ntz", datetime(2017, 1, 1, 11, 53, 26, 123_456)),
    "c_decimal": ("decimal(12,2)", Decimal("-9999999999.99")),
    "c_wide_decimal": ("decimal(38,10)", Decimal("1234567890123456789012345678.0123456789")),
}
NESTED: dict[str, tuple[str, Any]] = {
    "c_array": ("array<string>", ["a", None, ""]),
    "c_map": ("map<string,bigint>", [("k", 1), ("l", None)]),
    "c_struct": ("struct<a:int,b:array<decimal(12,2)>>", {"a": None, "b": [Decimal("1.00"), None]}),
}


def rows(table: Table, *values: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(values), schema=arrow_schema(table.columns))


def keys(table: Table, *values: Any) -> pa.Table:
    columns = [table.column(name) for name in table.primary_key]
    listed = [value if isinstance(value, dict) else {columns[0].name: value} for value in values]
    return pa.Table.from_pylist(listed, schema=arrow_schema(columns))


def at(
    epoch: int, writer: str = "flow/segment", replay_from: Position | None = None, **properties: str
) -> WriteContext:
    return WriteContext(writer, epoch, replay_from, properties)


def upsert(table: Table, *values: dict[str, Any]) -> Changes:
    return Changes(rows(table, *values))


def delete(table: Table, *values: Any) -> Changes:
    return Changes(rows(table), keys(table, *values))


def listed(found: pa.Table) -> Rows:
    return sorted(found.to_pylist(), key=repr)


def state(store: Store, table: Table, **options: Any) -> Rows:
    return listed(store.read_state(table, **options))


def applied(before: Rows, changes: Changes, key: str) -> Rows:
    """`before` after `changes`, as a reader downstream would have it."""
    by_key = {row[key]: row for row in before}
    for row in changes.deletes.to_pylist() if changes.deletes is not None else []:
        by_key.pop(row[key], None)
    by_key |= {row[key]: row for row in changes.upserts.to_pylist()}
    return sorted(by_key.values(), key=repr)


# --- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_create_twice_keeps_the_rows(store: Store, make_table: Make, key: tuple[str, ...]) -> None:
    table = make_table(k="bigint", v="string", key=key)
    store.create(table)
    store.write(table, upsert(table, {"k": 1, "v": "a"}), at(0))
    store.create(table)
    assert state(store, table) == [{"k": 1, "v": "a"}]


def test_stored_columns_are_those_of_the_plan(store: Store, make_table: Make) -> None:
    kinds = {name: kind for name, (kind, _) in (ONE_OF_EACH_TYPE | NESTED).items()}
    table = make_table(k="bigint", key=("k",), **kinds)
    assert store.columns(table.name) is None
    store.create(table)
    found = store.columns(table.name)
    assert found is not None
    assert [(c.name, c.type) for c in found] == [(c.name, c.type) for c in table.columns]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"columns": ("k:bigint", "v:string")}, id="type"),
        pytest.param({"columns": ("k:bigint", "w:int")}, id="name"),
        pytest.param({"columns": ("k:bigint", "v:int", "w:int")}, id="more"),
        pytest.param({"columns": ("v:int", "k:bigint")}, id="order"),
        pytest.param({"primary_key": ()}, id="no-key"),
        pytest.param({"primary_key": ("k", "v")}, id="longer-key"),
    ],
)
def test_another_definition_is_refused(store: Store, make_table: Make, other: dict[str, Any]) -> None:
    table = make_table(k="bigint", v="int", key=("k",))
    store.create(table)
    if "columns" in other:
        named = (column.split(":") for column in other["columns"])
        other = {"columns": tuple(Column(name=name, type=kind) for name, kind in named)}
    with pytest.raises(SchemaConflictError) as refused:
        store.create(table.model_copy(update=other))
    assert table.name in str(refused.value)


def test_an_unknown_table_is_named(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint")
    assert store.columns(table.name) is None
    store.drop(table.name)
    for call in (
        lambda: store.end(table),
        lambda: store.read_state(table),
        lambda: store.write(table, upsert(table, {"k": 1}), at(0)),
    ):
        with pytest.raises(TableMissingError) as missing:
            call()
        assert table.name in str(missing.value)


def test_a_dropped_table_begins_anew(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", key=("k",))
    store.create(table)
    store.write(table, upsert(table, {"k": 1}), at(7))
    store.drop(table.name)
    assert store.columns(table.name) is None
    store.create(table)
    assert state(store, table) == []
    store.write(table, upsert(table, {"k": 2}), at(0))
    assert state(store, table) == [{"k": 2}]


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_every_type_comes_back(store: Store, make_table: Make, key: tuple[str, ...]) -> None:
    every = ONE_OF_EACH_TYPE | NESTED
    table = make_table(k="bigint", key=key, **{name: kind for name, (kind, _) in every.items()})
    store.create(table)
    full = {"k": 1} | {name: value for name, (_, value) in every.items()}
    empty = {"k": 2} | dict.fromkeys(every)
    end = store.write(table, upsert(table, full, empty), at(0))
    expected = listed(rows(table, full, empty))
    found = store.read_state(table)
    assert found.schema.equals(arrow_schema(table.columns))
    assert listed(found) == expected
    changes = store.read_changes(table, {}, end)
    assert changes.upserts.schema.equals(arrow_schema(table.columns))
    assert listed(changes.upserts) == expected


@pytest.mark.parametrize("kind", ["bigint", "int", "string", "date", "decimal(12,2)", "timestamp", "boolean"])
def test_every_key_type_finds_its_row(store: Store, make_table: Make, kind: str) -> None:
    first = next(value for type_, value in ONE_OF_EACH_TYPE.values() if type_ == kind)
    second = {
        "bigint": 2, "int": 2, "string": "b", "date": date(2020, 1, 1), "decimal(12,2)": Decimal("2.00"),
        "timestamp": datetime(2020, 1, 1, tzinfo=UTC), "boolean": False,
    }[kind]  # fmt: skip
    table = make_table(a=kind, b="string", v="int", key=("a", "b"))
    store.create(table)
    store.write(table, upsert(table, {"a": first, "b": "x", "v": 1}, {"a": second, "b": "x", "v": 1}), at(0))
    store.write(
        table,
        Changes(rows(table, {"a": first, "b": "x", "v": 2}), keys(table, {"a": second, "b": "x"})),
        at(1),
    )
    assert state(store, table) == [{"a": first, "b": "x", "v": 2}]


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_microseconds_before_1970_come_back_or_are_refused(
    store: Store, make_table: Make, key: tuple[str, ...], kind: str
) -> None:
    # pyfluss 1.0.0 cannot upsert such a moment: refusing it is allowed, storing another one is not.
    table = make_table(k="int", v=kind, key=key)
    store.create(table)
    zone = UTC if kind == "timestamp" else None
    given = [
        {"k": 1, "v": datetime(2017, 1, 1, tzinfo=zone)},
        {"k": 2, "v": datetime(1969, 12, 31, 23, 59, 59, 1, zone)},
    ]
    try:
        store.write(table, upsert(table, *given), at(0))
    except StoreError:
        assert [row for row in state(store, table) if row not in given] == []
    else:
        assert state(store, table) == listed(rows(table, *given))


def test_columns_are_bound_by_name(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", a="bigint", b="bigint", key=("k",))
    store.create(table)
    swapped = rows(table, {"k": 1, "a": 111, "b": 222}).select(["b", "k", "a"])
    end = store.write(table, Changes(swapped), at(0))
    assert state(store, table) == [{"k": 1, "a": 111, "b": 222}]
    for columns in (("b", "a"), ("a", "b"), ("b",), ("a", "k")):
        expected = [{name: {"k": 1, "a": 111, "b": 222}[name] for name in columns}]
        assert store.read_state(table, columns=columns).to_pylist() == expected
        assert store.read_changes(table, {}, end, columns=columns).upserts.to_pylist() == expected
    end_2 = store.write(table, upsert(table, {"k": 1, "a": 1110, "b": 2220}), at(1))
    assert store.read_changes(table, end, end_2, columns=("b", "a")).upserts.to_pylist() == [{"b": 2220, "a": 1110}]


def test_a_null_key_is_refused_and_nothing_written(store: Store, make_table: Make) -> None:
    table = make_table(a="bigint", b="string", v="int", key=("a", "b"))
    store.create(table)
    before = store.end(table)
    bad = rows(table, {"a": 1, "b": "x", "v": 1}, {"a": 2, "b": None, "v": 1})
    with pytest.raises(WriteRefusedError, match="b"):
        store.write(table, Changes(bad), at(0))
    with pytest.raises(WriteRefusedError, match="a"):
        store.write(table, delete(table, {"a": None, "b": "x"}), at(0))
    assert store.end(table) == before
    assert state(store, table) == []
    store.write(table, upsert(table, {"a": 1, "b": "x", "v": None}), at(0))
    assert state(store, table) == [{"a": 1, "b": "x", "v": None}]


def test_a_missing_column_and_a_value_that_does_not_fit_are_refused(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="int", key=("k",))
    store.create(table)
    with pytest.raises(WriteRefusedError):
        store.write(table, Changes(pa.table({"k": [1]})), at(0))
    with pytest.raises(WriteRefusedError):
        store.write(table, Changes(pa.table({"k": [1], "v": ["x"]})), at(0))
    with pytest.raises(WriteRefusedError):
        store.write(table, Changes(pa.table({"k": [1], "v": [2**40]})), at(0))
    assert state(store, table) == []


# --- log tables -------------------------------------------------------------------------------


def test_a_log_keeps_equal_rows(store: Store, make_table: Make) -> None:
    table = make_table(a="int", b="string")
    store.create(table)
    row = {"a": 1, "b": None}
    store.write(table, upsert(table, row, row), at(0))
    store.write(table, upsert(table, row), at(1))
    assert state(store, table) == [row] * 3


def test_log_ranges_are_half_open(store: Store, make_table: Make) -> None:
    table = make_table(n="int")
    store.create(table)
    ends = [store.end(table)]
    ends += [store.write(table, upsert(table, {"n": n}, {"n": n + 100}), at(n)) for n in range(4)]
    for first in range(5):
        for last in range(first, 5):
            changes = store.read_changes(table, ends[first], ends[last])
            assert listed(changes.upserts) == listed(
                rows(table, *({"n": n + more} for n in range(first, last) for more in (0, 100)))
            )
            assert changes.deletes is None
    assert listed(store.read_changes(table, {}, ends[2]).upserts) == listed(
        rows(table, *({"n": n} for n in (0, 100, 1, 101)))
    )
    assert store.end(table) == ends[-1]


def test_a_log_refuses_deletes(store: Store, make_table: Make) -> None:
    table = make_table(n="int")
    store.create(table)
    with pytest.raises(WriteRefusedError):
        store.write(table, Changes(rows(table), pa.table({"n": pa.array([1], pa.int32())})), at(0))


# --- keyed tables -----------------------------------------------------------------------------


def test_upsert_delete_upsert(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="string", key=("k",))
    store.create(table)
    store.write(table, upsert(table, *({"k": k, "v": "a"} for k in range(10))), at(0))
    store.write(table, Changes(rows(table, {"k": 0, "v": "b"}), keys(table, 1, 2, 99)), at(1))
    assert state(store, table) == listed(rows(table, {"k": 0, "v": "b"}, *({"k": k, "v": "a"} for k in range(3, 10))))
    store.write(table, Changes(rows(table, {"k": 1, "v": "c"}), keys(table, *range(3, 10))), at(2))
    assert state(store, table) == [{"k": 0, "v": "b"}, {"k": 1, "v": "c"}]


def test_the_last_row_of_a_key_wins_within_an_epoch(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="int", key=("k",))
    store.create(table)
    store.write(table, upsert(table, *({"k": n % 3, "v": n} for n in range(30))), at(0))
    assert state(store, table) == [{"k": 0, "v": 27}, {"k": 1, "v": 28}, {"k": 2, "v": 29}]


def test_keyed_changes_are_folded(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="int", key=("k",))
    store.create(table)
    first = store.write(table, upsert(table, {"k": 1, "v": 1}, {"k": 2, "v": 1}, {"k": 3, "v": 1}), at(0))
    store.write(table, Changes(rows(table, {"k": 1, "v": 2}, {"k": 4, "v": 1}), keys(table, 2)), at(1))
    last = store.write(table, Changes(rows(table, {"k": 1, "v": 3}, {"k": 2, "v": 9}), keys(table, 3)), at(2))
    changes = store.read_changes(table, first, last)
    assert listed(changes.upserts) == [{"k": 1, "v": 3}, {"k": 2, "v": 9}, {"k": 4, "v": 1}]
    assert changes.deletes is not None
    assert changes.deletes.to_pylist() == [{"k": 3}]
    if store.capabilities.before_images:
        assert changes.before is not None
        assert listed(changes.before) == [{"k": 1, "v": 1}, {"k": 2, "v": 1}, {"k": 3, "v": 1}]
    else:
        assert changes.before is None
    nothing = store.read_changes(table, last, last)
    assert nothing.upserts.num_rows == 0
    assert nothing.deletes is None


def test_changes_lead_from_any_state_to_any_later_one(store: Store, make_table: Make) -> None:
    table = make_table(k="int", v="int", m="map<string,int>", key=("k",))
    store.create(table)
    chance = random.Random(7)
    ends, states = [store.end(table)], [state(store, table)]
    for epoch in range(6):
        touched = chance.sample(range(12), 6)
        new = rows(table, *({"k": k, "v": chance.randrange(3), "m": [("x", epoch % 2)]} for k in touched[:4]))
        ends.append(store.write(table, Changes(new, keys(table, *touched[4:])), at(epoch)))
        states.append(state(store, table))
    assert len({repr(s) for s in states}) == 7
    for first, last in ((0, 6), (1, 2), (2, 5), (5, 6), (3, 6)):
        changes = store.read_changes(table, ends[first], ends[last])
        assert applied(states[first], changes, "k") == states[last], (first, last)


# --- epochs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [(), ("k",)], ids=["log", "keyed"])
def test_a_repeated_epoch_changes_nothing(store: Store, make_table: Make, key: tuple[str, ...]) -> None:
    table = make_table(k="bigint", v="int", key=key)
    store.create(table)
    start = store.write(table, upsert(table, {"k": 1, "v": 1}), at(0))
    changes = upsert(table, {"k": 1, "v": 2}, {"k": 2, "v": 2})
    store.write(table, changes, at(1))
    once = state(store, table)
    end = store.write(table, changes, at(1, replay_from=start))
    assert state(store, table) == once
    assert end == store.end(table)
    assert listed(store.read_changes(table, start, end).upserts) == listed(changes.upserts)
    store.write(table, upsert(table, {"k": 3, "v": 3}), at(2))
    assert state(store, table) == listed(rows(table, *once, {"k": 3, "v": 3}))


def test_an_empty_epoch_is_no_change(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", key=("k",))
    store.create(table)
    end = store.write(table, upsert(table, {"k": 1}), at(0))
    after = store.write(table, Changes(rows(table)), at(1))
    changes = store.read_changes(table, end, after)
    assert changes.upserts.num_rows == 0
    assert changes.deletes is None
    assert store.end(table) == after
    assert state(store, table) == [{"k": 1}]
    store.write(table, upsert(table, {"k": 2}), at(2))
    assert state(store, table) == [{"k": 1}, {"k": 2}]


def test_two_threads_write_two_tables(store: Store, make_table: Make) -> None:
    tables = [make_table(k="bigint", key=("k",)), make_table(k="bigint")]
    for table in tables:
        store.create(table)

    def fill(table: Table) -> Position:
        for epoch in range(4):
            end = store.write(table, upsert(table, *({"k": epoch * 10 + n} for n in range(10))), at(epoch, table.name))
        return end

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(fill, tables))
    for table, end in zip(tables, ends, strict=True):
        assert store.end(table) == end
        assert sorted(row["k"] for row in state(store, table)) == list(range(40))


# --- capabilities -----------------------------------------------------------------------------


def test_a_past_state(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="int", key=("k",))
    store.create(table)
    ends = [store.end(table)]
    ends += [store.write(table, upsert(table, {"k": 1, "v": n}, {"k": n, "v": n}), at(n)) for n in (1, 2, 3)]
    if not store.capabilities.state_as_of:
        with pytest.raises(StoreError):
            store.read_state(table, at=ends[1])
        return
    assert state(store, table, at=ends[0]) == []
    assert state(store, table, at=ends[1]) == [{"k": 1, "v": 1}]
    assert state(store, table, at=ends[2], columns=("v",)) == [{"v": 2}, {"v": 2}]
    assert state(store, table, at=ends[3]) == state(store, table)


MERGE = {
    "total": ("bigint", "sum"),
    "money": ("decimal(12,2)", "sum"),
    "least": ("int", "min"),
    "most": ("timestamp", "max"),
    "newest": ("string", "last_value"),
    "oldest": ("string", "first_value"),
    "every": ("boolean", "bool_and"),
    "some": ("boolean", "bool_or"),
}


def test_merge_functions_fold(store: Store, make_table: Make) -> None:
    table = make_table(
        k="string", key=("k",), merge={n: how for n, (_, how) in MERGE.items()}, **{n: t for n, (t, _) in MERGE.items()}
    )
    if not store.capabilities.merge:
        with pytest.raises(StoreError):
            store.create(table)
        assert store.columns(table.name) is None
        return
    store.create(table)

    def row(k: str, n: int, text: str, flag: bool) -> dict[str, Any]:
        moment = datetime(2020, 1, n, tzinfo=UTC)
        values = (n, Decimal(n) / 4, n, moment, text, text, flag, flag)
        return {"k": k} | dict(zip(MERGE, values, strict=True))

    start = store.write(table, upsert(table, row("a", 5, "x", True), row("b", 1, "p", True)), at(0))
    changes = upsert(table, row("a", 2, "y", False), row("a", 9, "z", True), row("c", 1, "q", False))
    end = store.write(table, changes, at(1))
    store.write(table, changes, at(1, replay_from=start))
    folded = row("a", 16, "z", False) | {
        "money": Decimal("4.00"), "least": 2, "most": datetime(2020, 1, 9, tzinfo=UTC), "oldest": "x", "some": True,
    }  # fmt: skip
    assert state(store, table) == listed(rows(table, folded, row("b", 1, "p", True), row("c", 1, "q", False)))
    changed = store.read_changes(table, start, end)
    assert listed(changed.upserts) == listed(rows(table, folded, row("c", 1, "q", False)))
    assert changed.deletes is None
    with pytest.raises(WriteRefusedError):
        store.write(table, delete(table, "a"), at(2))


def test_another_merge_function_is_refused(store: Store, make_table: Make) -> None:
    if not store.capabilities.merge:
        pytest.skip("covered by test_merge_functions_fold: such a table cannot be created")
    table = make_table(k="bigint", v="bigint", key=("k",), merge={"v": "sum"})
    store.create(table)
    for other in ({"v": "max"}, {}):
        with pytest.raises(SchemaConflictError):
            store.create(table.model_validate(table.model_dump() | {"merge": other}))


# --- lakes: what the snapshots carry ----------------------------------------------------------


def test_properties_of_the_newest_commit(lake: LakeStore, make_table: Make) -> None:
    table = make_table(k="bigint", key=("k",))
    lake.create(table)
    assert lake.snapshot_properties(table) == {}
    for epoch, changes in enumerate((upsert(table, {"k": 1}), upsert(table, {"k": 2}), Changes(rows(table)))):
        end = lake.write(table, changes, at(epoch, "tiering/ods", offsets=f"0:{epoch}", note="it's"))
        found = lake.snapshot_properties(table)
        assert found["offsets"] == f"0:{epoch}"
        assert found["note"] == "it's"
        assert found[WRITER] == "tiering/ods"
        assert found[EPOCH] == str(epoch)
        assert found[SNAPSHOT_ID] == str(end["snapshot"])
    assert end["snapshot"] == 3  # positions rise with every commit
    lake.write(table, upsert(table, {"k": 9}), at(1, "tiering/ods", offsets="wrong"))
    assert lake.snapshot_properties(table)["offsets"] == "0:2"
    assert state(lake, table) == [{"k": 1}, {"k": 2}]


def test_the_newest_commit_of_each_writer(lake: LakeStore, make_table: Make) -> None:
    table = make_table(k="bigint")
    lake.create(table)
    assert lake.last_commit(table, "a/b") is None
    lake.write(table, upsert(table, {"k": 1}), at(5, "a/b", note="first"))
    lake.write(table, upsert(table, {"k": 2}), at(7, "a.b", note="other"))
    found = lake.last_commit(table, "a/b")
    assert found is not None
    assert (found["note"], found[EPOCH], found[SNAPSHOT_ID]) == ("first", "5", "1")


def test_each_writer_has_its_own_epochs(lake: LakeStore, make_table: Make) -> None:
    table = make_table(k="bigint")
    lake.create(table)
    lake.write(table, upsert(table, {"k": 1}), at(5, "a/b"))
    lake.write(table, upsert(table, {"k": 2}), at(3, "a.b"))
    lake.write(table, upsert(table, {"k": 3}), at(5, "a/b"))
    lake.write(table, upsert(table, {"k": 4}), at(3, "a.b"))
    lake.write(table, upsert(table, {"k": 5}), at(6, "a/b"))
    assert state(lake, table) == [{"k": 1}, {"k": 2}, {"k": 5}]

"""Keys that may be NULL: NULL is a key like any other, beside the value that a store has in its place."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, StoreError, WriteRefusedError
from streamhouse.model.table import NULL_BITS, Column, Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import (
    Changes,
    FilteredStore,
    LoggedStore,
    PartitionedStore,
    PlacedStore,
    ShapedStore,
    Store,
    WriteContext,
)
from streamhouse.stores.where import RowCondition

Make = Callable[..., Table]
Key = tuple[Any, ...]
Row = dict[str, Any]

ENGINES: dict[str, dict[str, Any]] = {
    "deduplicate": {},
    "first_row": {"first_row": True},
    "versioned": {"version_column": "v"},
    "aggregation": {"merge": {"v": "sum", "s": "last_value"}},
}
VALUES: dict[str, tuple[Any, ...]] = {  # NULL, what stands for it, another one
    "string": (None, "", "north"),
    "bigint": (None, 0, -1),
    "int": (None, 0, 7),
    "boolean": (None, False, True),
    "date": (None, date(1970, 1, 1), date(2026, 3, 1)),
    "timestamp": (None, datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, 12, tzinfo=UTC)),
    "timestamp_ntz": (None, datetime(1970, 1, 1), datetime(2026, 3, 1, 12)),
    "decimal(12,2)": (None, Decimal("0.00"), Decimal("1.50")),
}


def opened(store: Store, make_table: Make, kinds: Mapping[str, str], **options: Any) -> Table:
    """A created table with a key column for each kind, all of which may be NULL, and two values."""
    made = make_table(**kinds, v="bigint", s="string", key=tuple(kinds))
    table = Table.model_validate({**made.model_dump(), "null_keys": tuple(kinds), **options})
    try:
        store.create(table)
    except StoreError:
        if table.merge and not store.capabilities.merge:
            pytest.skip("the store cannot merge")
        if table.selects and not store.capabilities.selects:
            pytest.skip("the store cannot select")
        raise
    return table


def changes(table: Table, rows: list[Row], deletes: list[Key] = (), names: tuple[str, ...] | None = None) -> Changes:  # type: ignore[assignment]
    key = arrow_schema([table.column(name) for name in table.primary_key])
    gone = pa.Table.from_pylist([dict(zip(table.primary_key, one, strict=True)) for one in deletes], schema=key)
    columns = table.columns if names is None else [table.column(name) for name in (*table.primary_key, *names)]
    return Changes(pa.Table.from_pylist(rows, schema=arrow_schema(columns)), gone if gone.num_rows else None)


def key_of(table: Table, row: Row) -> Key:
    return tuple(row[name] for name in table.primary_key)


def by_key(table: Table, rows: pa.Table) -> dict[Key, Row]:
    assert rows.column_names == list(table.column_names)
    found = {key_of(table, row): row for row in rows.to_pylist()}
    assert len(found) == rows.num_rows, "each key is there once"
    return found


def merged(table: Table, before: dict[Key, Row], rows: list[Row], deletes: list[Key]) -> dict[Key, Row]:
    """What a write makes of the rows, in plain words."""
    after = {key: row for key, row in before.items() if key not in deletes}
    for row in rows:
        key = key_of(table, row)
        old = after.get(key)
        if old is None or not (table.merge or table.selects):
            after[key] = row
        elif table.merge:
            after[key] = row | {"v": old["v"] + row["v"]}
        elif table.version_column and row["v"] >= old["v"]:
            after[key] = row
    return after


def applied(table: Table, before: dict[Key, Row], found: Changes) -> dict[Key, Row]:
    gone = {key_of(table, row) for row in found.deletes.to_pylist()} if found.deletes is not None else set()
    return {key: row for key, row in before.items() if key not in gone} | by_key(table, found.upserts)


@pytest.mark.parametrize("engine", ENGINES)
def test_null_is_a_key_like_any_other(store: Store, make_table: Make, engine: str) -> None:
    kinds = {"a": "string", "b": "bigint"}
    table = opened(store, make_table, kinds, **ENGINES[engine])
    keys = [(a, b) for a in VALUES["string"] for b in VALUES["bigint"]]
    chance, rows = random.Random(7), dict[Key, Row]()
    ends, states = [store.end(table)], [rows]
    for epoch in range(4):
        upserts = [
            {"a": a, "b": b, "v": chance.randrange(9), "s": f"{epoch}"} for a, b in chance.sample(keys, len(keys) - 3)
        ]
        written = {key_of(table, row) for row in upserts}
        gone = [key for key in keys if key not in written] if engine == "deduplicate" else []
        store.write(table, changes(table, upserts, gone), WriteContext("flow/segment", epoch))
        rows = merged(table, rows, upserts, gone)
        ends.append(store.end(table))
        states.append(rows)
        assert by_key(table, store.read_state(table)) == rows
    assert any(None in key for key in rows), "the history has NULL in its keys"
    for start in range(len(ends)):
        found = store.read_changes(table, ends[start], ends[-1])
        assert applied(table, states[start], found) == rows, start
        if found.before is not None and start:
            before = by_key(table, found.before)
            assert before.items() <= states[start].items()
    assert by_key(table, store.read_state(table, at=ends[2])) == states[2]


def test_every_type_of_a_key_may_be_null(store: Store, make_table: Make) -> None:
    kinds = {f"k{number}": kind for number, kind in enumerate(VALUES)}
    table = opened(store, make_table, kinds)
    keys = [tuple(VALUES[kind][(at + number) % 3] for at, kind in enumerate(VALUES)) for number in range(3)]
    keys += [tuple(VALUES[kind][number] for kind in VALUES) for number in range(3)]
    listed = [dict(zip(kinds, key, strict=True), v=n, s="x") for n, key in enumerate(keys)]
    store.write(table, changes(table, listed), WriteContext("flow/segment", 0))
    assert by_key(table, store.read_state(table)) == {key_of(table, row): row for row in listed}
    store.write(table, changes(table, [], keys[3:4]), WriteContext("flow/segment", 1))
    assert keys[3] == (None,) * len(VALUES)
    left = by_key(table, store.read_state(table))
    assert left.keys() == set(keys) - {keys[3]}, "what stands for NULL in a store is not NULL"


def test_a_part_of_the_columns_is_read(store: Store, make_table: Make) -> None:
    table = opened(store, make_table, {"a": "string", "b": "bigint"})
    start = store.end(table)
    listed = [{"a": None, "b": 0, "v": 1, "s": "x"}, {"a": "", "b": None, "v": 2, "s": "y"}]
    store.write(table, changes(table, listed), WriteContext("flow/segment", 0))
    for names in (("v",), ("b",), ("v", "a"), ("s", "b", "a")):
        wanted = sorted(({name: row[name] for name in names} for row in listed), key=repr)
        for found in (
            store.read_state(table, None, names),
            store.read_changes(table, start, store.end(table), names).upserts,
        ):
            assert found.column_names == list(names)
            assert sorted(found.to_pylist(), key=repr) == wanted
    if isinstance(store, LoggedStore):
        log = store.read_log(table, start, store.end(table), ("a", "b"))
        assert sorted(log.select(["a", "b"]).to_pylist(), key=repr) == [{"a": "", "b": None}, {"a": None, "b": 0}]
        assert log.column_names[4:] == ["a", "b"]


def test_conditions_leave_no_row_out_that_fulfils_them(lake: Store, make_table: Make) -> None:
    if not isinstance(lake, FilteredStore):
        pytest.skip("Spark filters its rows")
    table = opened(lake, make_table, {"a": "string"})
    listed = [{"a": a, "v": n, "s": "x"} for n, a in enumerate(VALUES["string"])]
    lake.write(table, changes(table, listed), WriteContext("flow/segment", 0))
    conditions = {
        RowCondition("a", "is null"): None,
        RowCondition("a", "=", ("",)): "",
        RowCondition("v", "=", (2,)): "north",
    }
    for condition, wanted in conditions.items():
        found = lake.read_where(table, None, table.column_names, [condition])
        assert wanted in found.column("a").to_pylist()
        assert set(found.column("a").to_pylist()) <= set(VALUES["string"])
        assert lake.list_files(table, None, [condition])  # type: ignore[attr-defined]


def test_columns_are_written_by_several_writers(store: Store, make_table: Make) -> None:
    table = opened(store, make_table, {"a": "string"})
    first, second = (WriteContext(f"flow/{name}", 0, columns=(name,)) for name in ("v", "s"))
    keys = VALUES["string"]
    store.write(table, changes(table, [{"a": a, "v": n} for n, a in enumerate(keys)], names=("v",)), first)
    store.write(table, changes(table, [{"a": a, "s": f"{a}"} for a in keys], names=("s",)), second)
    wanted = {(a,): {"a": a, "v": n, "s": f"{a}"} for n, a in enumerate(keys)}
    assert by_key(table, store.read_state(table)) == wanted
    for name in ("v", "s"):
        store.write(
            table, changes(table, [], [(None,)], names=(name,)), WriteContext(f"flow/{name}", 1, columns=(name,))
        )
    del wanted[None,]
    assert by_key(table, store.read_state(table)) == wanted


def test_rows_are_set(store: Store, make_table: Make) -> None:
    table = opened(store, make_table, {"a": "string"}, **ENGINES["aggregation"])
    listed = [{"a": a, "v": 1, "s": "x"} for a in VALUES["string"]]
    for epoch in range(2):
        store.write(table, changes(table, listed), WriteContext("flow/segment", epoch))
    store.replace(table, changes(table, [{"a": None, "v": 9, "s": "set"}], [("",)]), WriteContext("flow/backfill", 2))
    wanted = {(None,): {"a": None, "v": 9, "s": "set"}, ("north",): {"a": "north", "v": 2, "s": "x"}}
    assert by_key(table, store.read_state(table)) == wanted


def test_a_repeated_epoch_adds_nothing(store: Store, make_table: Make) -> None:
    table = opened(store, make_table, {"a": "string"}, **ENGINES["aggregation"])
    listed, start = [{"a": a, "v": 1, "s": "x"} for a in VALUES["string"]], store.end(table)
    store.write(table, changes(table, listed[:2]), WriteContext("flow/segment", 0))  # and died
    store.write(table, changes(table, listed[:2]), WriteContext("flow/segment", 0, start))
    assert by_key(table, store.read_state(table)) == {key_of(table, row): row for row in listed[:2]}


def test_the_table_shows_its_own_columns_only(store: Store, make_table: Make) -> None:
    table = opened(store, make_table, {"a": "string", "b": "bigint"})
    store.write(table, changes(table, [{"a": None, "b": 1, "v": 1, "s": "x"}]), WriteContext("flow/segment", 0))
    store.create(table)  # again, as at each start
    wider = table.model_copy(update={"columns": (*table.columns, Column(name="w", type="int"))})
    store.add_columns(wider)
    store.create(wider)
    assert [column.name for column in store.columns(table.name) or ()] == ["a", "b", "v", "s", "w"]
    assert by_key(wider, store.read_state(wider)) == {(None, 1): {"a": None, "b": 1, "v": 1, "s": "x", "w": None}}
    if isinstance(store, ShapedStore):
        shape = store.shape(table.name)
        assert shape is not None
        assert [column.name for column in shape.columns] == ["a", "b", "v", "s", "w"]
        assert shape.primary_key == ("a", "b")
    with pytest.raises(SchemaConflictError):
        store.create(
            table.model_copy(update={"null_keys": (), "columns": wider.columns, "primary_key": ("a", "b", "v")})
        )


def test_a_column_that_may_not_be_null_is_refused(store: Store, make_table: Make) -> None:
    made = make_table(a="string", b="bigint", v="bigint", key=("a", "b"))
    table = Table.model_validate({**made.model_dump(), "null_keys": ("b",)})
    store.create(table)
    with pytest.raises(WriteRefusedError, match="no a, which is part of its primary key"):
        store.write(table, changes(table, [{"a": None, "b": 1, "v": 1}]), WriteContext("flow/segment", 0))
    store.write(table, changes(table, [{"a": "x", "b": None, "v": 1}]), WriteContext("flow/segment", 0))
    assert store.read_state(table).to_pylist() == [{"a": "x", "b": None, "v": 1}]


def test_the_name_of_the_stored_column_is_taken(store: Store, make_table: Make) -> None:
    if store.tier == "cold":
        pytest.skip("it stores NULL as it is")
    made = make_table(**{"a": "string", NULL_BITS: "bigint"}, key=("a",))
    with pytest.raises(SchemaConflictError, match="rename the column"):
        store.create(Table.model_validate({**made.model_dump(), "null_keys": ("a",)}))


def test_a_reader_that_knows_another_plan_reads_the_same(store: Store, make_table: Make) -> None:
    table = opened(store, make_table, {"a": "string", "b": "bigint"})
    listed = [{"a": None, "b": 0, "v": 1, "s": "x"}, {"a": "", "b": None, "v": 2, "s": "y"}]
    start = store.end(table)
    store.write(table, changes(table, listed), WriteContext("flow/segment", 0))
    wanted = {key_of(table, row): row for row in listed}
    for nulls in ((), ("b",), ("a", "b")):
        known = table.model_copy(update={"null_keys": nulls})
        assert by_key(known, store.read_state(known)) == wanted
        assert by_key(known, store.read_changes(known, start, store.end(known)).upserts) == wanted
    plain = make_table(a="string", v="bigint", key=("a",))
    store.create(plain)
    store.write(plain, changes(plain, [{"a": "", "v": 1}]), WriteContext("flow/segment", 0))
    newer = plain.model_copy(update={"null_keys": ("a",)})
    assert store.read_state(newer).to_pylist() == [{"a": "", "v": 1}], "its own flow was not applied yet"


def test_a_table_that_was_made_before_takes_rows_without_null(store: Store, make_table: Make) -> None:
    plain = make_table(a="string", v="bigint", key=("a",))
    store.create(plain)
    newer = plain.model_copy(update={"null_keys": ("a",)})
    store.create(newer)  # as at each start
    with pytest.raises(WriteRefusedError, match="made before it could take them"):
        store.write(newer, changes(newer, [{"a": None, "v": 1}]), WriteContext("flow/segment", 0))
    store.write(newer, changes(newer, [{"a": "", "v": 1}]), WriteContext("flow/segment", 0))
    wider = newer.model_copy(update={"columns": (*newer.columns, Column(name="w", type="int"))})
    store.add_columns(wider)
    assert store.read_state(wider).to_pylist() == [{"a": "", "v": 1, "w": None}]
    assert [column.name for column in store.columns(plain.name) or ()] == ["a", "v", "w"]


LAST = date.max  # what stands for a day that is NULL
PARTS = [(day, city) for day in (None, LAST, date(2026, 3, 1)) for city in (None, "null", "a")]


@pytest.mark.parametrize("key", [("day", "city", "k"), ()], ids=["keyed", "log"])
def test_a_partition_may_be_null(store: Store, make_table: Make, key: tuple[str, ...]) -> None:
    made = make_table(k="bigint", day="date", city="string", v="bigint", key=key)
    parted = {"partition_by": ("day", "city"), "null_keys": ("day", "city"), "bucket_key": ()}
    table = Table.model_validate({**made.model_dump(), **parted})
    store.create(table)
    start = store.end(table)
    listed = [{"k": n % 2, "day": day, "city": city, "v": n} for n, (day, city) in enumerate(PARTS * 2)]

    def plain(rows: pa.Table) -> list[str]:
        return sorted(map(repr, rows.to_pylist()))

    store.write(
        table, Changes(pa.Table.from_pylist(listed, schema=arrow_schema(table.columns))), WriteContext("f/s", 0)
    )
    wanted = sorted(map(repr, listed))
    middle = store.end(table)
    assert plain(store.read_state(table)) == wanted
    assert plain(store.read_changes(table, start, middle).upserts) == wanted
    again = [row | {"v": 100} for row in listed if row["day"] is None]
    store.write(table, Changes(pa.Table.from_pylist(again, schema=arrow_schema(table.columns))), WriteContext("f/s", 1))
    kept = [row for row in listed if row["day"] is not None] if key else listed
    assert plain(store.read_state(table)) == sorted(map(repr, [*kept, *again])), "a row of a key is one row"
    assert plain(store.read_changes(table, middle, store.end(table)).upserts) == sorted(map(repr, again))
    if isinstance(store, FilteredStore):
        for name, value in (("city", "a"), ("day", LAST)):
            found = store.read_where(table, None, table.column_names, [RowCondition(name, "=", (value,))])
            have = [row for row in [*kept, *again] if row[name] == value]
            assert set(map(repr, have)) <= set(plain(found))
        for operator in ("is null", "is not null"):
            found = store.read_where(table, None, table.column_names, [RowCondition("city", operator)])
            have = [row for row in [*kept, *again] if (row["city"] is None) is (operator == "is null")]
            assert set(map(repr, have)) <= set(plain(found))
    if isinstance(store, PartitionedStore):
        assert (LAST, "null") in store.partitions(table)
        aged = [one for one in store.partitions(table) if one[0] == date(2026, 3, 1)]
        assert sorted(aged) == [(date(2026, 3, 1), "a"), (date(2026, 3, 1), "null")]
        assert sorted(store.drop_partitions(table, aged)) == sorted(aged)
        left = [row for row in [*kept, *again] if row["day"] != date(2026, 3, 1)]
        assert plain(store.read_state(table)) == sorted(map(repr, left))


def test_the_rows_of_a_log_in_their_order_have_null(store: Store, make_table: Make) -> None:
    if not isinstance(store, PlacedStore):
        pytest.skip("the store gives no places")
    made = make_table(k="bigint", part="int", key=())
    table = Table.model_validate({**made.model_dump(), "partition_by": ("part",), "null_keys": ("part",)})
    store.create(table)
    listed = [{"k": 1, "part": None}, {"k": 2, "part": 0}, {"k": 3, "part": None}]
    store.write(table, changes(table, listed), WriteContext("flow/segment", 0))
    for names in (("k", "part"), ("part",), ("k",)):
        found = store.read_placed(table, None, names, "place")
        assert set(found.column_names) == {*names, "place"}
        rows = sorted(found.select(list(names)).to_pylist(), key=repr)
        assert rows == sorted(({name: row[name] for name in names} for row in listed), key=repr)

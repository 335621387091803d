"""Which row of a key wins: the same rows in give the same rows out, whichever store holds the table."""

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import SchemaConflictError, StoreError, WriteRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import MergeEngine, Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext

Make = Callable[..., Table]
Row = dict[str, Any]
State = dict[int, Row]

ENGINES = {
    "deduplicate": {},
    "first_row": {"first_row": True},
    "versioned": {"version_column": "v"},
    "aggregation": {"merge": {"v": "max", "n": "sum", "s": "last_value"}},
}
SELECTING = ["first_row", "versioned"]
EPOCHS = [
    # Two rows of a key in one batch; versions that fall, tie and are unknown.
    [(1, 5, 1, "a"), (1, 7, 2, "b"), (2, 9, 3, "c"), (2, 9, 4, "d"), (3, None, 5, "e"), (4, 6, 6, "f"), (4, 2, 7, "g")],
    [(1, 6, 8, "late"), (2, 9, 9, "tie"), (3, None, 10, "still unknown"), (4, 8, 11, "h"), (5, 1, 12, "new")],
    [(1, None, 13, "unknown"), (3, -1, 14, "known"), (4, 8, 15, "i"), (4, 8, 16, "j"), (5, 0, 17, "low")],
]


def table_of(make_table: Make, engine: str, version: str = "bigint") -> Table:
    made = make_table(k="bigint", v=version, n="bigint", s="string", key=("k",))
    return Table.model_validate({**made.model_dump(), **ENGINES[engine]})


def rows(table: Table, given: Iterable[tuple[Any, ...]]) -> Changes:
    listed = [dict(zip(table.column_names, row, strict=False)) for row in given]
    return Changes(pa.Table.from_pylist(listed, schema=arrow_schema(table.columns)))


def at(epoch: int, replay_from: Position | None = None) -> WriteContext:
    return WriteContext("flow/segment", epoch, replay_from, {"streamhouse.at_ms": "1"})


def state(store: Store, table: Table, **options: Any) -> State:
    found = store.read_state(table, **options).to_pylist()
    assert len(found) == len({row["k"] for row in found})
    return {row["k"]: row for row in found}


def merged(engine: str, before: State, given: Iterable[tuple[Any, ...]], names: tuple[str, ...]) -> State:
    """What the rows, one after the other, make of a table; in plain words."""
    after = dict(before)
    for values in given:
        row = dict(zip(names, values, strict=True))
        old = after.get(row["k"])
        if old is None or engine == "deduplicate":
            after[row["k"]] = row
        elif engine == "versioned":
            if old["v"] is None or (row["v"] is not None and row["v"] >= old["v"]):
                after[row["k"]] = row
        elif engine == "aggregation":
            known = [v for v in (old["v"], row["v"]) if v is not None]
            after[row["k"]] = row | {"v": max(known) if known else None, "n": old["n"] + row["n"]}
    return after


def applied(before: State, changes: Changes) -> State:
    gone = {row["k"] for row in changes.deletes.to_pylist()} if changes.deletes is not None else set()
    return {k: row for k, row in before.items() if k not in gone} | {r["k"]: r for r in changes.upserts.to_pylist()}


@pytest.fixture
def opened(store: Store, make_table: Make) -> Callable[..., Table]:
    def make(engine: str, version: str = "bigint") -> Table:
        table = table_of(make_table, engine, version)
        if not (store.capabilities.merge if table.merge else store.capabilities.selects or not table.selects):
            with pytest.raises(StoreError, match=r"the cold tier cannot (add up|choose)"):
                store.create(table)
            pytest.skip("refused, as it says of itself")
        store.create(table)
        store.create(table)  # stands already
        return table

    return make


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_rows_win_in_every_store(store: Store, opened: Callable[..., Table], engine: str) -> None:
    table = opened(engine)
    assert table.merge_engine == engine
    model: State = {}
    for epoch, given in enumerate(EPOCHS):
        start = store.end(table)
        end = store.write(table, rows(table, given), at(epoch))
        wanted = merged(engine, model, given, table.column_names)
        assert state(store, table) == wanted
        changes = store.read_changes(table, start, end)
        assert applied(model, changes) == wanted
        if engine in SELECTING and any(start.values()):  # what lost is no change
            told = {row["k"] for row in changes.upserts.to_pylist()}
            assert told == {k for k in wanted if wanted[k] != model.get(k)}
            assert changes.deletes is None
        if store.capabilities.state_as_of:
            assert state(store, table, at=start) == model
        model = wanted
    assert applied({}, store.read_changes(table, {}, store.end(table))) == model


@pytest.mark.parametrize("engine", SELECTING)
def test_a_repeated_epoch_changes_nothing(store: Store, opened: Callable[..., Table], engine: str) -> None:
    table = opened(engine)
    model: State = {}
    for epoch, given in enumerate(EPOCHS):
        start = store.end(table)
        store.write(table, rows(table, given), at(epoch))
        once = state(store, table)
        for _ in range(2):
            end = store.write(table, rows(table, given), at(epoch, start))
            assert state(store, table) == once
        model = merged(engine, model, given, table.column_names)
        assert once == model
        assert applied(model, store.read_changes(table, start, end)) == model


@pytest.mark.services
@pytest.mark.parametrize("engine", SELECTING)
def test_an_epoch_that_died_half_way_is_completed(fluss_store: Store, make_table: Make, engine: str) -> None:
    """Only a store without commits can hold half an epoch; any half of the rows that win may be there."""
    for seed in range(4):
        table = table_of(make_table, engine)
        fluss_store.create(table)
        model: State = {}
        for epoch, given in enumerate(EPOCHS):
            start = fluss_store.end(table)
            alone = list(merged(engine, {}, given, table.column_names).values())
            half = random.Random(seed).sample([tuple(row.values()) for row in alone], k=len(alone) // 2)
            fluss_store.write(table, rows(table, half), at(epoch))
            end = fluss_store.write(table, rows(table, given), at(epoch, start))
            before, model = model, merged(engine, model, given, table.column_names)
            assert state(fluss_store, table) == model
            assert applied(before, fluss_store.read_changes(table, start, end)) == model


def test_any_history_is_merged_as_the_model_merges_it(store: Store, opened: Callable[..., Table]) -> None:
    for seed, engine in enumerate(SELECTING):
        chance, table = random.Random(seed), opened(engine)
        model: State = {}
        followed: State = {}
        for epoch in range(6):
            given = [
                (chance.randrange(60), chance.choice([None, *range(20)]), number, f"{epoch}.{number}")
                for number in range(chance.choice((1, 5, 40, 120)))
            ]
            start = store.end(table)
            end = store.write(table, rows(table, given), at(epoch))
            model = merged(engine, model, given, table.column_names)
            followed = applied(followed, store.read_changes(table, start, end))
            assert state(store, table) == model == followed


@pytest.mark.parametrize("engine", SELECTING)
def test_many_rows_of_which_most_lose(store: Store, opened: Callable[..., Table], engine: str) -> None:
    table = opened(engine)
    store.write(table, rows(table, ((k, 5, k, "old") for k in range(2_000))), at(0))
    start = store.end(table)
    store.write(table, rows(table, ((k, 9 if k < 10 else 1, k, "new") for k in range(2_500))), at(1))
    won = {row["k"] for row in store.read_changes(table, start, store.end(table)).upserts.to_pylist()}
    assert won == {*range(2_000, 2_500), *(range(10) if engine == "versioned" else ())}
    assert {k for k, row in state(store, table).items() if row["s"] == "new"} == won


@pytest.mark.parametrize("kind", ["int", "bigint", "timestamp", "timestamp_ntz"])
def test_versions_of_each_type(store: Store, opened: Callable[..., Table], kind: str) -> None:
    table = opened("versioned", kind)
    zone = UTC if kind == "timestamp" else None
    moment = datetime(2026, 1, 1, tzinfo=zone)
    low, high = (-5, 3) if kind in ("int", "bigint") else (moment, moment + timedelta(microseconds=1))
    store.write(table, rows(table, [(1, low, 1, "low"), (2, high, 2, "high"), (3, None, 3, "none")]), at(0))
    store.write(table, rows(table, [(1, high, 4, "x"), (2, low, 5, "x"), (3, low, 6, "x")]), at(1))
    assert {k: (row["v"], row["s"]) for k, row in state(store, table).items()} == {
        1: (high, "x"), 2: (high, "high"), 3: (low, "x"),
    }  # fmt: skip


@pytest.mark.parametrize("engine", SELECTING)
def test_what_such_a_table_does_not_do_is_refused(store: Store, opened: Callable[..., Table], engine: str) -> None:
    table = opened(engine)
    store.write(table, rows(table, EPOCHS[0]), at(0))
    before, gone = state(store, table), pa.table({"k": pa.array([1], pa.int64())})
    with pytest.raises(WriteRefusedError, match=f"has the merge engine {engine}, so a row cannot be deleted"):
        store.write(table, Changes(rows(table, []).upserts, gone), at(1))
    with pytest.raises(WriteRefusedError, match="selects whole rows"):
        store.write(table, rows(table, EPOCHS[1]), WriteContext("f/s", 1, columns=("n",)))
    with pytest.raises(WriteRefusedError, match="have no k"):
        store.write(table, rows(table, [(None, 1, 1, "a")]), at(1))
    others = [{**ENGINES[other]} for other in ENGINES if other != engine]
    if engine == "versioned":
        others.append({"version_column": "n"})
    plain = {name: value for name, value in table.model_dump().items() if name not in ("first_row", "version_column")}
    for other in others:
        with pytest.raises(SchemaConflictError):
            store.create(Table.model_validate({**plain, **other}))
    assert state(store, table) == before


@pytest.mark.parametrize("engine", SELECTING)
def test_rows_are_set_where_the_store_can(store: Store, opened: Callable[..., Table], engine: str) -> None:
    table = opened(engine)
    store.write(table, rows(table, [(1, 5, 1, "a"), (2, 5, 2, "b")]), at(0))
    given = Changes(rows(table, [(1, 2, 9, "set")]).upserts, pa.table({"k": pa.array([2], pa.int64())}))
    if not store.capabilities.replaces_selected:
        with pytest.raises(WriteRefusedError, match="cannot be set in the hot tier"):
            store.replace(table, given, WriteContext("backfill/b", 0))
        assert len(state(store, table)) == 2
        return
    store.replace(table, given, WriteContext("backfill/b", 0))
    assert {k: row["s"] for k, row in state(store, table).items()} == {1: "set"}
    store.write(table, rows(table, [(1, 1, 10, "low"), (2, 1, 11, "again")]), at(1))
    assert {k: row["s"] for k, row in state(store, table).items()} == {1: "set", 2: "again"}


@pytest.mark.parametrize("engine", SELECTING)
def test_a_column_is_added(store: Store, opened: Callable[..., Table], engine: str) -> None:
    table = opened(engine)
    store.write(table, rows(table, [(1, 5, 1, "a"), (2, 5, 2, "b")]), at(0))
    wide = table.model_copy(update={"columns": (*table.columns, Column(name="more", type="int"))})
    store.add_columns(wide)
    store.write(wide, rows(wide, [(1, 4, 3, "low", 7), (2, 6, 4, "high", 7), (3, 1, 5, "new", 7)]), at(1))
    found = {k: (row["s"], row["more"]) for k, row in state(store, wide).items()}
    assert found == {1: ("a", None), 2: ("high", 7) if engine == "versioned" else ("b", None), 3: ("new", 7)}


def test_there_is_a_test_of_every_engine() -> None:
    assert {*ENGINES, "partial_update"} == set(MergeEngine)  # for the last one see test_partial_writes.py

"""What differs between two DataFrames is written, and nothing else; few rows cost few jobs, many are kept by Spark."""

import struct
from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from streamhouse.engine.row_order import ROW
from streamhouse.errors import RestateError
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import WriteContext
from streamhouse.tiering import restate
from streamhouse.tiering.restate import EVERYTHING, apply, difference, filling, refuse_deletes
from tests.gate.levels import deep

pytestmark = [
    deep("two hundred thousand rows", only=("test_what_fills_a_log_keeps_its_order[200000-1]",)),
    pytest.mark.spark,
]

TYPES = {"k": "bigint", "part": "string", "x": "double", "tags": "array<string>", "map": "map<string,bigint>"}
COLUMNS = tuple(Column(name=name, type=kind, nullable=name not in ("k", "part")) for name, kind in TYPES.items())
VALUES = {
    "x": [None, 0.0, -0.0, 1.5, float("nan")],
    "tags": [None, [], ["a"], ["a", None]],
    "map": [None, [], [("a", 1), ("b", 2)], [("b", 2), ("a", 1)], [("a", None)]],
}


class Written:
    """A store that remembers what it was given."""

    def __init__(self):
        self.writes = []

    def write(self, table, changes, context):
        self.writes.append((changes, context.epoch))

    replace = write


def step(key=()):
    return PlannedStep(
        action="clean",
        version="1.0.0",
        kind="clean",
        reads=(PlannedRead(table="ods.rows", port="rows", mode="changes", columns=("k",)),),
        writes=Table(name="dwd.rows", columns=COLUMNS, primary_key=key, tiers=Tiers(hot="1d")),
        sql="SELECT 1",
        strategy="map",
        reason="",
    )


def some(random, count, key):
    """Random rows, with `key` one of each."""
    drawn = [(random.randrange(count), random.choice(["a", "b", None])) for _ in range(count)]
    drawn = sorted(set(drawn), key=repr) if key else drawn
    rows = [{"k": k, "part": p, **{n: random.choice(v) for n, v in VALUES.items()}} for k, p in drawn]
    random.shuffle(rows)
    return pa.Table.from_pylist(rows, arrow_schema(COLUMNS))


def plain(row):
    """A row as it compares: entries of a map in no order, 0.0 is not -0.0, NaN is NaN."""
    told = dict(row, map=row["map"] and sorted(row["map"], key=str))
    return tuple(repr(told[name]) for name in TYPES)


def changed(spark, wanted, held, key, only_dry=False):
    """What is written to make `held` rows `wanted` ones, and what the difference counts."""
    table, store = step(key).writes, Written()
    frames = [arrow_frame(spark, rows) for rows in (wanted, held)]
    with difference(step(key), *frames, EVERYTHING) as found:
        if not only_dry:
            apply(table, found, store, lambda number: WriteContext("w", number), lambda _: None)
        counted = (found.rows, found.deletes)
    assert spark.sparkContext._jsc.sc().getPersistentRDDs().isEmpty()
    assert [epoch for _, epoch in store.writes] == list(range(len(store.writes)))
    upserts = [row for given, _ in store.writes for row in given.upserts.to_pylist()]
    deletes = [row for given, _ in store.writes for row in (given.deletes.to_pylist() if given.deletes else [])]
    return upserts, deletes, counted, len(store.writes)


@pytest.mark.parametrize("at_once", [5, 200_000])
@pytest.mark.parametrize("seed", range(3))
def test_a_keyed_table_gets_the_rows_that_differ_and_loses_the_keys_that_are_gone(spark, monkeypatch, at_once, seed):
    monkeypatch.setattr(restate, "_ROWS_AT_ONCE", at_once)
    key, random = ("k", "part"), Random(seed)
    wanted, held = some(random, 20, key), some(random, 20, key)
    upserts, deletes, counted, writes = changed(spark, wanted, held, key)
    have, want = ({(row["k"], row["part"]): plain(row) for row in rows.to_pylist()} for rows in (held, wanted))
    assert {(r["k"], r["part"]): plain(r) for r in upserts} == {k: r for k, r in want.items() if have.get(k) != r}
    assert Counter((r["k"], r["part"]) for r in deletes) == Counter(have.keys() - want.keys())
    assert None in {part for _, part in have.keys() & want.keys()}, "NULL in a key meets NULL"
    assert counted == (len(upserts), len(deletes))
    assert writes > 1 if at_once == 5 else writes == 1


@pytest.mark.parametrize("at_once", [5, 200_000])
def test_a_log_gets_each_row_as_often_as_it_lacks_it(spark, monkeypatch, at_once):
    monkeypatch.setattr(restate, "_ROWS_AT_ONCE", at_once)
    held = some(Random(1), 12, ())
    lacking = pa.concat_tables([held.slice(0, 3), *[held.slice(0, 1)] * 4, some(Random(2), 6, ())])
    upserts, deletes, counted, _ = changed(spark, pa.concat_tables([lacking, held]), held, ())
    assert Counter(map(plain, upserts)) == Counter(map(plain, lacking.to_pylist()))
    assert not deletes
    assert counted == (lacking.num_rows, 0)


@pytest.mark.parametrize("at_once", [2, 200_000])
def test_a_log_that_has_rows_too_much_is_refused(spark, monkeypatch, at_once):
    monkeypatch.setattr(restate, "_ROWS_AT_ONCE", at_once)
    rows = some(Random(3), 6, ())
    twice = pa.concat_tables([rows.slice(2), rows.slice(2), rows.slice(2)])
    with difference(step(), arrow_frame(spark, rows), arrow_frame(spark, twice), EVERYTHING) as found:
        assert (found.rows, found.deletes) == (2, 8)
        with pytest.raises(RestateError, match="8 of its rows") as refused:
            refuse_deletes("orders", step().writes, found)
    assert "streamhouse restore orders --rebuild" in str(refused.value)


def test_a_keyed_table_that_has_rows_too_much_is_not_refused(spark):
    rows = some(Random(3), 6, ("k", "part"))
    with difference(step(("k", "part")), *(arrow_frame(spark, r) for r in (rows.slice(2), rows)), EVERYTHING) as found:
        assert found.deletes == 2
        refuse_deletes("orders", step(("k", "part")).writes, found)


FLOATS = {"k": "double", "f": "float", "d": "double", "s": "struct<t:string,l:array<double>>", "m": "map<double,float>"}
OTHERS = {"f": [0.0], "d": [0.0], "s": [{"t": "a, b", "l": [0.0, 1.0]}, {"t": "a", "l": [1.0]}], "m": [[(1.0, 0.0)]]}


def floats(key):
    columns = tuple(Column(name=name, type=kind, nullable=name != "k") for name, kind in FLOATS.items())
    table = Table(name="dwd.floats", columns=columns, primary_key=key, tiers=Tiers(hot="1d"))
    made = {"k": 0.0, "f": -0.0, "d": -0.0, "s": {"t": "a, b", "l": [-0.0, 1.0]}, "m": [(1.0, -0.0)]}
    return step().model_copy(update={"writes": table}), made, arrow_schema(columns)


def written(spark, one, schema, wanted, held):
    store = Written()
    frames = [arrow_frame(spark, pa.Table.from_pylist(rows, schema)) for rows in (wanted, held)]
    with difference(one, *frames, EVERYTHING) as found:
        counted = found.rows, found.deletes
        if not (found.deletes and not one.writes.primary_key):
            apply(one.writes, found, store, lambda number: WriteContext("w", number), lambda _: None)
    return counted, [row for given, _ in store.writes for row in given.upserts.to_pylist()]


@pytest.mark.parametrize("key", [("k",), ()], ids=["keyed", "log"])
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OTHERS.items() for value in values])
def test_a_zero_of_the_other_sign_is_another_value(spark, key, name, value):
    one, made, schema = floats(key)
    counted, rows = written(spark, one, schema, [made], [{**made, name: value}])
    assert counted == ((1, 0) if key else (1, 1))
    assert not key or repr(rows) == repr([made])


def test_rows_of_a_log_keep_the_signs_of_their_zeros(spark):
    one, made, schema = floats(())
    other = {**made, "d": 0.0, "f": 0.0}
    counted, rows = written(spark, one, schema, [made, other, other, made], [made])
    assert counted == (3, 0)
    assert Counter(map(repr, rows)) == {repr(made): 1, repr(other): 2}


def test_a_key_with_the_other_zero_or_another_nan_is_the_same_key(spark):
    """Stores keep keys plain, so a row that differs in nothing else is there already."""
    one, made, schema = floats(("k",))
    (other_nan,) = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))
    held = [made, {**made, "k": float("nan")}]
    counted, _ = written(spark, one, schema, [{**made, "k": -0.0}, {**made, "k": other_nan}], held)
    assert counted == (0, 0)


def test_what_is_equal_takes_no_write(spark):
    for key in ((), ("k", "part")):
        rows = some(Random(4), 10, key)
        assert changed(spark, rows, rows, key) == ([], [], (0, 0), 0)


def test_few_rows_take_few_jobs(spark):
    jobs = spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs
    for key in ((), ("k", "part")):
        wanted, held = some(Random(5), 20, key), some(Random(6), 20, key)
        before = jobs()
        changed(spark, wanted, held, key, only_dry=True)
        assert jobs() - before <= 2  # one for Spark to keep the rows, one to get them


@pytest.mark.parametrize(("at_once", "writes"), [(200_000, 1), (60_000, 3)])
def test_what_fills_a_log_keeps_its_order(spark, monkeypatch, at_once, writes):
    monkeypatch.setattr(restate, "_ROWS_AT_ONCE", at_once)
    rows = some(Random(7), 150_000, ())
    frame = arrow_frame(spark, rows)
    assert frame.rdd.getNumPartitions() > 1
    table, store = step().writes, Written()
    with filling(table, frame) as found:
        apply(table, found, store, lambda number: WriteContext("w", number), lambda _: None)
        assert (found.rows, found.deletes, len(store.writes)) == (rows.num_rows, 0, writes)
    given = pa.concat_tables([changes.upserts for changes, _ in store.writes]).column("k").to_pylist()
    assert given == rows.column("k").to_pylist()


@pytest.mark.parametrize("at_once", [300, 200_000])
def test_what_a_log_lacks_comes_in_its_order(spark, monkeypatch, at_once):
    """Of equal rows the first ones are there, and several rows that one row gave stay in their order."""
    monkeypatch.setattr(restate, "_ROWS_AT_ONCE", at_once)
    rows = some(Random(8), 1_000, ())
    wanted = rows.append_column(ROW, pa.array([at // 4 << 40 for at in range(rows.num_rows)], pa.int64()))
    table, store, held = step().writes, Written(), rows.slice(0, 200)
    frames = arrow_frame(spark, wanted), arrow_frame(spark, held)
    with difference(step(), *frames, EVERYTHING) as found:
        assert (found.rows, found.deletes) == (800, 0)
        apply(table, found, store, lambda number: WriteContext("w", number), lambda _: None)
    given = pa.concat_tables([changes.upserts for changes, _ in store.writes]).to_pylist()
    assert [plain(row) for row in given] == [plain(row) for row in rows.slice(200).to_pylist()]
    assert len(store.writes) > 1 if at_once == 300 else len(store.writes) == 1

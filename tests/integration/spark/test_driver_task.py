"""Tasks that the driver runs itself give what those give that Spark schedules."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import ResultShortError
from streamhouse.spark.carrier import Carrier
from streamhouse.spark.driver_task import DriverTasks
from streamhouse.spark.failures import ResultTooLargeError

pytestmark = pytest.mark.spark

UTC_US, LOCAL_US = pa.timestamp("us", "UTC"), pa.timestamp("us")
PART = pa.struct([("a", pa.int64()), ("b", pa.string())])

TYPES = pa.table(
    {
        "n": pa.array([1, None, 3], pa.int32()),
        "x": pa.array([1.5, float("inf"), None]),
        "d": pa.array([Decimal("1.10"), None, Decimal("-3.00")], pa.decimal128(10, 2)),
        "s": ["a", None, "ü"],
        "b": pa.array([b"\x00", None, b"x"]),
        "t": pa.array([True, None, False]),
        "day": pa.array([date(2024, 1, 1), None, date(1960, 2, 3)]),
        "at": pa.array([datetime(2024, 1, 1, 12, tzinfo=UTC), None, datetime(1960, 1, 1, tzinfo=UTC)], UTC_US),
        "local": pa.array([datetime(2024, 1, 1, 12), None, datetime(1960, 1, 1)], LOCAL_US),
        "span": pa.array([timedelta(seconds=5), None, timedelta(days=-1)], pa.duration("us")),
        "list": pa.array([[1, None], None, []], pa.list_(pa.int64())),
        "part": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}], PART),
        "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def session(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "false")
    return session


@pytest.fixture
def tasks(session):
    return DriverTasks(session)


def frame(session, rows, sql="SELECT * FROM given"):
    Carrier(session).frame(rows).createOrReplaceTempView("given")
    return session.sql(sql)


def test_rows_of_every_type_arrive_as_they_were(tasks, session):
    made = frame(session, TYPES)
    assert tasks.make_task(made).rows().equals(Carrier(session).rows(made))


def test_no_rows_have_the_columns(tasks, session):
    made = frame(session, TYPES, "SELECT * FROM given WHERE n > 5")
    rows = tasks.make_task(made).rows()
    assert rows.num_rows == 0
    assert rows.schema.equals(Carrier(session).rows(made).schema)


@pytest.mark.parametrize("count", [1, 100, 300, 120_000])
def test_rows_arrive_in_order_by_either_way(tasks, session, count):
    numbers = pa.table({"n": pa.array(range(count)), "s": [f"row {n}" for n in range(count)]})
    made = frame(session, numbers)
    assert tasks.make_task(made).rows().equals(numbers)


def test_a_row_that_fails_is_told_as_spark_tells_it_and_the_next_run_works(tasks, session):
    from pyspark.errors import PySparkException

    bad = frame(session, pa.table({"s": ["1", "x"], "i": [0, 1]}), "SELECT CAST(s AS INT) AS n FROM given WHERE i <= 1")
    task = tasks.make_task(bad)
    for _ in range(2):
        with pytest.raises(PySparkException, match="CAST_INVALID_INPUT") as told:
            task.rows()
    with pytest.raises(PySparkException) as scheduled:
        Carrier(session).rows(bad)
    assert type(told.value) is type(scheduled.value)
    assert tasks.make_task(frame(session, pa.table({"n": [1]}))).rows().to_pylist() == [{"n": 1}]


def test_settings_of_the_session_hold_while_a_task_runs(spark):
    """The kind of error depends on a setting that an executor looks up when a value is parsed."""
    session = spark.newSession()
    session.conf.set("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
    session.conf.set("spark.sql.ansi.enabled", "false")
    made = frame(
        session,
        pa.table({"s": ["2024-1-1"], "a": [[1, 1]]}),
        "SELECT MAP_FROM_ARRAYS(a, a) AS m, INT(s) AS n FROM given",
    )
    assert DriverTasks(session).make_task(made).rows().to_pylist() == Carrier(session).rows(made).to_pylist()


def test_memory_of_a_task_is_given_back(tasks, session, spark):
    numbers = pa.table({"k": [n % 1000 for n in range(50_000)], "n": pa.array(range(50_000))})
    task = tasks.make_task(
        frame(session, numbers, "SELECT n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS r FROM given")
    )
    manager = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get().memoryManager()
    before = manager.executionMemoryUsed()
    for _ in range(3):
        assert task.rows().num_rows == 50_000
    assert manager.executionMemoryUsed() == before


def test_memory_of_a_task_that_fails_is_given_back(tasks, session, spark):
    from pyspark.errors import PySparkException

    numbers = pa.table({"k": [n % 1000 for n in range(50_000)], "n": pa.array(range(50_000))})
    asked = "SELECT k, SUM(n) AS n, MAX(IF(n = 49999, RAISE_ERROR('no'), 0)) AS e FROM given GROUP BY k"
    task = tasks.make_task(frame(session, numbers, asked))
    manager = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get().memoryManager()
    before = manager.executionMemoryUsed()
    with pytest.raises(PySparkException, match="no"):
        task.rows()
    assert manager.executionMemoryUsed() == before


def test_queries_run_beside_each_other(tasks, session):
    """Plans share the expressions of a query that both are made of; a pattern that is compiled is kept in one."""
    made = frame(session, pa.table({"s": [f"a{n}b" for n in range(2_000)], "p": [f"a({n % 7})" for n in range(2_000)]}))
    made.createOrReplaceTempView("given")
    asks = [session.sql(f"SELECT s, REGEXP_REPLACE(s, p, '<$1>') AS r, {n} AS n FROM given") for n in range(4)]
    wanted = [Carrier(session).rows(ask).to_pylist() for ask in asks]
    ready = [tasks.make_task(ask) for ask in asks]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            assert [rows.to_pylist() for rows in pool.map(lambda task: task.rows(), ready)] == wanted
        one = ready[0]
        assert all(rows.to_pylist() == wanted[0] for rows in pool.map(lambda _: one.rows(), range(8)))


def test_more_than_the_driver_takes_is_refused_and_memory_given_back(spark):
    session = spark.newSession()
    conf = spark.sparkContext._conf
    before = conf.get("spark.driver.maxResultSize")
    conf.set("spark.driver.maxResultSize", "1m")
    try:
        tasks = DriverTasks(session)
    finally:
        conf.set("spark.driver.maxResultSize", before)
    many = "SELECT n, EXPLODE(SEQUENCE(1, 1000)) AS m FROM given"
    task = tasks.make_task(frame(session, pa.table({"n": pa.array(range(1000))}), many))
    with pytest.raises(ResultTooLargeError, match=r"\(1024\.0 KiB\)"):
        task.rows()
    assert tasks.make_task(frame(session, pa.table({"n": [1]}))).rows().num_rows == 1


def test_rows_that_do_not_arrive_are_missed(tasks, session):
    """A connection that breaks looks like one that ends."""
    task = tasks.make_task(frame(session, pa.table({"n": pa.array(range(30_000))})))
    assert task.rows().num_rows == 30_000
    serve = tasks.serve
    tasks.serve = lambda batches, name: serve(batches.take(0), name)
    with pytest.raises(ResultShortError, match="0 of 1 batches"):
        task.rows()

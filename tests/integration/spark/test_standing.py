"""A query that is planned once gives, in each epoch, what the same query gives that is planned for its rows."""

import pyarrow as pa
import pytest

from streamhouse.engine.carrier import Carrier
from streamhouse.engine.standing import MOST_ROWS, Standing

pytestmark = pytest.mark.spark

STAND = [
    "SELECT n * 2 AS twice FROM placed WHERE n > 1",
    "SELECT k, SUM(n) AS n, COUNT(*) AS c, COUNT(DISTINCT n) AS d FROM placed GROUP BY k HAVING SUM(n) > 0",
    "SELECT SUM(n) AS n FROM placed",
    "SELECT k, COLLECT_LIST(n) AS n, PERCENTILE(n, 0.5) AS p FROM placed GROUP BY k",
    "SELECT DISTINCT k FROM placed",
    "SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS place FROM placed",
    "SELECT k, n, SUM(n) OVER (ORDER BY n, k) AS so_far FROM placed",
    "SELECT k, one FROM placed LATERAL VIEW EXPLODE(SEQUENCE(1, n)) AS one",
    "SELECT k, n FROM placed ORDER BY n DESC, k LIMIT 2",
    "SELECT k, n FROM placed ORDER BY n, k LIMIT 2 OFFSET 1",
    "SELECT k FROM placed LIMIT 1",
    "SELECT k AS v FROM placed UNION ALL SELECT n FROM placed",
]
DO_NOT = [
    "SELECT k FROM placed WHERE n = (SELECT MAX(n) FROM placed)",
    "SELECT a.k, b.n FROM placed AS a JOIN placed AS b ON a.k = b.n",
    "SELECT a.k, b.n FROM placed AS a CROSS JOIN placed AS b",
    "SELECT k FROM placed WHERE n IN (SELECT k FROM placed)",
    "SELECT k, n, COUNT(*) AS c FROM placed GROUP BY CUBE (k, n)",
    "SELECT /*+ REPARTITION(3) */ k FROM placed",
]
EPOCHS = [[(1, 1), (1, 2), (2, 5)], [(1, 1), (3, 3), (3, 3), (2, 1)], [(7, 2)], [(1, 1), (1, 2), (2, 5)]]


@pytest.fixture
def standing(spark):
    return Standing(spark)


def table(rows):
    return pa.table({"k": pa.array([k for k, _ in rows], pa.int64()), "n": pa.array([n for _, n in rows], pa.int64())})


def over(frame, sql):
    def make(carrier):
        frame.createOrReplaceTempView("placed")
        return carrier.query(sql)

    return make


def told(rows):
    return sorted(map(str, rows.to_pylist()))


@pytest.mark.parametrize("sql", STAND)
def test_a_standing_query_tells_of_the_rows_of_its_epoch(standing, spark, sql):
    made = []
    for rows in map(table, EPOCHS):
        frame = standing.place("rows", rows)
        made.append(standing.query("q", frame, over(frame, sql)))
        Carrier(spark).frame(rows).createOrReplaceTempView("placed")
        assert told(standing.rows(made[-1])) == told(Carrier(spark).rows(spark.sql(sql)))
        standing.clear()
    assert all(one is made[0] for one in made)


@pytest.mark.parametrize("sql", DO_NOT)
def test_a_query_that_keeps_rows_of_a_run_does_not_stand(standing, sql):
    frame = standing.place("rows", table(EPOCHS[0]))
    assert not standing.refuses("q")
    assert standing.query("q", frame, over(frame, sql)) is None
    assert standing.refuses("q")


def test_a_query_over_a_standing_one_stands_too(standing):
    for rows in EPOCHS:
        frame = standing.place("rows", table(rows))
        first = standing.query("first", frame, over(frame, "SELECT k, n * 2 AS n FROM placed"))
        second = standing.query("second", first, over(first, "SELECT k, SUM(n) AS n FROM placed GROUP BY k"))
        wanted = {k: sum(2 * n for at, n in rows if at == k) for k, _ in rows}
        assert {r["k"]: r["n"] for r in standing.rows(second).to_pylist()} == wanted


def test_rows_of_other_columns_get_another_place(standing, spark):
    frame = standing.place("rows", table(EPOCHS[0]))
    assert standing.place("rows", table(EPOCHS[1])) is frame
    other = table(EPOCHS[2]).append_column("m", pa.array(["x"]))
    frame = standing.place("rows", other)
    assert Carrier(spark).rows(frame).equals(other)


@pytest.mark.parametrize("count", [1, 70_000, MOST_ROWS])
def test_rows_in_pieces_keep_their_order(standing, spark, count):
    rows = pa.concat_tables([pa.table({"n": [-1]}), pa.table({"n": pa.array([], pa.int64())})])
    standing.place("rows", rows)
    numbers = pa.table({"n": pa.array(range(count), pa.int64())})
    pieces = pa.concat_tables([numbers.slice(0, 1), numbers.slice(1, count)])
    assert Carrier(spark).rows(standing.place("rows", pieces)).column("n").to_pylist() == list(range(count))


@pytest.mark.parametrize("count", [0, MOST_ROWS + 1])
def test_no_place_for_none_or_too_many(standing, count):
    assert standing.place("rows", pa.table({"n": pa.array(range(count), pa.int64())})) is None


def test_the_session_that_others_use_stays_as_it_was(standing, spark):
    frame = standing.place("rows", table(EPOCHS[0]))
    assert standing.has(frame)
    assert not standing.has(spark.range(1))
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    assert frame.sparkSession.conf.get("spark.sql.session.timeZone") == spark.conf.get("spark.sql.session.timeZone")

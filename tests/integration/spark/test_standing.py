"""A query that is planned once gives, in each epoch, what the same query gives that is planned for its rows."""

import pyarrow as pa
import pytest

from streamhouse.engine.standing import MOST_ROWS, Standing
from streamhouse.spark.carrier import Carrier
from tests.integration.spark.test_driver_task import TYPES

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
    "SELECT a.k, b.n FROM placed AS a JOIN placed AS b ON a.k = b.n",
    "SELECT a.k, SUM(b.n) AS n FROM placed AS a LEFT JOIN placed AS b ON a.k = b.n AND a.n < b.k GROUP BY a.k",
    "SELECT a.k, b.n FROM placed AS a FULL JOIN placed AS b ON a.k = b.n",
    "SELECT k FROM placed WHERE n IN (SELECT k FROM placed)",
    "SELECT k FROM placed AS a WHERE NOT EXISTS (SELECT 1 FROM placed AS b WHERE b.n = a.k)",
    "SELECT k, n FROM placed AS a WHERE n = (SELECT MAX(n) FROM placed AS b WHERE b.k = a.k)",
]
DO_NOT = [
    "SELECT k FROM placed WHERE n = (SELECT MAX(n) FROM placed)",
    "SELECT a.k, b.n FROM placed AS a CROSS JOIN placed AS b",
    "SELECT k FROM placed WHERE n NOT IN (SELECT k FROM placed)",
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


@pytest.mark.parametrize("times", [1, 2, 3, 10_000])
def test_rows_of_every_type_are_placed_again_as_they_are(standing, spark, times):
    standing.place("rows", TYPES)
    rows = pa.concat_tables([TYPES.take(pa.array([1, 2, 0]))] * times)
    frame = standing.place("rows", rows)
    query = standing.query("q", frame, over(frame, "SELECT * FROM placed"))
    assert standing.rows(query).equals(Carrier(spark).rows(Carrier(spark).frame(rows)))


@pytest.mark.parametrize("before", [TYPES, TYPES.slice(0, 0), table([(1, 1)])])
def test_no_rows_have_a_place_too(standing, before):
    standing.place("rows", before)
    frame = standing.place("rows", TYPES.slice(0, 0))
    query = standing.query("q", frame, over(frame, "SELECT *, 1 AS one FROM placed"))
    assert standing.rows(query).num_rows == 0
    assert standing.place("rows", TYPES) is frame
    assert standing.rows(query).num_rows == TYPES.num_rows


def test_a_query_over_several_places_stands(standing):
    sides = [([(1, 1), (2, 2)], [(1, 5), (3, 7)]), ([], [(1, 5)]), ([(3, 3), (3, 4)], [(3, 7), (3, 8)])]
    made = []
    for left, right in sides:
        one, other = standing.place("left", table(left)), standing.place("right", table(right))

        def make(carrier, one=one, other=other):
            one.createOrReplaceTempView("l")
            other.createOrReplaceTempView("r")
            return carrier.query("SELECT l.k, SUM(l.n * r.n) AS n FROM l JOIN r ON l.k = r.k GROUP BY l.k")

        made.append(standing.query("q", one, make, [other]))
        wanted = {}
        for k, n in left:
            for m in (m for of, m in right if of == k):
                wanted[k] = wanted.get(k, 0) + n * m
        assert {row["k"]: row["n"] for row in standing.rows(made[-1]).to_pylist()} == wanted
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


def test_no_place_for_too_many(standing):
    assert standing.place("rows", pa.table({"n": pa.array(range(MOST_ROWS + 1), pa.int64())})) is None


def test_the_session_that_others_use_stays_as_it_was(standing, spark):
    frame = standing.place("rows", table(EPOCHS[0]))
    assert standing.has(frame)
    assert not standing.has(spark.range(1))
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    assert frame.sparkSession.conf.get("spark.sql.session.timeZone") == spark.conf.get("spark.sql.session.timeZone")

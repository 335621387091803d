"""Names in HAVING that an output column and a column of the input have, as Spark 4.1 reads them."""

import pytest

from streamhouse.errors import StreamhouseError
from tests.spark_verdicts import checked
from tests.tables import each

GROUPED = (
    "SELECT k, sum(v) AS s FROM t GROUP BY {} HAVING {}",
    "SELECT k, sum(v) AS s FROM (SELECT * FROM t) GROUP BY {} HAVING {}",
)


@each("keys", ["k", "ROLLUP (k)", "CUBE (k)", "GROUPING SETS ((k), ())"])
def test_what_does_not_fit_the_column_of_the_input_is_refused(keys: str) -> None:
    for sql in GROUPED:
        for condition in (
            "s > 0",
            "s IN (1, 2)",
            "abs(s) > 0",
            "k = 'a' OR s BETWEEN 0 AND 9",
            "s > 0 AND count(*) > 1",
        ):
            with pytest.raises(StreamhouseError) as refused:
                checked(sql.format(keys, condition))
            assert "SH203 in HAVING Spark reads s as a column of the input first: " in str(refused.value)
            assert str(refused.value).endswith("hint: give the output column a name that no input has")


def test_the_error_has_the_place_of_the_condition() -> None:
    with pytest.raises(StreamhouseError) as refused:
        checked("SELECT k, grouping(k) AS g, sum(v) AS s FROM t GROUP BY ROLLUP (k) HAVING g = 0 AND s > 0")
    text = "in HAVING Spark reads s as a column of the input first: struct<a:int,b:string> and int cannot be compared"
    assert str(refused.value).splitlines()[0] == f"a.sql:1:85: SH203 {text}"


@each(
    "sql",
    [
        "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING s IS NOT NULL",
        "SELECT k, sum(v) AS v FROM t GROUP BY k HAVING v > 0",
        "SELECT k, sum(v) AS x FROM t GROUP BY k HAVING x > 0",
        "SELECT k, sum(v) AS total FROM t GROUP BY k HAVING total > 0",
        "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING sum(v) > 0",
        "SELECT k, max(v) AS v FROM t GROUP BY k HAVING sum(v) > max(v)",
        "SELECT s, sum(v) AS total FROM t GROUP BY s HAVING total > 0 AND s IS NOT NULL",
        "SELECT k, sum(v) AS s FROM t GROUP BY k ORDER BY s + 1 LIMIT 2",
        "SELECT t.k, sum(w) AS s FROM t JOIN u ON t.id = u.id GROUP BY t.k HAVING count(*) > 1",
        "SELECT k, sum(w) AS s FROM u GROUP BY k HAVING s > 0 AND k IN (SELECT k FROM t)",
    ],
)
def test_taken(sql: str) -> None:
    checked(sql)

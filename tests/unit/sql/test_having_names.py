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


@each(
    "sql",
    [
        "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING coalesce(s, 0) > 0",
        "SELECT k, grouping(k) AS g, sum(v) AS s FROM t GROUP BY ROLLUP (k) HAVING g = 0 AND coalesce(s, 0) > 0",
        "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING if(k IS NULL, 0, s) > 0",
        "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING CASE WHEN s IS NULL THEN 0 ELSE s END > 0",
        "SELECT k, collect_list(v) AS v FROM t GROUP BY k HAVING v[0] > 0",
    ],
)
def test_values_without_a_common_type_in_the_input_are_refused(sql: str) -> None:
    with pytest.raises(StreamhouseError, match=r"SH203 in HAVING Spark "):
        checked(sql)


@each(
    ("value", "name", "condition"),
    [
        ("max(k)", "v", "v = 'a'"),
        ("max(k)", "v", "v IN ('a', 'b')"),
        ("max(k)", "v", "v BETWEEN 'a' AND 'b'"),
        ("max(k)", "v", "coalesce(v, 'x') = 'a'"),
        ("max(k)", "d", "d = 'a'"),
        ("avg(v)", "v", "v > 1.2"),
        ("avg(v)", "v", "abs(v) > 1.2"),
        ("avg(v)", "v", "v + 1 > 2.2"),
        ("avg(dec)", "dec", "dec > 1.5"),
        ("sum(x)", "dec", "dec > 1"),
        ("max(d)", "ts", "ts > '2020-01-01 05:00:00'"),
        ("max(ts)", "d", "d = '2020-01-01 10:00:00'"),
    ],
)
def test_casts_of_a_column_of_another_type_are_refused(value: str, name: str, condition: str) -> None:
    """Spark rounds `avg(v)` to a digit beside 1.2, since `t.v` is an INT; or it fails on a row."""
    for keys in ("k", "ROLLUP (k)"):
        with pytest.raises(StreamhouseError) as refused:
            checked(f"SELECT k, {value} AS {name} FROM t GROUP BY {keys} HAVING {condition}")
        text = f"SH203 in HAVING Spark gives {name} the casts of the column of the input, which is "
        assert text in str(refused.value)
        assert "in its place, or give the output column a name that no input has" in str(refused.value)
        checked(f"SELECT k, {value} AS z FROM t GROUP BY {keys} HAVING {condition.replace(name, value, 1)}")


@each(
    "sql",
    [
        "SELECT k, avg(v) AS v FROM t GROUP BY k HAVING v > 1",
        "SELECT k, avg(v) AS v FROM t GROUP BY k HAVING v > 1.2D",
        "SELECT k, sum(dec) AS dec FROM t GROUP BY k HAVING dec > 1.5",
        "SELECT k, count(*) AS v FROM t GROUP BY k HAVING v > 1.5",
        "SELECT k, max(k) AS v FROM t GROUP BY k HAVING upper(v) = 'A'",
        "SELECT k, max(k) AS v FROM t GROUP BY k HAVING v > 0",
        "SELECT k, max(v) AS js FROM t GROUP BY k HAVING js = '1'",
        "SELECT k, max(ts) AS d FROM t GROUP BY k HAVING d = DATE '2020-01-01'",
    ],
)
def test_casts_that_mean_the_same_are_taken(sql: str) -> None:
    checked(sql)

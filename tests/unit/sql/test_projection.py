"""What a query makes of the rows of one table: nothing, little, or more; what only looks alike is told apart."""

import pytest

from streamhouse.sql.projection import is_light, may_give_several, repeated


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT o.a AS a FROM t AS o", {"a": "a"}),
        ("SELECT o.b AS a, o.a AS b FROM t AS o", {"a": "b", "b": "a"}),
        ("SELECT o.a AS a, o.a AS c FROM o", {"a": "a", "c": "a"}),
    ],
)
def test_columns_that_are_repeated(query, columns):
    assert dict(repeated(query)) == columns


@pytest.mark.parametrize(
    "query",
    [
        "SELECT o.a + 1 AS a FROM t AS o",
        "SELECT CAST(o.a AS STRING) AS a FROM t AS o",
        "SELECT 1 AS a FROM t AS o",
        "SELECT * FROM t AS o",
        "SELECT o.* FROM t AS o",
        "SELECT s.a AS a FROM t AS o",  # a field of the column s
        "SELECT o.s.a AS a FROM t AS o",
        "SELECT a.b AS b FROM t AS o(a)",
        "SELECT o.a AS a, o.b AS a FROM t AS o",
        "SELECT DISTINCT o.a AS a FROM t AS o",
        "SELECT o.a AS a FROM t AS o WHERE o.a > 0",
        "SELECT o.a AS a FROM t AS o LIMIT 1",
        "SELECT o.a AS a FROM t AS o ORDER BY o.a",
        "SELECT o.a AS a FROM t AS o GROUP BY o.a",
        "SELECT o.a AS a FROM t AS o JOIN u ON u.a = o.a",
        "SELECT o.a AS a FROM t AS o, u",
        "SELECT o.a AS a FROM (SELECT a FROM t) AS o",
        "SELECT o.a AS a FROM t AS o LATERAL VIEW EXPLODE(o.l) x AS e",
        "WITH o AS (SELECT a FROM t) SELECT o.a AS a FROM o",
        "SELECT o.a AS a FROM t AS o UNION ALL SELECT o.a AS a FROM t AS o",
    ],
)
def test_queries_that_do_more(query):
    assert repeated(query) is None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT o.a AS a FROM t AS o",
        "SELECT o.a % 5 AS a, CASE WHEN o.b THEN 1 ELSE 0 END AS b FROM t AS o WHERE o.a > 0 AND NOT o.b IS NULL",
        "SELECT o.a * CAST(ROUND(o.p * 100) AS BIGINT) AS cents, COALESCE(o.b, 0) AS b FROM t AS o",
    ],
)
def test_light_queries(query):
    assert is_light(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT GET_JSON_OBJECT(o.a, '$.x') AS a FROM t AS o",
        "SELECT REGEXP_REPLACE(o.a, 'x', 'y') AS a FROM t AS o",
        "SELECT SUM(o.a) AS a FROM t AS o",
        "SELECT EXPLODE(o.a) AS a FROM t AS o",
        "SELECT ROW_NUMBER() OVER (ORDER BY o.a) AS a FROM t AS o",
        "SELECT o.a AS a FROM t AS o WHERE EXISTS(SELECT 1 FROM u WHERE u.a = o.a)",
        "SELECT o.a AS a FROM t AS o WHERE o.a IN (SELECT a FROM u)",
        "SELECT DISTINCT o.a AS a FROM t AS o",
        "SELECT o.a AS a FROM t AS o JOIN u ON u.a = o.a",
        "SELECT o.a AS a FROM t AS o LIMIT 3",
    ],
)
def test_queries_that_are_not_light(query):
    assert not is_light(query)


@pytest.mark.parametrize(
    ("query", "several"),
    [
        ("SELECT o.a AS a, UPPER(o.b) AS b FROM t AS o WHERE o.a > 0", False),
        ("SELECT o.a AS a FROM (SELECT a FROM t) AS o", False),
        ("SELECT WINDOW(o.ts, '1 hour').start AS s FROM t AS o", False),
        ("SELECT WINDOW(o.ts, '2 hours', '1 hour').start AS s FROM t AS o", True),
        ("SELECT o.a AS a, u.b AS b FROM t AS o LEFT JOIN u ON u.a = o.a", True),
        ("SELECT o.a AS a, u.b AS b FROM t AS o, u", True),
        ("SELECT o.a AS a, x.e AS e FROM t AS o LATERAL VIEW EXPLODE(o.l) x AS e", True),
        ("SELECT o.a AS a, x.e AS e FROM t AS o, LATERAL STACK(2, o.a, o.b) AS x(e)", True),
        ("WITH c AS (SELECT INLINE(o.l) AS (a, b) FROM t AS o) SELECT c.a AS a FROM c AS c", True),
    ],
)
def test_queries_that_may_give_several_rows_of_one(query, several):
    assert may_give_several(query) is several

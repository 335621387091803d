"""What Spark reads is what we read: quotes, numbers, operators, and what is none of Spark's SQL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import Location, SqlSyntaxError, StrategyError
from streamhouse.sql.dialect import parse_query, render
from streamhouse.sql.dialect.literals import quoted
from streamhouse.sql.dialect.tokens import unescaped
from tests.tables import each

AT = Location("a.sql")


def read(sql: str) -> str:
    return render(parse_query(sql, AT))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'it''s'", "it's"),
        (r"'it\'s'", "it's"),
        ('"say ""it\'s"""', 'say "it\'s"'),
        (r"'a\nb\tc\\d'", "a\nb\tc\\d"),
        (r"'\u0041\101\U00000042'", "AAB"),
        (r"'100\%\_'", r"100\%\_"),
        (r"r'a\nb'", r"a\nb"),
        (r"R'\''", None),
        ("'a' 'b'\n'c'", "abc"),
        (r"'\q'", "q"),
        (r"'\0\Z'", "\0\x1a"),
    ],
)
def test_strings(written: str, value: str | None) -> None:
    if value is None:
        with pytest.raises(SqlSyntaxError):
            parse_query(f"SELECT {written} AS v", AT)
        return
    tree = parse_query(f"SELECT {written} AS v", AT)
    assert tree.selects[0].this.this == value
    again = parse_query(render(tree), AT)
    assert again.selects[0].this.this == value


@given(st.text())
def test_any_text_can_be_quoted(text: str) -> None:
    written = quoted(text)
    assert unescaped(written[1:-1], "'") == text


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("sum(w | v & 3)", "SUM(w | (v & 3))"),
        ("(w | v) & 3", "(w | v) & 3"),
        ("a ^ b | c", "(a ^ b) | c"),
        ("a | b ^ c & d", "a | (b ^ (c & d))"),
        ("a << 1 + b", "SHIFTLEFT(a, 1 + b)"),
        ("a & b << 2", "a & (SHIFTLEFT(b, 2))"),
        ("a || b + c", "(a || b) + c"),
        ("a = b < c", "(a = b) < c"),
        ("a <=> b <> c", "(a IS NOT DISTINCT FROM b) <> c"),
        ("t < u NOT IN (1)", "NOT (t < u) IN (1)"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("a < b BETWEEN c AND d", "(a < b) BETWEEN c AND d"),
        ("NOT a = b AND c", "NOT a = b AND c"),
        ("-5::string", "CAST((-5) AS STRING)"),
        ("a - 5::string", "a - CAST(5 AS STRING)"),
        ("- -5L::string", "-CAST((-5L) AS STRING)"),
        ("-a::string", "-CAST(a AS STRING)"),
        ("-5 * -6", "-5 * -6"),
        ("-a * b", "-a * b"),
        ("+a", "POSITIVE(a)"),
        ("-128Y", "-128Y"),
        ("1.5BD + 1e3", "1.5BD + 1e3"),
        ("DATE '2026-01-01' - INTERVAL 2 DAYS 3 HOURS", "DATE '2026-01-01' - (INTERVAL 2 DAYS 3 HOURS)"),
        ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
        ("b - INTERVAL '1 hour -30 minutes'", "b - (INTERVAL '1 hour -30 minutes')"),
        ("list[0] + q.array[1] + array", "list[0] + q.array[1] + array"),
        ("transform(a, list -> list[0])", "TRANSFORM(a, list -> list[0])"),
        ("range < 5 AND map < list", "range < 5 AND map < list"),
        ("a > range AND 1 + range < 5", "a > range AND 1 + range < 5"),
        ("CAST(ARRAY(abs(1), 2) AS ARRAY<INT>)", "CAST(ARRAY(ABS(1), 2) AS ARRAY<INT>)"),
        ("CAST((a) AS MAP<INT, STRUCT<list: ARRAY<INT>>>)", "CAST((a) AS MAP<INT, STRUCT<list: ARRAY<INT>>>)"),
        ("array < 5 AND CAST(array[0] AS ARRAY<INT>)[0] > 1", "array < 5 AND CAST(array[0] AS ARRAY<INT>)[0] > 1"),
        ("a !> 1 AND b !< c", "a <= 1 AND b >= c"),
        ("a !> 1 + 1 = b", "(a <= 1 + 1) = b"),
        ("values + values[0] > sum(values)", "values + values[0] > SUM(values)"),
        ("q.values - t.values.a", "q.values - t.values.a"),
        ("CASE WHEN values = 1 THEN values ELSE (values) END", "CASE WHEN values = 1 THEN values ELSE (values) END"),
        ("transform(values, values -> values)", "TRANSFORM(values, values -> values)"),
        ("TIME '10:00:00'", "TIME '10:00:00'"),
        ("CAST(a AS ARRAY<ARRAY<INT>>)", "CAST(a AS ARRAY<ARRAY<INT>>)"),
        ("struct(a AS orderId, B, 1)", "STRUCT(a AS orderId, B, 1)"),
        ("transform(a, x -> x | 1 & 2)", "TRANSFORM(a, x -> x | (1 & 2))"),
    ],
)
def test_operators_and_literals(sql: str, shown: str) -> None:
    text = read(f"SELECT {sql} AS v FROM t")
    assert text == f"SELECT {shown} AS v FROM t"
    assert read(text) == text


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT a, values FROM t", "SELECT a, values FROM t"),
        ("SELECT a values FROM t values WHERE values > 1", "SELECT a AS values FROM t AS values WHERE values > 1"),
        ("SELECT DISTINCT values FROM t ORDER BY values", "SELECT DISTINCT values FROM t ORDER BY values"),
        (
            "WITH values AS (SELECT a FROM t) SELECT * FROM values",
            "WITH values AS (SELECT a FROM t) SELECT * FROM values",
        ),
        ("SELECT * FROM VALUES (1) AS q(values)", "SELECT * FROM VALUES (1) AS q(values)"),
        ("SELECT a, values * 2, values - 2 FROM t", "SELECT a, values * 2, values - 2 FROM t"),
        ("SELECT a, values NOT LIKE b FROM t", "SELECT a, values NOT LIKE b FROM t"),
        ("SELECT DISTINCT values - 1 FROM t", "SELECT DISTINCT values - 1 FROM t"),
        ("SELECT COALESCE(values - 1, 2) FROM t", "SELECT COALESCE(values - 1, 2) FROM t"),
        ("SELECT 1 FROM t WHERE a IN (values - 1, values)", "SELECT 1 FROM t WHERE a IN (values - 1, values)"),
        ("SELECT a FROM t MINUS VALUES (1)", "SELECT a FROM t EXCEPT SELECT * FROM VALUES (1) AS _values"),
        ("SELECT a FROM t UNION ALL VALUES (1)", "SELECT a FROM t UNION ALL SELECT * FROM VALUES (1) AS _values"),
        ("SELECT a FROM t, VALUES (1) AS q(b)", "SELECT a FROM t CROSS JOIN VALUES (1) AS q(b)"),
        ("SELECT a FROM t WHERE a IN (VALUES (1), (2))", "SELECT a FROM t WHERE a IN (VALUES (1), (2))"),
    ],
)
def test_values_is_a_name_where_no_rows_follow(sql: str, shown: str) -> None:
    assert read(sql) == shown
    assert read(shown) == shown


def test_ctes_stay_where_they_are() -> None:
    sql = "WITH t AS (SELECT 1 AS a) SELECT (WITH t AS (SELECT 2 AS a) SELECT a FROM t) AS b FROM t"
    assert read(sql) == sql


def test_a_comma_binds_as_a_join_does() -> None:
    # Spark 4.1 joins what stands in FROM from left to right; `spark.sql.ansi.relationPrecedence` would change that.
    assert (
        read("SELECT 1 FROM a, b FULL JOIN c ON b.x = c.x") == "SELECT 1 FROM a CROSS JOIN b FULL JOIN c ON b.x = c.x"
    )
    assert read("SELECT 1 FROM a, (b RIGHT JOIN c ON b.x = c.x), d") == (
        "SELECT 1 FROM a CROSS JOIN (b RIGHT JOIN c ON b.x = c.x) CROSS JOIN d"
    )


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("(SELECT a FROM t) LIMIT 1", "SELECT a FROM t LIMIT 1"),
        ("((SELECT a FROM t)) ORDER BY b OFFSET 1", "SELECT a FROM t ORDER BY b OFFSET 1"),
        ("(SELECT a FROM t ORDER BY b) LIMIT 1", "SELECT a FROM t ORDER BY b LIMIT 1"),
        (
            "(SELECT a FROM t ORDER BY a LIMIT 2) LIMIT 1",
            "SELECT * FROM (SELECT a FROM t ORDER BY a LIMIT 2) AS _in_brackets LIMIT 1",
        ),
        (
            "((SELECT t.a FROM t LIMIT 5) ORDER BY t.a) OFFSET 1",
            ("SELECT * FROM (SELECT t.a FROM t LIMIT 5) AS _in_brackets ORDER BY a OFFSET 1"),
        ),
        (
            "(SELECT a FROM t UNION ALL SELECT a FROM u) ORDER BY a LIMIT 1",
            "SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY a LIMIT 1",
        ),
        (
            "(SELECT a FROM t UNION ALL SELECT a FROM u LIMIT 3) LIMIT 2",
            "SELECT * FROM (SELECT a FROM t UNION ALL SELECT a FROM u LIMIT 3) AS _in_brackets LIMIT 2",
        ),
        ("WITH q AS (SELECT 1 AS a) (SELECT a FROM q)", "WITH q AS (SELECT 1 AS a) SELECT a FROM q"),
        ("WITH q AS (SELECT 1 AS a) (SELECT a FROM q) LIMIT 3", "WITH q AS (SELECT 1 AS a) SELECT a FROM q LIMIT 3"),
        ("(WITH q AS (SELECT 1 AS a) SELECT a FROM q) LIMIT 3", "WITH q AS (SELECT 1 AS a) SELECT a FROM q LIMIT 3"),
        (
            "WITH q AS (SELECT 1 AS a) (WITH q AS (SELECT a + 1 AS a FROM q) SELECT a FROM q) LIMIT 1",
            (
                "WITH q AS (SELECT 1 AS a) SELECT * FROM (WITH q AS (SELECT a + 1 AS a FROM q) SELECT a FROM q)"
                " AS _in_brackets LIMIT 1"
            ),
        ),
        ("(SELECT a FROM t) SORT BY a LIMIT 1", "SELECT a FROM t SORT BY a LIMIT 1"),
        (
            "(SELECT sum(a) OVER w AS s FROM t LIMIT 2) WINDOW w AS (ORDER BY b) LIMIT 1",
            "SELECT * FROM (SELECT SUM(a) OVER w AS s FROM t WINDOW w AS (ORDER BY b) LIMIT 2) AS _in_brackets LIMIT 1",
        ),
        (
            "SELECT a FROM t WHERE a IN ((SELECT a FROM u) LIMIT 2) AND EXISTS ((SELECT 1 FROM u) ORDER BY b LIMIT 0)",
            "SELECT a FROM t WHERE a IN (SELECT a FROM u LIMIT 2) AND EXISTS(SELECT 1 FROM u ORDER BY b LIMIT 0)",
        ),
        (
            "SELECT a FROM ((SELECT a FROM t LIMIT 3) LIMIT 2) AS q UNION ALL ((SELECT a FROM u) LIMIT 1)",
            (
                "SELECT a FROM (SELECT * FROM (SELECT a FROM t LIMIT 3) AS _in_brackets LIMIT 2) AS q"
                " UNION ALL (SELECT a FROM u LIMIT 1)"
            ),
        ),
    ],
)
def test_clauses_behind_brackets(sql: str, shown: str) -> None:
    assert read(sql) == shown
    assert read(shown) == shown


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "SELECT a, b FROM t QUALIFY row_number() OVER (ORDER BY b) = 1 ORDER BY b LIMIT 3",
            (
                "SELECT `a`, `b` FROM (SELECT a, b, (ROW_NUMBER() OVER (ORDER BY b) = 1) AS _qualified FROM t) AS _all"
                " WHERE _qualified ORDER BY b LIMIT 3"
            ),
        ),
        (
            "SELECT DISTINCT a AS x, rank() OVER (ORDER BY b) AS r FROM t QUALIFY r < 3",
            (
                "SELECT DISTINCT `x`, `r` FROM (SELECT a AS x, RANK() OVER (ORDER BY b) AS r,"
                " ((RANK() OVER (ORDER BY b)) < 3) AS _qualified FROM t) AS _all WHERE _qualified"
            ),
        ),
        (
            "SELECT * FROM t QUALIFY count(*) OVER (PARTITION BY a) > 1 ORDER BY c",
            (
                "SELECT * EXCEPT (_qualified, _ordered_by_1) FROM (SELECT *, (COUNT(*) OVER (PARTITION BY a) > 1)"
                " AS _qualified, c AS _ordered_by_1 FROM t) AS _all WHERE _qualified ORDER BY _ordered_by_1"
            ),
        ),
    ],
)
def test_qualify(sql: str, shown: str) -> None:
    assert read(sql) == shown


def test_qualify_beside_an_order_that_is_lost() -> None:
    with pytest.raises(StrategyError, match="ORDER BY beside QUALIFY"):
        read("SELECT DISTINCT a FROM t QUALIFY count(*) OVER (PARTITION BY b) > 1 ORDER BY b")


@each(
    "sql",
    [
        "SELECT a FROM t FULL SEMI JOIN u ON t.a = u.a",
        "SELECT a FROM t LEFT CROSS JOIN u",
        "SELECT a = NOT b FROM t",
        "SELECT a ! IN (1) FROM t",
        "SELECT a IS ! NULL FROM t",
        "SELECT a IN (1) = TRUE FROM t",
        "SELECT a IS NULL IS NULL FROM t",
        "SELECT a < < b FROM t",
        "SELECT a > ALL (SELECT b FROM u) FROM t",
        "SELECT a LIKE ANY () FROM t",
        "SELECT DATE '2026-02-30'",
        "SELECT TIMESTAMP 'soon'",
        "SELECT TIME '25:00:00'",
        "SELECT INTERVAL 1 NOPE",
        "SELECT INTERVAL 1 MONTH 2 DAYS",
        "SELECT INTERVAL '1:2' DAY TO SECOND",
        "SELECT 300Y",
        "SELECT 1e999",
        "SELECT " + "9" * 39,
        "SELECT " + "9" * 5000,
        "SELECT 1." + "9" * 5000,
        "SELECT " + "(" * 400 + "1" + ")" * 400,
        "SELECT " + "NOT " * 3000 + "a FROM t",
        "SELECT " + "- " * 3000 + "a FROM t",
        "SELECT " + " + ".join(["a"] * 3000) + " FROM t",
        "SELECT a" + ".b" * 3000 + " FROM t",
        " UNION ALL ".join(["SELECT a FROM t"] * 3000),
        "SELECT CAST(a AS DECIMAL(12,2.0)) FROM t",
        "SELECT CAST(a AS DECIMAL(39,2)) FROM t",
        "SELECT CAST(a AS map<string>) FROM t",
        "SELECT CAST(a AS nope) FROM t",
        "WITH c AS (SELECT 1), c AS (SELECT 2) SELECT * FROM c",
        "SELECT * FROM VALUES (1, 2), (3) AS w(a, b)",
        "SELECT date_add('DAY', 1, a) FROM t",
        "SELECT DISTINCT ON (a) b FROM t",
        "SELECT a AT TIME ZONE 'UTC' FROM t",
        "SELECT nope'x' FROM t",
        "SELECT a FROM t ORDER BY a ASC DESC",
        "SELECT row_number() OVER (ORDER BY a ASC DESC) AS n FROM t",
    ],
)
def test_what_spark_refuses(sql: str) -> None:
    with pytest.raises(SqlSyntaxError) as refused:
        parse_query(sql, AT)
    assert refused.value.at is not None
    assert refused.value.code == "SH104"

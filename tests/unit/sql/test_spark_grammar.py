"""What Spark's parser does not read is refused, with its place; `integration/test_spark_text.py` asks Spark itself."""

import importlib.util
from functools import partial
from pathlib import Path

import pytest

from streamhouse.errors import Location, SqlSyntaxError
from streamhouse.sql.dialect import parse_condition, parse_query, render
from streamhouse.sql.dialect.spark_grammar import check_spark_grammar
from tests.sql_statements import Statements
from tests.work import calls_in

AT = Location("a.sql")
ROOT = Path(__file__).parents[3]


def test_the_grammar_is_that_of_the_installed_spark() -> None:
    path = ROOT / "scripts" / "spark_grammar.py"
    spec = importlib.util.spec_from_file_location("spark_grammar_script", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.OUT.read_text(encoding="utf-8") == script.text(), "run scripts/spark_grammar.py"


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ('SELECT a AS "x" FROM t', """a.sql:1:13: SH104 "x" is a string for Spark, and no name"""),
        ('SELECT a "x" FROM t', "A begins no literal, and a name is no string"),
        ("SELECT count(*) FILTER (a) FROM t", "1:25: SH104 Spark does not take 'a' here"),
        ("SELECT a FROM t |> WHERE a > 1", "1:17: SH104 '|>' is not analysed"),
        ("SELECT a FROM t |> WHERE a > 1", "write WITH piped AS (what is before it) SELECT * FROM piped WHERE"),
        ("FROM t |> ORDER BY a", "SELECT * FROM piped ORDER …"),
        ("FROM t |>", "SH104"),
        ("SELECT parse_json(s):a.b::int FROM t", "1:21: SH104 a path into a VARIANT, ':a.b', is not analysed"),
        ("SELECT v:items[0].x AS x FROM t", "write variant_get(v, '$.items[0].x', 'string'), or another type"),
        ("SELECT a FROM :t WHERE a = CAST(b AS STRUCT<x:INT>)", "a parameter is a value, never a name"),
        ("SELECT a FROM t WHERE a ! IN (1)", "SH104"),
        ("SELECT a IS ! NULL FROM t", "SH104"),
        ("SELECT a FROM t GROUP BY a b", "SH104"),
        ("SELECT a FROM t GROUP BY ALL ALL", "GROUP BY ALL names no columns"),
        ("SELECT a FROM t GROUP BY WITH ROLLUP", "GROUP BY has no columns"),
        ("SELECT a FROM t GROUP BY ROLLUP(a, ())", "ROLLUP takes no empty set"),
        ("SELECT b <> EXISTS (SELECT 1 FROM t) FROM t", "Spark does not take '1' here"),
        ("SELECT (EXISTS (SELECT 1 FROM t) IS NOT NULL) FROM t", "Spark does not take 'NOT' here"),
        ("SELECT a FROM t LIMIT 5 OFFSET 0 OFFSET 0", "SH104"),
        ("SELECT lag(a NULLS FIRST) OVER (ORDER BY b) FROM t", "SH104"),
        ("SELECT sum(a) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (ORDER BY b)", "Spark does not take 'ROWS' here"),
        ("SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN a PRECEDING AND CURRENT ROW) FROM t", "a frame is a literal"),
        ("SELECT a FROM t WHERE s LIKE 'b' ESCAPE '##'", "ESCAPE takes one character"),
        ("SELECT a FROM t WHERE s LIKE ANY ('b', 'c') ESCAPE '#'", "LIKE ANY takes no ESCAPE"),
        ("SELECT a FROM VALUES (1) AS t(a, b)", "VALUES has 1 columns, and 2 names"),
        ("SELECT 128Y", "out of the range of tinyint"),
        ("SELECT INTERVAL '1 day 2'", "'1 day 2' is no interval"),
        ("SELECT INTERVAL '1 month 1 day'", "is no interval"),
        ("SELECT INTERVAL '10-9' YEAR", "'10-9' is no number of YEAR"),
        ("SELECT INTERVAL '106751992 04' DAY TO HOUR", "is no interval DAY TO HOUR"),
        ("SELECT TIMESTAMP '2021-01-01 12:30:42949'", "is no TIMESTAMP"),
    ],
)
def test_refused(sql: str, told: str) -> None:
    with pytest.raises(SqlSyntaxError) as refused:
        parse_query(sql, AT)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT a DIV (2 * b), a LIKE ('x') FROM t", "a DIV (2 * b), a LIKE ('x')"),
        ("SELECT a NOT RLIKE ('y') FROM t", "NOT a RLIKE ('y')"),
        ("SELECT like(a, 'x') AND NOT like(a, 'y') FROM t", "LIKE(a, 'x') AND NOT LIKE(a, 'y')"),
        ("SELECT any(a), some(b) FROM t WHERE s LIKE ANY ('x')", "ANY(a), SOME(b) FROM t WHERE s LIKE ANY('x')"),
        ("SELECT OVERLAY('ab' PLACING 'x' FROM 2)", "OVERLAY('ab' PLACING 'x' FROM 2)"),
        ("SELECT INTERVAL '2' YEAR + '3-3'", "INTERVAL '2' YEAR + '3-3'"),
        ("SELECT -128Y, INTERVAL -'-1 2:3:4' DAY TO SECOND", "-128Y, INTERVAL -'-1 2:3:4' DAY TO SECOND"),
        ("SELECT a FROM t -- a /* b\n WHERE /* c /* d */ e */ a > :least", "a FROM t WHERE a > :least"),
        ("SELECT qualify, a QUALIFY FROM t", "qualify"),
        ("SELECT a FROM t HAVING a > 1 QUALIFY rank() OVER (ORDER BY a) = 1 ORDER BY a", "_qualified"),
    ],
)  # fmt: skip
def test_taken(sql: str, shown: str) -> None:
    try:
        assert shown in render(parse_query(sql, AT))
    except SqlSyntaxError:
        assert sql.startswith("SELECT qualify")  # Spark reads it; the parser behind takes the word for the clause
        check_spark_grammar(sql)


def test_conditions_are_expressions() -> None:
    assert render(parse_condition("a >= 0 AND b IS NOT NULL", AT)) == "a >= 0 AND NOT b IS NULL"
    with pytest.raises(SqlSyntaxError, match="no name"):
        parse_condition('a > 0 AND b = (SELECT c AS "x" FROM t)', AT)


def test_the_work_grows_with_the_length_of_a_text_and_not_faster() -> None:
    def long(count: int) -> str:
        many = " AND ".join(f"(a{n} = {n} OR b{n} <> {n})" for n in range(count))
        return f"SELECT {', '.join(f'f(c{n}, {n}) AS d{n}' for n in range(count))} FROM t WHERE {many}"

    def deep(count: int) -> str:
        return "SELECT " + "(" * count + "1" + ")" * count

    for text, few in ((long, 100), (deep, 25)):
        check_spark_grammar(text(2))  # the parser learns the kinds of text that it has met
        one, four = (calls_in(partial(check_spark_grammar, text(count))) for count in (few, 4 * few))
        assert four < 6 * one


def test_no_text_breaks_the_reading() -> None:
    made = Statements(4, ("sum", "upper"))
    for _ in range(200):
        for sql in (made.whole(), made.broken()):
            try:
                parse_query(sql, AT)
            except SqlSyntaxError as error:
                assert error.at is not None  # noqa: PT017  the place is what is asked for

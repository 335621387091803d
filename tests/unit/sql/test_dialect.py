"""SQL in and out of trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import SqlSyntaxError
from streamhouse.sql.dialect import (
    hand_on,
    parse_condition,
    parse_query,
    place_of,
    quote_names,
    read_alone,
    render,
)
from tests.sql_corpus import AT, expressions, queries
from tests.tables import each


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT LOG10(a), TO_CHAR(d, '999'), PARSE_JSON(s) FROM t",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM t",
        "SELECT DATEDIFF(HOUR, a, b), UNIX_DATE(c), SORT_ARRAY(x), ARRAY_SORT(x) FROM t",
        "SELECT WINDOW(ts, '5 minutes').start FROM t GROUP BY WINDOW(ts, '5 minutes')",
        "SELECT a, ROW_NUMBER() OVER w FROM t WINDOW w AS (PARTITION BY b)",
        "SELECT SUM(a) FILTER(WHERE b > 1), EXISTS(x, q -> q > 1), FILTER(x, q -> q > 1) FROM t",
    ],
)
def test_functions_stay_as_written(sql: str) -> None:
    assert render(parse_query(sql, AT)) == sql


@each("sql", [*[f"SELECT {e} AS v FROM lines" for e in expressions()], *queries()])
def test_printing_is_stable(sql: str) -> None:
    once = render(parse_query(sql, AT))
    assert render(parse_query(once, AT)) == once


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT a,\n  b c d FROM t", "action.sql:11:7"),
        ("SELECT 'open", "action.sql:10:1"),
        ("DELETE FROM t", "action.sql:10:1"),
        ("SELECT 1; SELECT 2", "action.sql:10:1"),
        ("", "action.sql:10:1"),
    ],
)
def test_wrong_syntax_has_a_place(sql: str, place: str) -> None:
    with pytest.raises(SqlSyntaxError) as refused:
        parse_query(sql, AT)
    assert str(refused.value.at) == place


def test_condition() -> None:
    assert render(parse_condition("a >= 0 and b is not null", AT)) == "a >= 0 AND NOT b IS NULL"
    with pytest.raises(SqlSyntaxError):
        parse_condition("a >= ", AT)
    with pytest.raises(SqlSyntaxError):
        parse_condition("SELECT 1", AT)


def test_a_tree_handed_out_is_the_callers_own() -> None:
    first = parse_query("SELECT a FROM t", AT)
    first.set("limit", None)
    first.find_all(type(first.selects[0]))
    first.selects[0].replace(parse_condition("b", AT))
    assert render(parse_query("SELECT a FROM t", AT)) == "SELECT a FROM t"


def test_place_of_is_where_a_part_begins() -> None:
    sql = "SELECT a,\n  hour(ts) + 1 AS h FROM t"
    tree = parse_query(sql, AT)
    assert str(place_of(tree.selects[1], sql, AT)) == "action.sql:11:3"


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="`"), min_size=1))
def test_any_column_name_survives(name: str) -> None:
    tree = parse_query(f"SELECT `{name}` FROM t", AT)
    quote_names(tree)
    assert parse_query(render(tree), AT).selects[0].name == name


def test_a_tree_that_is_handed_on_is_given_once() -> None:
    sql = "SELECT a AS handed_on_once FROM t"
    tree = read_alone(sql, AT)
    hand_on(sql, tree)
    first = parse_query(sql, AT)
    assert first is tree
    first.set("expressions", [])
    assert [item.alias for item in parse_query(sql, AT).selects] == ["handed_on_once"]
    assert parse_query(sql, AT) is not parse_query(sql, AT)

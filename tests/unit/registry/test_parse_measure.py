"""What a measure and a check may be: an aggregate over the rows of one table, and a condition on one row."""

import pytest

from streamhouse.errors import Location, SqlSyntaxError
from streamhouse.registry.parse_sql import parse_check, parse_measure

AT = Location("actions/a.sql", 3, 5)


@pytest.mark.parametrize(
    "sql",
    [
        "COUNT(*)",
        "SUM(cents) / 100",
        "SUM(cents) FILTER (WHERE paid)",
        "SUM(cents) FILTER (WHERE paid) / 100",
        "COUNT(*) FILTER (WHERE cents IS NOT NULL)",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cents)",
        "FIRST(cents) IGNORE NULLS",
        "COUNT(DISTINCT customer)",
        "CAST(SUM(cents) AS DECIMAL(18, 2))",
        "CASE WHEN COUNT(*) > 0 THEN SUM(cents) END",
        "MAX(cents) - MIN(cents)",
        "BOOL_OR(paid)",
        "COUNT_IF(paid)",
    ],
)
def test_an_aggregate_is_a_measure(sql):
    assert parse_measure(sql, AT) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "cents",
        "cents / SUM(cents)",
        "1",
        "(SELECT SUM(cents) FROM t)",
        "SELECT SUM(cents) FROM t",
        "SUM(cents) OVER ()",
        "SUM(cents) AS revenue",
        "SUM(cents), COUNT(*)",
        "SUM(cents); DROP TABLE t",
        "SUM(cents",
        "",
        " ",
        ";",
        "-- nothing",
        "DROP TABLE t",
    ],
)
def test_what_is_no_aggregate_is_refused_where_it_stands(sql):
    with pytest.raises(SqlSyntaxError) as caught:
        parse_measure(sql, AT)
    assert caught.value.at == AT
    assert caught.value.hint


@pytest.mark.parametrize(
    "sql", ["", " ", ";", "-- nothing", "k AS x", "COUNT(*) > 1", "SUM(k) FILTER (WHERE k > 1) > 2"]
)
def test_what_is_no_condition_is_refused_where_it_stands(sql):
    with pytest.raises(SqlSyntaxError) as caught:
        parse_check(sql, AT)
    assert caught.value.at == AT
    assert caught.value.hint

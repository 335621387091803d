"""Expressions that are computed for each row by itself: which, and in what form."""

import pytest

from streamhouse.sql.dialect import render
from streamhouse.sql.row_function import row_function
from tests.sql_corpus import orders


def computed(text: str) -> str | None:
    query = orders(f"SELECT {text} AS x, k.id AS id FROM k JOIN c ON c.cust = k.cust")
    found = row_function(query.tree.selects[0].unalias(), query.scope, query.inference)
    return None if found is None else render(found)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("date_trunc('hour', ts)", "DATE_TRUNC('hour', k.ts)"),
        ("v + 1", "TRY_ADD(k.v, 1)"),
        ("(v - 1) * 2", "TRY_MULTIPLY(TRY_SUBTRACT(k.v, 1), 2)"),
        ("CAST(v / region AS INT)", "TRY_CAST(TRY_DIVIDE(k.v, c.region) AS INT)"),
        ("CAST(name AS DATE)", "TRY_CAST(c.name AS DATE)"),
        ("v % 3", "TRY_MOD(k.v, 3)"),
        ("v DIV 3", "k.v DIV 3"),
        ("COALESCE(name, 'none')", "COALESCE(c.name, 'none')"),
        ("CASE WHEN v > 1 AND name IS NULL THEN 'a' END", "CASE WHEN k.v > 1 AND c.name IS NULL THEN 'a' END"),
        ("CASE name WHEN 'a' THEN v + 1 ELSE 0 END", "CASE c.name WHEN 'a' THEN TRY_ADD(k.v, 1) ELSE 0 END"),
        ("name IN ('a', 'b')", "c.name IN ('a', 'b')"),
        ("v BETWEEN 1 AND 3", "k.v BETWEEN 1 AND 3"),
        ("ts >= '2026-01-01'", "k.ts >= '2026-01-01'"),
        ("EXTRACT(YEAR FROM ts)", "EXTRACT(YEAR FROM k.ts)"),
        ("upper(substring(name, 1, 2))", "UPPER(SUBSTRING(c.name, 1, 2))"),
        ("name || '!'", "c.name || '!'"),
    ],
)
def test_computed_for_each_row(text: str, form: str) -> None:
    assert computed(text) == form


@pytest.mark.parametrize(
    "text",
    [
        "1 + 1",  # of no row
        "name = 1",  # fails on text that is no number
        "v IN (1, name)",
        "v DIV region",  # fails on 0
        "v DIV 0",
        "element_at(arr, v)",
        "CAST(name AS TIMESTAMP)",  # '12:30' is of today
        "date_trunc('hour', current_timestamp())",
        "unix_seconds(current_timestamp()) + v",
        "CAST(v / 2 AS STRING)",
        "v / 2",  # a double is no key
        "hour(name)",
        "abs(v)",
        "(SELECT max(k.v) FROM k)",
        "count(*) OVER (PARTITION BY v)",
    ],
)
def test_left_alone(text: str) -> None:
    assert computed(text) is None

"""A column that is carried through a query: there once, whatever the query is made of, and nothing else changes."""

import pytest

from streamhouse.errors import Location
from streamhouse.sql.carry import carried
from streamhouse.sql.dialect import parse_query, render
from tests.sql_corpus import KEYS, cases, orders

QUERIES = {
    "SELECT a FROM t": "SELECT a, t.n AS n FROM t",
    "SELECT x.a FROM t AS x LEFT JOIN u ON x.a = u.a": "SELECT x.a, x.n AS n FROM t AS x LEFT JOIN u ON x.a = u.a",
    "SELECT t.a FROM u RIGHT JOIN t ON t.a = u.a": "SELECT t.a, t.n AS n FROM u RIGHT JOIN t ON t.a = u.a",
    "SELECT * FROM t": "SELECT * FROM t",
    "SELECT u.*, t.a FROM t, u": "SELECT u.*, t.a, t.n AS n FROM t, u",
    "SELECT a FROM (SELECT a FROM t) AS s": "SELECT a, s.n AS n FROM (SELECT a, t.n AS n FROM t) AS s",
    "SELECT b FROM (SELECT a FROM t) AS s(b)": "SELECT b, s.n AS n FROM (SELECT a, t.n AS n FROM t) AS s(b, n)",
    "SELECT a FROM t UNION ALL SELECT a FROM v": ("SELECT a, t.n AS n FROM t UNION ALL SELECT a, v.n AS n FROM v"),
    "WITH c AS (SELECT a FROM t) SELECT a FROM c UNION ALL SELECT a + 1 FROM c": (
        "WITH c AS (SELECT a, t.n AS n FROM t) SELECT a, c.n AS n FROM c UNION ALL SELECT a + 1, c.n AS n FROM c"
    ),
    "SELECT a FROM t WHERE EXISTS(SELECT 1 FROM u WHERE u.a = t.a)": (
        "SELECT a, t.n AS n FROM t WHERE EXISTS(SELECT 1 FROM u WHERE u.a = t.a)"
    ),
    "SELECT a, e FROM t LATERAL VIEW EXPLODE(l) x AS e": "SELECT a, e, t.n AS n FROM t LATERAL VIEW EXPLODE(l) x AS e",
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_column_is_carried(query):
    parsed = parse_query(query, Location(""))
    assert render(carried(parsed, ["t", "v"], "n")) == render(parse_query(QUERIES[query], Location("")))
    assert render(parsed) == render(parse_query(query, Location("")))


def test_each_query_whose_rows_are_made_of_single_rows_carries_it():
    mapped = [case.sql for case in cases() if case.expected == "map"]
    assert len(mapped) > 20
    assert [sql for sql in mapped if "n" not in carried(orders(sql).tree, KEYS.keys() - {"d"}, "n").named_selects] == []

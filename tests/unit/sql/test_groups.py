"""Columns beside aggregates that no group key has are refused, as Spark refuses them."""

import pytest

from streamhouse.errors import Location, StrategyError
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.sql_corpus import columns

AT = Location("a.sql")
PORT = ActionPort(columns({"id": "bigint", "i": "int", "v": "int", "arr": "array<int>", "st": "struct<a:int>"}), {})


def planned(sql: str) -> str:
    return analyse(parse_query(sql, AT), {"t": PORT}, sql, AT).sql


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT i AS k, count(*) AS c FROM t GROUP BY v", "a.sql:1:8: SH211 column 'i' is neither a group key nor in"),
        ("SELECT i AS k, count(*) AS c FROM t", "column 'i' is neither"),
        ("SELECT count(*) + i AS c FROM t", "column 'i' is neither"),
        ("SELECT i AS k, sum(v) OVER (ORDER BY i) AS c FROM t GROUP BY i", "column 'v' is neither"),
        (
            "SELECT q.c FROM (SELECT i AS k, max(v) AS c FROM t GROUP BY 2) AS q",
            "a.sql:1:33: SH211 max() is an aggregate",
        ),
        ("SELECT i AS k, rank() OVER (ORDER BY i) AS c FROM t GROUP BY 1, 2", "a.sql:1:16: SH211 GROUP BY 2 takes no"),
        ("SELECT id, sum(v) FILTER (WHERE i > 1) OVER (PARTITION BY i) AS c FROM t", "Spark does not compute"),
    ],
)
def test_refused(sql: str, told: str) -> None:
    with pytest.raises(StrategyError) as refused:
        planned(sql)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT i + 1 AS k, 1 + i AS l, count(*) AS c FROM t GROUP BY i + 1",
        "SELECT i AS k, sum(sum(v)) OVER (ORDER BY i) AS c FROM t GROUP BY i",
        "SELECT i AS k, (SELECT max(u.v) FROM t AS u) AS c, max(v) AS m FROM t GROUP BY i",
        "SELECT i AS k, first(v) IGNORE NULLS AS f, max_by(v, id) AS m FROM t GROUP BY 1",
        "SELECT i AS k, count(*) FILTER (WHERE v > 1) AS c FROM t GROUP BY 1",
        "SELECT i AS k, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS p FROM t GROUP BY k",
        "SELECT i, v FROM t GROUP BY ALL",
        "SELECT i, v, count(*) AS c FROM t GROUP BY GROUPING SETS ((i), (v))",
        "SELECT i, v, count(*) AS c FROM t GROUP BY ROLLUP (i, v)",
        "SELECT st.a AS a, e, count(*) AS c FROM t LATERAL VIEW explode(arr) q AS e GROUP BY st.a, e",
        "SELECT max(v) AS m, 1 AS one FROM t",
        "SELECT id, sum(v) OVER (PARTITION BY i) AS c FROM t",
    ],
)  # fmt: skip
def test_taken(sql: str) -> None:
    assert planned(sql)

"""HAVING beside ROLLUP, CUBE and GROUPING SETS: it names output columns alone, as Spark 4.1 has it."""

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError
from tests.spark_verdicts import checked
from tests.tables import each


@each(
    "sql",
    [
        "SELECT k, count(*) AS n FROM t GROUP BY ROLLUP (k) HAVING grouping(k) = 0",
        "SELECT t.k, count(*) AS n FROM t GROUP BY CUBE (t.k) HAVING GROUPING(t.k) = 0 AND max(v) > 0",
        "SELECT k AS kk, max(v) AS m2, grouping(k) AS g FROM t GROUP BY ROLLUP (k) HAVING g = 0 AND m2 > 0",
        "SELECT count(*) AS n FROM t GROUP BY GROUPING SETS ((k), ()) HAVING grouping_id() = 0",
        "SELECT k, grouping(k) AS g, max(s) AS v FROM t GROUP BY ROLLUP (k) HAVING g = 0 AND v.a > 0",
        "SELECT k, grouping(k) AS g, max(struct(s)) AS q FROM t GROUP BY ROLLUP (k) HAVING g = 0 AND q.s.a > 0",
    ],
)
def test_taken(sql: str) -> None:
    assert "WHERE _qualified" in checked(sql).sql


@each(
    "sql",
    [
        "SELECT count(*) AS n FROM t GROUP BY ROLLUP (k) HAVING grouping(k) = 0",
        "SELECT k AS kk, count(*) AS n FROM t GROUP BY ROLLUP (k) HAVING grouping(k) = 0",
        "SELECT k AS kk, count(*) AS n FROM t GROUP BY ROLLUP (kk) HAVING grouping(kk) = 0",
        "SELECT upper(k) AS q, count(*) AS n FROM t GROUP BY ROLLUP (upper(k)) HAVING grouping(upper(k)) = 0",
        "SELECT t.k FROM t JOIN u ON t.id = u.id GROUP BY ROLLUP (t.k, u.k) HAVING grouping(u.k) = 0",
        "SELECT k, grouping(k) AS g FROM t GROUP BY ROLLUP (k, b) HAVING g = 0 AND b",
        "SELECT k, v + 1 AS w, grouping(k) AS g FROM t GROUP BY ROLLUP (k, w) HAVING g = 0 AND w > 1",
    ],
)
def test_refused(sql: str) -> None:
    with pytest.raises((StreamhouseError, DefinitionErrors), match=r"a\.sql:1:\d+: SH211 .* is not followed"):
        checked(sql)

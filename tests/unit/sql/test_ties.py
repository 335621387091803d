"""Functions that depend on the order of rows: which are told of, and which a key makes sure of."""

import pytest

from tests.golden import Golden
from tests.sql_corpus import FIXTURES, orders

TOLD = [
    "SELECT store, max_by(id, ts) AS latest FROM o GROUP BY store",
    "SELECT cust, max_by(v, ts) AS latest FROM k GROUP BY cust",
    "SELECT cust, min_by(v, struct(ts, arr)) AS latest FROM k GROUP BY cust",
    "SELECT cust, first(v) AS f FROM k GROUP BY cust",
    "SELECT cust, last(v) FILTER (WHERE v > 1) AS f FROM k GROUP BY cust",
    "SELECT cust, any_value(v) AS f FROM k GROUP BY cust",
    "SELECT cust, mode(v) AS f FROM k GROUP BY cust",
    "SELECT cust, collect_list(v) AS f FROM k GROUP BY cust",
    "SELECT cust, collect_set(v) AS f FROM k GROUP BY cust",
    "SELECT cust, array_agg(v) AS f FROM k GROUP BY cust",
    "SELECT store, string_agg(st, ',') AS f FROM o GROUP BY store",
    "SELECT id, row_number() OVER (PARTITION BY cust ORDER BY ts) AS n FROM k",
    "SELECT id, row_number() OVER (PARTITION BY cust ORDER BY date_trunc('DAY', ts), id + 1) AS n FROM k",
    "SELECT id, store FROM o QUALIFY row_number() OVER (PARTITION BY store ORDER BY ts) = 1",
    "SELECT id, lag(v) OVER (w) AS n FROM k WINDOW w AS (PARTITION BY cust ORDER BY ts)",
    "SELECT k.id, c.name, row_number() OVER (ORDER BY k.id) AS n FROM k JOIN c ON c.region = k.v",
    "SELECT cust, row_number() OVER (ORDER BY sum(v)) AS n FROM k GROUP BY cust",
]
SILENT = [
    "SELECT store, max_by(id, struct(ts, st)) AS latest FROM o GROUP BY store",
    "SELECT store, max_by(id, id) AS latest FROM o GROUP BY store",
    "SELECT cust, max_by(v, struct(ts, id)) AS latest FROM k GROUP BY cust",
    "SELECT id, any_value(v) AS v FROM k GROUP BY id",
    "SELECT k.cust, any_value(c.name) AS name, count(*) AS n FROM k JOIN c ON c.cust = k.cust GROUP BY k.cust",
    "SELECT cust, sort_array(collect_list(v)) AS f FROM k GROUP BY cust",
    "SELECT cust, size(collect_set(v)) AS f FROM k GROUP BY cust",
    "SELECT id, row_number() OVER (PARTITION BY cust ORDER BY ts, id) AS n FROM k",
    "SELECT id, row_number() OVER (PARTITION BY store ORDER BY ts, id) AS n FROM o",
    "SELECT id, rank() OVER (PARTITION BY cust ORDER BY ts) AS n, sum(v) OVER (PARTITION BY cust) AS s FROM k",
    "SELECT k.id, row_number() OVER (PARTITION BY c.region ORDER BY k.id) AS n FROM k JOIN c ON c.cust = k.cust",
    "SELECT cust, s, row_number() OVER (ORDER BY s, cust) AS n FROM (SELECT cust, sum(v) AS s FROM k GROUP BY cust)",
    "SELECT id, row_number() OVER (ORDER BY v, id) AS n FROM (SELECT id, v, cust FROM k WHERE v > 1)",
    "SELECT cust, row_number() OVER (ORDER BY sum(v), cust) AS n FROM k GROUP BY cust",
]


def test_told(golden: Golden) -> None:
    lines = []
    for sql in TOLD:
        found = orders(sql).notices
        assert len(found) == 1, sql
        lines += [sql, *(f"  {line}" for line in str(found[0]).splitlines()), ""]
    golden("\n".join(lines), FIXTURES / "types" / "ties.txt")


@pytest.mark.parametrize("sql", SILENT)
def test_a_key_decides(sql: str) -> None:
    assert orders(sql).notices == ()

"""Functions that depend on the order of rows: which are told of, and which a key makes sure of."""

from tests.golden import Golden
from tests.sql_corpus import FIXTURES, orders
from tests.tables import each

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
    "SELECT id, count(2) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM k",
    "SELECT id, sum(v) OVER (PARTITION BY cust ORDER BY ts ROWS UNBOUNDED PRECEDING) AS n FROM k",
    "SELECT id, sum(v) OVER w AS n FROM k WINDOW W AS (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "SELECT id, min(v) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM k",
    "SELECT k.id, sum(v) OVER (ORDER BY k.id ROWS 1 PRECEDING) AS n FROM k LEFT JOIN c ON c.region = k.v",
    "SELECT id, lag(ts) OVER (ORDER BY ts) AS n FROM k",
    "SELECT id, first_value(v) OVER (ORDER BY ts) AS n FROM k",
    "SELECT id, nth_value(v, 2) OVER (ORDER BY ts) AS n FROM k",
    "SELECT id, max_by(v, ts) OVER (PARTITION BY cust) AS n FROM k",
    "SELECT id, mode(v) OVER (PARTITION BY cust) AS n FROM k",
    "SELECT id, v, ntile(2) OVER (ORDER BY id, v) AS n FROM k GROUP BY ROLLUP (id, v)",
    "SELECT cust, percentile_approx(v, 0.5) AS n FROM k GROUP BY cust",
    "SELECT cust, approx_top_k(v, 2) AS n FROM k GROUP BY cust",
    "SELECT cust, hll_sketch_agg(v) AS n FROM k GROUP BY cust",
    "SELECT cust, listagg(st) WITHIN GROUP (ORDER BY ts) AS n FROM o GROUP BY cust",
    "SELECT cust, array_sort(collect_list(v), (a, b) -> 0) AS n FROM k GROUP BY cust",
    "SELECT id, v FROM k LIMIT 3",
    "SELECT id, v FROM k SORT BY id LIMIT 3",
    "SELECT id, v AS z FROM k ORDER BY z LIMIT 3 OFFSET 2",
    "SELECT cust, count(*) AS n FROM k GROUP BY cust ORDER BY n DESC LIMIT 3",
    "SELECT id, v FROM k UNION ALL SELECT cust, region FROM c ORDER BY id LIMIT 3",
    "SELECT id FROM k WHERE v IN (SELECT region FROM c LIMIT 3)",
    "SELECT id, (SELECT st FROM o WHERE o.cust = k.cust ORDER BY o.ts LIMIT 1) AS s FROM k",
    "SELECT id, ts FROM k WHERE id = '3' LIMIT 1",
]
FIRST_OF_EACH = "SELECT cust AS c, row_number() OVER (PARTITION BY cust ORDER BY id) AS n FROM k"
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
    "SELECT id, sum(v) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n FROM k",
    "SELECT id, first(v) OVER (ORDER BY ts ROWS CURRENT ROW) AS n FROM k",
    "SELECT id, sum(v) OVER (ORDER BY ts ROWS BETWEEN 0 PRECEDING AND 0 FOLLOWING) AS n FROM k",
    "SELECT id, sum(v) OVER (ORDER BY v RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS n FROM k",
    "SELECT id, sum(v) OVER (ORDER BY ts) AS n, max(v) OVER (ORDER BY ts RANGE UNBOUNDED PRECEDING) AS m FROM k",
    "SELECT id, sum(v) OVER (PARTITION BY cust ORDER BY ts, id ROWS 1 PRECEDING) AS n FROM k",
    "SELECT k.id, sum(v) OVER (ORDER BY k.id ROWS 1 PRECEDING) AS n FROM k JOIN c ON c.cust = k.cust",
    "SELECT id, collect_list(ts) OVER (ORDER BY ts) AS l, nth_value(ts, 2) OVER (ORDER BY ts) AS n FROM k",
    "SELECT id, max_by(v, struct(ts, id)) OVER (PARTITION BY cust) AS n FROM k",
    "SELECT id, cume_dist() OVER (ORDER BY ts) AS c, percent_rank() OVER (ORDER BY ts) AS p FROM k",
    "SELECT sum(v) AS s, row_number() OVER (ORDER BY 1) AS n FROM k",
    "SELECT cust, mode(v, TRUE) AS m, collect_list(cust) AS l FROM k GROUP BY cust",
    "SELECT cust, listagg(st) WITHIN GROUP (ORDER BY st) AS n FROM o GROUP BY cust",
    "SELECT id, v FROM k ORDER BY v, id LIMIT 3",
    "SELECT id, v FROM k ORDER BY ALL LIMIT 3",
    "SELECT id, v FROM k LIMIT ALL",
    "SELECT id, v FROM k LIMIT 0",
    "SELECT cust, st FROM o ORDER BY ts, st LIMIT 3",
    "SELECT DISTINCT cust FROM k ORDER BY cust LIMIT 3",
    "SELECT cust, count(*) AS n FROM k GROUP BY ALL ORDER BY n, cust LIMIT 3",
    "SELECT count(*) AS n FROM k LIMIT 3",
    "SELECT id FROM k UNION ALL SELECT cust FROM c ORDER BY id LIMIT 3",
    "SELECT id FROM k WHERE EXISTS (SELECT 1 FROM c WHERE c.cust = k.cust LIMIT 1)",
    "SELECT id, row_number() OVER (ORDER BY id) AS n FROM k ORDER BY n LIMIT 3",
    "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM k) ORDER BY n LIMIT 3",
    f"SELECT c, lag(c) OVER (ORDER BY c) AS p FROM ({FIRST_OF_EACH}) WHERE n = 1",
    "SELECT id, (SELECT name FROM c WHERE c.cust = k.cust LIMIT 1) AS s FROM k",
    "SELECT ts FROM k WHERE id = 3 LIMIT 1",
]


def test_told(golden: Golden) -> None:
    lines = []
    for sql in TOLD:
        found = orders(sql).notices
        assert len(found) == 1, sql
        lines += [sql, *(f"  {line}" for line in str(found[0]).splitlines()), ""]
    golden("\n".join(lines), FIXTURES / "types" / "ties.txt")


@each("sql", SILENT)
def test_a_key_decides(sql: str) -> None:
    assert orders(sql).notices == ()

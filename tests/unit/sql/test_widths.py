"""Which queries give the same values when what they read is wider."""

import pytest

from tests.random_queries import stays
from tests.tables import each

STAYS = [
    "SELECT id, i, w, f, m FROM n",
    "SELECT id, i + w AS a, i * 2 AS b, -i AS c, i % 3 AS d, i DIV 2 AS e, i / 2 AS h FROM n WHERE i > 1 AND f < 0.5",
    "SELECT i, sum(w) AS a, avg(i) AS b, min(f) AS c, max(m) AS d FROM n GROUP BY i",
    "SELECT i, count(m) AS e, sum(f) AS g, sum(m) AS h FROM n GROUP BY i",
    "SELECT n.id, p.s FROM n JOIN p ON n.i = p.i",
    "SELECT n.id, p.s FROM n LEFT JOIN p ON n.i = p.l",
    "SELECT id, coalesce(i, 0) AS a, CASE WHEN i > 1 THEN w ELSE 0 END AS b, nullif(i, 1) AS c FROM n",
    "SELECT id, CAST(i AS STRING) AS a, CAST(w AS DOUBLE) AS b, CAST(f AS DOUBLE) AS c FROM n",
    "SELECT id, row_number() OVER (PARTITION BY i ORDER BY f) AS r, lag(i) OVER (ORDER BY id) AS a FROM n",
    "SELECT id FROM n WHERE i IS NOT NULL AND i IN (1, 2) AND w BETWEEN 1 AND 3",
    "SELECT q.i FROM (SELECT DISTINCT i, m FROM n) AS q WHERE q.m > 1",
    "SELECT i FROM n UNION SELECT i FROM p",
    "SELECT id, coalesce(f, 0.1) AS a FROM n",
    "SELECT q.id FROM (SELECT id, i AS a FROM n ORDER BY a, id LIMIT 3) AS q",
    "SELECT id, hash(s) AS h, xxhash64(id) AS x FROM n WHERE i > 1",
    "SELECT id, max_by(i, id) AS a FROM n GROUP BY id",
    "SELECT id FROM n WHERE EXISTS (SELECT 1 FROM p WHERE p.i = n.i)",
]  # fmt: skip
VARIES = [
    *(f"SELECT id, {call} AS x FROM n" for call in (
        "hash(i)", "xxhash64(i)", "crc32(CAST(f AS STRING))", "typeof(i)", "CAST(f AS STRING)", "to_json(struct(f))",
        "concat(i, 'x')", "i || 'x'", "format_string('%s', f)", "f + f", "f * 2", "f / 3", "m / 3", "m % 2",
        "bit_count(w)", "hex(i)", "~i", "i | 1", "hash(coalesce(i, 0))", "round(f, 1)",
        "sum(f + f) OVER (PARTITION BY s)", "avg(m) OVER (PARTITION BY s)", "array(i)",
        "sum(i) OVER (ORDER BY f RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "(SELECT max(hash(p.i)) FROM p)",
    )),
    "SELECT q.id, hash(q.a) AS x FROM (SELECT id, i + 1 AS a FROM n) AS q",
    "SELECT id FROM n WHERE hash(i) > 1",
    "SELECT s, hash(i) AS h FROM n GROUP BY s, i",
    "SELECT n.id, p.s FROM n JOIN p ON n.f = p.x AND hash(n.i) = p.l",
    "SELECT DISTINCT hash(i) AS h FROM n",
    "SELECT q.id FROM (SELECT id, hash(i) AS a FROM n ORDER BY a, id LIMIT 3) AS q",
]  # fmt: skip


@pytest.mark.parametrize("sql", STAYS)
def test_no_value_shows_the_width(sql: str) -> None:
    assert stays(sql)


@each("sql", VARIES)
def test_what_may_show_the_width(sql: str) -> None:
    assert not stays(sql)

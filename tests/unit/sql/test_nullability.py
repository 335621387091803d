"""Which output columns are never NULL; what is unknown may be."""

from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.columns import columns_of
from tests.sql_corpus import AT
from tests.tables import each

O = {"id": "bigint not null", "k": "string not null", "v": "int", "s": "string", "ts": "timestamp not null"}  # noqa: E741
P = {"k": "string not null", "w": "int", "name": "string not null"}

NEVER = [
    "SELECT id AS x FROM o",
    "SELECT v AS x FROM o WHERE v IS NOT NULL",
    "SELECT v AS x FROM o WHERE NOT (v IS NULL OR id > 3)",
    "SELECT v AS x FROM o WHERE v = 3 OR v > 5",
    "SELECT v + 1 AS x FROM o WHERE v BETWEEN 1 AND 2",
    "SELECT s AS x FROM o WHERE s NOT IN ('a', 'b')",
    "SELECT v AS x FROM o WHERE v <=> 3",
    "SELECT s AS x FROM o JOIN p ON p.k = o.s",
    "SELECT s AS x FROM o LEFT JOIN p ON p.k = o.k WHERE o.s LIKE p.name",
    "SELECT p.name AS x FROM o LEFT JOIN p ON p.k = o.k WHERE p.w > 0 AND p.name IS NOT NULL",
    "SELECT COALESCE(v, 0) AS x FROM o",
    "SELECT k AS x FROM o GROUP BY k HAVING count(*) > 1",
    "SELECT s AS x FROM o GROUP BY s HAVING s IS NOT NULL",
    "SELECT COALESCE(k, 'all') AS x FROM o GROUP BY ROLLUP (k)",
    "SELECT COALESCE(o.k, p.k) AS x FROM o FULL JOIN p ON o.k = p.k",
    "SELECT k AS x FROM o FULL JOIN p USING (k)",
    "SELECT x FROM (SELECT v AS x FROM o WHERE v > 0) AS t",
    "SELECT k AS x FROM o UNION ALL SELECT name FROM p",
    "SELECT date_trunc('hour', ts) AS x FROM o",
    "SELECT CAST(ts AS DATE) AS x FROM o",
    "SELECT CASE WHEN v > 1 THEN 'a' ELSE k END AS x FROM o",
    "SELECT row_number() OVER (ORDER BY id) AS x FROM o",
    "SELECT window(ts, '1 hour').start AS x, count(*) AS n FROM o GROUP BY window(ts, '1 hour')",
]
PERHAPS = [
    "SELECT v AS x FROM o",
    "SELECT v AS x FROM o WHERE v IS NULL",
    "SELECT v AS x FROM o WHERE v IS NOT NULL OR id = 1",
    "SELECT v AS x FROM o WHERE v NOT IN (SELECT w FROM p)",
    "SELECT v AS x FROM o WHERE COALESCE(v, 0) = 0",
    "SELECT v AS x FROM o WHERE (v = 3) IS NOT TRUE",
    "SELECT p.name AS x FROM o LEFT JOIN p ON p.k = o.k",
    "SELECT o.k AS x FROM o RIGHT JOIN p ON p.k = o.k",
    "SELECT o.k AS x FROM o FULL JOIN p ON p.k = o.k",
    "SELECT c.k AS x FROM o JOIN (SELECT b.k FROM p AS a LEFT JOIN p AS b ON a.k = b.k) AS c ON TRUE",
    "SELECT b.name AS x FROM o JOIN (p AS a LEFT JOIN p AS b ON a.k = b.k) ON a.k = o.k",
    "SELECT o.s AS x FROM o JOIN p AS a ON a.k = o.s RIGHT JOIN p AS b ON b.k = o.k",
    "SELECT k AS x FROM o GROUP BY ROLLUP (k)",
    "SELECT k AS x FROM o WHERE k IS NOT NULL GROUP BY CUBE (k, v)",
    "SELECT k AS x FROM o GROUP BY k, v GROUPING SETS ((k), (v))",
    "SELECT CAST(k AS INT) AS x FROM o",
    "SELECT TRY_CAST(id AS STRING) AS x FROM o",
    "SELECT id / 2 AS x FROM o",
    "SELECT id % 2 AS x FROM o",
    "SELECT max(id) AS x FROM o GROUP BY k",
    "SELECT lag(id) OVER (ORDER BY id) AS x FROM o",
    "SELECT get_json_object(k, '$.a') AS x FROM o",
    "SELECT element_at(split(k, ','), 1) AS x FROM o",
    "SELECT CASE WHEN id > 1 THEN k END AS x FROM o",
    "SELECT nullif(k, 'a') AS x FROM o",
    "SELECT date_trunc(k, ts) AS x FROM o",
    "SELECT (SELECT max(k) FROM p) AS x FROM o",
    "SELECT k AS x FROM o UNION ALL SELECT CAST(w AS STRING) FROM p",
    "SELECT u AS x FROM o LATERAL VIEW OUTER explode(split(k, ',')) AS u",
    "SELECT x FROM o UNPIVOT INCLUDE NULLS (x FOR n IN (v))",
]


@each(("sql", "nullable"), [*((s, False) for s in NEVER), *((s, True) for s in PERHAPS)])
def test_nullable(sql: str, nullable: bool) -> None:
    used = {name: types for name, types in (("o", O), ("p", P)) if f" {name} " in f"{sql} ".replace(")", " ")}
    ports = {name: ActionPort(columns_of(types), {}) for name, types in used.items()}
    query = analyse(parse_query(sql, AT), ports, sql, AT)
    assert query.columns[0].nullable is nullable

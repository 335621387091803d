"""What Spark refuses of a query that parses: where calls stand, which columns are grouped, and types."""

import pytest

from streamhouse.errors import (
    StrategyError,
    StreamhouseError,
    TypeMismatchError,
    UnknownColumnError,
    UntypedColumnError,
)
from streamhouse.model.table import Column
from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.sql_corpus import AT
from tests.tables import each

COLUMNS = {
    "i": "int",
    "b": "bigint",
    "s": "string",
    "d": "decimal(10,2)",
    "t": "timestamp",
    "dt": "date",
    "f": "float",
    "o": "boolean",
    "bi": "binary",
    "arr": "array<int>",
    "m": "map<string,int>",
    "st": "struct<x:int,y:string>",
}


def read(sql: str) -> None:
    analyse(
        parse_query(sql, AT).copy(),
        {"r": ActionPort(tuple(Column(name=n, type=k) for n, k in COLUMNS.items()), {})},
        sql,
        AT,
    )


@each(
    "sql",
    [
        "SELECT i FROM r WHERE sum(i) > 1",
        "SELECT i FROM r WHERE row_number() OVER (ORDER BY i) = 1",
        "SELECT i FROM r WHERE explode(arr) = 1",
        "SELECT r.i AS i FROM r JOIN r AS z ON sum(r.i) = z.i",
        "SELECT r.i AS i FROM r JOIN r AS z ON row_number() OVER (ORDER BY r.i) = z.i",
        "SELECT i FROM r GROUP BY i HAVING row_number() OVER (ORDER BY i) = 1",
        "SELECT i, count(*) AS n FROM r GROUP BY i, row_number() OVER (ORDER BY i)",
        "SELECT i, count(*) AS n FROM r GROUP BY i, sum(b)",
        "SELECT sum(sum(i)) AS x FROM r",
        "SELECT sum(row_number() OVER (ORDER BY i)) AS x FROM r",
        "SELECT sum(i) FILTER (WHERE sum(i) > 1) AS x FROM r",
        "SELECT explode(arr) + 1 AS x FROM r",
        "SELECT i FROM r ORDER BY explode(arr) LIMIT 1",
        "SELECT i FROM r ORDER BY sum(i) LIMIT 1",
        "SELECT i FROM r ORDER BY row_number() OVER (ORDER BY i)",
        "SELECT i FROM r ORDER BY i, 1 + sum(b) OVER (ORDER BY sum(b) OVER (ORDER BY i)) LIMIT 1",
        "SELECT i FROM r SORT BY row_number() OVER (ORDER BY i)",
        "SELECT i FROM r CLUSTER BY row_number() OVER (ORDER BY i)",
        "SELECT i FROM r DISTRIBUTE BY row_number() OVER (ORDER BY i)",
        "SELECT row_number() AS x FROM r",
        "SELECT row_number() OVER (PARTITION BY i) AS x FROM r",
        "SELECT lag(i) OVER () AS x FROM r",
        "SELECT nth_value(i, 2) OVER (PARTITION BY b) AS x FROM r",
        "SELECT median(i) OVER (ORDER BY b) AS x FROM r",
        "SELECT median(i) OVER (ROWS CURRENT ROW) AS x FROM r",
        "SELECT count(DISTINCT i) OVER () AS x FROM r",
        "SELECT sum(i) OVER nope AS x FROM r",
        "SELECT extract(FOO FROM t) AS x FROM r",
        "SELECT i, b FROM r GROUP BY i",
        "SELECT i, sum(b) AS x FROM r",
        "SELECT i, b + sum(b) AS x FROM r GROUP BY i",
        "SELECT i, sum(b) OVER () AS x FROM r GROUP BY i",
        "SELECT i FROM r GROUP BY i HAVING b > 1",
        "SELECT i FROM r GROUP BY i ORDER BY b LIMIT 1",
        "SELECT i, b FROM r GROUP BY i WITH ROLLUP",
    ],
)
def test_what_stands_where_spark_does_not_take_it(sql: str) -> None:
    with pytest.raises(StrategyError):
        read(sql)


@each(
    "sql",
    [
        "SELECT i FROM r WHERE i",
        "SELECT i FROM r WHERE s",
        "SELECT i FROM r WHERE NULL",
        "SELECT NOT i AS x FROM r",
        "SELECT i AND o AS x FROM r",
        "SELECT s OR 'x' AS x FROM r",
        "SELECT i FROM r WHERE s AND s",
        "SELECT NULL OR s AS x FROM r",
        "SELECT o OR NULL AND s AS x FROM r",
        "SELECT NOT (s OR 'x') AS x FROM r",
        "SELECT NULL OR s OR o AS x FROM r",
        "SELECT o OR o OR s OR s AS x FROM r",
        "SELECT CASE WHEN NULL THEN 1 END AS x FROM r",
        "SELECT r.i AS i FROM r JOIN r AS z ON NULL",
        "SELECT CASE WHEN i THEN 1 END AS x FROM r",
        "SELECT IF(s, 1, 2) AS x FROM r",
        "SELECT CASE IF(s, 1, 2) WHEN 1 THEN 2 END AS x FROM r",
        "SELECT lag(i, b) OVER (ORDER BY i) AS x FROM r",
        "SELECT r.i AS i FROM r JOIN r AS z ON r.i",
        "SELECT sum(i) FILTER (WHERE i) AS x FROM r",
        "SELECT -arr AS x FROM r",
        "SELECT arr = m AS x FROM r",
        "SELECT m = m AS x FROM r",
        "SELECT t = 1 AS x FROM r",
        "SELECT o > 1 AS x FROM r",
        "SELECT i IN ('x', arr) AS x FROM r",
        "SELECT i BETWEEN arr AND 2 AS x FROM r",
        "SELECT arr LIKE 'x' AS x FROM r",
        "SELECT i FROM r ORDER BY m LIMIT 1",
        "SELECT i FROM r WHERE i + arr > 1",
        "SELECT CAST(arr AS INT) AS x FROM r",
        "SELECT CAST(o AS TIMESTAMP) AS x FROM r",
        "SELECT CAST(dt AS INT) AS x FROM r",
        "SELECT CAST(i AS DATE) AS x FROM r",
        "SELECT CAST(i AS BINARY) AS x FROM r",
        "SELECT CAST(dt AS BOOLEAN) AS x FROM r",
        "SELECT CAST(st AS STRUCT<x: INT>) AS x FROM r",
        "SELECT st = struct(1L, 'x') AS x FROM r",
        "SELECT st = named_struct('x', '1', 'y', 'x') AS x FROM r",
        "SELECT (i, s) = (1L, 'x') AS x FROM r",
        "SELECT st BETWEEN struct(1, 'a') AND struct(2L, 'b') AS x FROM r",
        "SELECT CASE st WHEN struct(1L, 'x') THEN 1 END AS x FROM r",
        "SELECT nullif(st, struct(1L, 'x')) AS x FROM r",
        "SELECT equal_null(st, struct(1L, 'x')) AS x FROM r",
        "SELECT arr = array('1') AS x FROM r",
        "SELECT array_contains(array(st), struct(1, 'x')) AS x FROM r",
        "SELECT CASE o WHEN 1 THEN 1 END AS x FROM r",
        "SELECT CASE dt WHEN 1 THEN 1 END AS x FROM r",
        "SELECT decode(o, 1, 'a', 'b') AS x FROM r",
        "SELECT decode(i, 1, 'a', true, 'b') AS x FROM r",
        "SELECT i FROM r WHERE i IN (SELECT i, b FROM r)",
        "SELECT i FROM r WHERE (i, b) IN (SELECT i FROM r)",
        "SELECT i FROM r WHERE o IN (SELECT i FROM r)",
        "SELECT i FROM r WHERE (s, o) IN (SELECT s, i FROM r)",
        "SELECT i FROM r WHERE i = (SELECT i, b FROM r)",
        "SELECT nullif(o, 1) AS x FROM r",
        "SELECT CAST(dt + dt AS STRING) AS x FROM r",
        "SELECT CAST(dt * 2 AS STRING) AS x FROM r",
        "SELECT CAST(dt + 1L AS STRING) AS x FROM r",
        "SELECT CAST(t + 1 AS STRING) AS x FROM r",
        "SELECT CAST((t - t) / INTERVAL '1' HOUR AS DOUBLE) AS x FROM r",
        "SELECT CAST(INTERVAL '1' DAY + INTERVAL '1' MONTH AS STRING) AS x FROM r",
        "SELECT CAST(s + s AS STRING) AS x FROM r",
        "SELECT TRY_CAST(s AS ARRAY<INT>) AS x FROM r",
        "SELECT upper(arr) AS x FROM r",
        "SELECT size(i) AS x FROM r",
        "SELECT year(i) AS x FROM r",
        "SELECT date_add(i, 1) AS x FROM r",
        "SELECT arr['x'] AS x FROM r",
        "SELECT element_at(arr, 'x') AS x FROM r",
        "SELECT element_at(m, 1) AS x FROM r",
        "SELECT filter(arr, x -> x) AS x FROM r",
        "SELECT transform(arr, (x, y, z) -> x) AS x FROM r",
    ],
)
def test_types_that_spark_refuses(sql: str) -> None:
    with pytest.raises(TypeMismatchError):
        read(sql)


@each(
    "sql",
    [
        "SELECT sum(sum(i)) OVER () AS x FROM r",
        "SELECT sum(row_number() OVER (ORDER BY i)) OVER () AS x FROM r",
        "SELECT nth_value(i, 2) OVER (ORDER BY b) AS x FROM r",
        "SELECT sum(i) OVER w AS x FROM r WINDOW w AS (PARTITION BY b)",
        "SELECT i + 1 AS x, sum(b) AS y FROM r GROUP BY i + 1",
        "SELECT i + 1 AS x, sum(b) AS y FROM r GROUP BY i",
        "SELECT i + 1 AS x, sum(b) AS y FROM r GROUP BY x",
        "SELECT i + 1 AS x, sum(b) AS y FROM r GROUP BY 1",
        "SELECT i, b, count(*) AS n FROM r GROUP BY ALL",
        "SELECT i, b, count(*) AS n FROM r GROUP BY GROUPING SETS ((i), (b))",
        "SELECT i, b, count(*) AS n FROM r GROUP BY CUBE (i, b)",
        "SELECT i, b, count(*) AS n FROM r GROUP BY i, b WITH ROLLUP",
        "SELECT i, sum(b) + 1 AS n FROM r GROUP BY i HAVING max(d) > 1",
        "SELECT i, (SELECT max(z.b) FROM r AS z) AS n FROM r GROUP BY i",
        "SELECT i, percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FILTER (WHERE b > 1) AS n FROM r GROUP BY i",
        "SELECT i, first(b) IGNORE NULLS AS n FROM r GROUP BY i",
        "SELECT x FROM r LATERAL VIEW explode(arr) e AS x WHERE x > 1",
        "SELECT NOT s AS x FROM r",
        "SELECT s AND o AS x FROM r",
        "SELECT o OR s OR s OR o AS x FROM r",
        "SELECT s OR o OR s AS x FROM r",
        "SELECT o AND s OR s AS x FROM r",
        "SELECT (NULL OR NULL) OR s AS x FROM r",
        "SELECT o OR NULL OR s AS x FROM r",
        "SELECT NOT s OR 'x' AS x FROM r",
        "SELECT IF(NULL, 1, 2) AS x FROM r",
        "SELECT median(i) OVER (PARTITION BY b) AS x FROM r",
        "SELECT median(i) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS x FROM r",
        "SELECT i, sum(b) OVER (ORDER BY sum(b) OVER (ORDER BY i)) AS x FROM r",
        "SELECT i, row_number() OVER (ORDER BY i) AS n FROM r ORDER BY n LIMIT 1",
        "SELECT CASE i WHEN 1 THEN 2 END AS x FROM r",
        "SELECT CASE i WHEN '1' THEN 2 END AS x FROM r",
        "SELECT decode(i, '1', 'a', NULL, 'b') AS x FROM r",
        "SELECT i FROM r WHERE (i, b) IN (SELECT b, i FROM r)",
        "SELECT i FROM r WHERE struct(i, b) IN (SELECT b, i FROM r)",
        "SELECT i FROM r WHERE (i) IN (SELECT s FROM r) OR EXISTS (SELECT i, b FROM r)",
        "SELECT st = struct(1, 'x') AS x FROM r",
        "SELECT st = named_struct('X', 1L, 'Y', 'x') AS x FROM r",
        "SELECT (b, s) = (1L, 'x') AS x FROM r",
        "SELECT arr = array(1L) AS x FROM r",
        "SELECT array_contains(array(st), named_struct('x', 1L, 'y', 'x')) AS x FROM r",
        "SELECT nullif(i, '1') AS x FROM r",
        "SELECT (t - t) DIV INTERVAL '1' HOUR AS x FROM r",
        "SELECT t - dt > INTERVAL '1' DAY AS x FROM r",
        "SELECT i = s AS x FROM r",
        "SELECT o = 'true' AS x FROM r",
        "SELECT dt = t AS x FROM r",
        "SELECT i <=> NULL AS x FROM r",
        "SELECT CAST(t AS INT) AS x FROM r",
        "SELECT CAST(i AS TIMESTAMP) AS x FROM r",
        "SELECT CAST(m AS STRING) AS x FROM r",
        "SELECT CAST(st AS STRUCT<p: BIGINT, q: STRING>) AS x FROM r",
        "SELECT upper(i) AS x FROM r",
        "SELECT size(m) AS x FROM r",
        "SELECT m['a'] AS x FROM r",
        "SELECT year(s) AS x FROM r",
        "SELECT date_add(dt, 1) AS x FROM r",
    ],
)
def test_what_spark_takes(sql: str) -> None:
    read(sql)


def test_where_does_not_see_output_columns() -> None:
    with pytest.raises(UnknownColumnError, match="'x' is an output column"):
        read("SELECT i + 1 AS x FROM r WHERE x = 1")
    read("SELECT i + 1 AS i FROM r WHERE i = 1")


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("substring(s)", "substring() takes 2 to 3 arguments, and 1 stands here"),
        ("hex(i, b)", "hex() takes 1 argument, and 2 stand here"),
        ("upper(s, concat(s, s))", "upper() takes 1 argument, and 2 stand here"),
        ("if(o, (1), f(2, 3), 4)", "if() takes 3 arguments, and 4 stand here"),
        ("array_sort(arr, (x, y) -> x - y, 1)", "array_sort() takes 1 to 2 arguments, and 3 stand here"),
    ],
)
def test_arguments_are_counted_in_the_text(call: str, shown: str) -> None:
    with pytest.raises(UntypedColumnError) as caught:
        parse_query(f"SELECT {call} AS x FROM r", AT)
    assert caught.value.message == shown


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT extract(YEAR FROM t) AS x FROM r",
        "SELECT trim(BOTH 'x' FROM s) AS x FROM r",
        "SELECT substring(s FROM 2 FOR 3) AS x FROM r",
        "SELECT position('x' IN s) AS x FROM r",
        "SELECT CAST(i AS DECIMAL(10, 2)) AS x, i::decimal(10, 2) AS y FROM r",
        "SELECT i FROM r WHERE exists (SELECT 1 FROM r AS z)",
        "SELECT i FROM r WHERE i IN (1, 2, 3)",
        "SELECT count(*) FILTER (WHERE i > 1) AS x FROM r",
        "SELECT s AS upper FROM r",
        "WITH left AS (SELECT i FROM r) SELECT i FROM left",
        "SELECT named_struct('a', 1, 'b', 2) AS x FROM r",
        "SELECT 'upper(a, b)' AS x FROM r -- upper(a, b)",
    ],
)
def test_what_only_looks_like_a_call_is_not_counted(sql: str) -> None:
    parse_query(sql, AT)


def test_the_place_of_what_is_refused() -> None:
    with pytest.raises(StreamhouseError) as caught:
        read("SELECT i\nFROM r\nWHERE o AND sum(i) > 1")
    assert (caught.value.at.line - AT.line, caught.value.at.column) == (2, 13)

"""Names behind tables, VALUES and EXCEPT mean what Spark makes of them, or are refused."""

import pytest

from streamhouse.errors import StreamhouseError
from tests.spark_verdicts import checked, shown
from tests.tables import each


def refused(sql):
    with pytest.raises(StreamhouseError) as error:
        checked(sql)
    return error.value


@each(
    ("sql", "columns", "text"),
    [
        ("SELECT q.k FROM u AS q(k, id, w, arr, y)", "k bigint", "(SELECT u.id AS k FROM u AS u) AS q"),
        ("SELECT b FROM u q(a, b, c, d, e)", "b string", "(SELECT u.k AS b FROM u AS u) AS q"),
        ("WITH c AS (SELECT id, w FROM u) SELECT id FROM c AS q(w, id)", "id int", "(SELECT c.w AS id FROM c AS c)"),
        ("SELECT q.a FROM t JOIN u q(a, b, c, d, e) ON t.id = a", "a bigint", "u.id AS a"),
        ("SELECT z.a FROM t, LATERAL (SELECT v, x) AS z(x, a)", "a double", "LATERAL (SELECT z.x AS x, z.a AS a FROM "),
        ("SELECT * FROM VALUES (1, 'a'), (2, NULL)", "col1 int, col2 string", "AS _values0(col1, col2)"),
        ("SELECT q.COL1 AS a FROM (VALUES (1L), (2)) q", "a bigint", "AS q(col1)"),
        ("SELECT id, q.col1 FROM u JOIN VALUES (1), (2) AS q ON id = col1", "id bigint, col1 int", "AS q(col1)"),
    ],
)
def test_names_behind_a_table(sql, columns, text):
    found = checked(sql)
    assert ", ".join(shown(found)) == columns
    assert text in found.sql


@each(
    ("sql", "message"),
    [
        ("SELECT q.id FROM u AS q(a, b, c, d, e)", "unknown column 'id' in q"),
        ("SELECT count(*) AS n FROM u AS q(a, b)", "1:27: SH215 the query has 5 columns, and 2 names behind it"),
        ("SELECT a FROM (SELECT * FROM u) AS q(a, b, c, d, e, f)", "SH215 the query has 5 columns, and 6 names"),
        ("WITH q(a) AS (SELECT * FROM u) SELECT a FROM q", "SH215 the query has 5 columns, and 1 names"),
        ("SELECT _col_0 FROM VALUES (1)", "did you mean 'col1'?"),
    ],
)
def test_names_that_do_not_fit(sql, message):
    assert message in str(refused(sql))


@each(
    ("sql", "columns"),
    [
        ("SELECT * EXCEPT (ID, w, arr, y) FROM u", "k string"),
        ("SELECT q.* EXCEPT (q.id, q.w, q.arr, y) FROM u q", "k string"),
        ("SELECT * EXCEPT (u.id, u.arr, u.y, r.k) FROM u JOIN (SELECT k, id FROM t) r ON u.id = r.id", ""),
        (
            "SELECT * EXCEPT (v) FROM (SELECT id, v FROM t) r JOIN (SELECT id, w FROM u) s USING (id)",
            "id bigint, w int",
        ),
        ("SELECT struct(* EXCEPT (arr, y)) AS z FROM u", "z struct<id:bigint,k:string,w:int>"),
        ("SELECT struct(q.* EXCEPT (q.arr, y)) AS z FROM u q", "z struct<id:bigint,k:string,w:int>"),
        ("SELECT s.* EXCEPT (a) FROM t", "b string"),
        ("SELECT id, struct(s.* EXCEPT (b)) AS z FROM t", "id bigint, z struct<a:int>"),
        ("SELECT * EXCEPT (w, arr, y), posexplode(arr) FROM u", "id bigint, k string, pos int, col int"),
        ("SELECT * EXCEPT (k) FROM u LEFT SEMI JOIN t ON u.id = t.id", "id bigint, w int, arr array<int>, y string"),
    ],
)
def test_what_a_star_leaves_out(sql, columns):
    assert ", ".join(shown(checked(sql))) == (columns or "k string, w int, id bigint")


FIELD = "behind EXCEPT is no column, but a field"


@each(
    ("sql", "message"),
    [
        ("SELECT * EXCEPT (emial) FROM u", "1:18: SH202 unknown column 'emial' behind EXCEPT"),
        ("SELECT struct(u.* EXCEPT (nope)) AS z FROM u", "SH202 unknown column 'nope' behind EXCEPT"),
        ("SELECT s.* EXCEPT (nope) FROM t", "SH202 unknown column 'nope' behind EXCEPT"),
        ("SELECT * EXCEPT (n) FROM (SELECT id FROM t) a JOIN (SELECT id FROM u) b USING (id)", "unknown column 'n'"),
        ("SELECT * EXCEPT (s.a) FROM t", f"1:18: SH211 s.a {FIELD}"),
        ("SELECT q.* EXCEPT (q.s.a) FROM t q", f"1:20: SH211 q.s.a {FIELD}"),
        ("SELECT * EXCEPT (id, ID) FROM u", "1:22: SH211 EXCEPT has ID twice"),
        ("SELECT t.* EXCEPT (u.id) FROM t JOIN u ON t.id = u.id", "SH202 u.id is no column of t.*"),
        ("SELECT * EXCEPT (k) FROM t JOIN u ON t.id = u.id", "column 'k' behind EXCEPT is there 2 times"),
        ("SELECT * EXCEPT (k) FROM t JOIN u USING (id)", "column 'k' behind EXCEPT is there 2 times"),
        ("SELECT * EXCEPT (u.k) FROM t JOIN u USING (id)", "SH211 a table is named behind EXCEPT where"),
        ("SELECT * EXCEPT (u.k, w) FROM t JOIN u ON t.id = u.id", "SH211 some names behind EXCEPT have a table"),
        ("SELECT * EXCEPT (id, k, w, arr, y) FROM u", "SH215 EXCEPT leaves out every column"),
        ("SELECT count(* EXCEPT (id)) AS n FROM u", "SH211 * EXCEPT in count() is not followed here"),
    ],
)
def test_what_no_star_leaves_out(sql, message):
    text = str(refused(sql))
    assert message in text
    assert "hint: " in text


@each(
    ("sql", "hint"),
    [
        ("SELECT id FROM t WHERE v = ANY (SELECT w FROM u)", "write IN (SELECT …)"),
        ("SELECT id FROM t WHERE v <> ALL (SELECT w FROM u)", "write NOT IN (SELECT …)"),
        ("SELECT id FROM t WHERE v > SOME (SELECT w FROM u)", "compare with (SELECT max(…) …), or with min(…)"),
        ("SELECT id, CAST(k AS STRING COLLATE UNICODE) AS z FROM t", "leave COLLATE out"),
        ("SELECT * FROM t PIVOT (sum(v) + 1 AS s FOR k IN ('a' AS a))", "compute with it in a query around the PIVOT"),
    ],
)
def test_what_to_write_instead(sql, hint):
    with pytest.raises(StreamhouseError, match=r"a\.sql:1:") as refused:
        checked(sql)
    assert hint in (refused.value.hint or "")


def test_a_number_of_days_added_to_a_day_is_a_time():
    assert shown(checked("SELECT timestampadd(DAY, 3, d) AS z, dateadd(HOUR, 1, d) AS y FROM t")) == (
        "z timestamp",
        "y timestamp",
    )


@each(
    ("sql", "message"),
    [
        ("SELECT k, sum(v) + id AS n FROM t GROUP BY ALL", "1:20: SH211 column 'id' is neither a group key"),
        ("SELECT k, b, count(*) AS n FROM t GROUP BY (k, b)", "SH211 column 'k' is neither a group key"),
        (
            "SELECT k AS kk, sum(v) AS n FROM t GROUP BY ROLLUP(k) HAVING grouping(k) = 1",
            "SH211 grouping(…) in HAVING or ORDER",
        ),
        (
            "SELECT count(*) AS n FROM t GROUP BY ROLLUP(k) HAVING grouping(k) = 0",
            "SH211 grouping(…) in HAVING or ORDER",
        ),
        (
            "SELECT k, sum(v) AS n FROM t GROUP BY ROLLUP(k) ORDER BY grouping(k) LIMIT 1",
            "SH211 grouping(…) in HAVING or",
        ),
        (
            "SELECT upper(k) AS u, sum(v) AS n FROM t GROUP BY ROLLUP(upper(k)) HAVING u = 'A'",
            "SH211 u in HAVING or ORDER",
        ),
        (
            "SELECT upper(k) AS u, sum(v) AS n FROM t GROUP BY ROLLUP(upper(k)) HAVING upper(k) = 'A'",
            "SH211 k in HAVING",
        ),
        ("SELECT id FROM t ORDER BY var LIMIT 1", "SH203 nothing orders variant"),
        ("SELECT id, transform(arr, (x, X) -> x) AS z FROM t", "SH104 two parameters are named 'x'"),
        ("SELECT id, transform(arr, x -> (SELECT max(w) FROM u)) AS z FROM t", "Spark takes no sub-query in a lambda"),
        ("SELECT id FROM t WHERE var = var", "SH203 nothing compares variant"),
        ("SELECT id FROM t WHERE array(m) = array(m)", "SH203 nothing compares array<map<string,int>>"),
        ("SELECT id FROM t WHERE (id, v) IN ((1, 1))", "SH203 IN converts no part of (…)"),
        ("SELECT DISTINCT m FROM t", "SH203 DISTINCT compares no map<string,int>"),
        ("SELECT ntile('2') OVER (ORDER BY id) AS z FROM t", "SH203 ntile() takes an INT above 0 here, not '2'"),
        ("SELECT percentile(v, 2) AS z FROM t", "SH203 percentile() takes a share between 0 and 1 here, not 2"),
        ("SELECT id, m FROM t UNION SELECT id, m FROM t", "SH203 UNION compares no map<string,int>"),
        ("SELECT id, m FROM t EXCEPT SELECT id, m FROM t", "SH203 EXCEPT compares no map<string,int>"),
        ("SELECT id, CAST(v AS INT8) AS z FROM t", "1:22: SH104 'INT8' is no Spark SQL type"),
        ("SELECT id, CAST(arr AS ARRAY<TEXT>) AS z FROM t", "1:30: SH104 'TEXT' is no Spark SQL type"),
        ("SELECT id, arr::array<number> AS z FROM t", "SH104 'number' is no Spark SQL type"),
        ("SELECT id, CAST(ts AS TIMESTAMP WITHOUT TIME ZONE) AS z FROM t", "TIMESTAMP WITHOUT TIME ZONE is not read"),
        ("SELECT id, CAST(v AS `INT`) AS z FROM t", "SH104 `INT` is no type"),
        ("SELECT DATETIME '2020-01-01' AS z FROM t", "SH104 'DATETIME' is no Spark SQL type"),
        ("SELECT * FROM (SELECT id, s FROM t) UNPIVOT (z FOR n IN (s.a))", "SH211 s.a in an UNPIVOT is no column"),
        ("SELECT * FROM (SELECT k, v FROM t) PIVOT (sum(v) FOR k IN ('a' AS a, 'a' AS b))", "'a' is twice in the IN"),
    ],
)
def test_what_spark_refuses_is_refused_before_it_runs(sql, message):
    text = str(refused(sql))
    assert message in text
    assert "hint: " in text


@each(
    "sql",
    [
        "SELECT id, k AS text, v AS number, v < 3 AS uuid FROM t",
        "SELECT id, CAST(s AS STRUCT<text: INT, number: STRING>) AS json FROM t",
        "SELECT id, CAST((SELECT max(w) AS text FROM u) AS STRING) AS z FROM t",
        "SELECT datetime.v AS z FROM t AS datetime",
        "SELECT k, count(*) + length(k) AS n FROM t GROUP BY ALL HAVING n > 0",
        "SELECT k, b, sum(v) AS n FROM t GROUP BY ROLLUP(k, b) HAVING grouping_id() = 0",
        "SELECT k, grouping(k) AS g, sum(v) AS n FROM t GROUP BY ROLLUP(k) HAVING k IS NULL AND sum(v) > 1",
        "SELECT k AS kk, sum(v) AS n FROM t GROUP BY CUBE(k, b) HAVING kk = 'a' AND n > 1 AND max(id) > 0 AND b",
        "SELECT id FROM t WHERE (id, v) IN ((1L, 1))",
        "SELECT id, m FROM t UNION ALL SELECT id, m FROM t",
    ],
)
def test_what_looks_like_it_is_taken(sql):
    assert shown(checked(sql))


def test_a_column_computes_with_the_rows_that_a_function_makes():
    found = checked("SELECT id, explode(arr) AS e, e + 1 AS f FROM t")
    assert shown(found) == ("id bigint", "e int", "f int")
    assert "_rows0._rows0_0 + 1 AS f FROM t AS t LATERAL VIEW EXPLODE(t.arr) _rows0 AS _rows0_0" in found.sql

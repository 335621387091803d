"""Columns that USING and NATURAL merge, as Spark 4.1 resolves them; `integration/spark/test_shaped.py` asks it."""

import re

import pytest

from streamhouse.errors import Location, StreamhouseError
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.sql_corpus import columns

AT = Location("a.sql")
TABLES = {
    "x": {"a": "int", "b": "int"},
    "y": {"a": "bigint", "c": "int"},
    "z": {"d": "int", "a": "int", "b": "int"},
}


def read(sql: str) -> str:
    tree = parse_query(sql, AT)
    ports = {name: ActionPort(columns(of), {}) for name, of in TABLES.items() if f" {name}" in sql.lower()}
    return analyse(tree, ports, sql, AT).sql


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "SELECT a, d FROM x RIGHT JOIN y USING (a) JOIN z USING (a)",
            "SELECT y.a AS a, z.d AS d FROM x AS x RIGHT JOIN y AS y ON x.a = y.a JOIN z AS z ON y.a = z.a",
        ),
        (
            "SELECT x.* FROM x FULL JOIN y USING (a) NATURAL FULL JOIN z",
            (
                "SELECT x.b AS b, x.a AS a FROM x AS x FULL JOIN y AS y ON x.a = y.a"
                " FULL JOIN z AS z ON COALESCE(x.a, y.a) = z.a AND x.b = z.b"
            ),
        ),
        (
            "SELECT a, x.b FROM x FULL JOIN y USING (A) LEFT JOIN z USING (a)",
            (
                "SELECT COALESCE(x.a, y.a) AS a, x.b AS b FROM x AS x FULL JOIN y AS y ON x.a = y.a"
                " LEFT JOIN z AS z ON COALESCE(x.a, y.a) = z.a"
            ),
        ),
        ("SELECT a FROM x JOIN y USING (a)", "SELECT x.a AS a FROM x AS x JOIN y AS y ON x.a = y.a"),
        (
            "SELECT * FROM x NATURAL FULL JOIN z",
            (
                "SELECT COALESCE(x.a, z.a) AS a, COALESCE(x.b, z.b) AS b, z.d AS d"
                " FROM x AS x FULL JOIN z AS z ON x.a = z.a AND x.b = z.b"
            ),
        ),
        (
            "SELECT z.* FROM x JOIN z USING (b)",
            "SELECT z.b AS b, z.d AS d, z.a AS a FROM x AS x JOIN z AS z ON x.b = z.b",
        ),
        (
            "SELECT x.b FROM x RIGHT JOIN y USING (a) WHERE a > 1",
            "SELECT x.b AS b FROM x AS x RIGHT JOIN y AS y ON x.a = y.a WHERE y.a > 1",
        ),
        (
            "SELECT x.b FROM (x FULL JOIN y USING (a)) JOIN z USING (a)",
            "SELECT x.b AS b FROM (x AS x FULL JOIN y AS y ON x.a = y.a) JOIN z AS z ON COALESCE(x.a, y.a) = z.a",
        ),
        (
            "SELECT struct(A, c) AS s FROM x FULL JOIN y USING (a) WHERE EXISTS (SELECT 1 FROM z WHERE d = c + y.a)",
            (
                "SELECT STRUCT(COALESCE(x.a, y.a) AS A, y.c) AS s FROM x AS x FULL JOIN y AS y ON x.a = y.a"
                " WHERE EXISTS(SELECT 1 AS `1` FROM z AS z WHERE z.d = y.c + y.a)"
            ),
        ),
        (
            "SELECT a FROM x LEFT ANTI JOIN y USING (a) WHERE a > 1",
            "SELECT x.a AS a FROM x AS x LEFT ANTI JOIN y AS y ON x.a = y.a WHERE x.a > 1",
        ),
        (
            "SELECT a + 1 AS a, c FROM x FULL JOIN y USING (a) ORDER BY a, c LIMIT 4",
            (
                "SELECT COALESCE(x.a, y.a) + 1 AS a, y.c AS c FROM x AS x FULL JOIN y AS y ON x.a = y.a"
                " ORDER BY a, c LIMIT 4"
            ),
        ),
    ],
)
def test_a_merged_name_is_what_spark_makes_it(sql: str, shown: str) -> None:
    assert read(sql) == shown


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT x.a FROM x JOIN y USING (b)", r"a\.sql:1:33: SH202 USING \(b\): a side of the join has no column"),
        ("SELECT a + 1 AS r FROM x FULL JOIN y USING (a) JOIN z ON z.a = x.a", "'a' is in x and in y and in z"),
        (
            "SELECT a FROM x FULL JOIN y USING (a) WHERE EXISTS (SELECT 1 FROM (SELECT d FROM z) x WHERE d = a)",
            "'a' is in x and in y|unknown column 'a'",
        ),
    ],
)
def test_a_name_that_cannot_be_told_is_refused(sql: str, message: str) -> None:
    with pytest.raises(StreamhouseError) as caught:
        read(sql)
    assert re.search(message, str(caught.value)), str(caught.value)

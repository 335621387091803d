"""The analysis of any text gives a plan or a coded error: `make soak` asks for ten thousand statements."""

import pytest
from sqlglot import exp

from streamhouse.errors import DefinitionErrors, Location, StreamhouseError, UnforeseenError
from streamhouse.model.table import Column
from streamhouse.model.types import ReadMode
from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql import functions
from streamhouse.sql.classify import InputInfo, classify
from streamhouse.sql.dialect import parse_query as read_again
from streamhouse.sql.last_resort import guard_analysis
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.patience import SOAKING
from tests.sql_statements import statements

AT = Location("a.sql")
COUNT = 10_000 if SOAKING else 150
TYPES = {
    "id": "bigint",
    "k": "string",
    "v": "int",
    "ts": "timestamp",
    "d": "date",
    "x": "double",
    "b": "boolean",
    "dec": "decimal(10,2)",
    "arr": "array<int>",
    "m": "map<string,int>",
    "s": "struct<a:int,b:string>",
    "bin": "binary",
}
PORT = ActionPort(tuple(Column(name=name, type=kind) for name, kind in TYPES.items()), {}, key=("id",))


def planned(sql: str) -> str:
    """The text that Spark would run."""
    query = parse_query(sql, AT).copy()
    read = {table.name.lower() for table in query.find_all(exp.Table)}
    ports = {name: PORT for name in ("t", "u") if name in read} or {"t": PORT}
    found = analyse(query, ports, sql, AT)
    info = InputInfo(append_only=False, mode=ReadMode.CHANGES, primary_key=("id",))
    classify(found, dict.fromkeys(ports, info), primary_key=("id",), strategy=None, at=AT)
    return found.sql


def test_no_statement_crashes() -> None:
    crashed = []
    for sql in statements(COUNT, COUNT, tuple(sorted(functions.KNOWN))):
        try:
            with guard_analysis(AT, "the SQL"):
                read_again(planned(sql), AT)
        except UnforeseenError as error:
            crashed.append(f"{error.message}: {sql[:300]}")
        except (StreamhouseError, DefinitionErrors):
            pass
    assert crashed == []


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT id, date_add(d) AS y FROM t", "date_add() takes 2 to 3 arguments, and 1 stands here"),
        ("SELECT max_by(v) AS y FROM t", "max_by() takes 2 arguments"),
        ("SELECT max(v, x) AS y FROM t", "max() takes 1 argument, and 2 stand here"),
        ("SELECT id, decode() AS y FROM t", "decode() takes 2 or more arguments, and none stands here"),
        ("SELECT q.* FROM t", "a.sql:1:8: SH207 unknown table 'q' before .*"),
        ("SELECT hash(t.*) AS z FROM t AS a", "SH207 unknown table 't' before .*"),
        ("SELECT id FROM t WHERE id IN (SELECT y FROM (SELECT t.*, id AS y FROM u) a)", "SH207 unknown table 't'"),
        ("SELECT arr IN AND (SELECT id FROM t) AS z FROM t", "SH104 the SQL is not readable"),
        ("SELECT y FROM (SELECT transform(arr, e -> a.v) AS y, v FROM t) a", "cannot be derived from"),
        (
            "SELECT a.y FROM (SELECT transform(arr, e -> b.v) y FROM t) a, (SELECT hash(a.y) v FROM t) b",
            "SH203 t.b is boolean, which has no field 'v'",
        ),
        ("SELECT x.id FROM (SELECT x.id FROM x) x", "unknown table 'x'"),
        ("SELECT id, CAST(v AS DECIMAL(12,2.0)) AS y FROM t", "the size of DECIMAL is a whole number"),
        ("SELECT id, CAST(v AS map<string>) AS y FROM t", "MAP takes 2 types in <>"),
        ("SELECT id FROM t UNION ALL SELECT id, k FROM u", "UNION puts together queries of 1 and 2 columns"),
        ("SELECT id FROM t LIMIT '1'", "LIMIT takes a whole number of rows, and not '1'"),
        ("SELECT id FROM t LIMIT 1.5", "LIMIT takes a whole number"),
        ("SELECT id FROM t LIMIT -1", "LIMIT takes a whole number"),
        ("SELECT id FROM t LIMIT v", "LIMIT takes a whole number"),
        ("SELECT id,, k FROM t", "nothing follows this comma"),
        ("SELECT * FROM (SELECT id AS a, v AS a FROM t)", "two columns behind '*' have one name"),
        ("SELECT * FROM (SELECT id AS a, v AS a FROM t) ORDER BY 1", "two columns behind '*' have one name"),
        ("SELECT count(*) AS n FROM t GROUP BY -1", "GROUP BY names the column -1"),
        (
            "WITH RECURSIVE r AS (WITH RECURSIVE q AS (SELECT id FROM t) SELECT id FROM q) SELECT id FROM r",
            "a recursive CTE",
        ),
        ("SELECT id FROM IDENTIFIER('t')", "write the name of the table alone"),
        ("SELECT IDENTIFIER('id') AS id FROM t", "write the name itself"),
        ("SELECT id, k COLLATE UTF8_LCASE AS y FROM t", "by lower(…)"),
        ("WITH r AS (SELECT id FROM q), q AS (SELECT id FROM t) SELECT id FROM r", "the CTE 'q' does not exist here"),
    ],
)
def test_told(sql: str, told: str) -> None:
    with pytest.raises((StreamhouseError, DefinitionErrors)) as refused, guard_analysis(AT, "the SQL"):
        planned(sql)
    assert told in str(refused.value)
    assert "SH220" not in str(refused.value)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
        "WITH RECURSIVE r(n) MAX RECURSION LEVEL 9 AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
        "WITH RECURSIVE r AS (SELECT id FROM t UNION ALL SELECT a.id FROM r a JOIN r b USING (id)) SELECT id FROM r",
        "SELECT id FROM (WITH RECURSIVE r AS (SELECT id FROM t UNION ALL SELECT id + 1 FROM r) SELECT id FROM r) q",
        "SELECT id FROM t WHERE id IN (WITH RECURSIVE r AS (SELECT v FROM u UNION SELECT v FROM r) SELECT v FROM r)",
        "WITH r AS (SELECT id FROM t UNION ALL SELECT id + 1 FROM r WHERE id < 5) SELECT id FROM r",
        "WITH r AS (SELECT id FROM (SELECT id FROM t UNION ALL SELECT id FROM r) q) SELECT id FROM r",
    ],
)
def test_a_recursive_query_has_one_error_which_says_what_to_write(sql: str) -> None:
    with pytest.raises(StreamhouseError) as refused:
        planned(sql)
    assert not isinstance(refused.value, DefinitionErrors)
    assert "a recursive CTE cannot be kept up to date" in refused.value.message
    assert "a CTE for each level" in str(refused.value)


def test_levels_written_one_by_one_are_taken() -> None:
    planned(
        "WITH one AS (SELECT id, v FROM t WHERE v IS NULL), two AS (SELECT t.id, t.v FROM t JOIN one ON t.v = one.id)"
        " SELECT id, v FROM one UNION ALL SELECT id, v FROM two"
    )


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT id, to_json(struct(k AS orderId, V, t.S)) AS y FROM t", "STRUCT(t.k AS orderId, t.v AS V, t.s AS S)"),
        ("SELECT id, m.Key AS y FROM t", "t.m.`Key`"),
        ("SELECT id, (SELECT max(struct(V AS Big)) FROM u) AS y FROM t", "STRUCT(u.v AS Big)"),
    ],
)
def test_names_that_are_values_keep_their_case(sql: str, shown: str) -> None:
    assert shown in planned(sql)
    assert shown.replace("t.", "").replace("u.", "") in planned(planned(sql)).replace("t.", "").replace("u.", "")

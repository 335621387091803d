"""HAVING and ORDER BY of groups: bounds of time windows and fields of output columns, as Spark 4.1 finds them."""

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError
from tests.spark_verdicts import checked
from tests.tables import each

BY_HOUR = "FROM t GROUP BY window(ts, '1 hour')"


@each(
    ("sql", "condition"),
    [
        (
            f"SELECT window.start AS a {BY_HOUR} HAVING window.end IS NOT NULL",
            "NOT WINDOW(t.ts, '1 hour').`end` IS NULL",
        ),
        (f"SELECT window.start AS a {BY_HOUR} HAVING a IS NULL", "(WINDOW(t.ts, '1 hour').start) IS NULL"),
        (f"SELECT count(*) AS n {BY_HOUR} HAVING window.start IS NULL", "WINDOW(t.ts, '1 hour').start IS NULL"),
        (
            "SELECT count(*) AS n FROM t GROUP BY session_window(ts, '1 hour') HAVING session_window.end IS NULL",
            "SESSION_WINDOW(t.ts, '1 hour').`end` IS NULL",
        ),
        (
            f"SELECT window(ts, '1 hour') AS w {BY_HOUR} HAVING w.end IS NULL",
            "(WINDOW(t.ts, '1 hour')).`end` IS NULL",
        ),
        (
            f"SELECT window.start AS a, max(v) AS x {BY_HOUR} HAVING a IS NULL AND count(*) FILTER (WHERE x > 1) > 0",
            "(WINDOW(t.ts, '1 hour').start) IS NULL AND COUNT(*) FILTER(WHERE t.x > 1) > 0",
        ),
        (
            f"SELECT window.start AS a {BY_HOUR} HAVING count(*) FILTER (WHERE window.start < ts) > 1",
            "COUNT(*) FILTER(WHERE WINDOW(t.ts, '1 hour').start < t.ts) > 1",
        ),
        (
            f"SELECT k, max(v) AS v {BY_HOUR}, k HAVING window.end IS NULL AND k = 'a' AND v > 1",
            "WINDOW(t.ts, '1 hour').`end` IS NULL AND t.k = 'a' AND (MAX(t.v)) > 1",
        ),
        (f"SELECT window.start AS a {BY_HOUR} ORDER BY window.end LIMIT 1", "TRUE"),
        (f"SELECT window.start AS a, count(*) AS n {BY_HOUR} HAVING n > 1 ORDER BY window.end LIMIT 1", "TRUE"),
    ],
)
def test_bounds_are_found_behind_the_groups(sql: str, condition: str) -> None:
    text = checked(sql).sql
    assert f"({condition}) AS _qualified" in text
    assert text.count("HAVING") == sql.count("HAVING n")


@each(
    "sql",
    [
        f"SELECT window.start AS a, count(*) AS n {BY_HOUR} HAVING n > 1",
        f"SELECT window.start AS a, count(*) AS n {BY_HOUR} ORDER BY window.start LIMIT 1",
        f"SELECT window.start AS a, count(*) AS n {BY_HOUR} ORDER BY window.end",
    ],
)
def test_others_stay(sql: str) -> None:
    assert "_qualified" not in checked(sql).sql


@each(
    "sql",
    [
        f"SELECT window.start AS a, row_number() OVER (ORDER BY max(id)) AS r {BY_HOUR} HAVING window.end IS NOT NULL",
        f"SELECT upper(k) AS k, count(*) AS n {BY_HOUR}, k HAVING window.end IS NOT NULL AND k = 'a'",
    ],
)
def test_having_that_would_mean_another_thing_is_refused(sql: str) -> None:
    with pytest.raises((StreamhouseError, DefinitionErrors), match=r"a\.sql:1:\d+: SH211 a time window in HAVING"):
        checked(sql)


@each(
    ("sql", "having"),
    [
        ("SELECT max(s) AS q FROM t HAVING q.a > 0", "(MAX(t.s)).a > 0"),
        ("SELECT k, max(s) AS Q FROM t GROUP BY k HAVING q.A > 0 AND max(v) > 0", "(MAX(t.s)).A > 0 AND MAX(t.v) > 0"),
        ("SELECT max(struct(s)) AS q FROM t HAVING q.s.a > 0", "(MAX(STRUCT(t.s))).s.a > 0"),
        ("SELECT k, first(m) AS q FROM t GROUP BY k HAVING q.a > 0", "(FIRST(t.m)).a > 0"),
    ],
)
def test_fields_of_output_columns_are_read(sql: str, having: str) -> None:
    assert checked(sql).sql.endswith(f"HAVING {having}")


@each(
    ("sql", "message"),
    [
        ("SELECT k, max(s) AS q FROM t GROUP BY k HAVING q.nope > 0", "has no field 'nope'"),
        ("SELECT k, max(s) AS s FROM t GROUP BY k HAVING s.a > 0", "'s' is neither a group key nor in an aggregate"),
        ("SELECT max(s) AS q FROM (SELECT s, struct(x) AS q FROM t) HAVING q.a > 0", "'q' is neither a group key"),
        ("SELECT max(s) AS q, max(v) AS q FROM t HAVING q.a > 0", "unknown table or column 'q'"),
        ("SELECT max(s) AS q FROM t HAVING max(q.a) > 0", "unknown table or column 'q'"),
    ],
)
def test_fields_are_refused(sql: str, message: str) -> None:
    with pytest.raises((StreamhouseError, DefinitionErrors), match="hint: ") as refused:
        checked(sql)
    assert message in str(refused.value)

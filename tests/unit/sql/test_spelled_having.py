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

"""Keys that two groups may share are refused; those that a person says follow from a key are not."""

import pytest

from streamhouse.errors import StrategyError
from tests.sql_corpus import Case, classified


@pytest.mark.parametrize(
    ("key", "sql"),
    [
        ("st", "SELECT upper(st) AS st, count(*) AS n FROM o GROUP BY st"),
        ("x", "SELECT upper(st) AS x, count(*) AS n FROM o GROUP BY st"),
        ("st", "SELECT st, n FROM (SELECT upper(st) AS st, count(*) AS n FROM o GROUP BY st) AS q"),
        ("cust", "SELECT cust % 3 AS cust, sum(v) AS v FROM k GROUP BY cust"),
        ("cust", "SELECT coalesce(cust, -1) AS cust, sum(v) AS v FROM k GROUP BY cust"),
        ("d", "SELECT date_trunc('DAY', ts) AS d, sum(v) AS v FROM k GROUP BY ts"),
        ("store,x", "SELECT store, lower(st) AS x, count(*) AS n FROM o GROUP BY store, st"),
    ],
)
def test_a_key_that_groups_may_share_is_refused(key: str, sql: str) -> None:
    with pytest.raises(
        StrategyError, match=r"but the SQL groups by .*: two groups may have one key\n  hint: group by the"
    ):
        classified(Case("", tuple(key.split(",")), sql))


@pytest.mark.parametrize(
    ("key", "sql"),
    [
        ("st", "SELECT upper(st) AS st, count(*) AS n FROM o GROUP BY upper(st)"),
        ("x", "SELECT upper(st) AS x, count(*) AS n FROM o GROUP BY x"),
        ("x,st", "SELECT upper(st) AS x, st, count(*) AS n FROM o GROUP BY st"),
        ("store", "SELECT store, st, count(*) AS n FROM o GROUP BY store, st"),
        ("cust", "SELECT CAST(cust AS STRING) AS cust, sum(v) AS v FROM k GROUP BY cust"),
        ("b", "SELECT q.w.start AS b, sum(v) AS v FROM (SELECT v, window(ts, '1 hour') AS w FROM k) AS q GROUP BY q.w"),
        ("k", "SELECT 1 AS k, sum(v) AS v FROM k"),
        ("id", "SELECT id, upper(st) AS st FROM o"),
    ],
)
def test_other_keys_are_taken(key: str, sql: str) -> None:
    assert classified(Case("", tuple(key.split(",")), sql)).primary_key

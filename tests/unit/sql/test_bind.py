"""Queries bound to the tables and the time of an epoch."""

from streamhouse.sql.bind import bind
from streamhouse.sql.dialect import render


def test_ports_become_tables_and_keep_their_alias() -> None:
    sql = (
        "WITH t AS (SELECT id FROM o AS x) SELECT t.id, o.a FROM t JOIN o ON t.id = o.id WHERE EXISTS(SELECT 1 FROM p)"
    )
    assert render(bind(sql, {"o": "v1", "p": "db.v2"}, 0)) == (
        "WITH t AS (SELECT id FROM v1 AS x) SELECT t.id, o.a FROM t JOIN v1 AS o ON t.id = o.id "
        "WHERE EXISTS(SELECT 1 FROM db.v2 AS p)"
    )


def test_a_cte_is_no_port() -> None:
    assert render(bind("WITH t AS (SELECT 1 AS a) SELECT a FROM t", {"t": "v"}, 0)) == (
        "WITH t AS (SELECT 1 AS a) SELECT a FROM t"
    )


def test_lateral_views_and_joins_stay() -> None:
    sql = "SELECT o.id, t.e FROM o AS o LATERAL VIEW EXPLODE(o.arr) t AS e"
    assert render(bind(sql, {"o": "v1"}, 0)) == "SELECT o.id, t.e FROM v1 AS o LATERAL VIEW EXPLODE(o.arr) t AS e"


def test_clocks_stand_still() -> None:
    sql = (
        "SELECT CURRENT_TIMESTAMP() AS a, NOW() AS b, CURRENT_DATE AS c, LOCALTIMESTAMP() AS d, "
        "UNIX_TIMESTAMP() AS e, UNIX_TIMESTAMP(ts) AS f FROM o"
    )
    at = "2024-01-31 12:00:00.250000"
    assert render(bind(sql, {"o": "v"}, 1_706_702_400_250)) == (
        f"SELECT CAST('{at}Z' AS TIMESTAMP) AS a, CAST('{at}Z' AS TIMESTAMP) AS b, "
        f"CAST('2024-01-31' AS DATE) AS c, CAST('{at}' AS TIMESTAMP_NTZ) AS d, "
        "CAST(1706702400 AS BIGINT) AS e, UNIX_TIMESTAMP(ts) AS f FROM v AS o"
    )


def test_the_given_tree_is_not_changed() -> None:
    from streamhouse.errors import Location
    from streamhouse.sql.dialect import parse_query

    tree = parse_query("SELECT NOW() AS n FROM o", Location(""))
    bind(tree, {"o": "v"}, 0)
    assert render(tree) == "SELECT NOW() AS n FROM o"

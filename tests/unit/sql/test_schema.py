"""What a query gives, what it reads, and what is wrong with it."""

import pytest

from streamhouse.errors import (
    DefinitionErrors,
    OutputColumnError,
    PortError,
    StrategyError,
    StreamhouseError,
    UnknownColumnError,
    UnknownTableError,
    UntypedColumnError,
)
from streamhouse.model.table import Column
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.sql_corpus import AT, orders, typed


def test_star_is_expanded_and_names_are_qualified() -> None:
    query = orders("SELECT * FROM c WHERE Region = 1")
    assert query.sql == ("SELECT c.cust AS cust, c.name AS name, c.region AS region FROM c AS c WHERE c.region = 1")


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT id FROM o WHERE amt > 1 ORDER BY ts", ("id", "amt")),
        ("SELECT id FROM o WHERE amt > 1 ORDER BY ts LIMIT 3", ("id", "amt", "ts")),
        ("WITH t AS (SELECT * FROM o) SELECT id FROM t", ("id",)),
        ("WITH t AS (SELECT *, amt * 2 AS twice FROM o) SELECT id, twice FROM t", ("id", "amt")),
        ("WITH t AS (SELECT * FROM o), unused AS (SELECT * FROM t) SELECT id FROM t", ("id",)),
        ("SELECT count(*) AS n FROM o", ("id",)),
        ("SELECT count(*) AS n FROM (SELECT explode(arr) AS e, st FROM o) AS q", ("arr", "st")),
        ("SELECT n FROM (SELECT store, count(*) AS n, sum(amt) AS s FROM o GROUP BY store) AS q", ("store",)),
        ("SELECT DISTINCT a FROM (SELECT DISTINCT store AS a, cust FROM o) AS q", ("cust", "store")),
        ("SELECT id FROM (SELECT id, store FROM o UNION SELECT cust, store FROM o) AS q", ("id", "cust", "store")),
    ],
)
def test_only_columns_that_matter_are_read(sql: str, reads: tuple[str, ...]) -> None:
    assert orders(sql).reads == {"o": reads}


def test_an_unused_generator_keeps_its_rows() -> None:
    assert "EXPLODE" in orders("SELECT count(*) AS n FROM (SELECT explode(arr) AS e FROM o) AS q").sql


@pytest.mark.parametrize(
    ("sql", "kind", "place", "text"),
    [
        ("SELECT nope FROM o", UnknownColumnError, 8, "unknown column 'nope'"),
        ("SELECT o.stor FROM o", UnknownColumnError, 8, "did you mean 'store'?"),
        ("SELECT x.id FROM o", UnknownColumnError, 8, "unknown table or column 'x'"),
        ("SELECT o.id FROM o JOIN c ON cust = 1", UnknownColumnError, 30, "write o.cust or c.cust"),
        ("SELECT id FROM orders", UnknownTableError, 16, "unknown table 'orders'"),
        ("SELECT id FROM ods.o", UnknownTableError, 16, "reads its inputs by port"),
        ("WITH o AS (SELECT id FROM o) SELECT id FROM o", PortError, 6, "hides the port"),
        ("WITH t AS (SELECT DISTINCT cust FROM c) SELECT id FROM o", PortError, 1, "never reads the port 'c'"),
        ("SELECT id, amt + 1 FROM o", OutputColumnError, 12, "write amt + 1 AS name"),
        ("SELECT id, st AS id FROM o", OutputColumnError, 12, "two output columns are named 'id'"),
        ("SELECT * FROM o JOIN c ON o.cust = c.cust", OutputColumnError, 1, "two output columns are named 'cust'"),
        ("SELECT st - DATE '2020-01-01' AS v FROM o", UntypedColumnError, 8, "write CAST(o.st AS type)"),
        ("SELECT NULL AS v FROM o", UntypedColumnError, 1, "no table can hold"),
        ("SELECT ts - ts AS v FROM o", UntypedColumnError, 8, "no table can hold"),
        ("SELECT my_function(id) AS v FROM o", UntypedColumnError, 8, "unknown function 'my_function'"),
        ("SELECT id FROM o WHERE lenght(st) > 1", UntypedColumnError, 24, "did you mean 'length'?"),
        ("SELECT uuid() AS v FROM o", StrategyError, 8, "another answer each time"),
        ("SELECT DATE 'today' AS v FROM o", StrategyError, 8, "'today' is another time each time"),
        ("SELECT CAST('Now UTC' AS TIMESTAMP) AS v FROM o", StrategyError, 13, "'Now UTC' is another time each time"),
        ("SELECT id FROM o WHERE rand() < 0.5", StrategyError, 24, "rand() gives another answer"),
        ("SELECT id FROM o TABLESAMPLE (10 PERCENT)", StrategyError, 1, "TABLESAMPLE"),
        (
            "SELECT st.name FROM c AS st WHERE EXISTS (SELECT 1 FROM o WHERE o.cust = st.cust)",
            UnknownColumnError,
            74,
            "for Spark, st.cust is a field of the column st of o",
        ),
        (
            "SELECT name FROM c AS ts WHERE region IN (SELECT id FROM o WHERE amt = region)",
            UnknownColumnError,
            72,
            "for Spark, ts.region is a field of the column ts of o",
        ),
        ("WITH RECURSIVE r AS (SELECT id FROM o) SELECT id FROM r", StrategyError, 1, "recursive"),
    ],
)
def test_refused(sql: str, kind: type[StreamhouseError], place: int, text: str) -> None:
    with pytest.raises(kind) as refused:
        orders(sql)
    assert text in str(refused.value)
    assert refused.value.at is not None
    if place > 1:
        assert refused.value.at.column == place


def test_all_that_is_wrong_is_told() -> None:
    with pytest.raises(DefinitionErrors) as refused:
        orders("SELECT nope, id FROM o WHERE never = 1")
    assert [e.at.column for e in refused.value.errors if e.at] == [8, 30]


def test_place_counts_from_where_the_sql_stands() -> None:
    with pytest.raises(UnknownColumnError) as refused:
        orders("SELECT id,\n  nope\nFROM o")
    assert str(refused.value.at) == "action.sql:11:3"


def test_declared_type_wider_than_the_table_is_read_through_a_cast() -> None:
    sql = "SELECT n / 2 AS half, n FROM t"
    ports = {"t": ActionPort((Column(name="N", type="int"), Column(name="x", type="string")), {"n": "decimal(12,2)"})}
    query = analyse(parse_query(sql, AT), ports, sql, AT)
    assert [(c.name, c.type) for c in query.columns] == [("half", "decimal(16,6)"), ("n", "decimal(12,2)")]
    assert "SELECT CAST(t.n AS DECIMAL(12, 2)) AS n FROM t" in query.sql
    assert query.reads == {"t": ("N",)}


@pytest.mark.parametrize("sql", ["SELECT x FROM t", "SELECT t.x FROM t", "SELECT n FROM t WHERE t.x = 'a'"])
def test_undeclared_columns_are_not_seen(sql: str) -> None:
    port = {"t": ActionPort((Column(name="n", type="int"), Column(name="x", type="string")), {"n": "int"})}
    with pytest.raises(UnknownColumnError):
        analyse(parse_query(sql, AT), port, sql, AT)


def test_extra_columns_are_appended() -> None:
    bound = (Column(name="n", type="int"), Column(name="x", type="string"), Column(name="order", type="date"))
    sql = "SELECT n + 1 AS n FROM t"
    query = analyse(parse_query(sql, AT), {"t": ActionPort(bound, {"n": "int"})}, sql, AT, extra_columns=True)
    assert [c.name for c in query.columns] == ["n", "x", "order"]
    assert "t.`order` AS `order`" in query.sql


def test_extra_columns_need_a_plain_select() -> None:
    sql = "SELECT n, count(*) AS c FROM t GROUP BY n"
    port = {"t": ActionPort((Column(name="n", type="int"), Column(name="x", type="string")), {"n": "int"})}
    with pytest.raises(PortError, match="only projects"):
        analyse(parse_query(sql, AT), port, sql, AT, extra_columns=True)


def test_nullability_is_known_where_it_is_sure() -> None:
    query = typed(
        "SELECT count(*) AS n, s, hour(ts) AS h, coalesce(d, 0.0) AS c, 1 AS one FROM lines "
        "WHERE ts IS NOT NULL GROUP BY s, ts, d"
    )
    assert {c.name: c.nullable for c in query.columns} == {"n": False, "s": True, "h": False, "c": False, "one": False}


def test_extra_columns_pass_through_a_conversion() -> None:
    bound = (Column(name="n", type="int"), Column(name="x", type="string"))
    sql = "SELECT n FROM t"
    query = analyse(parse_query(sql, AT), {"t": ActionPort(bound, {"n": "bigint"})}, sql, AT, extra_columns=True)
    assert [(c.name, c.type) for c in query.columns] == [("n", "bigint"), ("x", "string")]


@pytest.mark.parametrize(
    ("sql", "canonical"),
    [
        ("SELECT id FROM o ORDER BY ts", "SELECT o.id AS id FROM o AS o"),
        ("SELECT id FROM o SORT BY ts", "SELECT o.id AS id FROM o AS o"),
        ("SELECT id FROM o ORDER BY ts LIMIT 1", "SELECT o.id AS id FROM o AS o ORDER BY o.ts LIMIT 1"),
        (
            "SELECT id FROM o UNION ALL SELECT id FROM k ORDER BY id",
            "SELECT o.id AS id FROM o AS o UNION ALL SELECT k.id AS id FROM k AS k",
        ),
        (
            "SELECT window.start AS s FROM o GROUP BY window(ts, '1 hour')",
            "SELECT WINDOW(o.ts, '1 hour').start AS s FROM o AS o GROUP BY WINDOW(o.ts, '1 hour')",
        ),
    ],
)
def test_canonical_sql(sql: str, canonical: str) -> None:
    assert orders(sql).sql == canonical


def test_order_of_a_column_that_is_not_there() -> None:
    with pytest.raises(UnknownColumnError, match="nope"):
        orders("SELECT id FROM o ORDER BY nope")

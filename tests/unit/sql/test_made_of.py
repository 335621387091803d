"""What the columns of a plan's query are made of, found without a second check: the same as with all checks."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.model.table import Column
from streamhouse.sql.canonical import CanonicalInput, canonical
from streamhouse.sql.made_of import made_of, made_of_checked
from streamhouse.sql.schema import CheckedQuery
from tests import random_queries, shaped_queries
from tests.equal_pairs import pairs
from tests.sql_corpus import LINES, ORDERS, P, columns, orders, queries, typed
from tests.tables import each

pytestmark = pytest.mark.proof

CORPUS = {"lines": columns(LINES), "p": columns(P)}
SHAPED = {name: columns(of) for name, of in shaped_queries.TABLES.items()}
RANDOM = {name: columns(of) for name, of in random_queries.TABLES.items()}


def agrees(query: CheckedQuery, tables: dict[str, tuple[Column, ...]]) -> None:
    inputs = {port: CanonicalInput(f"ods.{port}", tables[port]) for port in query.reads}
    found, whole = made_of(query.sql, inputs), canonical(query.sql, inputs)
    assert (list(found.values.items()), found.decides) == (list(whole.values.items()), whole.decides), query.sql
    at_hand = made_of_checked(query, dict.fromkeys(query.reads, "changes"))
    if at_hand is not None:
        of_ports = made_of(query.sql, {port: CanonicalInput(port, tables[port]) for port in query.reads})
        assert (list(at_hand.values.items()), at_hand.decides) == (list(of_ports.values.items()), of_ports.decides)


@each("sql", queries())
def test_queries_of_the_corpus(sql: str) -> None:
    agrees(typed(sql), CORPUS)


@each("sql", list(dict.fromkeys(pair.first for pair in pairs())))
def test_queries_that_have_equals(sql: str) -> None:
    agrees(orders(sql), {port: columns(of) for port, of in ORDERS.items()})


@pytest.mark.parametrize(
    ("made", "checked", "tables"),
    [
        (shaped_queries.shaped(29, 100), shaped_queries.checked, SHAPED),
        (random_queries.queries(29, 100), random_queries.checked, RANDOM),
    ],
    ids=["odd shapes", "random"],
)
def test_queries_made_by_chance(
    made: list[str], checked: Callable[[str], CheckedQuery], tables: dict[str, tuple[Column, ...]]
) -> None:
    taken = []
    for sql in made:
        with suppress(StreamhouseError):  # Spark refuses some of them
            taken.append(checked(sql))
    assert len(taken) > 80
    for query in taken:
        agrees(query, tables)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT cust, sum(amt) AS s FROM o GROUP BY ROLLUP (cust)",
        "SELECT store, id, rank() OVER w AS r FROM o WINDOW w AS (PARTITION BY store ORDER BY amt)",
        "SELECT o.id FROM o JOIN (k JOIN c ON k.cust = c.cust) ON o.cust = k.cust",
    ],
)
def test_what_is_not_followed(sql: str) -> None:
    """All that such a query reads decides its rows."""
    query = orders(sql)
    agrees(query, {port: columns(of) for port, of in ORDERS.items()})
    inputs = {port: CanonicalInput(port, columns(ORDERS[port])) for port in query.reads}
    assert made_of(query.sql, inputs).decides == {(port, name) for port, of in query.reads.items() for name in of}


def test_two_ports_that_read_one_table() -> None:
    query = orders("SELECT a.id, b.amt + a.amt AS both FROM o AS a JOIN o AS b ON a.id = b.cust")
    inputs = {"o": CanonicalInput("ods.o", columns(ORDERS["o"]))}
    assert made_of(query.sql, inputs).values["both"] == {("ods.o", "amt")}
    query = orders("SELECT o.id, k.cust FROM o LEFT JOIN k ON o.cust = k.cust")
    inputs = {port: CanonicalInput("ods.one", columns(ORDERS[port])) for port in query.reads}
    found, whole = made_of(query.sql, inputs), canonical(query.sql, inputs)
    assert (found.values, found.decides) == (whole.values, whole.decides)

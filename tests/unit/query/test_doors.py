"""Queries that ask for more than tables are refused before anything starts."""

import pytest

from streamhouse.errors import QueryRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.query.parse import parse_query
from streamhouse.query.plain_sql import plain
from streamhouse.sql.admit import NOT_OF_VALUES, QUERY_FUNCTIONS, TABLE_FUNCTIONS
from tests.doors import CALLS, LITERALS, RELATIONS, STATEMENTS, filled
from tests.tables import each

TEXT = Column(name="name", type="string")
DOORS = Table(name="dwd.doors", columns=(Column(name="id", type="int"), TEXT), tiers={"hot": "1h"})
USERS = Table(name="dwd.users", columns=(Column(name="user", type="string"),), tiers={"hot": "1h"})
CATALOG = {"dwd.doors": DOORS, "dwd.users": USERS}


@each("sql", filled([*RELATIONS, *CALLS, *STATEMENTS], "/etc/passwd"))
def test_more_than_tables_is_refused(sql):
    with pytest.raises(QueryRefusedError) as refused:
        parse_query(sql, CATALOG)
    assert refused.value.code == "SH601"


@pytest.mark.parametrize("literal", LITERALS)
def test_variables_in_a_literal_are_text(literal):
    assert literal in plain(parse_query(f"SELECT id FROM dwd.doors WHERE name = '{literal}'", CATALOG)).sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT user FROM dwd.users",
        "SELECT u.user AS current_user FROM dwd.users u",
        "SELECT x FROM range(3) AS r(x)",
        "SELECT * FROM dwd.doors, LATERAL explode(array(id)) AS e(x)",
        "SELECT * FROM dwd.doors LATERAL VIEW posexplode(array(id)) e AS x, y",
        "SELECT * FROM dwd.doors JOIN LATERAL (SELECT max(user) AS u FROM dwd.users) ON true",
        "SELECT /*+ BROADCAST(d) */ id FROM dwd.doors d JOIN dwd.users u ON u.user = d.name",
        "SELECT stack(2, id, 1) FROM dwd.doors",
        "SELECT * FROM VALUES (1, 'a') AS t(n, s)",
        "SELECT try_to_number(name, '99'), uuid(), rand(), mask(name), parse_url(name, 'HOST') FROM dwd.doors",
        "SELECT count(*) FILTER (WHERE id > 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM dwd.doors",
    ],
)
def test_tables_and_what_is_computed_from_them_is_not(sql):
    parse_query(sql, CATALOG)


def test_no_function_is_on_both_lists():
    assert not NOT_OF_VALUES & (QUERY_FUNCTIONS | TABLE_FUNCTIONS)


def test_ctes_that_double_each_other_are_refused():
    doubled = ", ".join(f"c{i} AS (SELECT id FROM c{i - 1} UNION ALL SELECT id FROM c{i - 1})" for i in range(1, 40))
    with pytest.raises(QueryRefusedError, match="reads more than 500 tables"):
        parse_query(f"WITH c0 AS (SELECT id FROM dwd.doors), {doubled} SELECT id FROM c39", CATALOG)


def test_a_long_chain_of_ctes_and_many_reads_of_one_are_taken():
    chain = ", ".join(f"c{i} AS (SELECT id FROM c{i - 1})" for i in range(1, 40))
    reads = " UNION ALL ".join(["SELECT id FROM c39"] * 20)
    assert parse_query(f"WITH c0 AS (SELECT id FROM dwd.doors), {chain} {reads}", CATALOG).uses

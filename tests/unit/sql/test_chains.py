"""Long chains of AND and OR."""

import pytest
from sqlglot import exp

from streamhouse.sql.canonical import CanonicalInput, canonical
from streamhouse.sql.dialect import parse_query, render
from tests.sql_corpus import AT, columns

TERMS = 700  # each in the next they are more than Python's stack takes


def depth(node: exp.Expr) -> int:
    level, found = [node], 0
    while level:
        level, found = [child for one in level for child in one.iter_expressions()], found + 1
    return found


@pytest.mark.parametrize("operator", ["AND", "OR"])
def test_a_long_chain_is_a_shallow_tree_of_the_same_text(operator: str) -> None:
    sql = f"SELECT a FROM t WHERE {f' {operator} '.join(f'a <> {number}' for number in range(TERMS))}"
    tree = parse_query(sql, AT)
    assert depth(tree) < 30
    assert render(tree) == sql


def test_a_short_chain_stays_as_it_is() -> None:
    tree = parse_query("SELECT a FROM t WHERE a = 1 OR a = 2 OR a = 3 OR a = 4", AT)
    assert isinstance(tree.args["where"].this.expression, exp.EQ)


def test_terms_stay_apart_from_those_of_other_operators_and_brackets() -> None:
    terms = " OR ".join(f"(a = {number} AND NOT (b = 1 OR b = {number}))" for number in range(80))
    sql = f"SELECT a FROM t WHERE {terms}"
    assert render(parse_query(sql, AT)) == sql


@pytest.mark.parametrize("operator", ["AND", "OR"])
def test_a_long_chain_is_analysed(operator: str) -> None:
    sql = f"SELECT a FROM t WHERE {f' {operator} '.join(f'a <> {number}' for number in range(TERMS))}"
    found = canonical(sql, {"t": CanonicalInput("ods.t", columns({"a": "bigint"}), "changes")})
    assert {("ods.t", "a")} <= found.decides

"""Short ways give what the long ones give."""

import ast
import random
import re
from pathlib import Path
from unittest.mock import patch

import pytest
from sqlglot import exp

import streamhouse
from streamhouse.compiler.analyses import Analyses
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import SPARK, quote_names, render, spark_words
from streamhouse.sql.dialect.spark_grammar import grammar
from streamhouse.sql.scopes import function_name, own_nodes
from tests.parsed import nodes_of

EVERY = sorted(
    {value for value in vars(exp).values() if isinstance(value, type) and issubclass(value, exp.Expr)},
    key=lambda kind: kind.__name__,
)


def test_kinds_are_what_isinstance_says():
    kinds = Kinds(exp.Query, exp.Func, exp.Predicate)
    for kind in EVERY:
        assert kinds[kind] == issubclass(kind, (exp.Query, exp.Func, exp.Predicate)), kind
        assert kinds[kind] == issubclass(kind, (exp.Query, exp.Func, exp.Predicate)), "asked again"


def test_classes_are_told_by_a_tuple():
    """`isinstance(node, A | B)` puts A and B together each time, which takes ten times as long."""
    root = Path(streamhouse.__file__).parent
    for file in (file for folder in ("sql", "compiler", "registry") for file in (root / folder).rglob("*.py")):
        for call in nodes_of(file.read_text()):
            asks = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance"
            assert not (asks and isinstance(call.args[1], ast.BinOp)), f"{file}:{call.lineno}"


QUERIES = (
    "SELECT a, b + 1 AS c, SUM(x) FILTER (WHERE y > 1) OVER (PARTITION BY z ORDER BY a) FROM t JOIN u ON t.a = u.a",
    "SELECT (SELECT MAX(v) FROM s WHERE s.k = t.k) AS m, a FROM t WHERE a IN (SELECT b FROM u) AND EXISTS (SELECT 1)",
    "WITH w AS (SELECT a FROM t) SELECT * FROM w UNION ALL SELECT CASE WHEN a THEN 1 ELSE 2 END FROM w LIMIT 3",
)


@pytest.mark.parametrize("text", QUERIES)
def test_own_nodes_are_those_of_a_walk_that_stops_at_queries(text):
    for node in SPARK.parse(text)[0].walk():
        walked = node.walk(prune=lambda one, top=node: isinstance(one, exp.Query) and one is not top)
        assert [id(one) for one in own_nodes(node)] == [id(one) for one in walked]


WRITTEN = (
    *QUERIES,
    "f(1,2) + 1.5 + 1. + .5 + 1e5 + 1E-3 + 12L + 3S + 4y + 1.5bd + 2d + 3f + 1_0 + x.1 + 7$a + a.b(1)",
    "CAST(x AS ARRAY<STRUCT<a:MAP<STRING,INT>>>) , (1) /* (2) */ -- (3)\n ( 4 ) , r'(5)' || '6,' || `7)`",
    "a >> 1 >>> 2 -> (x, y) => 3 <=> 4 :: INT, 1/*+ no hint */2",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_signs_and_whole_numbers_are_what_the_long_way_finds(text):
    of = grammar()
    found = spark_words.words_of(text, of.words, of.kinds, of.longest_sign)
    never = re.compile(r"(?!)")
    with patch.multiple(spark_words, _PLAIN=never, _SIGN=never, _INTEGER=never):
        assert spark_words.words_of(text, of.words, of.kinds, of.longest_sign) == found


def test_no_longer_sign_begins_with_one_that_is_taken_at_once():
    assert {sign for sign in grammar().words if sign[0] in "(),"} == {"(", ")", ","}


def test_equal_facts_have_one_token():
    analyses = Analyses()
    tokens = [analyses.token(facts) for facts in (("a", 1), ("a", 2), ("a", 1), "a")]
    assert tokens == [0, 1, 0, 2]


def test_names_of_calls_stay():
    for made in (exp.Sum(), exp.Sum(), exp.ArrayAgg(), exp.Anonymous(this="Foo"), exp.Anonymous(this="bar")):
        known = {exp.ArrayAgg: "collect_list", exp.Sum: "sum"}.get(type(made), made.name.lower())
        assert function_name(made) == known
    assert function_name(exp.Literal.number(1)) == ""


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_rendered_as_sqlglot_does(seed):
    chance = random.Random(seed)
    names = ["id", "a1", "_x", "order", "select", "1a", "a b", "ä", "Id", "a.b", "a`b", "$x", "", "null", "date", "t"]
    for _ in range(500):
        parts = [exp.to_identifier(chance.choice(names), quoted=chance.choice((True, False, None))) for _ in range(4)]
        column = exp.column(*parts[: chance.randint(1, 4)])
        if chance.random() < 0.2:
            column.set("join_mark", True)
        if chance.random() < 0.5:
            quote_names(column)
        assert render(column) == SPARK.generate(column.copy(), comments=False)

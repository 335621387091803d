"""Short ways give what the long ones give."""

import random

import pytest
from sqlglot import exp

from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import SPARK, quote_names, render
from streamhouse.sql.scopes import function_name

EVERY = sorted(
    {value for value in vars(exp).values() if isinstance(value, type) and issubclass(value, exp.Expr)},
    key=lambda kind: kind.__name__,
)


def test_kinds_are_what_isinstance_says():
    kinds = Kinds(exp.Query, exp.Func, exp.Predicate)
    for kind in EVERY:
        assert kinds[kind] == issubclass(kind, (exp.Query, exp.Func, exp.Predicate)), kind
        assert kinds[kind] == issubclass(kind, (exp.Query, exp.Func, exp.Predicate)), "asked again"


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

"""Of which parts an expression gives one, for every form of a choice; and where a choice is looked at."""

import pytest

from streamhouse.errors import Location
from streamhouse.planner.models.draft_values import parts_of
from streamhouse.sql.choices import choices_of, given_to
from streamhouse.sql.dialect import parse_expression
from streamhouse.sql.pattern_texts import pattern_texts
from tests.tables import each

AT = Location("choices.sql")
CHOICES = [
    ("CASE WHEN a THEN b END", "b"),
    ("CASE WHEN a THEN b WHEN c THEN d ELSE e END", "b d e"),
    ("CASE a WHEN b THEN c ELSE d END", "c d"),
    ("if(a, b, c)", "b c"),
    ("IF(a, b)", "b"),
    ("iff(a, b, c)", "b c"),
    ("coalesce(a, b, c)", "a b c"),
    ("nvl(a, b)", "a b"),
    ("ifnull(a, b)", "a b"),
    ("nvl2(a, b, c)", "b c"),
    ("nanvl(a, b)", "a b"),
    ("greatest(a, b)", "a b"),
    ("least(a, b)", "a b"),
    ("decode(a, b, c)", "c"),
    ("decode(a, b, c, d)", "c d"),
    ("decode(a, b, c, d, e)", "c e"),
    ("decode(a, b, c, d, e, f)", "c e f"),
    ("elt(a, b, c)", "b c"),
    ("array(a, b)", "a b"),
]
OTHERS = ("a", "1", "a + b", "upper(a)", "concat(a, b)", "nullif(a, b)", "max_by(a, b)", "decode(a, 'UTF-8')", "(a, b)")


@each(("sql", "parts"), CHOICES)
def test_each_form_gives_one_of_its_parts(sql, parts):
    node = parse_expression(sql, AT)
    assert [part.sql() for part in choices_of(node)] == parts.split()
    assert [part.sql() for part in parts_of(node)] == parts.split(), "what only chooses is no part of the value"


@each("sql", OTHERS)
def test_what_computes_something_else_is_no_choice(sql):
    assert choices_of(parse_expression(sql, AT)) is None


def test_a_type_is_no_argument():
    assert [part.sql() for part in given_to(parse_expression("CAST(a AS INT)", AT))] == ["a"]
    assert given_to(parse_expression("a + b", AT)) == []


@pytest.mark.parametrize("choice", ["if(b, 'x', '+)+b')", "nvl2(b, 'x', '+)+b')", "decode(b, 'z', '+)+b', 'x')"])
def test_a_pattern_that_a_choice_is_a_part_of_is_put_together_of_each(choice):
    texts = pattern_texts(parse_expression(f"concat('(a', {choice})", AT))
    assert texts == {"(ax", "(a+)+b"}

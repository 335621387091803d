"""A wish that is read otherwise in other words is asked back, with both readings and the other words as a choice."""

import pytest

import streamhouse.planner.understand as understand_module
from streamhouse.planner.language.other_words import other_words
from streamhouse.planner.request import ColumnRef, Condition, Measure, Understood
from streamhouse.planner.sentence import sentence
from streamhouse.planner.understand import understand
from tests.unit.planner.wish_catalogs import catalog, table

KAYAKS = catalog(
    table("ods.kayaks", ["kayak_id"], None, ["kayak_id:i", "kayak_name:s"]),
    table(
        "ods.hires",
        ["hire_no"],
        "began_at",
        [
            "hire_no:i",
            "kayak_id:i>ods.kayaks.kayak_id",
            "began_at:t",
            "returned_at:t;when it was returned",
            "paid_on:d",
            "cancelled:b",
            "price_eur:f#EUR",
        ],
        measures={"hires": {"sql": "COUNT(*)"}, "takings": {"sql": "SUM(price_eur)", "unit": "EUR"}},
    ),
)


def read(wish):
    return understand(wish, KAYAKS)


def asked(wish):
    """The Request of a wish that is read."""
    found = read(wish).request
    assert found is not None, wish
    return found


def reader(**otherwise):
    """Reads the wishes whose words it is given as others, as a reader with a gap does."""
    return lambda wish: otherwise.get(wish.replace(" ", "_"), Understood(refusal="not read"))


@pytest.mark.parametrize(
    ("wish", "other", "gap", "phrase", "choice"),
    [
        ("hires from May 2026", "hires in May 2026", "hires", "from", "in"),
        ("hires but not cancelled", "hires and not cancelled", "hires", "but", "and"),
        ("kayaks with no hires", "kayaks without hires", "kayaks", "with no", "without"),
        ("what did we hire", "how much did we hire", "takings", "what did", "how much did"),
        ("number of hires for each month", "number of hires per month", "number of hires", "for each", "per"),
    ],
)
def test_another_answer_in_other_words_is_a_question(wish, other, gap, phrase, choice):
    found, meant = asked(gap), read("number of hires per kayak")
    question = other_words(wish, found, KAYAKS, reader(**{other.replace(" ", "_"): meant}))
    assert question is not None
    assert (question.phrase, question.choices) == (phrase, (choice,))
    assert sentence(found) in question.text


@pytest.mark.parametrize(
    "wish",
    [
        "hires from May to July 2026",
        "all hires but cancelled ones",
        "cancelled hires per month",
        "what did they pay",
    ],
)
def test_words_that_mean_something_else_are_not_turned(wish):
    found = asked("number of hires per month")
    read_wishes = []
    assert other_words(wish, found, KAYAKS, lambda other: read_wishes.append(other) or Understood(refusal="")) is None
    assert read_wishes == []


def test_other_words_that_cannot_be_read_ask_nothing():
    found = asked("number of hires per month")
    assert other_words("hires from May 2026", found, KAYAKS, reader()) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("total price_eur per kayak", "takings per kayak"),
        ("hires that were paid and cancelled", "hires that were cancelled and paid"),
    ],
)
def test_the_same_rows_said_otherwise_are_one_answer(one, other):
    assert asked(one) != asked(other)
    assert other_words("hires from May 2026", asked(one), KAYAKS, lambda _: read(other)) is None


def test_a_number_of_values_is_that_of_the_rows_with_a_value():
    found, paid = asked("number of hires per month"), ColumnRef(column="paid_on")
    values = found.block.model_copy(update={"measures": (Measure(name="paid", of=paid),)})
    rows = found.block.model_copy(update={"filters": (Condition(left=paid, operator="is not null"),)})
    one, other = (found.model_copy(update={"block": block}) for block in (values, rows))
    wish = "hires from May 2026"
    assert other_words(wish, one, KAYAKS, lambda _: Understood(request=other)) is None
    assert other_words(wish, one, KAYAKS, lambda _: Understood(request=found)) is not None


@pytest.mark.parametrize(
    "wish", ["hires from May 2026", "hires that were paid but not cancelled", "kayaks with no hires"]
)
def test_a_wish_that_is_read_alike_in_other_words_is_answered(wish):
    assert asked(wish) is not None


def test_a_gap_of_the_reader_ends_in_a_question_of_the_wish(monkeypatch):
    plain = understand_module._accounted

    def with_gap(wish, lexicon):  # loses the month of "from May", as it once did
        return plain(wish.replace(" from May 2026", ""), lexicon)

    monkeypatch.setattr(understand_module, "_accounted", with_gap)
    [question] = read("cancelled hires from May 2026").questions
    assert (question.phrase, question.choices) == ("from", ("in",))
    assert read("cancelled hires in May 2026").request is not None

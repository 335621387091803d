"""The choices of a question: each is an answer, and leaves what else the wish says."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.jobs.answers import with_answers, with_live_choices
from streamhouse.planner.request import Question, Understood
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact

TABLES = [
    ("laundry", "total weight per month", "ods.loads", "ods.loads; by month(started_at); get sum(weight_kg)"),
    ("laundry", "total weight per month", "ods.pickups", "ods.pickups; by month(picked_up_at); get sum(weight_kg)"),
    ("laundry", "weight per month", "ods.pickups", "ods.pickups; by month(picked_up_at); get linen_kg"),
    ("energy", "kWh per customer and month", "ods.bills", "ods.bills; by customer_no, month(issued_on); get sum(kwh)"),
    ("farm", "kilos per product and month", "dwd.sales", "dwd.sales; by product_code, month(shipped_at); get sum(kg)"),
]


def reader(known):
    return lambda wish: understand(wish, schema(known).catalog)


@pytest.mark.parametrize(("known", "wish", "table", "request_"), TABLES)
def test_the_table_that_is_chosen_is_read_and_no_word_is_lost(known, wish, table, request_):
    [question] = reader(known)(wish).questions
    [choice] = [one for one in question.choices if one.endswith(f" from {table}")]
    answered = with_answers(wish, {question.phrase: choice}, reader(known))
    assert compact(reader(known)(answered)) == request_


@pytest.mark.parametrize(
    ("known", "wish", "choices"),
    [
        ("gym", "our best members", ("our 5 best members", "our 10 best members")),
        ("dentallab", "top practices by revenue", ("top 5 practices", "top 10 practices")),
        ("dentallab", "cases since May", ()),
        ("clinic", "Who are our best doctors?", ("our 5 best doctors", "our 10 best doctors")),
    ],
)
def test_each_choice_leads_on(known, wish, choices):
    found = reader(known)(wish)
    assert found.questions[0].choices == choices
    assert with_live_choices(wish, found, reader(known)) == found


def test_a_choice_that_would_be_refused_is_not_offered():
    wish = "practices that were clients before 2012 already"
    found = reader("dentallab")(wish)
    assert found.questions[0].choices
    assert with_live_choices(wish, found, reader("dentallab")).questions[0].choices == ()


def test_a_choice_that_asks_the_same_again_is_not_offered():
    found = Understood(questions=(Question(text="which one?", phrase="oldest", choices=("eldest",)),))
    assert with_live_choices("the oldest", found, lambda _: found).questions[0].choices == ()


def test_a_figure_that_is_chosen_takes_no_group_away():
    wish = "largest basket of each branch in October 2017, in dollars"
    [question] = reader("retail")(wish).questions
    assert question.choices
    for choice in question.choices:
        assert "each branch" in with_answers(wish, {question.phrase: choice}, reader("retail"))


def test_a_table_that_is_not_there_is_named():
    assert "ods.nope" in compact(reader("laundry")("number of loads from ods.nope per month"))

"""A choice of a question about a time says the whole phrase again: the grain stays, and the column is added."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.jobs.answers import with_answers, with_live_choices
from streamhouse.planner.request import Question
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact

LATE = "ods.invoices; where paid_on > due_on"
CASES = [
    # no time of the table is the default
    ("driving", "learners per month", "ods.learners.left_on", "ods.learners; by month(left_on); get count(*)"),
    ("driving", "learners monthly", "ods.learners.left_on", "ods.learners; by month(left_on); get count(*)"),
    ("driving", "learners by date", "ods.learners.left_on", "ods.learners; by day(left_on); get count(*)"),
    ("driving", "learners by weekday", "ods.learners.left_on", "ods.learners; by day_of_week(left_on); get count(*)"),
    ("driving", "learners in May 2024", "ods.learners.left_on", "ods.learners; where left_on 2024-05-01..2024-06-01"),
    # a word names another time than the default
    ("vet", "bills paid late, per month", "ods.invoices.paid_on", f"{LATE}; by month(paid_on); get invoices"),
    ("vet", "bills paid late, per month", "ods.invoices.issued_on", f"{LATE}; by month(issued_on); get invoices"),
    ("vet", "bills paid late in May 2025", "ods.invoices.due_on", f"{LATE} and due_on 2025-05-01..2025-06-01"),
    (
        "gym",
        "bills paid within a week, by month",
        "ods.invoices.paid_on",
        "ods.invoices; where days(issued_on→paid_on) <= 7; by month(paid_on); get count(*)",
    ),
    # words name several
    (
        "vet",
        "bills issued and paid per month",
        "ods.invoices.issued_on",
        "ods.invoices; where paid_on is not null; by month(issued_on); get invoices",
    ),
]


def _asked(known: str, wish: str) -> Question:
    catalog = schema(known).catalog
    found = with_live_choices(wish, understand(wish, catalog), lambda text: understand(text, catalog))
    (question,) = found.questions
    return question


@pytest.mark.parametrize(("known", "wish", "column", "request_"), CASES)
def test_an_answer_keeps_what_the_phrase_says(known: str, wish: str, column: str, request_: str) -> None:
    question = _asked(known, wish)
    assert question.text.startswith("which time counts")
    choice = next(one for one in question.choices if column in one.split())
    catalog = schema(known).catalog
    answered = with_answers(wish, {question.phrase: choice}, lambda text: understand(text, catalog))
    assert compact(understand(answered, catalog)) == request_


def test_each_time_of_the_table_is_offered_and_the_default_first() -> None:
    choices = _asked("vet", "bills paid late, per month").choices
    assert choices == tuple(f"month of ods.invoices.{name}_on" for name in ("issued", "due", "paid"))


def test_a_group_beside_what_somebody_did_has_the_time_of_the_deed_as_a_choice() -> None:
    choices = _asked("clinic", "how many patients missed an appointment per month").choices
    assert choices[0] == "month of ods.patients.registered_at"
    assert "month of ods.appointments.starts_at" in choices
    catalog = schema("clinic").catalog
    without = understand("number of patients without an appointment per month", catalog)
    assert "which time counts" not in compact(without), "what was not done has no time"

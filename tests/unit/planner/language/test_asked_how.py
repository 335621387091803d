"""How, where and why something was done, and what became of rows that others point to: read, or asked back."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.described_trades import COACHES, KENNEL, PRINTS


@pytest.mark.parametrize(
    ("trade", "wish", "columns"),
    [
        (KENNEL, "when was the last bill of each owner and how was it paid", ["owner_id", "paid_by", "issued_on"]),
        (KENNEL, "last bill of each owner, how was it paid?", ["owner_id", "paid_by", "issued_on"]),
        (COACHES, "the last ticket of each tour and where was it bought?", ["tour_no", "channel", "bought_at"]),
        (PRINTS, "first run of each order and why it was stopped", ["order_no", "stopped_for", "began_at"]),
    ],
)
def test_a_question_is_the_column_whose_description_answers_it(trade, wish, columns):
    found = understand(wish, trade)
    assert found.request is not None, compact(found)
    shown = [one.of.column for one in found.request.block.columns]
    assert shown in (columns, columns[1:]), shown


@pytest.mark.parametrize(
    ("trade", "wish"),
    [
        (KENNEL, "for every owner the last bill and where it was paid"),
        (COACHES, "list the tickets and why they were bought"),
        (PRINTS, "the first run of each order and how was it finished"),
    ],
)
def test_a_question_that_no_description_answers_is_asked_back(trade, wish):
    found = understand(wish, trade)
    assert found.request is None
    assert found.refusal or found.questions


@pytest.mark.parametrize(
    ("trade", "wish", "said"),
    [
        (COACHES, "cancelled tickets", "cancelled tickets"),
        (COACHES, "number of cancelled tickets per month", "cancelled tickets"),
        (COACHES, "number of tickets that were not cancelled", "tickets that were not cancelled"),
        (PRINTS, "rejected runs per operator", "rejected runs"),
        (PRINTS, "how many press runs were rejected", "press runs were rejected"),
    ],
)
def test_what_became_of_another_row_is_asked_back(trade, wish, said):
    found = understand(wish, trade)
    assert [one.phrase for one in found.questions] == [said], compact(found)


@pytest.mark.parametrize("wish", ["tickets of cancelled tours", "number of tickets for tours that were cancelled"])
def test_what_became_of_a_row_that_is_named_is_read(wish):
    block = understand(wish, COACHES).request.block
    assert [one.values for one in block.filters] == [("CAN",)]

# ruff: noqa: E501 - one wish a line
"""Rows and figures that are said in another way: by a description, by what they led to, by their value."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.described_trades import COACHES, KENNEL, PRINTS
from tests.unit.planner.wish_catalogs import HOTEL, LIBRARY, SUPPORT, catalog, table


@pytest.mark.parametrize(
    ("trade", "wish", "plain"),
    [
        # a phrase of a description for rows without a value
        (KENNEL, "dogs on the waiting list", "dogs without run_id"),
        (KENNEL, "number of dogs on the waiting list", "number of dogs without run_id"),
        (COACHES, "number of tours for hired coaches", "number of tours without driver_id"),
        (PRINTS, "papers of our own stock", "papers without supplier"),
        (PRINTS, "number of papers per colour, our own stock left out", "number of papers with supplier per colour"),
        # number and average of the same rows
        (HOTEL, "number of cancelled bookings and their average price per channel",
         "cancelled bookings: number of bookings and average price per channel"),
        (HOTEL, "number of cancelled bookings and average price of cancelled bookings per channel",
         "cancelled bookings: number of bookings and average price per channel"),
        (HOTEL, "number of cancelled bookings and their total price per channel",
         "cancelled bookings: number of bookings and revenue per channel"),
        (SUPPORT, "how many urgent tickets and their average satisfaction score by agent",
         "urgent tickets: number of tickets and average satisfaction score by agent"),
        (LIBRARY, "number of crime books, their average length by author",
         "crime books: number of books and average length by author"),
        # what each brought in
        (HOTEL, "revenue that each channel brought in in 2026", "revenue per channel in 2026"),
        (LIBRARY, "the fines each branch took in during May 2026", "the fines per branch during May 2026"),
        (SUPPORT, "monthly fee each industry brought in", "monthly fee per industry"),
        # the value of rows
        (HOTEL, "cancelled bookings per channel, number and value", "cancelled bookings: number of bookings and revenue per channel"),
        (KENNEL, "unpaid bills per owner, number and value", "unpaid bills: number of bills and total amount per owner"),
        (COACHES, "tickets by channel, number and total value", "number of tickets and total fare by channel"),
        # what came of rows
        (SUPPORT, "tickets that led to a bug", "tickets that ended as a bug"),
        (HOTEL, "bookings that led to a suite", "bookings that ended in a suite"),
        (LIBRARY, "share of reservations that led to cancelled", "share of reservations that ended as cancelled"),
        # a year that is named twice
        (HOTEL, "revenue this year so far, 2026", "revenue in 2026"),
        (LIBRARY, "number of loans per branch this year (2026)", "number of loans per branch in 2026"),
        (SUPPORT, "number of tickets so far this year, 2026, by topic", "number of tickets in 2026, by topic"),
    ],
)  # fmt: skip
def test_it_is_read_as_the_plain_words(trade, wish, plain):
    said, wanted = understand(wish, trade), understand(plain, trade)
    assert wanted.request is not None, compact(wanted)
    assert said.request is not None, compact(said)
    assert said.request.block == wanted.request.block


def test_figures_of_different_rows_stay_apart():
    block = understand(
        "number of cancelled bookings and average price of confirmed bookings per channel", HOTEL
    ).request.block
    assert not block.filters
    assert [one.values for measure in block.measures for one in measure.where] == [("C",), ("O",)]


BENCHES = catalog(
    table("ods.loans", ["loan_no"], "lent_at", ["loan_no:i", "tool:s", "lent_at:t|lent", "back_on:d|given back|returned;empty until then"]),
)  # fmt: skip
TAPE = catalog(
    table("ods.reels", ["reel_no"], "bought_on", ["reel_no:i", "colour:s", "bought_on:d|bought", "empty_on:d|used up|finished;empty until then"]),
)  # fmt: skip
MAIL = catalog(
    table("ods.letters", ["letter_no"], "came_at", ["letter_no:i", "office:s", "came_at:t|came", "done_at:t|given back|handled;empty until then"]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("trade", "wish", "plain"),
    [
        (BENCHES, "number of loans not given back per tool", "number of loans not returned per tool"),
        (TAPE, "reels that were not used up", "reels that were not finished"),
        (
            MAIL,
            "number of letters not given back per office",
            "number of letters not handled per office",
        ),
    ],
)
def test_a_deed_of_two_words_whose_first_mostly_says_nothing(trade, wish, plain):
    said, wanted = understand(wish, trade), understand(plain, trade)
    assert wanted.request is not None, compact(wanted)
    assert said.request is not None, compact(said)
    assert said.request.block == wanted.request.block

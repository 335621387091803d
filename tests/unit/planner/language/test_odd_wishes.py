"""Wishes with days, numbers and money that do not exist: each is a refusal or a question that names them."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import HOTEL, LIBRARY, SUPPORT


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ("loans on 31 February 2024", "'31 February 2024' is no day of the calendar: that month has 29 days"),
        ("loans on 31 February", "'31 February' is no day of the calendar: that month has 29 days"),
        ("loans since the 31st of April", "'31st of April' is no day of the calendar: that month has 30 days"),
        ("loans since June 31st, 2024", "'June 31st, 2024' is no day of the calendar: that month has 30 days"),
        ("loans on 29 Feb 2023", "'29 Feb 2023' is no day of the calendar: that month has 28 days"),
        ("loans on the 32nd of March 2024", "'32nd of March 2024' is no day of the calendar: that month has 31 days"),
        ("loans on 0 May 2024", "'0 May 2024' is no day of the calendar: that month has 31 days"),
        ("loans between 2024-02-31 and 2024-03-05", "'2024-02-31' is no day of the calendar: that month has 29 days"),
        ("loans on 2024-13-01", "'2024-13-01' is no day of the calendar: a year has 12 months"),
    ],
)
def test_a_day_that_the_calendar_does_not_have_is_named(wish, why):
    assert understand(wish, LIBRARY).refusal == why


@pytest.mark.parametrize(
    "wish",
    ["loans on 29 February 2024", "loans on 31 May 2024", "top 5 books by loans in March 2024", "loans in May 2024"],
)
def test_days_that_exist_and_numbers_before_months_are_read(wish):
    assert understand(wish, LIBRARY).request is not None


def test_what_looks_like_a_day_in_quotation_marks_is_a_value():
    assert "calendar" not in understand("members with the town '31 February 2024'", LIBRARY).refusal


@pytest.mark.parametrize("wish", ["loans in the last 0 days", "loans in the last -3 days"])
def test_a_time_without_a_length_is_asked_about(wish):
    found = understand(wish, LIBRARY)
    assert found.request is None
    assert "a time has 1 to 1,000,000 days" in compact(found)


def test_a_time_that_is_longer_than_the_calendar_is_asked_about():
    assert "a time has 1 to 9,999 years" in compact(understand("loans in the last 10000000 years", LIBRARY))


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ("moving average of loans over 0 weeks per week", "'0'"),
        ("moving average of loans over 100000000000000000000 weeks per week", "'100000000000000000000'"),
        ("loans per branch fresh within 99999999999999999999 hours", "'99999999999999999999'"),
        ("loans since 9999-12-31", "'9999-12-31'"),
        ("loans until 9999-12-31", "'9999-12-31'"),
    ],
)
def test_a_number_that_no_request_can_have_is_refused_by_its_name(wish, named):
    found = understand(wish, LIBRARY)
    assert found.refusal == f"a number, date or time is too small or too large: {named}"


@pytest.mark.parametrize("wish", ["bookings over 50 euros", "bookings over €50", "revenue in pounds sterling per room"])
def test_a_currency_that_no_amount_has_is_asked_about(wish):
    found = understand(wish, HOTEL)
    assert found.request is None
    assert "dollars" in compact(found) or "nothing is called" in compact(found)


def test_the_currency_of_the_amounts_is_read():
    assert "price_cents > 5000" in compact(understand("bookings over 50 dollars", HOTEL))


def test_where_no_currency_is_known_cents_are_of_any():
    assert understand("accounts with a monthly fee over 50 euros", SUPPORT).request is not None

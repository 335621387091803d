# ruff: noqa: E501 - one wish a line
"""Verbs of measuring, totals from period to period, who is still there, alerts in free speech."""

import pytest

from streamhouse.planner.language.phrasing import rephrased
from streamhouse.planner.language.tokens import stems
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS

READ = [
    ("hotel", "revenue month after month and the running total", "dwd.bookings; by month(booked_at); get revenue; then running(revenue)"),
    ("library", "on which weekdays do loans happen, and how many?", "dwd.loans; by day_of_week(lent_at); get count(*)"),
    ("hotel", "at what hour of the day do how many bookings come in?", "dwd.bookings; by hour_of_day(booked_at); get count(*)"),
    ("support", "tickets counted by topic", "dwd.tickets; by topic; get count(*)"),
    ("hotel", "bookings per month, averaged over that month and the two months before it", "dwd.bookings; by month(booked_at); get count(*); then moving(count(*)) x3 avg"),
    ("support", "tickets per week and by how many percent it went up or down against the week before", "dwd.tickets; by week(opened_at); get count(*); then change(count(*)) %"),
    ("hotel", "what is the highest number of bookings that a single room had in one month", "[dwd.bookings; by room_no, month(booked_at); get count(*)]; get max(booking_count)"),
    ("support", "which topic has how many urgent tickets?", "dwd.tickets; where priority = 1; by topic; get count(*)"),
    ("hotel", "revenue, as one figure", "dwd.bookings; get revenue"),
    ("support", "number of tickets depending on the topic", "dwd.tickets; by topic; get count(*)"),
    ("support", "sound the alarm when any agent gets more than 30 tickets on the same day", "dwd.tickets; by agent_id, day(opened_at); get count(*); having ticket_count > 30; alert True"),
    ("support", "let me know if the average satisfaction of an agent falls below 3 on any day", "dwd.tickets; by agent_id, day(opened_at); get avg(csat); having average_csat < 3; alert True"),
    ("library", "books without any of our loans", "ods.books; where no dwd.loans by book_id"),
    ("hotel", "nights sold, added up month after month", "dwd.bookings; by month(booked_at); get -room_nights; then running(room_nights)"),
    ("support", "tickets opened in 2026, number per topic", "dwd.tickets; where opened_at 2026-01-01..2027-01-01; by topic; get count(*)"),
    ("support", "Warn us about agents with more than 30 tickets in a week", "dwd.tickets; by agent_id, week(opened_at); get count(*); having ticket_count > 30; alert True"),
    ("hotel", "what part of the bookings of each month were cancelled?", "dwd.bookings; by month(booked_at); get -count(*), -count(*) if status = C; then ratio(count(*) if status = C, count(*))"),
]  # fmt: skip

SAID = [
    ("what does a dog weigh on average", "average weight of dog"),
    ("the heaviest parcel of each depot and how much it weighs", "the heaviest parcel of each depot and weight"),
    ("sheds and how high they are", "sheds and height"),
    ("how long is a walk on average", "average duration of walk"),
    ("who of our guides still works here and has a car", "which current guides has a car"),
    ("guides who still work for us and have a car", "current guides who have a car"),
    ("sheds in which no cow has ever stood", "sheds without cow"),
    ("revenue per shop, one figure", "revenue per shop, one figure"),
    ("visits by Dr. Weiss per month", "visits by Dr Weiss per month"),
    ("seeds week by week and cumulated", "seeds and running total of seeds per week"),
]


@pytest.mark.parametrize(("name", "wish", "wanted"), READ, ids=lambda part: str(part)[:40])
def test_free_speech_is_read(name, wish, wanted):
    assert compact(understand(wish, CATALOGS[name])) == wanted


@pytest.mark.parametrize(("wish", "said"), SAID, ids=lambda part: str(part)[:40])
def test_a_turn_says_the_same_in_other_words(wish, said):
    assert rephrased(wish) == said


@pytest.mark.parametrize(("plural", "one"), [("garden centres", "garden centre"), ("colours", "colour")])
def test_a_plural_is_spelled_as_its_singular(plural, one):
    assert stems(plural) == stems(one)

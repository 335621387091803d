# ruff: noqa: E501 - one wish, or one table, a line
"""Figures behind what they are of, things that are so at present, prices of things, and bounds of what is counted."""

import pytest

from streamhouse.planner.language.screen import screened
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

YARD = catalog(
    table("ods.docks", ["dock_code"], None, ["dock_code:s", "bay:s", "opened_on:d|opened;when it went into service"], measures={"docks": {"sql": "COUNT(*)"}}),
    table("ods.boats", ["boat_no"], None, ["boat_no:i", "dock_code:s>ods.docks.dock_code", "builder:s|maker", "rig:s", "hire_price_eur:f|hire price;price of one day#EUR", "closed_on:d|closed|shut down;day on which it was taken out of use; empty while we hire it out", "needs_crew:b|crew;whether it only sails with a crew"],
          values={"rig": {"SLP": ["sloop"], "KET": ["ketch"], "YAW": ["yawl"]}}, measures={"boats": {"sql": "COUNT(*)"}}),
    table("ods.permits", ["permit_no"], None, ["permit_no:i", "dock_code:s>ods.docks.dock_code", "ends_on:d|ends|end;last day; empty if it is life-long", "yearly_fee_eur:f|yearly fee#EUR"],
          measures={"permits": {"sql": "COUNT(*)"}, "yearly_fees": {"sql": "SUM(yearly_fee_eur)", "unit": "EUR"}}),
    table("ods.hires", ["hire_no"], "booked_at", ["hire_no:i", "boat_no:i>ods.boats.boat_no", "dock_code:s>ods.docks.dock_code", "skipper:s", "booked_at:t|booked", "paid_at:t|paid;empty until it is paid", "sails_lent:i|sails lent", "guests:i;people on board", "toll_eur:f|toll#EUR"],
          measures={"hires": {"sql": "COUNT(*)"}, "takings": {"sql": "SUM(toll_eur)", "unit": "EUR"}}),
    table("ods.leaks", ["leak_no"], "found_at", ["leak_no:i", "boat_no:i>ods.boats.boat_no", "found_at:t|found", "begun_at:t|begun", "mended_at:t|mended|repair;empty while it is open", "fitter:s"],
          synonyms=["leakage"], measures={"leaks": {"sql": "COUNT(*)"}}),
)  # fmt: skip

READ = [
    # the figure of each thing behind the things
    ("docks, number of hires each", "ods.hires; by dock_code; get count(*)"),
    ("docks in May 2026, takings each", "ods.hires; where booked_at 2026-05-01..2026-06-01; by dock_code; get takings"),
    ("hours between booked and paid, average per dock", "ods.hires; by dock_code; get avg(hours(booked_at→paid_at))"),
    ("the three skippers who send us the most hires", "ods.hires; by skipper; get hires; top 3 hires"),
    # a moving figure behind its figure
    ("monthly hires with a three-month moving average", "ods.hires; by month(booked_at); get hires; then moving(hires) x3 avg"),
    ("takings per week and their 4-week rolling sum", "ods.hires; by week(booked_at); get takings; then moving(takings) x4 sum"),
    ("number of hires per month and their 3-month moving average", "ods.hires; by month(booked_at); get count(*); then moving(count(*)) x3 avg"),
    ("number of hires and a 3-month moving average", "ods.hires; by month(booked_at); get count(*); then moving(count(*)) x3 avg"),
    # more than two values side by side
    ("number of boats, sloop vs ketch vs yawl", "ods.boats; where rig in SLP, KET, YAW; by rig; get count(*)"),
    # a measure beside a number
    ("sum of the yearly fees and number of permits per dock", "ods.permits; by dock_code; get yearly_fees, count(*)"),
    # what each row had so many of
    ("sails lent per dock", "ods.hires; by dock_code; get sum(sails_lent)"),
    # what goes on, what is over, and two words for what has no end
    ("boats which are closed at the moment", "ods.boats; where closed_on is not null"),
    ("boats which are shut down", "ods.boats; where closed_on is not null"),
    ("life-long permits", "ods.permits; where ends_on is null"),
    ("number of permits that are life-long per dock", "ods.permits; where ends_on is null; by dock_code; get count(*)"),
    # the latest of each
    ("most recently booked hire of each dock", "ods.hires; last booked_at per dock_code"),
    # what a thing costs
    ("boats that cost more than 80 euros a day", "ods.boats; where hire_price_eur > 80"),
    ("which boats cost more than 80 euros", "ods.boats; where hire_price_eur > 80"),
    # alerts about a period of each thing
    ("warn me if the takings of a dock go over 900 euros in one day", "ods.hires; by dock_code, day(booked_at); get takings; having takings > 900; alert True"),
    ("warn me when the number of hires of a dock goes over 20 in one week", "ods.hires; by dock_code, week(booked_at); get count(*); having hire_count > 20; alert True"),
    ("alert me when a boat leaks more than twice in a week", "ods.leaks; by boat_no, week(found_at); get count(*); having row_count > 2; alert True"),
    # what the choices of the questions below lead to
    ("docks without hires in 2026", "ods.docks; where no ods.hires by dock_code where booked_at 2026-01-01..2027-01-01"),
    ("average leaks per boat by builder", "[ods.leaks; join boat=ods.boats; by boat_no, boat.builder; get leaks]; by builder; get avg(leaks)"),
    ("leaks per boat and builder", "ods.leaks; join boat=ods.boats; by boat_no, boat.builder; get leaks"),
    ("average time between begun and mended per fitter", "ods.leaks; by fitter; get avg(hours(begun_at→mended_at))"),
    ("boats whose hire price is over 50 and that need crew", "ods.boats; where hire_price_eur > 50 and needs_crew = True"),
]  # fmt: skip

ASKED = [
    ("hires with guests that are not paid yet", "'with guests': does it mean that ods.hires.guests is there, or more than 0? ('with ods.hires.guests > 0',)"),
    ("hires with guests in 2026", "'with guests': does it mean that ods.hires.guests is there, or more than 0?"),
    ("number of boats with takings above 80 euros per builder", "said of each of the boats, or of the figure 'per builder'?"),
    ("count of boats with takings above 80 euros per builder", "said of each of the boats, or of the figure 'per builder'? Only the latter can be read ('per builder with takings above 80 euros',)"),
    ("average repair time per fitter", "'repair time': from found_at or begun_at to mended_at? ('time between found and mended', 'time between begun and mended')"),
    ("boats whose hire price is over 50 and need crew", "'need crew': must it be so, or is ods.boats.needs_crew to be shown?"),
    ("docks not serviced in 2026", "'not serviced in 2026': which rows say so? Only the time of rows of ods.docks would be compared ('without boats', 'without permits', 'without hires')"),
    ("leaks per boat by builder", "'leaks per boat': one number for each boat, or the average? ('average leaks per boat by', 'leaks per boat and')"),
    ("shut down all boats", "REFUSED 'shut down' would change data"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, YARD)) == request_


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, YARD))


@pytest.mark.parametrize(
    "wish",
    [
        "shut down the lifts that were shut down",
        "the lifts must be shut down",
        "please shut down number 4",
        "number of orders and shut down the server",
        "how many lifts shut down all of them",
    ],
)
def test_an_order_to_shut_down_is_no_request_for_data(wish):
    assert "would change data" in screened(wish)

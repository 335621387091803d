"""A sum in the unit of its measure, dates of last rows, groups without a thing, and things said by their kind."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import HOTEL, LIBRARY, SUPPORT, catalog, table

FLEET = catalog(
    table("ods.drivers", ["driver_id"], None,
          ["driver_id:i", "driver_name:s", "depot_id:i>ods.depots.depot_id;empty if the driver works at none"]),
    table("ods.depots", ["depot_id"], None, ["depot_id:i", "depot_name:s"]),
    table("ods.trips", ["trip_no"], "left_at",
          ["trip_no:i", "driver_id:i>ods.drivers.driver_id", "left_at:t", "minutes:i|length#minutes", "cargo:s",
           "toll_cents:i|toll#cents"],
          values={"cargo": {"STL": ["steel"], "WOD": ["wood"]}},
          measures={"trips": {"sql": "COUNT(*)"}, "tolls": {"sql": "SUM(toll_cents) / 100", "unit": "EUR"},
                    "driven_hours": {"sql": "SUM(minutes) / 60", "unit": "hours"}}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("trade", "wish", "named"),
    [
        (FLEET, "total toll of steel per month", "tolls"),
        (LIBRARY, "total late fee per branch", "fines"),
        (HOTEL, "total room rate per channel", "revenue"),
    ],
)
def test_a_sum_of_a_column_is_in_the_unit_of_its_measure(trade, wish, named):
    assert [one.named for one in understand(wish, trade).request.block.measures] == [named]


POOL = catalog(
    table("ods.visits", ["visit_no"], "came_at",
          ["visit_no:i", "visitor_kind:s", "came_at:t", "paid_cents:i|entry fee#cents"],
          values={"visitor_kind": {"T": ["adolescent"], "A": ["adult"]}},
          measures={"takings": {"sql": "SUM(paid_cents) / 100", "unit": "EUR"}}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ("total entry fee of adolescents", "takings"),
        ("total entry fee of adults per month", "takings"),
        ("total entry fee of adolescents in cents", None),
        ("total entry fee per visitor kind, in ct", None),
    ],
)
def test_a_unit_is_asked_for_by_its_word_and_not_by_a_part_of_another(wish, named):
    found = understand(wish, POOL)
    assert found.request is not None, compact(found)
    assert [one.named for one in found.request.block.measures] == [named]


@pytest.mark.parametrize(
    ("trade", "wish"),
    [
        (FLEET, "total toll in cents per month"),
        (FLEET, "sum of toll_cents per month"),
        (LIBRARY, "total late fee in cents per branch"),
        (HOTEL, "sum of price_cents per channel"),
    ],
)
def test_a_sum_stays_in_the_unit_that_is_named(trade, wish):
    (measure,) = understand(wish, trade).request.block.measures
    assert (measure.function, measure.unit) == ("sum", "cents")


def test_a_sum_of_minutes_stays_in_minutes():
    (measure,) = understand("total length of all trips with steel", FLEET).request.block.measures
    assert (measure.function, measure.unit) == ("sum", "minutes")


@pytest.mark.parametrize(
    ("trade", "wish", "shown"),
    [
        (LIBRARY, "date of the last loan of each member", ["member_id", "lent_at"]),
        (LIBRARY, "For every member the date of their most recent loan.", ["member_id", "lent_at"]),
        (HOTEL, "when was the first booking of each guest", ["guest_id", "booked_at"]),
        (SUPPORT, "the date of the latest ticket for each account", ["account_id", "opened_at"]),
        (FLEET, "list the date of the last trip of each driver", ["driver_id", "left_at"]),
    ],
)
def test_only_the_time_is_shown_where_only_the_time_is_asked_for(trade, wish, shown):
    assert [one.name for one in understand(wish, trade).request.block.columns] == shown


@pytest.mark.parametrize(
    ("trade", "wish"),
    [
        (LIBRARY, "last loan of each member"),
        (HOTEL, "first booking of each guest"),
        (FLEET, "last trip of each driver"),
    ],
)
def test_a_row_that_is_asked_for_is_whole(trade, wish):
    assert understand(wish, trade).request.block.columns == ()


@pytest.mark.parametrize("wish", ["average length per depot", "maximum length per depot", "total length per depot"])
def test_the_group_without_a_thing_stays_whatever_the_fold(wish):
    block = understand(wish, FLEET).request.block
    assert [one.of.column for one in block.dimensions] == ["depot_id"]
    assert block.filters == ()


def test_a_ranking_of_things_still_leaves_out_rows_without_one():
    assert understand("top 3 depots by number of trips", FLEET).request.block.filters != ()


TEAM = catalog(
    table("ods.staff", ["staff_id"], None, ["staff_id:i", "staff_name:s", "job:s"], synonyms=["employee"],
          description="People who work for us.", values={"job": {"COK": ["cook"], "WAI": ["waiter"]}}),
    table("ods.ovens", ["oven_id"], None, ["oven_id:i", "oven_name:s", "floor:s", "fuel:s"],
          values={"fuel": {"GAS": ["gas oven"], "ELE": ["electric oven"]}, "floor": {"GND": ["ground floor"]}}),
    table("ods.shifts", ["shift_no"], "began_at",
          ["shift_no:i", "staff_id:i>ods.staff.staff_id", "oven_id:i>ods.ovens.oven_id", "began_at:t",
           "tips_eur:f|tips#EUR"],
          measures={"shifts": {"sql": "COUNT(*)"}}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("trade", "wish", "plain"),
    [
        (TEAM, "tips per waiter", "tips per employee who is a waiter"),
        (TEAM, "number of shifts per cook", "number of shifts per cook staff"),
        (TEAM, "number of shifts per gas oven", "number of shifts per gas oven ovens"),
        (LIBRARY, "number of loans per senior", "number of loans per senior member"),
        (SUPPORT, "number of tickets per professional account", "number of tickets per pro account"),
    ],
)
def test_a_word_for_a_kind_of_thing_is_each_thing_of_the_kind(trade, wish, plain):
    said, wanted = understand(wish, trade), understand(plain, trade)
    assert wanted.request is not None, wanted
    assert said.request is not None, said
    assert said.request.block == wanted.request.block


def test_a_value_that_is_no_kind_of_thing_is_no_group():
    assert understand("number of shifts per ground floor", TEAM).request is None


PARTS = catalog(
    table("ods.offers", ["offer_no"], "sent_on",
          ["offer_no:i", "sent_on:d", "price_eur:f|price#EUR", "lost_for:s|reason for losing"],
          values={"lost_for": {"PRC": ["price"], "TIM": ["delay"]}}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("trade", "wish"),
    [
        (HOTEL, "bookings, number and price per channel"),
        (PARTS, "offers, number and price per month"),
        (PARTS, "number of offers and price per month"),
        (HOTEL, "bookings: number and price per channel"),
    ],
)
def test_a_price_beside_a_number_is_asked_back(trade, wish):
    found = understand(wish, trade)
    assert found.request is None
    assert found.questions


def test_a_total_price_beside_a_number_is_read():
    block = understand("bookings, number and total price per channel", HOTEL).request.block
    assert [one.name for one in block.measures] == ["booking_count", "revenue"]

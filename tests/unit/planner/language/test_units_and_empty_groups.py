"""A sum in the unit of its measure, the date of a last row, and groups without a thing, in several trades."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.wish_catalogs import HOTEL, LIBRARY, SUPPORT, catalog, table

FLEET = catalog(
    table("ods.drivers", ["driver_id"], None,
          ["driver_id:i", "driver_name:s", "depot_id:i>ods.depots.depot_id;empty if the driver works at none"]),
    table("ods.depots", ["depot_id"], None, ["depot_id:i", "depot_name:s"]),
    table("ods.trips", ["trip_no"], "left_at",
          ["trip_no:i", "driver_id:i>ods.drivers.driver_id", "left_at:t", "minutes:i|length#minutes", "cargo:s", "toll_cents:i|toll#cents"],
          values={"cargo": {"STL": ["steel"], "WOD": ["wood"]}},
          measures={"trips": {"sql": "COUNT(*)"}, "tolls": {"sql": "SUM(toll_cents) / 100", "unit": "EUR"}}),
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

# ruff: noqa: E501 - one wish a line
"""Parts of an answer that no word asks for, and words with two readings that both fit: each is asked back."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

BOATYARD = catalog(
    table("ods.yards", ["yard_id"], None, ["yard_id:i|id", "yard_name:s|name", "town:s", "county:s"],
          values={"yard_name": {"Red Sky": [], "Old Quay": []}}),
    table("ods.boats", ["boat_id"], None,
          ["boat_id:i|id", "yard_id:i>ods.yards.yard_id", "boat_name:s|name", "rig:s", "colour:s|color", "cabins:i", "price:i#EUR", "build_no:i|number"],
          values={"boat_name": {"Red Sky": [], "Gull": []}, "rig": {"sloop": [], "ketch": []}, "colour": {"white": [], "blue": []}}),
    table("ods.skippers", ["skipper_id"], None, ["skipper_id:i", "full_name:s|name", "country:s"], values={"country": {"Malta": [], "Chile": []}}),
    table("ods.licences", ["skipper_id", "area"], None, ["skipper_id:i>ods.skippers.skipper_id", "area:s"], values={"area": {"coast": [], "lake": []}}),
    table("dwd.trips", ["trip_id"], "left_on",
          ["trip_id:i", "boat_id:i>ods.boats.boat_id", "skipper_id:i>ods.skippers.skipper_id", "left_on:d", "back_on:d", "miles:i", "end_county:s"]),
    table("ods.sponsors", ["sponsor_id"], None, ["sponsor_id:i", "sponsor:s", "budget:i#EUR"]),
    table("ods.sail_types", ["sail"], None, ["sail:s", "kind:s|sail type"]),
)  # fmt: skip

ASKED_BACK = [
    # values that are to be shown, and were counted
    ("different colours of the boats and their average price", "how many there are, or a row for each"),
    ("show different colours together with the number of boats", "how many there are, or a row for each"),
    ("list the different rigs of boats and the number of boats of each rig", "how many there are, or a row for each"),
    # the best of each group
    ("different colours of the 3 boats with the highest price", "of all, or of each"),
    # one number, or one of each
    ("average price of boats across yards", "a row for each of them, or all of them together"),
    ("total price across boats", "a row for each of them, or all of them together"),
    # a number of rows, or a number that they have
    ("total amount of trips", "the total of which number"),
    ("the numbers of all boats", "the number that each of them has"),
    # of one row, or of all rows of a thing
    ("names of skippers that live in Malta and have a trip", "each thing once"),
    ("names of skippers whose area is not lake", "none of a thing's rows"),
    ("names of skippers that live in Malta and have trips", "each thing once"),
    # a word with two readings
    ("number of boats in Red Sky", "which one"),
    ("counties with the most trips", "which one"),
    ("show the sponsors and their budget", "rows of ods.sponsors, or"),
    ("list all sails and their types", "which column"),
    # a column, rows or a count that other words name
    ("number of skippers who are under 40 per country", "or which number of each"),
    ("number of boats that are over 3 per rig", "or which number of each"),
    ("skippers of skippers", "the same rows twice"),
    ("how many skippers are logged in?", "has no place"),
    ("yard names of boats with more than 3 cabins", "which the wish does not name"),
    # rows that are to be listed, or that are one each
    ("list the boats with more than 2 trips and the number of boats", "a row for each of them, or how many there are"),
    ("number of counties per yard", "each row of ods.yards has one county"),
    # one row has no two values of one column
    ("names of skippers with area coast but not lake", "of one row, or of all rows of a thing"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "named"), ASKED_BACK)
def test_a_part_that_no_word_asks_for_is_asked_back(wish, named):
    found = understand(wish, BOATYARD)
    assert found.request is None
    assert named in compact(found)


READ = [
    ("average price for all boats", "ods.boats; get avg(price)"),
    ("rig and colour for all boats", "ods.boats; show rig, colour"),
    ("colours of the boats with more than 3 cabins", "ods.boats; where cabins > 3; show colour"),
    ("colour of the boat with the highest price", "ods.boats; by boat_id, colour; get max(price); top 1 highest_price ties"),
    ("id of yards with a trip", "ods.yards; where ods.boats by yard_id where dwd.trips by boat_id; show yard_id"),
    ("total price per colour", "ods.boats; by colour; get sum(price)"),
    ("names of boats that have a trip", "ods.boats; where dwd.trips by boat_id; show boat_name"),
    ("what is the name of boats whose rig is sloop?", "ods.boats; where rig = sloop; show boat_name"),
    ("boats with more than 3 cabins", "ods.boats; where cabins > 3"),
    ("boats with the name Red Sky", "ods.boats; where boat_name = Red Sky"),
    ("boats without trips", "ods.boats; where no dwd.trips by boat_id"),
    ("boat with the highest price", "ods.boats; by boat_id; get max(price); top 1 highest_price ties"),
    ("boats with a price over 1.85", "ods.boats; where price > 1.85"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "wanted"), READ)
def test_what_is_asked_for_is_read(wish, wanted):
    assert compact(understand(wish, BOATYARD)) == wanted


BUSES = catalog(
    table("ods.depots", ["depot_id"], None, ["depot_id:i", "depot_label:s", "county:s"], values={"depot_label": {"North Gate": []}, "county": {"Avon": [], "Kent": []}}),
    table("ods.drivers", ["driver_id"], None, ["driver_id:i", "depot_id:i>ods.depots.depot_id", "driver_name:s|name", "county:s", "shift:s", "login:s"]),
    table("ods.shifts", ["shift_no"], None, ["shift_no:i", "starts:s"]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ("names of depots in Avon", "is no column of ods.depots"),
        ("number of shifts per depot", "rows of ods.shifts, or ods.drivers.shift"),
        ("how many drivers are logged in?", "has no place"),
        ("drivers who report to North Gate", "has no place"),
        ("which depot has the highest shift", "how many there are"),
        ("how many distinct depots are called in by drivers", "one for each of them, or all"),
        ("show county and name for the depot North Gate", "may mean ods.depots.county or ods.drivers.county"),
    ],
)
def test_a_column_of_other_rows_is_asked_back(wish, named):
    found = understand(wish, BUSES)
    assert found.request is None
    assert named in compact(found)


@pytest.mark.parametrize(
    ("wish", "wanted"),
    [
        (
            "names of drivers in depot North Gate",
            "ods.drivers; join depot=ods.depots; where depot.depot_label = North Gate; show driver_name",
        ),
        ("number of drivers per depot", "ods.drivers; by depot_id; get count(*)"),
        ("counties of depots", "ods.depots; by county"),
    ],
)
def test_a_column_of_the_named_rows_is_read(wish, wanted):
    assert compact(understand(wish, BUSES)) == wanted


COACHES = catalog(
    table("ods.depots", ["depot_id"], None, ["depot_id:i", "depot_label:s|label", "county:s", "kind:s|depot type"]),
    table("ods.drivers", ["driver_id"], "hired_on", ["driver_id:i", "depot_id:i>ods.depots.depot_id", "driver_name:s|name", "county:s", "hired_on:d"]),
)  # fmt: skip


def test_rows_that_no_word_names_are_asked_back():
    """All that is said fits depots: only the time made them drivers, who were hired then."""
    assert "of ods.depots alone, or of rows of ods.drivers" in compact(
        understand("county of the depots in 2025", COACHES)
    )


def test_a_column_of_a_table_that_no_word_names_is_asked_back():
    """The type of a driver is none that the catalog knows: what is called so is the depot's."""
    [question] = understand("number of drivers per type", COACHES).questions
    assert "ods.depots.kind, or something else" in question.text
    wanted = "ods.drivers; join depot=ods.depots; by depot.kind; get count(*)"
    assert compact(understand("number of drivers per depot type", COACHES)) == wanted


PARISH = catalog(
    table("ods.halls", ["hall_no"], "opened_on", ["hall_no:i", "ward:s|quarter", "seats:i", "opened_on:d"]),
)  # fmt: skip


def test_a_period_that_is_a_column_too_is_asked_back():
    [question] = understand("total seats by quarter", PARISH).questions
    assert "ods.halls.ward, or the quarter of the calendar" in question.text
    assert compact(understand("total seats by ward", PARISH)) == "ods.halls; by ward; get sum(seats)"


def test_a_number_of_four_signs_is_no_year():
    assert compact(understand("halls with 1.85 seats or more", PARISH)) == "ods.halls; where seats >= 1.85"


GARDEN = catalog(
    table("ods.pest_type", ["pest"], None, ["pest:s", "sort:s"], values={"sort": {"insect": [], "fungus": []}}),
    table("ods.has_pest", ["bed_no", "pest"], None, ["bed_no:i", "pest:s>ods.pest_type.pest"]),
)  # fmt: skip


def test_things_are_not_counted_by_the_rows_that_point_to_some_of_them():
    assert "or those with rows of ods.has_pest" in compact(understand("how many pests have type insect?", GARDEN))
    assert compact(understand("how many pests are insects?", GARDEN)).startswith("ods.pest_type; where sort = insect")

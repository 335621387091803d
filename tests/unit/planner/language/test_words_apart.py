# ruff: noqa: E501 - one wish, or one table, a line
"""Names of flags apart, words around the names of columns, what is said before a time, and none of an amount."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

CAMP = catalog(
    table("ods.fields", ["field_id"], None, ["field_id:s", "valley:s", "ground:s;what grows there", "has_shade:b|shade", "altitude_m:i|altitude#m"],
          values={"ground": {"GRS": ["grass"], "SND": ["sand"]}}),
    table("ods.tents", ["tent_no"], None, ["tent_no:i", "field_id:s>ods.fields.field_id", "cloth:s;cloth of the roof", "roof_patched:b|patched;whether the roof was repaired", "roof_year:i|year of the roof", "beds:i",
                                           "sold_on:d|sold;empty while we have it", "permit_until:d|permit ends;day on which the permit ends"],
          values={"cloth": {"CTN": ["cotton"], "PLY": ["polyester"]}}, measures={"tents": {"sql": "COUNT(*)"}}),
    table("ods.stays", ["stay_no"], "arrived_at", ["stay_no:i", "tent_no:i>ods.tents.tent_no", "arrived_at:t|arrived", "guests:i;how many people came", "pause_minutes:i|pause#minutes;how long the host was away",
                                                   "queue_minutes:f|wait#minutes;minutes until the key was there; empty if it was not noted", "shade_percent:f|shade#percent;part of the day in the shade", "door_locked:b", "tip_eur:f|tip#EUR", "source:s|booking channel", "host:s|welcomer;who met the guests; empty if nobody did", "stars:i|rating;empty if none were given", "car_kind:s|car;what they drove"],
          values={"source": {"APP": ["app"], "TEL": ["phone"]}, "host": {"Ilse": [], "Otto": []}, "car_kind": {"VAN": ["van"], "BIK": ["bike"]}},
          measures={"stays": {"sql": "COUNT(*)"}, "tips": {"sql": "SUM(tip_eur)", "unit": "EUR"}}),
    table("ods.shifts", ["shift_no"], "begun_at", ["shift_no:i", "cook:s", "begun_at:t|begun", "break_minutes:i|break#minutes", "hours:f|duration#h"]),
    table("ods.sales", ["sale_no"], "sold_at", ["sale_no:i", "seller:s", "sold_at:t|sold", "coupon_eur:f|coupon#EUR"], synonyms=["souvenir"], measures={"coupons": {"sql": "SUM(coupon_eur)", "unit": "EUR"}}),
    table("ods.meals", ["meal_no"], "served_at", ["meal_no:i", "stay_no:i>ods.stays.stay_no", "served_at:t|served", "dish:s", "plate_grams:i|plate size|size#g", "weight_kg:f#kg"],
          values={"dish": {"SUP": ["soup"], "BRD": ["bread"]}}, measures={"meals": {"sql": "COUNT(*)"}, "food": {"sql": "SUM(weight_kg)", "unit": "kg"}}),
)  # fmt: skip

READ = [
    # the name of a flag, apart or turned
    ("stays where the door was not locked", "ods.stays; where door_locked <> True"),
    ("number of stays in which the door has not been locked per channel", "ods.stays; where door_locked <> True; by source; get count(*)"),
    ("tents with a patched roof", "ods.tents; where roof_patched = True"),
    ("how many tents have an unpatched roof", "ods.tents; where roof_patched <> True; get"),
    # what is said before a time is no less said than the time
    ("tents with a patched roof from 2020", "ods.tents; where roof_year >= 2020 and roof_year < 2021 and roof_patched = True"),
    # an amount behind its unit, though another table has a flag of that name
    ("stays with more than 40 % shade", "ods.stays; where shade_percent > 40"),
    # none of a time that each row has is 0
    ("stays with no pause", "ods.stays; where (pause_minutes = 0 or pause_minutes is null)"),
    ("stays with a pause", "ods.stays; where pause_minutes > 0"),
    # a word more around the name of a column
    ("tents by cloth type", "ods.tents; by cloth; get tents"),
    ("number of tents per roof cloth", "ods.tents; by cloth; get count(*)"),
    # what stands behind the wish
    ("pause per tent, average", "ods.stays; by tent_no; get avg(pause_minutes)"),
    ("tents by cloth, most common first", "ods.tents; by cloth; get tents"),
    ("stays per channel, and how much was tipped", "ods.stays; by source; get count(*), tips"),
    ("stays per channel, and how many guests came", "ods.stays; by source; get count(*), sum(guests)"),
    # a whole number behind "by" makes groups
    ("meals by plate size", "ods.meals; by plate_grams; get meals"),
    ("tents by altitude", "ods.tents; join field=ods.fields; by field.altitude_m; get tents"),
    ("food per dish and plate size", "ods.meals; by dish, plate_grams; get food"),
    # two values of one noun
    ("number of app stays vs phone stays per month", "ods.stays; where source in APP, TEL; by source, month(arrived_at); get count(*)"),
    ("app stays per month vs phone stays", "ods.stays; where source in APP, TEL; by source, month(arrived_at); get stays"),
    # what is shown beside the best, and a change that names no other period
    ("top 3 tents by tips and their cloth", "ods.stays; join tent=ods.tents; by tent_no, tent.cloth; get tips; top 3 tips"),
    ("monthly tips and change in percent", "ods.stays; by month(arrived_at); get tips; then change(tips) %"),
    # a unit before a value
    ("kg soup food per day", "ods.meals; where dish = SUP; by day(served_at); get food"),
    # no rating, where the description says when it is empty
    ("stays without a rating", "ods.stays; where stars is null"),
    # how long a row lasts, and not its break
    ("longest shift of each cook", "ods.shifts; top 1 hours per cook ties"),
    # the share that rows have in a sum, and not in the rows with it
    ("share of phone stays in tips", "ods.stays; get -tips, -tips if source = TEL; then ratio(tips if source = TEL, tips)"),
    ("share of soup food in the food", "ods.meals; get -food, -food if dish = SUP; then ratio(food if dish = SUP, food)"),
    # who does what
    ("how many stays did Ilse welcome per month", "ods.stays; where host = Ilse; by month(arrived_at); get count(*)"),
    # a verb that only says that something is there
    ("when did each tent have its last stay", "ods.stays; last arrived_at per tent_no"),
    # of two ends, the one that is empty for what goes on
    ("tents that are still with us", "ods.tents; where sold_on is null"),
]  # fmt: skip

ASKED = [
    ("stays per channel and tips", "'tips': "),
    ("guests who had a pause of more than 30 minutes", "guests is only a number"),
    ("food per dish and stays", "a group for each of them, or their number as well?"),
    ("how much did we sell in May", "REFUSED"),
    ("share of stays by phone in tips", "'in tips': only rows that have one, or a share of their total?"),
    ("shifts per cook and hours", "'hours': a group for each of them, or the number that is called so?"),
    ("meals per plate size", "a figure divided by ods.meals.plate_grams, or a group"),
    ("tips per channel, average", "the average of single rows, or of the totals"),
]


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, CAMP)).startswith(request_)


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, CAMP))


def test_things_that_are_so_may_be_said_by_one_of_their_values():
    found = compact(understand("insured dogs per town", schema("vet").catalog))
    expected = (
        "ods.animals; join owner=ods.owners; where insured = True and species = DOG; by owner.village; get count(*)"
    )
    assert found.startswith(expected)

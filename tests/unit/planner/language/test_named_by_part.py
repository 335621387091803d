# ruff: noqa: E501 - one wish, or one table, a line
"""Names of which a part is said, averages that leave rows out, orders without a figure, and rows that are no amount."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

QUARRY = catalog(
    table("ods.pits", ["pit_no"], None, ["pit_no:i", "pit_name:s", "drills:i;number of drills"]),
    table("ods.borings", ["boring_no"], "begun_at", ["boring_no:i", "pit_no:i>ods.pits.pit_no", "begun_at:t|begun", "crew:s", "minutes:i|duration#minutes", "pay_eur:f|pay#EUR", "bonus_eur:f|bonus#EUR;empty if there was none"],
          measures={"borings": {"sql": "COUNT(*)"}, "drill_hours": {"sql": "SUM(minutes) / 60.0", "unit": "h"}, "extras": {"sql": "SUM(bonus_eur)", "unit": "EUR"}, "wages": {"sql": "SUM(pay_eur)", "unit": "EUR"}}),
    table("ods.extraction", ["pit_no", "day"], "day", ["pit_no:i>ods.pits.pit_no", "day:d", "stone_t:f|stone#t"], synonyms=["output"], measures={"stone": {"sql": "SUM(stone_t)", "unit": "t"}}),
    table("ods.loans", ["loan_no"], "lent_at", ["loan_no:i", "tool_no:i>ods.tools.tool_no", "lent_at:t|lent", "due_at:t|due", "back_at:t|back;empty while it is out"], synonyms=["loan"]),
    table("ods.tools", ["tool_no"], None, ["tool_no:i", "tool_kind:s"], synonyms=["tool"]),
    table("dwd.returned", ["loan_no"], "back_at", ["loan_no:i>ods.loans.loan_no", "tool_no:i>ods.tools.tool_no", "back_at:t", "was_late:b|late"], upstream=["ods.loans"]),
    table("ods.fees", ["fee_no"], "charged_on", ["fee_no:i", "loan_no:i>ods.loans.loan_no", "cause:s|reason", "charged_on:d", "paid_on:d|paid", "fee_eur:f#EUR"], values={"cause": {"LST": ["lost tool"], "LAT": ["late return"]}}),
    table("dwd.departures", ["trip_no"], "left_at", ["trip_no:i>ods.trips.trip_no", "route:s", "left_at:t", "delay_minutes:i|lateness#minutes"], measures={"average_delay": {"sql": "AVG(delay_minutes)", "unit": "minutes"}}),
    table("ods.trips", ["trip_no"], "planned_at", ["trip_no:i", "route:s", "planned_at:t"], measures={"trips": {"sql": "COUNT(*)"}}),
)  # fmt: skip

STAND = catalog(
    table("ods.receipts", ["receipt_no"], "paid_at", ["receipt_no:i", "paid_at:t|paid", "goods:s|kind of goods", "amount_eur:f|amount#EUR"],
          description="Receipts of the ice stand at the lake.", synonyms=["stand sale"], values={"goods": {"ICE": ["ice", "ice cream"], "DRK": ["drinks"]}},
          measures={"takings": {"sql": "SUM(amount_eur)", "unit": "EUR", "description": "money that the ice stand took"}}),
)  # fmt: skip

READ = [
    ("drill hours per pit", "ods.borings; by pit_no; get drill_hours"),
    ("pits with more than 3 drills", "ods.pits; where drills > 3"),
    ("wages per crew, most expensive first", "ods.borings; by crew; get wages"),
    ("wages per hour of the day", "ods.borings; by hour_of_day(begun_at); get wages"),
    ("average pay per crew", "ods.borings; by crew; get avg(pay_eur)"),
    ("stone per pit", "ods.extraction; by pit_no; get stone"),
    ("average delay per route", "dwd.departures; by route; get average_delay"),
]

ASKED = [
    ("drills per pit", "'drills': the measure drill_hours of ods.borings, or ods.pits.drills?"),
    ("average extras per boring", "of all rows of ods.borings, or only of those with ods.borings.bonus_eur?"),
    ("wages per hour", "'per hour': hours of the clock, or an hour of ods.borings.minutes?"),
    ("borings per crew, most expensive first", "'most expensive first': by which figure?"),
    ("borings per crew, longest first", "'longest first': by which figure?"),
    ("output per pit", "'output': the number of rows of ods.extraction, or which figure?"),
    ("top 5 pits by output", "'output': the number of rows of ods.extraction, or which figure?"),
    (
        "tools not returned",
        "'not returned': a row of ods.loans that is not returned, or no row of dwd.returned at all?",
    ),
    ("lost tools", "'lost tools': rows of ods.fees with cause 'LST', or rows of ods.tools?"),
]


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, QUARRY)).startswith(request_)


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, QUARRY))


def test_a_value_in_the_name_of_a_place_is_asked():
    found = understand("takings of the ice stand per month", STAND)
    assert [one.phrase for one in found.questions] == ["ice stand"], compact(found)


@pytest.mark.parametrize(
    ("wish", "values"),
    [
        ("takings with ice per month", "goods = ICE"),
        ("number of ice receipts", "goods = ICE"),
        ("takings of drinks", "goods = DRK"),
    ],
)
def test_a_value_beside_other_words_is_read(wish, values):
    assert values in compact(understand(wish, STAND))


def test_how_long_rows_last_is_no_time_of_other_rows():
    found = compact(understand("average loan length in days per genre", schema("library").catalog))
    assert "'loan': from which time to which of ods.loans (lent_at, due_on, returned_at)?" in found

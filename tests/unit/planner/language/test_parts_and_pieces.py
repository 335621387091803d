# ruff: noqa: E501 - one wish, or one table, a line
"""Shares of what was done, one thing that is no figure, pieces of a row, what failed, and units and times inside of names."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

KENNELS = catalog(
    table("ods.kennels", ["kennel_no"], None, ["kennel_no:i", "kennel_name:s", "town:s;town of the kennel", "bowls:i;number of bowls"],
          values={"town": {"Ulm": [], "Trier": []}}),
    table("ods.guards", ["guard_no"], None, ["guard_no:i", "kennel_no:i>ods.kennels.kennel_no", "town:s;town in which the guard lives", "bonus_eur:f|bonus#EUR;empty without a bonus",
                                             "hired_on:d|hired;day of the contract", "badge_until:d|badge expiry;last day of the badge"],
          values={"town": {"Ulm": [], "Trier": []}}, measures={"guards": {"sql": "COUNT(*)", "synonyms": ["guards hired"]}}),
    table("ods.bowl_loans", ["loan_no"], "begins_at", ["loan_no:i", "kennel_no:i>ods.kennels.kennel_no", "breeder:s", "bowl_no:i|bowl;number of the bowl", "begins_at:t|begins", "weight_kg:f|weight#kg",
                                                       "dropped_at:t|dropped;empty if it took place", "fee_eur:f|fee#EUR"], synonyms=["loan"],
          measures={"loans": {"sql": "COUNT(*)"}, "bowl_hours": {"sql": "SUM(weight_kg) / 60.0", "unit": "h"}}),
    table("ods.checks", ["check_no"], "made_at", ["check_no:i", "kennel_no:i>ods.kennels.kennel_no", "made_at:t", "approved:b;whether the kennel was approved", "passed:b;whether the check was passed", "noise_db:f|noise#dB"]),
    table("ods.passes", ["pass_no"], "printed_at", ["pass_no:i", "printed_at:t"]),
    table("ods.bar_sales", ["sale_no"], "sold_at", ["sale_no:i", "sold_at:t;when it was sold", "snack:s;what was sold", "bites:i;number of bites", "bite_price_eur:f#EUR", "seller:s"], synonyms=["sale at the bar"],
          values={"snack": {"BIS": ["biscuit"], "SAU": ["sausage"]}},
          measures={"bites": {"sql": "SUM(bites)"}, "takings": {"sql": "SUM(bites * bite_price_eur)", "unit": "EUR"}}),
    table("ods.orders", ["order_no"], "ordered_at", ["order_no:i", "ordered_at:t", "amount_eur:f#EUR"], measures={"turnover": {"sql": "SUM(amount_eur)", "unit": "EUR", "synonyms": ["sales"]}}),
)  # fmt: skip

READ = [
    # the share of the rows of each group to which something was done
    ("percentage of dropped loans per breeder", "ods.bowl_loans; by breeder; get -loans, -loans if dropped_at is not null; then ratio("),
    ("share of dropped loans", "ods.bowl_loans; get -loans, -loans if dropped_at is not null; then ratio("),
    # what each row of a deed has restricts nothing, and is no figure
    ("how many different breeders loaned a bowl in May 2026", "ods.bowl_loans; where begins_at 2026-05-01..2026-06-01; get count distinct(breeder)"),
    # what failed, where a pass is something else, too
    ("failed checks per kennel", "ods.checks; where passed = False; by kennel_no; get count(*)"),
    ("number of failed checks per month", "ods.checks; where passed = False; by month(made_at); get count(*)"),
    ("checks that failed in May 2026", "ods.checks; where passed = False and"),
    # a flag that is denied has no time of its own
    ("checks not approved in May 2026", "ods.checks; where approved <> True and"),
    # pieces of rows, and the verb that each row has
    ("bites sold per month", "ods.bar_sales; by month(sold_at); get bites"),
    ("biscuit share of all bites sold", "ods.bar_sales; get -bites, -bites if snack = BIS; then ratio("),
    ("share of biscuits in all bites sold", "ods.bar_sales; get -bites, -bites if snack = BIS; then ratio("),
    # a number of exactly that name, and not a part of a longer one
    ("kennels with more than 5 bowls", "ods.kennels; where bowls > 5"),
    ("kennels w/ more than 5 bowls", "ods.kennels; where bowls > 5"),
    # the verb of a measure names its time
    ("guards hired per month", "ods.guards; by month(hired_on); get guards"),
    # the largest row by the unit that is said
    ("biggest single loan of each breeder in kg", "ods.bowl_loans; by breeder; get max(weight_kg)"),
    ("largest loan per kennel in euros", "ods.bowl_loans; by kennel_no; get max(fee_eur)"),
    # what one has, gets, or where one lives
    ("guards who get a bonus", "ods.guards; where bonus_eur"),
    ("guards who live in Ulm", "ods.guards; where town = Ulm"),
    ("loans p. breeder", "ods.bowl_loans; by breeder; get loans"),
]  # fmt: skip

ASKED = [
    ("biscuits per month", "'biscuits': the number of rows of ods.bar_sales, or the sum of ods.bar_sales.bites?"),
    (
        "number of sausages per seller",
        "'sausages': the number of rows of ods.bar_sales, or the sum of ods.bar_sales.bites?",
    ),
    ("biggest loans in kg", "by which figure?"),
    ("guards in Ulm", "ods.guards.town 'Ulm'"),
    ("guards per month", "which time counts"),
]


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, KENNELS)).startswith(request_)


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, KENNELS))

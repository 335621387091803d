# ruff: noqa: E501 - one wish, or one table, a line
"""Words that a rule read, and that changed nothing in the answer: each is read now, or named."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

CLINIC = catalog(
    table("ods.patients", ["patient_no"], "arrived_at",
          ["patient_no:i", "patient_name:s|name", "kind:s", "origin:s", "arrived_at:t|came", "is_insured:b|insured", "weight_kg:f|weight#kg"],
          synonyms=["arrival"], values={"origin": {"S": ["sent on"], "W": ["walked in"], "E": ["emergency"]}, "kind": {"A": ["adult"], "C": ["child"]}},
          measures={"arrivals": {"sql": "COUNT(*)"}}),
    table("ods.helpers", ["helper_no"], None, ["helper_no:i", "helper_name:s", "has_car:b|car"], synonyms=["family"]),
    table("ods.helps", ["help_no"], "helped_on",
          ["help_no:i", "helper_no:i>ods.helpers.helper_no;empty if nobody signed", "helped_on:d", "returned_on:d|returned;empty if it stayed", "fee_eur:f|fee#EUR"],
          synonyms=["helping"], description="Contracts by which something went away, also those that ended with a return.",
          measures={"helps": {"sql": "COUNT(*)"}, "fees": {"sql": "SUM(fee_eur)", "unit": "EUR"}}),
    table("ods.orders", ["order_no"], "ordered_at", ["order_no:i", "ordered_at:t|ordered", "sent_on:d|sent", "freight_cents:i|freight#cents"],
          measures={"orders": {"sql": "COUNT(*)"}}),
    table("ods.order_lines", ["order_no", "article"], None, ["order_no:i>ods.orders.order_no", "article:s", "pieces:i", "price_cents:i|price#cents"]),
    table("ods.output", ["machine", "made_on"], "made_on", ["machine:s", "made_on:d|day", "down_min:i|downtime#minutes", "sprouted:i|came up;how many came up"]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "wanted"),
    [
        # a noun for a deed, behind "with": no word of the description excuses it
        ("share of helps with a return", "ods.helps; get -helps, -helps if returned_on is not null; then ratio(helps if returned_on is not null, helps)"),
        ("helps without a return", "ods.helps; where returned_on is null"),
        # a flag before values, where columns are listed
        ("list our insured adults and children with name and weight", "ods.patients; where kind in A, C and is_insured = True; show patient_no, patient_name, weight_kg"),
        # things are not counted by the numbers of rows whose name has the same stem
        ("how many helpers have more than 3 helps", "[ods.helps; where helper_no is not null; by helper_no; get count(*); having help_count > 3]; get count(*)"),
        # a running total behind the number of each period
        ("fees per week and the total up to then", "ods.helps; by week(helped_on); get fees; then running(fees)"),
        ("fees per month and the cumulative total", "ods.helps; by month(helped_on); get fees; then running(fees)"),
        ("fees per month and running total of fees", "ods.helps; by month(helped_on); get fees; then running(fees)"),
        # rows before their groups are counted, beside a figure
        ("orders per month and total freight", "ods.orders; by month(ordered_at); get count(*), sum(freight_cents)"),
        ("orders per month and running total of freight", "ods.orders; by month(ordered_at); get count(*), -sum(freight_cents); then running(sum(freight_cents))"),
        # words that say which amount is meant
        ("average freight per order", "ods.orders; get avg(freight_cents)"),
        ("orders with freight above 10 euro", "ods.orders; where freight_cents > 1000"),
    ],
)  # fmt: skip
def test_each_word_is_read(wish, wanted):
    assert compact(understand(wish, CLINIC)) == wanted


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ("orders that have not been sent and were sent in May 2026", "sent_on cannot be empty"),
        ("share of helps with a return, per month", "which time counts"),
        ("what percentage of patients were sent on, walked in and emergency", "origin"),
        ("percentage of adults, children among the patients", "kind"),
        ("fees per month and the total", "total"),
        ("orders per month, and how many up to then", "up"),
        ("number of helps by families that have a car, by month", "by families"),
        ("helps by families with a car, per month", "by families"),
        ("average order value", "which amount"),
        ("orders above 500 euro", "which amount"),
        ("output that came up by more than 80 percent", "80 percent"),
        ("days with more than 10 hours of downtime", "of all of them together"),
    ],
)  # fmt: skip
def test_what_stays_open_is_named(wish, named):
    understood = understand(wish, CLINIC)
    assert understood.request is None or understood.questions
    said = " ".join([understood.refusal or "", *(f"{one.text} {one.phrase}" for one in understood.questions)])
    assert named in said

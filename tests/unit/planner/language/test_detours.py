# ruff: noqa: E501 - one wish, or one column, a line
"""Wishes that say the same the long way round: in clauses, behind a question, with "it" for a thing."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

CHIMNEYS = catalog(
    table("ods.yards", ["yard_id"], None, ["yard_id:s", "town:s;town in which it stands", "has_store:b|store"], synonyms=["depot"]),
    table("ods.sweeps", ["sweep_id"], None, ["sweep_id:s", "sweep_name:s", "yard_id:s>ods.yards.yard_id"], synonyms=["sweeper"]),
    table("ods.orders", ["order_no"], "received_at",
          ["order_no:i", "received_at:t|received", "channel:s|origin", "district:s", "status:s", "price_eur:f|price#EUR", "with_ladder:b|ladder"],
          values={"status": {"W": ["won"], "L": ["lost"]}}, measures={"orders": {"sql": "COUNT(*)"}}),
    table("ods.visits", ["visit_no"], "started_at",
          ["visit_no:i", "order_no:i>ods.orders.order_no", "sweep_id:s>ods.sweeps.sweep_id", "started_at:t|started", "finished_at:t|finished;empty while it goes on", "flues:i", "soot_kg:f|soot#kg", "fault:s|kind of fault", "cost_eur:f|cost#EUR", "under_warranty:b|warranty", "calls:i|phone calls"],
          measures={"visits": {"sql": "COUNT(*)"}, "visit_cost": {"sql": "SUM(cost_eur)", "unit": "EUR"}}, synonyms=["ticket"]),
)  # fmt: skip

READ = [
    # groups
    ("How many visits did we have, month after month?", "number of visits per month"),
    ("How many orders came in per month, and from which channel?", "number of orders per month and channel"),
    ("number of visits by the town where the depot stands", "number of visits by town of the depot"),
    # number and sum of the same rows
    ("Number and total price of the orders with ladder, monthly", "number of orders and total price of orders with ladder, monthly"),
    # what is shown, and which rows, behind a question
    ("Which visits are not finished yet? I need the start, the flues and how many phone calls", "visits that are not finished yet with start, flues and phone calls"),
    ("what did visits cost us in each quarter? warranty cases only", "visit cost per quarter, only warranty cases"),
    # both sides of a flag
    ("average cost of visits under warranty and outside of it", "average cost of visits with warranty and without warranty"),
    # rankings
    ("the kind of fault that cost us the most money for each sweeper", "the kind of fault with the highest cost for each sweeper"),
    ("the three districts where we won most orders", "three districts with the most won orders"),
    # shares, running totals, changes
    ("what percentage of the total visit cost does each kind of fault cause?", "percentage of total visit cost per kind of fault"),
    ("visit cost per month plus the running total", "visit cost per month and running total"),
    ("monthly visit cost and how much it went up or down against the month before", "monthly visit cost and change against the month before"),
    # what rows need, they have
    ("number of visits that needed two or more phone calls", "number of visits with two or more phone calls"),
    # alerts
    ("Warn me whenever a sweeper has less than 15 visits in a week", "warn me when a sweeper has less than 15 visits in a week"),
    # days that something takes
    ("how many days does a visit take on average, per fault", "average duration of visits in days per fault"),
]  # fmt: skip

NOT_READ = [
    "orders per month, and from which channel they came back",
    "change of visit cost month after month",  # with the month before, or each month
    "number and district of orders",
    "number and total of orders",
    "how many orders did we win? number only",
    "the three districts where we lost the most money",
    "visits that need a ladder or more",
    "how many orders grew month after month",
    "which sweepers cost us the most of all",
    "visit cost per month plus the running total of soot",
    "Which visits are not finished yet? I need the start, the flues, and who paid",
    "orders with a ladder: how much are they worth",  # no figure is called so
    "what percentage of the total visit cost does each visit refund",
]


@pytest.mark.parametrize(("wish", "plain"), READ)
def test_a_detour_is_read_as_its_plain_form(wish, plain):
    request = compact(understand(plain, CHIMNEYS))
    assert not request.startswith(("ASKS", "REFUSED"))
    assert compact(understand(wish, CHIMNEYS)) == request


@pytest.mark.parametrize("wish", NOT_READ)
def test_what_is_no_detour_is_not_read(wish):
    assert compact(understand(wish, CHIMNEYS)).startswith(("ASKS", "REFUSED"))

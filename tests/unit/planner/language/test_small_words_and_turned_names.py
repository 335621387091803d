# ruff: noqa: E501 - one wish, or one column, a line
"""Small words that are codes as well, names the other way round, newcomers, shares of each."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.trade_catalogs import TRADES
from tests.unit.planner.wish_catalogs import catalog, table

BAKERY = catalog(
    table("ods.bakers", ["baker_id"], None, ["baker_id:i", "baker_name:s", "joined_on:d"]),
    table("ods.breads", ["bread_code"], None, ["bread_code:s", "bread_name:s", "bread_kind:s;what kind of bread it is"], values={"bread_kind": {"RYE": ["rye"], "BUT": ["butter bread"]}}),
    table("ods.bakes", ["bake_id"], "started_at",
          ["bake_id:i", "bread_code:s>ods.breads.bread_code", "baker_id:i>ods.bakers.baker_id", "product_code:s>ods.products.product_code", "started_at:t", "finished_at:t|finished;when it was finished; empty while it is in production", "loaves_made:i", "loaves_wasted:i|waste", "helpers:i;how many helpers there were", "hours:f#hours", "is_stopped:b|stopped", "oven:s|production oven", "status:s"],
          synonyms=["production run"], values={"status": {"P": ["planned"], "D": ["delivered", "shipped"]}}, measures={"bakes": {"sql": "COUNT(*)"}, "loaves_baked": {"sql": "SUM(loaves_made)", "synonyms": ["production"]}}, description="Every production run of a bread."),
    table("ods.products", ["product_code"], None, ["product_code:s", "product_name:s"]),
    table("ods.leases", ["lease_no"], "began_on", ["lease_no:i", "tariff:s", "began_on:d", "ended_on:d|ended;empty while it is active"]),
    table("ods.invoices", ["invoice_no"], "issued_on", ["invoice_no:i", "issued_on:d", "amount_eur:f|amount#EUR"], measures={"invoiced_eur": {"sql": "SUM(amount_eur)", "unit": "EUR", "synonyms": ["invoiced amount"]}}),
)  # fmt: skip

READ = [
    # "but" joins, also where a code is spelled so
    ("bakes that were shipped but not stopped", "ods.bakes; where status = D and is_stopped <> True"),
    ("bakes of breads of kind BUT", "ods.bakes; join bread=ods.breads; where bread.bread_kind = BUT"),
    # the column of a kind, in the words of a question
    ("average hours per kind of bread", "ods.bakes; join bread=ods.breads; by bread.bread_kind; get avg(hours)"),
    # an amount, and no number of rows
    ("what did we invoice in each quarter of 2025?", "ods.invoices; where issued_on 2025-01-01..2026-01-01; by quarter(issued_on); get invoiced_eur"),
    # a unit apart from its number
    ("bakes over 4 h per oven", "ods.bakes; where hours > 4; by oven; get bakes"),
    # a number that each row has
    ("average number of helpers per bake, by oven", "ods.bakes; by oven; get avg(helpers)"),
    # a name the other way round
    ("wasted loaves per oven", "ods.bakes; by oven; get sum(loaves_wasted)"),
    ("bakes with more than 5 wasted loaves", "ods.bakes; where loaves_wasted > 5"),
    # what is so while a column is empty
    ("which bakes are still in production?", "ods.bakes; where finished_at is null"),
    ("new bakers per month in 2025", "ods.bakers; where joined_on 2025-01-01..2026-01-01 and joined_on is not null; by month(joined_on); get count(*)"),
    ("how often were bakes stopped in 2025", "ods.bakes; where started_at 2025-01-01..2026-01-01 and is_stopped = True; get count(*)"),
    # periods with so many rows
    ("days on which fewer than 5 bakes were started", "ods.bakes; by day(started_at); get count(*); having bake_count < 5"),
    ("months in which more than 3 bakes were delivered", "ods.bakes; where status = D; by month(started_at); get count(*); having bake_count > 3"),
    # a number of days
    ("how many days does it take on average until a bake is finished, per oven", "ods.bakes; by oven; get avg(days(started_at→finished_at))"),
]  # fmt: skip

ASKED = [
    ("new bakers in Kiel", "nothing is called 'new'"),
    ("bakes in production", "'in production': only rows of which ods.bakes.finished_at is empty, or all of them? ('bakes without finished',)"),
    ("what do we lease per tariff", "'what do we lease': the number of rows of ods.leases, or which figure? ('number of ods.leases',)"),
    ("share of each tariff in active leases", "'share of each': a share of the rows of each group, or of all such rows of ods.leases? ()"),
    ("what share of the active leases does each tariff have", "'share of the active leases does each tariff have': a share of the rows of each group, or of all such rows of ods.leases? ()"),
    ("average number of helpers per bake type", "ods.breads.bread_kind, or something else? ('bread kind',)"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_what_is_sure_is_read(wish, request_):
    assert compact(understand(wish, BAKERY)) == request_


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_may_be_meant_otherwise_is_asked(wish, asked):
    assert asked in compact(understand(wish, BAKERY))


def test_a_verb_that_names_the_only_rows_between_two_things_counts_the_things_in_them():
    wish = "how many different frames did each customer order in 2026"
    read = "ods.orders; where ordered_at 2026-01-01..2027-01-01; by customer_id; get count distinct(frame_id)"
    assert compact(understand(wish, TRADES["optician"])) == read

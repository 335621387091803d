# ruff: noqa: E501 - one wish, or one column, a line
"""A verb that only rows which are not read say is asked back; the last row of a thing, and ranked texts, are read."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

BAKERY = catalog(
    table("ods.shops", ["shop_id"], None, ["shop_id:i", "shop_name:s"]),
    table("ods.breads", ["bread_code"], None, ["bread_code:s", "bread_name:s", "sort:s"], values={"sort": {"RYE": ["rye"]}}),
    table("ods.runs", ["run_no"], "begun_at", ["run_no:i", "bread_code:s>ods.breads.bread_code", "begun_at:t|started", "count_made:i|loaves made"],
          measures={"loaves_produced": {"sql": "SUM(count_made)"}}),
    table("ods.orders", ["order_no"], "ordered_at",
          ["order_no:i", "shop_id:i>ods.shops.shop_id", "bread_code:s>ods.breads.bread_code", "ordered_at:t|ordered", "count:i|loaves", "price_eur:f|price#EUR"],
          measures={"orders": {"sql": "COUNT(*)"}, "turnover": {"sql": "SUM(price_eur)", "unit": "EUR"}}),
)  # fmt: skip
LOCKS = catalog(
    table("ods.keys", ["key_no"], None, ["key_no:i", "maker:s|brand"]),
    table("ods.offers", ["offer_no"], "sent_at", ["offer_no:i", "sent_at:t|sent", "price_eur:f|price#EUR"], measures={"offers": {"sql": "COUNT(*)"}}),
    table("ods.fittings", ["fitting_no"], "started_on", ["fitting_no:i", "offer_no:i>ods.offers.offer_no", "key_no:i>ods.keys.key_no;empty where there is no key", "started_on:d|started", "fault:s|kind of fault", "minutes:i|duration#minutes"],
          measures={"fittings": {"sql": "COUNT(*)"}}),
)  # fmt: skip

OF_OTHERS = [
    (BAKERY, "orders produced in 2026", "produced"),
    (BAKERY, "shops that made the most loaves", "made"),
    (BAKERY, "number of shops that produced rye", "produced"),
    (BAKERY, "how many orders did we produce", "produce"),
    (LOCKS, "offers started in 2025", "started"),
]  # fmt: skip
READ = [
    (BAKERY, "orders made per month", "ods.orders"),
    (BAKERY, "shops that made the most orders", "ods.orders"),
    (BAKERY, "turnover made per month", "ods.orders"),
    (BAKERY, "loaves produced per month", "ods.runs"),
    (LOCKS, "fittings started in 2025", "ods.fittings"),
]


@pytest.mark.parametrize(("project", "wish", "phrase"), OF_OTHERS, ids=[one[1] for one in OF_OTHERS])
def test_a_verb_of_other_rows_is_asked_back(project, wish, phrase):
    found = understand(wish, project)
    assert found.request is None, compact(found)
    assert [one.phrase for one in found.questions] == [phrase]


@pytest.mark.parametrize(("project", "wish", "table_read"), READ, ids=[one[1] for one in READ])
def test_a_verb_of_rows_that_are_read_is_passed_over(project, wish, table_read):
    request = understand(wish, project).request
    assert request is not None
    assert request.block.base == table_read


def test_what_the_last_row_of_a_thing_says_is_no_group():
    request = understand("latest fitting of each key and its fault", LOCKS).request
    assert request is not None
    assert request.block.pick is not None
    assert "fault" not in str(request.block.pick.per)


def test_rows_without_the_ranked_text_take_no_place():
    request = understand("top 3 brands by number of fittings", LOCKS).request
    assert request is not None
    assert [(one.left.column, one.operator) for one in request.block.filters] == [("maker", "is not null")]


def test_ever_behind_a_superlative_says_that_no_time_restricts_the_rows():
    ever = understand("the longest fitting ever", LOCKS)
    plain = understand("the longest fitting", LOCKS)
    assert ever.request is not None
    assert plain.request is not None
    assert (ever.request.block, ever.request.ranking) == (plain.request.block, plain.request.ranking)

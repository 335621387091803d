# ruff: noqa: E501 - one wish a line
"""Conditions of rows beside groups, states that do not count, values behind their column, names the other way round."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact

READ = [
    ("printshop", "orders with more than 1000 copies by product", "ods.orders; where copies > 1000; by product; get orders"),
    ("printshop", "average price of orders with more than 1000 copies", "ods.orders; where copies > 1000; get avg(net_price_eur)"),
    ("printshop", "products with more than 1000 copies", "ods.orders; by product; get copies_ordered; having copies_ordered > 1000"),
    ("printshop", "clients with more than 7 percent discount", "ods.clients; where discount_percent > 7"),
    ("printshop", "clients who get more than 7 percent discount", "ods.clients; where discount_percent > 7"),
    ("printshop", "orders per channel without the cancelled orders", "ods.orders; where order_status <> CAN; by order_channel; get orders"),
    ("printshop", "revenue per channel without cancelled orders", "ods.orders; where order_status <> CAN; by order_channel; get order_value"),
    ("printshop", "orders per client, without cancelled orders", "ods.orders; where order_status <> CAN; by client_no; get orders"),
    ("printshop", "clients without cancelled orders", "ods.clients; where no ods.orders by client_no where order_status = CAN"),
    ("printshop", "average price of orders by product without rush orders", "ods.orders; where is_rush <> True; by product; get avg(net_price_eur)"),
    ("fishmarket", "number of lots with grade extra", "ods.lots; where grade = E; get count(*)"),
    ("fishmarket", "average starting price of lots with grade extra", "ods.lots; where grade = E; get avg(start_price_eur)"),
    ("bloodbank", "average cost of bags with product platelets", "ods.bags; where product = PLT; get avg(cost_eur)"),
    ("bloodbank", "bags that are not tested yet per product", "ods.bags; where test_result = U; by product; get bags"),
    ("fishmarket", "kilos sold by month", "dwd.sold_lots; by month(auctioned_at); get kilos_sold"),
    ("fishmarket", "lots of more than 300 kilos", "ods.lots; where weight_kg > 300"),
    ("printshop", "sheets wasted per week", "ods.runs; by week(started_at); get sum(wasted_sheets)"),
    ("printshop", "runs that wasted at least 50 sheets", "ods.runs; where wasted_sheets >= 50"),
    ("printshop", "cumulative refunds over the months", "ods.complaints; by month(received_on); get -refunds; then running(refunds)"),
    ("fishmarket", "turnover over the weeks", "dwd.sold_lots; by week(auctioned_at); get turnover"),
    ("fishmarket", "credit limit, all wholesalers together", "ods.buyers; where buyer_kind = WHO; get sum(credit_limit_eur)"),
    ("printshop", "cancel rate by product", "ods.orders; by product; get -count(*), -count(*) if order_status = CAN; then ratio(count(*) if order_status = CAN, count(*))"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "wish", "request_"), READ)
def test_a_wish_is_read(known, wish, request_):
    assert compact(understand(wish, schema(known).catalog)) == request_


@pytest.mark.parametrize(
    ("known", "wish", "named"),
    [
        (
            "printshop",
            "number of late deliveries each month",
            "'late deliveries': rows of dwd.shipped_orders, or a value",
        ),
        ("printshop", "revenue per month that are not rush orders", "only of those rows that dwd.shipped_orders has?"),
        ("printshop", "orders per client without cancelled orders", "dwd.shipped_orders has only some of the rows"),
        (
            "printshop",
            "alert me if any press has a waste rate above 8 percent on a day",
            "'press': rows of ods.presses",
        ),
        (
            "gym",
            "reservations per member without cancelled reservations",
            "dwd.attended_places has only rows of ods.reserv",
        ),
    ],
)
def test_words_that_two_tables_have_are_asked_about(known, wish, named):
    found = understand(wish, schema(known).catalog)
    assert found.request is None
    assert named in found.questions[0].text


@pytest.mark.parametrize(
    ("wish", "named"),
    [
        ("cancel every order of Blue Media and show the rest", "'cancel every' would change"),
        ("write off all open complaints", "'write off all' would change"),
        ("Please mark all complaints as closed", "mark all complaints as' would change"),
        ("could you close the complaints of client 305", "close the' would change"),
    ],
)
def test_a_wish_that_wants_to_change_something_is_refused_with_its_verb(wish, named):
    found = understand(wish, schema("printshop").catalog)
    assert found.request is None
    assert named in found.refusal

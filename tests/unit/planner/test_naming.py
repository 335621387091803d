"""Names of results that something else has."""

from streamhouse.planner.naming import table_name
from streamhouse.planner.request import Block, ColumnRef, Condition, Request


def test_what_a_filter_says_is_in_the_name_once():
    at_least = Condition(left=ColumnRef(column="quantity"), operator=">=", values=(6,))
    request = Request(wish="", block=Block(base="dwd.orders", filters=(at_least,)))
    name = table_name(request, {})
    assert name == "dwd.orders_with_min_quantity"
    assert table_name(request, {"orders_with_min_quantity": "an action"}) == f"{name}_2"

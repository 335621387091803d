"""Columns that a list calls by what their descriptions begin with, by the number of a thing, or with "per"."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.described_trades import COACHES, KENNEL, PRINTS


@pytest.mark.parametrize(
    ("trade", "wish", "columns"),
    [
        # what a description begins with
        (KENNEL, "dogs with their name and birthday", ["dog_id", "dog_name", "born_on"]),
        (KENNEL, "unpaid bills with number, amount and day of the bill", ["bill_no", "amount_eur", "issued_on"]),
        (COACHES, "drivers, with their date of the licence", ["driver_id", "licensed_on"]),
        (PRINTS, "rejected orders with number, client and day of the order", ["order_no", "client", "ordered_on"]),
        (PRINTS, "runs - operator, start of the run", ["run_no", "operator", "began_at"]),
        # the key by the name of the thing
        (KENNEL, "unpaid bills with bill number and amount", ["bill_no", "amount_eur"]),
        (PRINTS, "rejected orders with order number", ["order_no"]),
        (COACHES, "cancelled tours with tour number and why they were dropped", ["tour_no", "dropped_for"]),
        # a name with "per"
        (KENNEL, "heated kennels with their price per night", ["run_id", "price_per_night_eur"]),
        (COACHES, "drivers with their pay per tour", ["driver_id", "pay_per_tour_eur"]),
        (PRINTS, "list all papers with colour and price per sheet", ["paper_id", "colour", "price_per_sheet_eur"]),
    ],
)
def test_a_list_shows_what_a_description_calls_so(trade, wish, columns):
    found = understand(wish, trade)
    assert found.request is not None, compact(found)
    shown = [one.of.column for one in found.request.block.columns]
    assert shown in (columns, columns[1:]), shown

"""A figure by groups that is also the name of a table: its rows are not counted in silence."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

CATALOG = catalog(
    table("dwd.visits", ["visit_id"], "at", ["visit_id:i", "city:s", "fee:f", "at:t"]),
    table("dws.fee_by_city", ["city"], None, ["city:s", "visit_lines:i", "fee_cents:i"]),
)


@pytest.mark.parametrize("wish", ["total fee by city", "overall fee by city", "sum of fee by city"])
def test_it_is_asked_back_and_the_choice_answers_it(wish):
    [question] = understand(wish, CATALOG).questions
    assert question.text == "'fee by city' is also the table dws.fee_by_city: is fee for each city meant?"
    answered = understand(wish.replace(question.phrase, question.choices[0]), CATALOG)
    assert "by city; get sum(fee)" in compact(answered)


def test_the_rows_of_the_table_are_read_by_its_name():
    assert compact(understand("fee by city", CATALOG)).startswith("dws.fee_by_city")

# ruff: noqa: E501 - one wish, or one column, a line
"""A number said with a verb that only other rows have is asked back: "loaves baked" are no loaves that were ordered."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

BAKERY = catalog(
    table("ods.breads", ["bread_code"], None, ["bread_code:s", "bread_name:s", "sort:s"], values={"sort": {"RYE": ["rye"], "WHT": ["wheat"]}}),
    table("ods.runs", ["run_no"], "begun_at", ["run_no:i", "bread_code:s>ods.breads.bread_code", "begun_at:t", "count_made:i|loaves made", "count_burnt:i|burnt"],
          measures={"count_produced": {"sql": "SUM(count_made)"}}),
    table("ods.orders", ["order_no"], "ordered_at",
          ["order_no:i", "bread_code:s>ods.breads.bread_code", "ordered_at:t|ordered", "count:i|loaves", "price_eur:f#EUR"],
          measures={"orders": {"sql": "COUNT(*)"}, "turnover": {"sql": "SUM(price_eur)", "unit": "EUR", "synonyms": ["sales"]}}),
)  # fmt: skip
POTTERY = catalog(
    table("ods.kilns", ["kiln_id"], None, ["kiln_id:i", "kiln_name:s"]),
    table("ods.deliveries", ["delivery_no"], "came_at", ["delivery_no:i", "came_at:t", "kg_taken:f|clay taken#kg"]),
    table("ods.firings", ["firing_no"], "fired_at", ["firing_no:i", "kiln_id:i>ods.kilns.kiln_id", "fired_at:t|fired", "kg:f|clay#kg", "gas_m3:f|gas"],
          measures={"firings": {"sql": "COUNT(*)"}, "clay_kg": {"sql": "SUM(kg)", "unit": "kg"}}),
)  # fmt: skip
CHOIR = catalog(
    table("ods.singers", ["singer_id"], None, ["singer_id:i", "singer_name:s", "voice:s"]),
    table("ods.concerts", ["concert_no"], "sung_at", ["concert_no:i", "sung_at:t", "seats:i", "tickets_given:i|tickets given away"]),
    table("ods.bookings", ["booking_no"], "booked_at", ["booking_no:i", "concert_no:i>ods.concerts.concert_no", "booked_at:t|booked", "tickets:i", "price_eur:f#EUR"]),
)  # fmt: skip

OF_OTHERS = [
    (BAKERY, "loaves of rye made per month", "loaves made", "ods.runs.count_made"),
    (BAKERY, "total loaves that were produced per month", "loaves produced", "ods.runs.count_produced"),
    (BAKERY, "breads with the most loaves produced", "loaves produced", "ods.runs.count_produced"),
    (POTTERY, "total gas of each kiln taken per month", "gas taken", "ods.deliveries.kg_taken"),
    (CHOIR, "tickets that were given per month", "tickets given", "ods.concerts.tickets_given"),
    (CHOIR, "tickets of each concert given per month", "tickets given", "ods.concerts.tickets_given"),
]  # fmt: skip

READ = [
    (BAKERY, "loaves made per month", "ods.runs"),
    (BAKERY, "turnover made per month", "ods.orders"),
    (BAKERY, "orders made per month", "ods.orders"),
    (BAKERY, "loaves ordered per month", "ods.orders"),
    (POTTERY, "total gas generated per month", "ods.firings"),
    (CHOIR, "bookings given per month", "ods.bookings"),
]


@pytest.mark.parametrize(("project", "wish", "phrase", "choice"), OF_OTHERS, ids=[one[1] for one in OF_OTHERS])
def test_a_number_of_other_rows_is_asked_back(project, wish, phrase, choice):
    found = understand(wish, project)
    assert found.request is None, compact(found)
    assert [(one.phrase, one.choices) for one in found.questions] == [(phrase, (choice,))]


@pytest.mark.parametrize(("project", "wish", "table_read"), READ, ids=[one[1] for one in READ])
def test_a_verb_that_other_rows_do_not_have_is_passed_over(project, wish, table_read):
    request = understand(wish, project).request
    assert request is not None
    assert request.block.base == table_read

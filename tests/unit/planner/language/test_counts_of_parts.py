# ruff: noqa: E501 - one wish, or one table, a line
"""Two numbers of which one would be lost, states that "but" joins, values that never had something, prices of a piece."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

POSTS = catalog(
    table("ods.parcels", ["parcel_no"], "sent_at", ["parcel_no:i", "office_no:i>ods.offices.office_no", "sender:s", "sent_at:t|sent", "handed_at:t|delivered;empty while it is on its way", "billed_on:d|billed;empty while it is unbilled", "fragile:b|fragile", "speed:s"],
          values={"speed": {"EXP": ["express"], "STD": ["standard"]}}, measures={"parcels": {"sql": "COUNT(*)"}}),
    table("ods.offices", ["office_no"], None, ["office_no:i", "office_name:s", "price_eur:f|price#EUR;price of the building"]),
    table("ods.stamp_sales", ["sale_no"], "sold_at", ["sale_no:i", "office_no:i>ods.offices.office_no", "sold_at:t|sold", "motif:s", "stamps:i", "stamp_price_eur:f#EUR;price of one stamp"], synonyms=["sale of stamps"],
          values={"motif": {"FLW": ["flower"], "BRD": ["bird"]}}, measures={"stamp_takings": {"sql": "SUM(stamps * stamp_price_eur)", "unit": "EUR"}}),
)  # fmt: skip

READ = [
    ("delivered but unbilled parcels", "ods.parcels; where billed_on is null and handed_at is not null"),
    ("unbilled but delivered parcels", "ods.parcels; where billed_on is null and handed_at is not null"),
    ("express parcels per office", "ods.parcels; where speed = EXP; by office_no; get parcels"),
    ("number of parcels and number of express parcels per office", "ods.parcels; by office_no; get count(*), count(*) if speed = EXP"),
    ("number of stamp sales with a stamp price over 2 euros", "ods.stamp_sales; where stamp_price_eur > 2; get count(*)"),
]  # fmt: skip

ASKED = [
    ("parcels and express parcels per office", "'parcels and express parcels': the number of each? Only the express parcels would be counted"),
    ("number of parcels and fragile parcels per office", "the number of each?"),
    ("parcels and unbilled parcels per office", "'parcels and …': the number of each?"),
    ("senders that never billed", "'never': each sender with a row of ods.parcels that is so, or with such rows alone?"),
    ("stamp sales over 10 euros", "ods.stamp_sales.stamp_price_eur of one piece, or the amount of the row?"),
    ("price of a bird", "'price bird' may mean ods.offices.price_eur or ods.stamp_sales.stamp_price_eur: which one?"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, POSTS)).startswith(request_)


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, POSTS))

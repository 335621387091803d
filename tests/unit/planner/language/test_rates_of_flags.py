# ruff: noqa: E501 - one wish, or one column, a line
"""Rates that only a column of yes or no, or a time that may be empty, tells; and shares of which the whole is not said."""

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

PARCELS = catalog(
    table("ods.shops", ["shop_no"], None, ["shop_no:i", "kind:s"], values={"kind": {"tower": [], "bridge": []}}),
    table("ods.parcels", ["parcel_no"], "posted_at",
          ["parcel_no:i", "shop_no:i>ods.shops.shop_no", "size:s", "posted_at:t", "is_damaged:b|damaged", "was_signed:b|signed;empty if nobody was there",
           "refunded_on:d|refunded;day of the refund, empty if there was none", "collected_on:d|collected"],
          synonyms=["package"]),
)  # fmt: skip

READ = [
    ("refund rate per size", "ods.parcels; by size; get -count(*), -count(*) if refunded_on is not null; then ratio(count(*) if refunded_on is not null, count(*))"),
    ("damage rate of the parcels by size in percent", "ods.parcels; by size; get -count(*), -count(*) if is_damaged = True; then ratio(count(*) if is_damaged = True, count(*)) %"),
    ("damage rate per month", "ods.parcels; by month(posted_at); get -count(*), -count(*) if is_damaged = True; then ratio(count(*) if is_damaged = True, count(*))"),
    ("damage rate in 2026 by size", "ods.parcels; where posted_at 2026-01-01..2027-01-01; by size; get -count(*), -count(*) if is_damaged = True; then ratio(count(*) if is_damaged = True, count(*))"),
]  # fmt: skip
NOT_READ = [
    "refund rate per month",  # the month of which time?
    "refund rate in May 2026",
    "damage rate of shops per size",
    "share of parcels that were damaged in tower",
]


def test_a_rate_is_the_share_of_rows_of_which_it_is_true():
    found = ((wish, wanted, compact(understand(wish, PARCELS))) for wish, wanted in READ)
    assert [one for one in found if one[1] != one[2]] == []


def test_a_rate_whose_whole_is_not_certain_is_not_read():
    assert [(wish, compact(understand(wish, PARCELS))) for wish in NOT_READ if understand(wish, PARCELS).request] == []

# ruff: noqa: E501 - one wish a line
"""Words that were once passed over in silence, or turned what was asked: each has its role, or is asked back."""

import pytest

from streamhouse.planner.language.words import FILLERS, NEGATIONS
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS, catalog, table

READ = [
    ("hotel", "bookings in 2024 and 2025", "dwd.bookings; where booked_at 2024-01-01..2026-01-01"),
    ("hotel", "guests who booked between 2024 and 2025", "dwd.bookings; where booked_at 2024-01-01..2026-01-01; by guest_id"),
    ("library", "members who borrowed on Monday or Tuesday", "dwd.loans; where day_of_week(lent_at) in 1, 2; by member_id"),
    # "but" behind "all" or "any" leaves something out
    ("energy", "outages of every region but north", "dwd.outages; where region <> north; by region; get count(*)"),
    # the year behind the last of several months
    ("hotel", "revenue in May and June 2024", "dwd.bookings; where booked_at 2024-05-01..2024-07-01; get revenue"),
    ("library", "loans per branch in March, April and May 2024", "dwd.loans; where lent_at 2024-03-01..2024-06-01; by branch_id; get loans"),
    # one, and no more
    ("library", "members with a single loan", "dwd.loans; by member_id; get count(*); having loan_count = 1"),
    ("library", "members with only one loan", "dwd.loans; by member_id; get count(*); having loan_count = 1"),
    ("hotel", "bookings of a single room", "dwd.bookings; join room=ods.rooms; where room.room_type = SGL"),
    # each value is listed once
    ("library", "districts of our branches", "ods.branches; by district"),
    ("library", "towns our members live in", "ods.members; by town"),
    ("hotel", "channels used on Fridays", "dwd.bookings; where day_of_week(booked_at) = 5; by channel"),
    ("library", "authors", "ods.books; by author"),
    ("library", "names of members", "ods.members; show name"),
    # what a share is by may stand behind its rows
    ("support", "percentage of tickets reopened per agent", "dwd.tickets; by agent_id; get -count(*), -count(*) if reopened = True; then ratio(count(*) if reopened = True, count(*)) %"),
    ("library", "share of loans unreturned by branch", "dwd.loans; by branch_id; get -loans, -loans if returned_at is null; then ratio(loans if returned_at is null, loans)"),
    # values that "and" joins behind a figure
    ("support", "number of tickets of login and invoice", "dwd.tickets; where topic in login, invoice; get count(*)"),
    ("library", "loans by children and seniors per month", "dwd.loans; join member=ods.members; where member.category in C, S; by month(lent_at); get loans"),
    # what is not so
    ("energy", "non-smart meters", "ods.meters; where is_smart <> True"),
    # how often something was done
    ("library", "the 3 most borrowed books", "dwd.loans; by book_id; get count(*); top 3 row_count"),
    ("library", "loans per member on average", "[dwd.loans; by member_id; get loans]; get avg(loans)"),
    # nothing is what was done never
    ("library", "members who borrowed nothing", "ods.members; where no dwd.loans by member_id"),
    # turns that say the same in more words
    ("library", "loans in May 2024, how many were there?", "dwd.loans; where lent_at 2024-05-01..2024-06-01; get count(*)"),
    ("library", "fines for each branch, with the name of the branch", "dwd.loans; join branch=ods.branches; by branch_id, branch.branch_name; get fines"),
    ("hotel", "what share of the bookings goes through each channel?", "dwd.bookings; by channel; get -count(*); then share(count(*))"),
    ("hotel", "bookings that had to be cancelled", "dwd.bookings; where status = C"),
    ("hotel", "bookings per channel too", "dwd.bookings; by channel; get count(*)"),
    # rows with a value, of each group
    ("support", "defects per month", "dwd.tickets; where topic = bug; by month(opened_at); get count(*)"),
]  # fmt: skip

ASKED_BACK = [
    ("hotel", "guests who booked in 2024 and 2025", "in either of them, or in both"),
    ("hotel", "number of guests who booked in 2024 and 2025", "in either of them, or in both"),
    ("library", "members who borrowed on Monday and Tuesday", "in either of them, or in both"),
    ("hotel", "revenue in March and June 2024", "follow each other"),
    ("library", "loans since Monday", "depends on the day"),
    ("library", "loans by May 2024", "before it begins, or until it ends"),
    ("library", "loans at noon", "that moment alone"),
    ("library", "loans after midnight", "leaves no hour out"),
    ("hotel", "revenue per channel and in total", "and in total"),
    ("hotel", "revenue by channel, phone last", "last"),
    ("hotel", "bookings with more nights than guests", "cannot be compared"),
    ("hotel", "on average, how many bookings does a guest cancel", "average"),
    ("library", "many loans", "many"),
    ("library", "members with nothing", "nothing"),
    ("hotel", "guests who booked nothing but suites", "nothing"),
    ("hotel", "channel and number of bookings that channel", "channel"),
    ("library", "biggest member", "by which figure"),
    ("library", "number of books borrowed per month", "different books, or all loans"),
    ("support", "percentage of tickets per agent closed", "of the rows of each group, or of all"),
]


@pytest.mark.parametrize(("schema", "wish", "wanted"), READ, ids=lambda part: part[:60])
def test_each_word_has_its_role(schema, wish, wanted):
    assert compact(understand(wish, CATALOGS[schema])) == wanted


@pytest.mark.parametrize(("schema", "wish", "named"), ASKED_BACK)
def test_what_may_mean_two_things_is_asked_back(schema, wish, named):
    found = understand(wish, CATALOGS[schema])
    assert found.request is None
    assert named in compact(found)


CLUB = catalog(
    table("ods.members", ["member_id"], None, ["member_id:i", "name:s", "born:i;year of birth", "has_key:b|key"])
)


@pytest.mark.parametrize(
    ("wish", "wanted"),
    [
        ("members born before 1970", "ods.members; where born < 1970"),
        ("members not born before 1970", "ods.members; where born >= 1970"),
        ("members not born between 1970 and 1980", "ods.members; where (born < 1970 or born >= 1981)"),
    ],
)
def test_a_year_that_is_denied(wish, wanted):
    assert compact(understand(wish, CLUB)) == wanted


@pytest.mark.parametrize("wish", ["members born in May", "members born in the last 3 years"])
def test_a_year_has_no_months_and_no_days(wish):
    assert "is a year" in compact(understand(wish, CLUB))


def test_no_denial_may_stay_unread():
    assert not NEGATIONS & FILLERS


PIERS = catalog(
    table("dwd.stays", ["stay_id"], "left_on", ["stay_id:i", "left_on:d", "fee:i"], measures={"berth_income": {"sql": "SUM(fee)"}}),
    table("dwd.fuel", ["sale_id"], "sold_on", ["sale_id:i", "sold_on:d", "price:i"], measures={"fuel_income": {"sql": "SUM(price)"}}),
    table("dws.days", ["day"], "day", ["day:d", "income:i"]),
)  # fmt: skip


def test_a_word_that_ends_two_measures_is_asked_back():
    [question] = understand("income per month", PIERS).questions
    assert question.choices == ("berth income", "fuel income", "income")
    assert compact(understand("fuel income per month", PIERS)).startswith("dwd.fuel;")


SHOPS = catalog(
    table("ods.shops", ["shop_no"], None,
          ["shop_no:i", "town:s", "limit:i|credit limit#EUR;empty if there is no limit", "debt:i#EUR"]),
    table("ods.visits", ["visit_no"], "came_on", ["visit_no:i", "shop_no:i>ods.shops.shop_no", "came_on:d", "visitor:s|came by"]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "wanted"),
    [
        ("shops without a credit limit", "ods.shops; where limit is null"),
        ("shops without debt", "ods.shops; where (debt = 0 or debt is null)"),
    ],
)
def test_a_zero_is_a_limit_where_empty_means_none(wish, wanted):
    assert compact(understand(wish, SHOPS)) == wanted


def test_a_question_behind_a_group_is_no_group():
    found = compact(understand("first visit of each shop and who was the visitor", SHOPS))
    assert "per shop_no, visitor" not in found

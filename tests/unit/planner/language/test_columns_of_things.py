# ruff: noqa: E501 - one wish a line
"""Columns before or behind the things that they are shown of, keys by other words, shared words, orders of rows."""

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS, catalog, table

SHOP = catalog(
    table("ods.clerks", ["ckno"], None, ["ckno:i", "first_name:s", "last_name:s", "wage_eur:i|wage#EUR", "sold_in:i|first sale;year in which the first sale was", "left_on:d;empty while the clerk works here"]),
    table("ods.parcels", ["parcel_no"], "sent_at", ["parcel_no:i", "ckno:i>ods.clerks.ckno", "sent_at:t", "kind:s|sort of parcel", "weight_kg:f|weight#kg", "fragile:b"]),
)  # fmt: skip
ALL = {**CATALOGS, "shop": SHOP}

READ = [
    ("library", "What are the titles of the books?", "ods.books; show title"),
    ("library", "What are the titles and authors of all books with more than 300 pages?", "ods.books; where pages > 300; show title, author"),
    ("library", "names and towns of the members who joined before 2020", "ods.members; where joined_on ..2020-01-01; show name, town"),
    ("library", "title and author of the 3 most expensive books", "ods.books; show title, author, price_cents; top 3 price_cents"),
    ("library", "title of the book with the most pages", "ods.books; by book_id, title; get max(pages); top 1 highest_pages ties"),
    ("library", "names of members with more than 10 loans", "dwd.loans; join member=ods.members; by member_id, member.name; get count(*); having loan_count > 10"),
    ("library", "genre of the books that were never borrowed", "ods.books; where no dwd.loans by book_id; show genre"),
    ("library", "district of the branch with the most loans", "dwd.loans; join branch=ods.branches; by branch_id, branch.district; get loans; top 1 loans ties"),
    ("library", "What is the number of books?", "ods.books; get count(*)"),
    ("library", "members who joined before 2020 - name, town and date", "ods.members; where joined_on ..2020-01-01; show member_id, name, town, joined_on"),
    ("library", "Which books have more than 300 pages? Show title and author", "ods.books; where pages > 300; show book_id, title, author"),
    ("library", "the 5 members with the most loans, with their town", "dwd.loans; join member=ods.members; by member_id, member.town; get loans; top 5 loans"),
    ("library", "the book with the most pages, with its author", "ods.books; by book_id, author; get max(pages); top 1 highest_pages ties"),
    ("hotel", "ids of the guests", "ods.guests; show guest_id"),
    ("hotel", "arrival and departure dates of bookings", "dwd.bookings; show check_in, check_out"),
    ("shop", "clerk ids of the clerks with a wage above 20 EUR", "ods.clerks; where wage_eur > 20; show ckno"),
    ("shop", "full names of the clerks", "ods.clerks; show first_name, last_name"),
    ("shop", "first and last name of the clerk with the most parcels", "ods.parcels; join clerk=ods.clerks; by ckno, clerk.first_name, clerk.last_name; get count(*); top 1 parcel_count ties"),
    ("shop", "parcels heavier than 5 kg - number, type and when they were sent", "ods.parcels; where weight_kg > 5; show parcel_no, kind, sent_at"),
    ("shop", "clerks that are still with us, last name and year", "ods.clerks; where left_on is null; show ckno, last_name, sold_in"),
    ("shop", "clerks with a wage above 20 EUR, last name and year", "ods.clerks; where wage_eur > 20; show ckno, last_name, sold_in"),
]  # fmt: skip

NOT_READ = [
    ("shop", "number of parcels per kind and per sort of parcel"),  # two words for one group: one of them is lost
    ("library", "names of loans per month"),  # there is no row for each member
    ("library", "price of the books"),  # the total, the average, or each one?
    ("hotel", "rooms with beds and balcony"),  # must it be so, or is it to be shown?
    ("shop", "wages of the clerk that has packed the most parcels"),
    ("shop", "parcels that are fragile, with weight and colour"),
    ("shop", "total weight of the clerks, with the last name and the salary"),
]

SORTED = [
    ("library", "List the names of members sorted by town", "ods.members; show name"),
    ("library", "members in alphabetical order of name", "ods.members"),
    ("library", "members ordered by town in descending order", "ods.members"),
    ("library", "number of loans per branch, sorted by the number of loans in descending order", "dwd.loans; by branch_id; get count(*)"),
]  # fmt: skip


def differing(wishes):
    found = ((name, wish, wanted, compact(understand(wish, ALL[name]))) for name, wish, wanted in wishes)
    return [one for one in found if one[2] != one[3]]


def test_columns_of_things_are_shown_of_each_of_them():
    assert differing(READ) == []


def test_what_may_be_a_figure_or_a_condition_is_not_shown():
    assert [wish for name, wish in NOT_READ if understand(wish, ALL[name]).request is not None] == []


def test_an_order_of_rows_is_named_and_changes_none():
    assert differing(SORTED) == []
    for name, wish, _ in SORTED:
        assert any("have no order" in one for one in understand(wish, ALL[name]).assumptions), wish


def test_an_order_by_what_is_not_there_is_not_read():
    assert understand("parcels sorted by colour", SHOP).request is None

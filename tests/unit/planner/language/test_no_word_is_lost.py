# ruff: noqa: E501 - one wish a line
"""Classes of wishes in which a word could be lost: each is read with the word in its role, or is asked back by name."""

import pytest

from streamhouse.planner.understand import understand
from tests.tables import each
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS

READ = [
    # a bound behind what it is of
    ("library", "members with 3 reservations or more", "dwd.reservations; by member_id; get count(*); having reservation_count >= 3"),
    ("hotel", "bookings of 7 nights or more", "dwd.bookings; where nights >= 7"),
    ("energy", "outages of 2 hours or longer", "dwd.outages; where hours(began_at→ended_at) >= 2"),
    ("support", "tickets with 5 replies or fewer", "dwd.tickets; where replies <= 5"),
    ("library", "loans due on 10 May 2024 or earlier", "dwd.loans; where due_on ..2024-05-11"),
    # all of a negated list is negated
    ("support", "tickets that are not urgent, high or normal", "dwd.tickets; where priority not in 1, 2, 3"),
    ("hotel", "bookings that were not cancelled or completed", "dwd.bookings; where status not in C, D"),
    ("hotel", "guests from Germany or France", "ods.guests; where country in DE, FR"),
    # things that are listed
    ("library", "Which books did children borrow?", "dwd.loans; join member=ods.members; where member.category = C; by book_id"),
    ("library", "adults who joined in 2024", "ods.members; where category = A and joined_on 2024-01-01..2025-01-01"),
    ("hotel", "hotels with stars and city", "ods.hotels; show hotel_id, stars, city"),
    # who did it, and what is grouped by
    ("hotel", "revenue of bookings made by guests from Germany", "dwd.bookings; join guest=ods.guests; where guest.country = DE; get revenue"),
    # figures at the end, and their unit
    ("hotel", "cancelled bookings in 2024, count per channel", "dwd.bookings; where status = C and booked_at 2024-01-01..2025-01-01; by channel; get count(*)"),
    ("support", "tickets of the pro plan by topic, number only", "dwd.tickets; join account=ods.accounts; where account.plan = pro; by topic; get count(*)"),
    ("hotel", "revenue by channel, USD", "dwd.bookings; by channel; get revenue"),
    # adjectives that name an end of a number
    ("energy", "strongest voltage per meter", "dwd.readings; by meter_id; get max(voltage)"),
    ("energy", "highest and lowest voltage per meter", "dwd.readings; by meter_id; get max(voltage), min(voltage)"),
    # values side by side
    ("support", "urgent versus normal tickets per month", "dwd.tickets; where priority in 1, 3; by priority, month(opened_at); get count(*)"),
    # dates
    ("hotel", "revenue 20 to 26 November 2023", "dwd.bookings; where booked_at 2023-11-20..2023-11-27; get revenue"),
    ("hotel", "bookings from 03/05/2024 to 20/05/2024", "dwd.bookings; where booked_at 2024-05-03..2024-05-21"),
    ("hotel", "bookings, Monday to Friday", "dwd.bookings; where day_of_week(booked_at) in 1, 2, 3, 4, 5"),
    # turns of English
    ("hotel", "By how many percent did revenue go up or down from month to month?", "dwd.bookings; by month(booked_at); get -revenue; then change(revenue) %"),
    ("hotel", "what percentage of all bookings does each channel account for?", "dwd.bookings; by channel; get -count(*); then share(count(*)) %"),
    ("support", "how are tickets distributed over the topics?", "dwd.tickets; by topic; get count(*)"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "wish", "wanted"), READ, ids=lambda part: part[:60])
def test_each_word_has_its_role(schema, wish, wanted):
    assert compact(understand(wish, CATALOGS[schema])) == wanted


ASKED_BACK = [
    ("hotel", "bookings with more than 5 nights and fewer than 3 nights", "nights above 5 and below 3"),
    ("hotel", "bookings that were cancelled or over 500 dollars", "'or'"),  # no alternative of two columns is read
    ("library", "members whose loans were all late", "all late"),
    ("hotel", "guests who only booked suites", "only"),
    ("library", "children who borrowed crime books", "children"),  # the books of children are not the children
    ("library", "loans that began where they ended", "where they"),
    ("support", "falling number of tickets", "falling"),
    ("support", "tickets submitted by accounts", "one for each of them, or all"),
    ("library", "loans older than 60 days", "depends on the day"),
    ("library", "members older than 60", "older than 60"),
    ("support", "phone numbers of accounts", "phone numbers"),
    ("library", "average number of renewals per member", "single rows, or of the totals"),
    ("energy", "average hourly consumption", "of all together"),
    ("support", "unsolved tickets that were solved in May 2024", "closed_at cannot be empty"),
    ("hotel", "guests who booked in Lisbon but never in Porto", "never"),
    ("hotel", "how much did guests from Germany pay?", "pay"),
    # the scope of a word is open
    ("library", "7-day moving average of daily loans per branch", "or the last 7 that have rows"),
    ("library", "members with loans on every day of May 2024", "which time counts"),
    ("library", "members with loans in May 2024", "members"),  # rows of loans are no members
    ("library", "members with at least one loan in each month", "in all of them"),
    ("hotel", "bookings that were cancelled and completed", "either of them, or both"),
    ("hotel", "which guest booked the most", "by the number of rows"),
    # a name of the catalog that no part of the reading stands for
    ("hotel", "revenue of the hotels A and Lisbon", "A"),
    # rows, things and orders that a word names, or none does
    ("hotel", "number of guests per hotel", "which the wish does not name"),
    ("hotel", "rooms that were not booked in May 2024", "without any then"),
    ("library", "members without loans or email", "or"),
    ("library", "number of members with and without an email", "with and without"),
    ("hotel", "the five guests who spent the most", "by which figure"),
    ("hotel", "which 3 hotels took the most money", "by which figure"),
    ("hotel", "number of bookings by number of nights", "by number of"),
    ("support", "which agent closed the most tickets in 2024?", "which time counts"),  # opened, or closed
    ("support", "closed tickets from May 2024 until the end of August 2024", "which time counts"),
    ("hotel", "hotels ranked by revenue", "revenue"),
    ("hotel", "bookings that were booked out", "booked out"),
    ("library", "loans per branch compared with last month", "this month with the one before"),
]


@each(("schema", "wish", "named"), ASKED_BACK)
def test_what_is_not_read_is_named(schema, wish, named):
    found = understand(wish, CATALOGS[schema])
    assert found.request is None
    assert named in compact(found)

"""Groups, exclusions and comparisons in a sentence of their own are read like the plain wish, in several trades."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.wish_catalogs import ENERGY, HOTEL, LIBRARY, SUPPORT, catalog, table

MILL = catalog(
    table("ods.sales", ["sale_no"], "sold_on",
          ["sale_no:i", "buyer:s", "sold_on:d|sold", "wood_type:s|type of tree", "paid_on:d|paid;empty until then",
           "price_cents:i|amount#cents", "fail_reason:s|rejected|reason for rejection;empty if it was taken"],
          measures={"sales": {"sql": "COUNT(*)"}, "revenue": {"sql": "SUM(price_cents) / 100", "unit": "EUR"}}),
)  # fmt: skip

ALIKE = [
    # groups behind the wish
    (HOTEL, "What is the average price of a booking? One figure for each channel, please.",
     "average price of bookings per channel"),
    (LIBRARY, "How many loans were there in 2026? One number per branch", "number of loans in 2026 per branch"),
    (SUPPORT, "How many tickets were opened in 2026? By topic please", "number of tickets opened in 2026 by topic"),
    (MILL, "What is the revenue? Per buyer please", "revenue per buyer"),
    (HOTEL, "number of bookings. By channel please", "number of bookings by channel"),
    (HOTEL, "bookings from web vs. by phone", "bookings from web vs by phone"),
    (HOTEL, "revenue, channel by channel", "revenue per channel"),
    (SUPPORT, "number of tickets, topic by topic", "number of tickets per topic"),
    (ENERGY, "number of outages, region by region", "number of outages per region"),
    # number and sum
    (MILL, "unpaid sales, number and amount per buyer", "unpaid sales: number of sales and total amount per buyer"),
    (HOTEL, "cancelled bookings, number and nights per channel",
     "cancelled bookings: number of bookings and total nights per channel"),
    (SUPPORT, "urgent tickets, number and replies per topic",
     "urgent tickets: number of tickets and total replies per topic"),
    # rows that do not count
    (HOTEL, "number of bookings per channel, excluding cancelled bookings",
     "number of bookings that were not cancelled per channel"),
    (HOTEL, "number of bookings per channel. Bookings that were cancelled do not count.",
     "number of bookings that were not cancelled per channel"),
    (LIBRARY, "number of reservations per month. Reservations that were cancelled do not count.",
     "number of reservations that were not cancelled per month"),
    (SUPPORT, "number of tickets per topic, excluding reopened tickets",
     "number of tickets that were not reopened per topic"),
    # how many of what each did
    (LIBRARY, "Which member borrowed how many books?", "how many books did each member borrow"),
    (SUPPORT, "Which agent closed how many tickets?", "number of tickets closed per agent"),
    # worth
    (MILL, "sales worth more than 100 euros", "sales over 100 euros"),
    (HOTEL, "bookings worth more than 100 dollars", "bookings over 100 dollars"),
    # the period before
    (LIBRARY, "compare the number of loans of each month with the month before",
     "number of loans per month and change compared to the previous month"),
    (SUPPORT, "Please compare the number of tickets of each week with the week before, difference as a number",
     "number of tickets per week and change compared to the previous week"),
    (MILL, "compare the revenue of each year with that of the previous year",
     "revenue per year and change compared to the previous year"),
    # two steps
    (MILL, "Add up the revenue of each day. What was the highest daily revenue in every month?",
     "highest daily revenue per month"),
    (HOTEL, "Add up the revenue of each week. What was the lowest weekly revenue in every year?",
     "lowest weekly revenue per year"),
    (SUPPORT, "Count tickets per topic and month, then tell me the average of these counts for each topic.",
     "average number of tickets per month for each topic"),
    (HOTEL, "Count bookings per channel and month, then show the highest of these counts for each channel.",
     "highest number of bookings per month for each channel"),
    # names the other way round
    (MILL, "revenue by month and type of wood", "revenue by month and wood type"),
    (HOTEL, "number of bookings by type of room", "number of bookings by room type"),
    (ENERGY, "number of meters by type of meter", "number of meters by meter type"),
]  # fmt: skip


@pytest.mark.parametrize(("project", "wish", "plain"), ALIKE, ids=[one[1] for one in ALIKE])
def test_a_sentence_of_its_own_is_read_like_the_plain_wish(project, wish, plain):
    said, wanted = understand(wish, project), understand(plain, project)
    assert wanted.request is not None, (wanted.questions, wanted.refusal)
    assert said.request is not None, (said.questions, said.refusal)
    assert said.request.block == wanted.request.block
    assert said.request.ranking == wanted.request.ranking


NOT_ANSWERED = [
    (HOTEL, "Add up the revenue of each day. What was the highest daily price in every month?"),
    (MILL, "total amount of rejected sales per reason for rejection"),
    (HOTEL, "How many nights does a booking take? Per channel please"),
    (MILL, "compare the revenue of each month with the year before"),
]


@pytest.mark.parametrize(("project", "wish"), NOT_ANSWERED, ids=[one[1] for one in NOT_ANSWERED])
def test_what_a_sentence_leaves_open_is_not_answered(project, wish):
    found = understand(wish, project)
    assert found.request is None, found.request

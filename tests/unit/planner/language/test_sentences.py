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
    # how the figure is parted, in a sentence of its own
    (HOTEL, "How many bookings were there? Split it up by channel.", "number of bookings by channel"),
    (SUPPORT, "number of tickets in May 2026, broken down by topic", "number of tickets in May 2026 by topic"),
    (LIBRARY, "number of loans per month, please split by branch", "number of loans per month per branch"),
    (MILL, "How much revenue did we have in 2026? Please break it down by buyer", "revenue in 2026 by buyer"),
    # the order of rows behind them
    (MILL, "unpaid sales, oldest sale first", "unpaid sales"),
    (HOTEL, "cancelled bookings, earliest arrival date first", "cancelled bookings"),
    (LIBRARY, "loans that were not returned, oldest due date first", "loans that were not returned"),
    # a sum behind what it is of
    (HOTEL, "nights of all cancelled bookings added up", "total nights of all cancelled bookings"),
    (SUPPORT, "replies of all urgent tickets, summed up", "total replies of all urgent tickets"),
    (ENERGY, "usage of all estimated readings added up", "total usage of all estimated readings"),
    # against the period before, period by period
    (MILL, "Compare revenue month by month with the month before.",
     "revenue per month and change compared to the previous month"),
    (LIBRARY, "compare the number of loans per week with the last week",
     "number of loans per week and change compared to the previous week"),
    (SUPPORT, "compare the number of tickets week after week to the previous week",
     "number of tickets per week and change compared to the previous week"),
    # several kinds of one thing
    (HOTEL, "How many of our bookings are cancelled and how many are confirmed?",
     "number of bookings: cancelled vs confirmed"),
    (ENERGY, "how many of the meters are gas and how many are water", "number of meters: gas vs water"),
    (LIBRARY, "How many of our members are adults and how many of them are children?",
     "number of members: adults vs children"),
    # what figures go by
    (HOTEL, "top 3 channels in terms of revenue", "top 3 channels by revenue"),
    (MILL, "Who are our five biggest buyers in terms of revenue?", "five biggest buyers by revenue"),
    (SUPPORT, "top 3 topics in terms of the number of tickets", "top 3 topics by number of tickets"),
    # a number that is put right
    (HOTEL, "bookings with more than 5 nights. No, make it 7.", "bookings with more than 7 nights"),
    (MILL, "months with revenue over 100 euros. Sorry, make that 250 euros", "months with revenue over 250 euros"),
    (SUPPORT, "tickets with more than 10 replies, no, better 20", "tickets with more than 20 replies"),
    (MILL, "months in which we sold more than 100 euros", "months with a revenue of more than 100 euros"),
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

# ruff: noqa: E501 - one wish a line
"""Totals over periods, shares, alerts, lists and what is left out, in more words; near misses stay refused."""

import pytest

from streamhouse.planner.understand import understand
from tests.tables import each
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS, catalog, table

BAKERY = catalog(
    table("ods.bakers", ["baker_id"], None, ["baker_id:i", "baker_name:s", "on_nights:b|works at night"]),
    table("ods.shops", ["shop_key"], None, ["shop_key:s", "shop_name:s", "quarter_name:s|district;part of the town"],
          values={"shop_key": {"MARKETS": [], "DOCK": []}, "shop_name": {"Market": [], "Dock Road": []}}),
    table("ods.deliveries", ["delivery_no"], "arrived_at",
          ["delivery_no:i", "shop_key:s>ods.shops.shop_key", "baker_id:i>ods.bakers.baker_id", "arrived_at:t|arrived;when it reached the shop", "unload_secs:i|unloading time#seconds", "drive_secs:i|driving time#seconds", "weight_kg:f|weight#kg"],
          description="Every delivery to a shop."),
    table("ods.complaints", ["delivery_no"], None, ["delivery_no:i>ods.deliveries.delivery_no;delivery that it is about", "remark:s"]),
    table("ods.sold_goods", ["sale_no", "good"], "sold_at", ["sale_no:i", "good:s", "bakery:s|maker", "sold_at:t", "qty:i|quantity|pieces;how many were sold", "price_cents:i|price#cents"],
          description="Goods that were sold.", measures={"pieces": {"sql": "SUM(qty)", "description": "number of pieces that were sold"}}),
)  # fmt: skip
ALL = {**CATALOGS, "bakery": BAKERY}

READ = [
    # totals over periods
    ("library", "the loans of each month together with those of the two months before", "dwd.loans; by month(lent_at); get loans; then moving(loans) x3 sum"),
    ("hotel", "for each week, the revenue of that week and the three weeks before summed up", "dwd.bookings; by week(booked_at); get revenue; then moving(revenue) x4 sum"),
    ("energy", "consumption per day, accumulated", "dwd.readings; by day(read_at); get -consumption; then running(consumption)"),
    ("hotel", "revenue month by month, added up from the start", "dwd.bookings; by month(booked_at); get -revenue; then running(revenue)"),
    ("hotel", "nights sold, cumulated over the weeks", "dwd.bookings; by week(booked_at); get -room_nights; then running(room_nights)"),
    # shares
    ("support", "distribution of the topics as a percentage of all tickets", "dwd.tickets; by topic; get -count(*); then share(count(*)) %"),
    ("hotel", "what share of the bookings is each channel", "dwd.bookings; by channel; get -count(*); then share(count(*))"),
    ("support", "what share of the tickets in each month was reopened?", "dwd.tickets; by month(opened_at); get -count(*), -count(*) if reopened = True; then ratio(count(*) if reopened = True, count(*))"),
    ("hotel", "what percentage of bookings in every week were cancelled?", "dwd.bookings; by week(booked_at); get -count(*), -count(*) if status = C; then ratio(count(*) if status = C, count(*)) %"),
    # groups of groups, and groups that are counted
    ("library", "the highest number of loans on a single day, for each month", "[dwd.loans; by day(lent_at); get count(*)]; by month(day); get max(loan_count)"),
    ("support", "for each topic, count its tickets per agent and week, then give me the highest count", "[dwd.tickets; by agent_id, week(opened_at), topic; get count(*)]; by topic; get max(ticket_count)"),
    ("library", "on how many days did we have more than 20 loans?", "[dwd.loans; by day(lent_at); get count(*); having loan_count > 20]; get count(*)"),
    ("energy", "how many weeks had more than 3 outages?", "[dwd.outages; by week(began_at); get count(*); having outage_count > 3]; get count(*)"),
    ("support", "number of months with at least 50 urgent tickets", "[dwd.tickets; where priority = 1; by month(opened_at); get count(*); having ticket_count >= 50]; get count(*)"),
    # the first of each
    ("bakery", "the most sold good of each bakery, by pieces", "ods.sold_goods; by bakery, good; get pieces; top 1 pieces per bakery ties"),
    ("bakery", "the most sold good of each bakery, by pieces; leave out goods without a bakery", "ods.sold_goods; where bakery is not null; by bakery, good; get pieces; top 1 pieces per bakery ties"),
    # what never was, and what is left out
    ("library", "books that nobody ever borrowed", "ods.books; where no dwd.loans by book_id"),
    ("library", "branches at which no loan has happened", "ods.branches; where no dwd.loans by branch_id"),
    ("support", "Are there agents for which no ticket has come in?", "ods.agents; where no dwd.tickets by agent_id"),
    ("library", "number of loans per month, without the branch Harbour", "dwd.loans; join branch=ods.branches; where branch.branch_name <> Harbour; by month(lent_at); get count(*)"),
    # alerts
    ("support", "Notify us about every agent with more than 30 tickets in a week", "dwd.tickets; by agent_id, week(opened_at); get count(*); having ticket_count > 30; alert True"),
    ("support", "Alarm me if the average satisfaction of an agent drops below 3 on any day", "dwd.tickets; by agent_id, day(opened_at); get avg(csat); having average_csat < 3; alert True"),
    ("support", "tell me about agents with more than 30 tickets within one calendar week", "dwd.tickets; by agent_id, week(opened_at); get count(*); having ticket_count > 30"),
    # one group for yes and one for no, and values side by side
    ("hotel", "bookings per month, split by whether the room has a balcony or not", "dwd.bookings; join room=ods.rooms; by month(booked_at), room.has_balcony; get count(*)"),
    ("support", "average satisfaction of tickets, split by whether they were reopened or not", "dwd.tickets; by reopened; get avg(csat)"),
    ("support", "number of tickets, urgent and high separately", "dwd.tickets; where priority in 1, 2; by priority; get count(*)"),
    ("hotel", "bookings from web vs. by phone", "dwd.bookings; where channel in web, phone; by channel; get count(*)"),
    # verbs that are true of each row
    ("support", "how many tickets were submitted on each channel?", "dwd.tickets; by channel; get count(*)"),
    ("bakery", "How many deliveries arrived at each shop in May 2026?", "ods.deliveries; where arrived_at 2026-05-01..2026-06-01; by shop_key; get count(*)"),
    # the name of a thing, which its code resembles
    ("bakery", "average weight of the deliveries to Market", "ods.deliveries; join shop=ods.shops; where shop.shop_name = Market; get avg(weight_kg)"),
    ("bakery", "average weight of the deliveries to DOCK", "ods.deliveries; where shop_key = DOCK; get avg(weight_kg)"),
    # a key that every row has is shown
    ("bakery", "deliveries with delivery number", "ods.deliveries; show delivery_no"),
    # the two words of a measure's name the other way round
    ("library", "income from fines per branch", "dwd.loans; by branch_id; get fines"),
    # a word that only the description of a group has
    ("bakery", "number of deliveries by district of the town", "ods.deliveries; join shop=ods.shops; by shop.quarter_name; get count(*)"),
    # units, examples and slips
    ("support", "tickets by hour of the day (8, 9, 10 and so on)", "dwd.tickets; by hour_of_day(opened_at); get count(*)"),
    ("hotel", "average price of bookings in May 2024 (USD)", "dwd.bookings; where booked_at 2024-05-01..2024-06-01; get avg((price_cents / 100))"),
    ("library", "books with more then 300 pages", "ods.books; where pages > 300"),
    # two bounds of one value
    ("energy", "readings with a voltage above 220 and below 240", "dwd.readings; where voltage > 220 and voltage < 240"),
    # lists behind a mark
    ("hotel", "which bookings were cancelled? show room number, price and channel", "dwd.bookings; where status = C; show booking_id, room_no, price_cents, channel"),
    ("library", "the crime books - title, author and pages", "ods.books; where genre = crime; show book_id, title, author, pages"),
]  # fmt: skip

NOT_READ = [
    ("hotel", "revenue per month, summed up", "summed"),
    ("library", "loans of each month together with the two months before May 2024", "two months"),
    ("library", "average fine of each month together with those of the two months before", "two months before"),
    ("support", "tickets of a topic, cumulated over the months", "topic"),
    ("support", "share of tickets in each month was nice", "nice"),
    ("library", "what part of the loans in each month was renewed", "more than 0"),
    ("bakery", "the most returned good of each bakery, by pieces", "returned"),
    ("support", "number of days with more than 40 tickets per topic", "how many periods"),
    ("library", "books nobody ever liked", "liked"),
    ("library", "number of loans per month, without the branch Nowhere", "Nowhere"),
    ("support", "tickets by hour of the day (8 to 10)", "8"),
    ("library", "crime books - they are short, and cheap", "short"),
    # two bounds that exclude each other are named; of several things each bound may be met by another one
    ("library", "books with a length above 300 pages and below 100 pages", "no row can have 'length' below 100 and above 300"),
    ("energy", "readings whose voltage was below 200 and at the same time above 240", "voltage"),
    ("library", "members with loans below 20 cents and above 300 cents", "300 cents"),
    ("hotel", "income from rooms per channel", "rooms"),
    ("bakery", "number of deliveries by district of the customer", "customer"),
    ("bakery", "number of deliveries by shop of the town", "town"),
    # a figure that is not there, and one that may be several
    ("library", "performance of the Harbour branch", "performance"),
    ("support", "which agents had a wait over 20 minutes - and why", "wait"),
    ("bakery", "average length of a delivery", "'unload_secs', 'drive_secs'"),
]  # fmt: skip


@each(("schema", "wish", "wanted"), READ)
def test_read_as(schema, wish, wanted):
    assert compact(understand(wish, ALL[schema])) == wanted


@pytest.mark.parametrize(("schema", "wish", "word"), NOT_READ)
def test_refused_or_asked_back(schema, wish, word):
    found = understand(wish, ALL[schema])
    assert found.request is None
    assert word in compact(found)

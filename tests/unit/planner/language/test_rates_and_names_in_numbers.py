# ruff: noqa: E501 - one wish, or one table, a line
"""Rates that say which rows are meant, numbers inside names, prices of things, and lengths that are a value, too."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

CLIMBING = catalog(
    table("ods.walls", ["wall_no"], None, ["wall_no:i", "height_m:f|height#m", "slope_percent:f|slope#percent", "rock:s|material", "usage:s"],
          values={"rock": {"GRN": ["granite"], "LIM": ["limestone"]}, "usage": {"L": ["lead"], "T": ["top rope"]}}, measures={"walls": {"sql": "COUNT(*)"}}),
    table("ods.trainers", ["trainer_no"], "hired_on", ["trainer_no:i", "trainer_name:s|name", "hired_on:d|hired", "weekly_hours:f|hours a week|hours per week", "licence:s"],
          values={"licence": {"A": ["lead"], "B": ["boulder"], "C": ["lead and boulder"]}}, measures={"trainers": {"sql": "COUNT(*)"}}),
    table("ods.shoes", ["shoe_no"], None, ["shoe_no:i", "brand:s", "list_price_eur:f|price#EUR", "pairs_in_stock:i|stock"], synonyms=["pair"], values={"brand": {"Ibex": [], "Lynx": []}},
          measures={"shoes": {"sql": "COUNT(*)"}, "stock_value": {"sql": "SUM(pairs_in_stock * list_price_eur)", "unit": "EUR"}}),
    table("ods.basket_lines", ["line_no"], None, ["line_no:i", "basket_no:i>ods.baskets.basket_no", "snacks:i"]),
    table("ods.baskets", ["basket_no"], "paid_at", ["basket_no:i", "paid_at:t|paid"], measures={"baskets": {"sql": "COUNT(*)"}}),
    table("ods.sale_lines", ["sale_line_no"], None, ["sale_line_no:i", "basket_no:i>ods.baskets.basket_no", "shoe_no:i>ods.shoes.shoe_no", "pairs:i|number of pairs", "piece_price_eur:f|price of a pair#EUR", "rebate_eur:f|rebate;empty without one#EUR"],
          measures={"sales": {"sql": "SUM(pairs * piece_price_eur - COALESCE(rebate_eur, 0))", "unit": "EUR"}}),
    table("ods.entries", ["entry_no"], "entered_at", ["entry_no:i", "entered_at:t|entered", "kind:s", "reduced:b|student", "price_eur:f|price#EUR", "status:s"],
          values={"kind": {"DAY": ["day entry"], "EVE": ["evening entry"]}, "status": {"USE": ["used"], "EXP": ["expired"], "CAN": ["cancelled"]}},
          measures={"entries": {"sql": "COUNT(*)"}}),
    table("ods.courses", ["course_no"], "held_on", ["course_no:i", "trainer_no:i>ods.trainers.trainer_no", "held_on:d|held", "level:s", "climbers:i|participants;people who came", "wait_min:f|wait|late;minutes until it began; empty unless it took place#min", "cost_eur:f|cost#EUR"],
          measures={"courses": {"sql": "COUNT(*)"}, "average_wait": {"sql": "AVG(wait_min)", "unit": "min", "synonyms": ["mean wait"]}}),
    table("ods.parcels", ["parcel_no"], "sent_on", ["parcel_no:i", "lost_pairs:i", "sale_line_no:i>ods.sale_lines.sale_line_no", "sent_on:d|sent", "arrived_on:d|arrived;day on which it came; empty while it is on the way"],
          measures={"parcels": {"sql": "COUNT(*)"}}),
    table("ods.messages", ["message_no"], "received_at", ["message_no:i", "received_at:t|received", "topic:s", "answered_at:t|answered|answer;empty while it is open", "voucher_eur:f|voucher;what we gave; empty if nothing#EUR"],
          values={"topic": {"WAI": ["wait", "waiting"], "PRI": ["price"]}}, measures={"messages": {"sql": "COUNT(*)"}}),
)  # fmt: skip

READ = [
    # a rate behind "at" says which rows are meant
    ("average price of a day entry at the reduced rate", "ods.entries; where kind = DAY and reduced = True; get avg(price_eur)"),
    ("number of entries at student rates per month", "ods.entries; where reduced = True; by month(entered_at); get count(*)"),
    # a number inside the name of its column
    ("trainers who work less than 30 hours a week", "ods.trainers; where weekly_hours < 30"),
    ("how many trainers have a lead licence and work less than 30 hours a week", "ods.trainers; where licence = A and weekly_hours < 30; get count(*)"),
    ("number of trainers with at least 20 hours per week", "ods.trainers; where weekly_hours >= 20; get count(*)"),
    ("walls with 12 % slope or more", "ods.walls; where slope_percent >= 12"),
    ("granite walls with 12 % slope or less", "ods.walls; where slope_percent <= 12 and rock = GRN"),
    # each thing has one price
    ("shoes under 90 euros", "ods.shoes; where list_price_eur < 90"),
    # a length of time, though a topic is called so, too
    ("longest wait of each trainer", "ods.courses; by trainer_no; get max(wait_min)"),
    ("courses more than 5 min late per trainer", "ods.courses; where wait_min > 5; by trainer_no; get courses"),
    # what a short word of a description says
    ("parcels still on the way", "ods.parcels; where arrived_on is null"),
    # how long something takes
    ("How many days does it take us on average to answer a message?", "ods.messages; get avg(days(received_at→answered_at))"),
    ("how many hours does it take to answer a message per topic", "ods.messages; by topic; get avg(hours(received_at→answered_at))"),
    # groups that a plus joins
    ("entries per kind + month", "ods.entries; by kind, month(entered_at); get entries"),
    # money by people that a column counts
    ("cost per climber for each trainer", "ods.courses; by trainer_no; get -sum(climbers), -sum(cost_eur); then ratio(sum(cost_eur), sum(climbers))"),
    # what the choices of the questions below lead to
    ("courses with wait min = 0", "ods.courses; where wait_min = 0"),
    ("courses with wait min > 0 per trainer", "ods.courses; where wait_min > 0; by trainer_no; get courses"),
    ("how many messages with ods.messages.voucher_eur > 0", "ods.messages; where voucher_eur > 0; get count(*)"),
    ("number of entries that were used or expired", "ods.entries; where status in USE, EXP; get count(*)"),
    ("sale lines with a piece price eur under 90 euros", "ods.sale_lines; where piece_price_eur < 90"),
]  # fmt: skip

ASKED = [
    ("entries that were both used and expired", "'both used and expired': either of them, or both? ods.entries.status of one row has one value ('used or expired',)"),
    ("number of entries that were both used and expired", "'both used and expired': either of them, or both?"),
    ("sale lines under 90 euros", "'under 90 euros': ods.sale_lines.piece_price_eur of one piece, or the amount of the row? ('with a piece price eur under 90 euros',)"),
    ("how many messages had vouchers", "'with vouchers': does it mean that ods.messages.voucher_eur is there, or more than 0? ('with ods.messages.voucher_eur > 0',)"),
    ("courses without wait", "'without wait': is ods.courses.wait_min 0 then, or empty? ('with ods.courses.wait_min = 0',)"),
    ("late courses per trainer", "'late courses': which courses are meant? ods.courses.wait_min is a number ('courses with wait min > 0',)"),
    ("how many pairs of the brand Ibex do we have", "'how many pairs': rows of ods.shoes, or the total of ods.shoes.pairs_in_stock? ('how many shoes', 'total pairs in stock')"),
    ("average snacks per basket", "'basket': the average over the rows of each basket, or over the totals of all of them?"),
    ("courses with lead trainers", "REFUSED nothing near ods.courses is called 'with lead trainers'"),
    ("lead and boulder trainers", "'lead and boulder': ods.trainers.licence 'C', or lead or boulder? ('lead or boulder',)"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, CLIMBING)) == request_


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, CLIMBING))

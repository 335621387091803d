# ruff: noqa: E501 - one wish a line
"""After the reading: which word chose each time, table, number and column, and would it have chosen another one?"""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.trade_catalogs import TRADES

READ = [
    # the word that points to a time has it
    ("meals", "meals per day", "dwd.meals; by day(eaten_on); get count(*)"),
    ("meals", "meals cancelled per day", "dwd.meals; where cancelled_at is not null; by day(cancelled_at); get count(*)"),
    ("letting", "contracts made per month", "ods.contracts; by month(signed_on); get count(*)"),
    ("letting", "total deposit of contracts signed in May 2026", "ods.contracts; where signed_on 2026-05-01..2026-06-01; get sum(deposit_eur)"),
    ("letting", "repairs in May 2026", "ods.repairs; where reported_at 2026-05-01..2026-06-01"),
    ("meals", "menus served in June 2026", "ods.menus; where served_on 2026-06-01..2026-07-01"),
    ("optician", "employees who left in 2025", "ods.staff; where left_on 2025-01-01..2026-01-01"),
    ("optician", "oldest customer", "ods.customers; bottom 1 born_on ties"),
    # how numbers are folded is said
    ("buses", "average price per channel", "ods.tickets; by channel; get avg(price_cents)"),
    ("buses", "total price per channel", "ods.tickets; by channel; get sum(price_cents)"),
    ("buses", "passengers per line", "ods.runs; by line_no; get sum(passengers)"),
    ("optician", "total days between order and collection per lens type", "ods.orders; by lens_type; get sum(days(ordered_at→collected_on))"),
    ("optician", "average revenue per order", "[ods.orders; by order_id; get revenue]; get avg(revenue)"),
    ("letting", "average rent and average heating costs per district", "ods.flats; by district; get avg(rent_eur), avg(heating_eur)"),
    ("optician", "average number of orders per customer and month", "[ods.orders; by customer_id, month(ordered_at); get count(*)]; get avg(order_count)"),
    # groups are said
    ("optician", "revenue per customer city", "ods.orders; join customer=ods.customers; by customer.city; get revenue"),
    ("letting", "average rent with and without lift", "ods.flats; by has_lift; get avg(rent_eur)"),
    ("letting", "flats of company owners per district", "ods.flats; join owner=ods.owners; where owner.is_company = True; by district; get count(*)"),
    ("parcels", "parcels per sender, fresh within 2 minutes", "ods.parcels; by sender_id; get count(*); freshness 0:02:00"),
    ("parcels", "parcels per sender, delivered within 5 seconds", "ods.parcels; by sender_id; get count(*); freshness 0:00:05"),
    # rows, things and columns are said
    ("meals", "number of inspections per inspector", "ods.inspections; by inspector; get count(*)"),
    ("optician", "number of different frames sold per lens type", "ods.orders; by lens_type; get count distinct(frame_id)"),
    ("parcels", "tours longer than 200 km", "ods.routes; where km > 200"),
    ("parcels", "attempts per driver", "ods.attempts; by driver_id; get count(*)"),
    ("wines", "bottles per order", "dwd.order_lines; by order_no; get sum(bottles)"),
    ("wines", "average turnover per order", "[dwd.order_lines; by order_no; get turnover]; get avg(turnover)"),
    ("wines", "order lines with more than 50 bottles", "dwd.order_lines; where bottles > 50"),
    ("hiring", "applications per week", "dwd.applications; by week(sent_at); get count(*)"),
    ("hiring", "rejected applications per company", "dwd.applications; where stage = R; by company_id; get count(*)"),
    ("hiring", "number of interviews per company", "dwd.applications; by company_id; get count(interviewed_on)"),
    ("washing", "average rating per programme", "dwd.washes; by programme_code; get avg(stars)"),
    ("washing", "washes per member and programme", "dwd.washes; by member_id, programme_code; get count(*)"),
    ("wines", "number of orders per month", "dwd.order_lines; by month(ordered_at); get count distinct(order_no)"),
    ("rescue", "ambulances retired in 2025", "ods.ambulances; where retired_on 2025-01-01..2026-01-01"),
    ("rescue", "total value of ambulances", "ods.ambulances; get sum(value_eur)"),
    ("washing", "washes per programme", "dwd.washes; by programme_code; get count(*)"),
    # rows of nobody are no thing, also in each of several periods
    ("washing", "members with more than 4 washes per month", "dwd.washes; where member_id is not null; by member_id, month(started_at); get count(*); having wash_count > 4"),
    ("pools", "closures per pool", "ods.closures; by pool_code; get count(*)"),
    ("optician", "orders with the name of the employee", "ods.orders; join staff=ods.staff; show order_id, staff.staff_name"),
    ("parcels", "parcels and their insured value", "ods.parcels; show parcel_no, insured_eur"),
]  # fmt: skip

ASKED = [
    # a verb points to another time, whether it was read, excused by a description, or belongs to other rows
    ("meals", "meals ordered per day", "'ordered': which time counts, dwd.meals.eaten_on or dwd.meals.ordered_at? ('day of eaten', 'day of ordered')"),
    ("letting", "tenants who left in 2025", "'left': which time counts, ods.seekers.registered_on or ods.agents.left_on?"),
    ("letting", "repairs done in May 2026", "'done': which time counts, ods.repairs.reported_at or ods.repairs.fixed_at?"),
    ("meals", "menus planned for June 2026", "'planned': which time counts, ods.menus.planned_on or ods.menus.served_on?"),
    ("meals", "oldest child per school", "'oldest': which time counts, ods.pupils.born_on or ods.pupils.enrolled_on?"),
    ("letting", "oldest flat per district", "'oldest': which time counts, ods.flats.built_in or ods.flats.listed_on?"),
    ("letting", "contracts running out in 2026", "'running out': is 'running' alone meant?"),
    # a number has a time of its own
    ("letting", "deposits per month", "which time counts, ods.contracts.signed_on or ods.contracts.deposit_paid_on?"),
    # no word says how a number is folded
    ("buses", "price per channel", "'price': the average of ods.tickets.price_cents, or the total? ('average price', 'total price')"),
    ("letting", "average rent and heating costs per district", "'heating costs': the average of ods.flats.heating_eur, or the total?"),
    ("optician", "days between order and collection per lens type", "the average of the time of each row, or the total?"),
    # the rows themselves are left out, or counted together
    ("meals", "inspections per inspector with average grade", "'inspections': is their number wanted as well?"),
    ("optician", "orders, revenue and average price per month", "'orders': is their number wanted as well?"),
    ("optician", "for every shop the number of employees and orders", "'orders': is their number wanted as well?"),
    ("optician", "number of orders and complaints per shop", "'complaints': is their number wanted as well?"),
    ("buses", "electric buses with number of repairs", "'electric buses': a row for each of them, or one number for all?"),
    ("optician", "number of frames sold per lens type", "'frames sold': different frames, or all orders?"),
    ("parcels", "stops per driver", "'stops': rows of ods.attempts, or ods.routes.stops?"),
    # a column is required, where it may be shown; or shown, where it may be required
    ("buses", "runs per line with line name", "'with line name': must it be there, or is it to be shown?"),
    ("optician", "staff per shop with city", "'with city': must it be there, or is it to be shown?"),
    ("parcels", "insured parcels", "'insured parcels': which of them are insured?"),
    # groups that a word chose of several, or that no word chose
    ("optician", "revenue per city", "'city' may mean ods.customers.city or ods.shops.city: which one? ('city of the customer', 'city of the shop')"),
    ("optician", "average revenue per order and brand", "'per order and brand': one average over all of them, or one for each brand? ('for each brand',)"),
    ("letting", "companies with more than 5 flats", "'companies': only rows that are so, or a group for yes and one for no?"),
    ("parcels", "alert when more than 10 parcels are lost in a week", "'lost': only rows that are so"),
    ("letting", "rent plus heating per district", "'rent plus heating': both beside each other, or added up?"),
    ("parcels", "parcels delivered within 2 days", "'delivered within': the rows that were delivered so, or how fresh the result has to be?"),
    # rows that are only a part of what the wish names, or rows of something else
    ("wines", "average bottles per order", "'order': the average over the rows of each order, or over the totals of all of them?"),
    ("wines", "orders with more than 50 bottles", "'orders': a row of dwd.order_lines is only a part of one"),
    ("wines", "share of returned bottles per channel", "'returned bottles': a share of dwd.order_lines.bottles, or of all returned bottles?"),
    ("wines", "wines tasted in May 2026", "'wines tasted': rows of ods.tastings, or of ods.wines?"),
    ("wines", "wines with a score above 16", "'wines': rows of ods.wines, or of ods.tasting_wines?"),
    ("wines", "customers with turnover above their credit limit", "a figure of a group is compared with a number only"),
    ("pools", "pools that are closed", "'are closed': at present, or whenever it was so?"),
    # a value that is a time, or a second count as well
    ("hiring", "applications sent per week", "'sent': rows of dwd.applications that are so at present, or those with dwd.applications.sent_at?"),
    ("hiring", "interviews per month", "'interviews': rows of dwd.applications that are so at present, or those with dwd.applications.interviewed_on?"),
    ("hiring", "number of applications and interviews per company", "'applications and interviews': the number of each?"),
    # things that not each row has, or that are no events
    ("washing", "washes of members", "'of members': only rows with dwd.washes.member_id, or all rows?"),
    ("washing", "water used per programme", "'water used': which rows say so? Only ods.programmes would be read"),
    # weak names, and words that name something else
    ("washing", "average paid amount by guests", "'guests': rows of ods.members, or what the description of dwd.washes.member_id says?"),
    ("washing", "number of ratings per programme", "'number of ratings': how many rows have one, or the total of dwd.washes.stars?"),
    ("washing", "washes by members per programme", "'by members': only what they did, or a group for each of them? ('per member',)"),
    ("letting", "highest signed contract per flat", "'highest': ods.contracts.signed_on is a time; which number is meant?"),
    ("wines", "orders and bottles per month", "'orders': rows of dwd.order_lines, or different values of order_no?"),
    ("rescue", "patients per hospital", "'patients': rows of ods.bills with payer 'PRI'? dwd.callouts.patient_age says it, too"),
    ("rescue", "ambulances in use", "'use': only rows where ods.ambulances.retired_on is empty, or all of them?"),
    # a number for each of two readings of "long"
    ("parcels", "average tour length per driver", "'length': ods.routes.km, or the time that it took?"),
    ("parcels", "longest tour", "'longest': ods.routes.km, or the time that it took?"),
    ("buses", "longest repair", "'longest repair': by which figure?"),
    # rows that only a part of a flag's name chose
    ("optician", "glasses made in May 2026", "'glasses': rows of ods.eye_tests? No word of the wish names them"),
]  # fmt: skip


@pytest.mark.parametrize(("trade", "wish", "request_"), READ)
def test_what_a_word_chose_is_read(trade, wish, request_):
    assert compact(understand(wish, TRADES[trade])) == request_


@pytest.mark.parametrize(("trade", "wish", "asked"), ASKED)
def test_what_a_word_may_have_chosen_otherwise_is_asked(trade, wish, asked):
    assert asked in compact(understand(wish, TRADES[trade]))

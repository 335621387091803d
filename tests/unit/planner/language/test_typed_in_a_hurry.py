# ruff: noqa: E501 - one wish a line
"""Words without apostrophes, verbs before figures, amounts by their unit, values for things, and whose name is shown."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact

READ = [
    # words without their apostrophe, and what people say around a wish
    ("laundry", "whats the average weight of a load in kestrel machines", "ods.loads; join machine=ods.machines; where machine.maker = Kestrel; get avg(weight_kg)"),
    ("dentallab", "technicians who havent left", "ods.technicians; where left_on is null"),
    ("dentallab", "cases per technician, with the name pls", "ods.cases; join technician=ods.technicians; by tech_id, technician.tech_name; get cases"),
    ("laundry", "The plant manager asks how many complaints about stains we got, per town", "ods.complaints; join client=ods.clients; where topic = STN; by client.town; get count(*)"),
    ("laundry", "I'm looking for all collections by Vera Kunz of more than 150 kilos", "ods.pickups; where driver = Vera Kunz and weight_kg > 150"),
    ("dentallab", "avg hourly rate by bench, leave out people who have left", "ods.technicians; where left_on is null; by bench; get avg(hourly_rate_eur)"),
    ("dentallab", "at what hour of the day do orders come in? count per hour", "ods.cases; by hour_of_day(received_at); get count(*)"),
    # the name of a thing whose column shortens it
    ("dentallab", "late cases per technician and technician name", "dwd.shipped_cases; join technician=ods.technicians; where was_late = True; by tech_id, technician.tech_name; get count(*)"),
    # amounts by their unit
    ("laundry", "kilos of linen collected per client", "ods.pickups; by client_id; get linen_kg"),
    ("lawfirm", "hours spent per activity", "ods.time_entries; by activity; get sum((minutes / 60))"),
    ("firebrigade", "km driven per engine", "ods.turnouts; by engine_no; get kilometres"),
    ("firebrigade", "what engine used the most water?", "ods.turnouts; by engine_no; get sum(water_l); top 1 total_water_l ties"),
    ("laundry", "the three machines with the most running time", "ods.loads; by machine_id; get sum(minutes); top 3 total_minutes"),
    ("laundry", "pickups that weigh more than 200 kg", "ods.pickups; where weight_kg > 200"),
    # ways by which something came
    ("printshop", "orders over the web shop per month", "ods.orders; where order_channel = WEB; by month(ordered_at); get orders"),
    # values that stand for things
    ("dentallab", "the most expensive crown", "ods.cases; where product = CRN; top 1 price_eur ties"),
    ("laundry", "the two hotels with the most complaints", "ods.complaints; join client=ods.clients; where client.sector = HOT; by client_id; get complaints; top 2 complaints"),
    ("dentallab", "crowns shipped in May 2026", "dwd.shipped_cases; where shipped_at 2026-05-01..2026-06-01 and product = CRN"),
    # what is shown beside what must not be there, and a name without the article in it
    ("laundry", "hotels with no end of contract and their kilo price", "ods.clients; where sector = HOT and contract_until is null; show client_id, price_per_kg_eur"),
    # rows that are so
    ("firebrigade", "number of drivers at every station", "ods.firefighters; where is_driver = True; by station_code; get count(*)"),
    ("laundry", "alert me when a client has more than 3 complaints a month", "ods.complaints; by client_id, month(reported_at); get count(*); having complaint_count > 3; alert True"),
]  # fmt: skip

ASKED = [
    ("workshop", "invoices that were paid late, per month", "which time counts: ods.invoices.issued_on"),
    ("delivery", "couriers who were late at least 5 times", "rows of ods.reviews with 'LATE'"),
    ("dentallab", "gram price per kind of material", "which figure of 'gram price' do you want"),
]


@pytest.mark.parametrize(("known", "wish", "request_"), READ)
def test_a_wish_is_read(known, wish, request_):
    assert compact(understand(wish, schema(known).catalog)) == request_


@pytest.mark.parametrize(("known", "wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(known, wish, asked):
    assert asked in compact(understand(wish, schema(known).catalog))

# ruff: noqa: E501 - one wish, or one column, a line
"""A word behind a noun is asked back where another row, other people or the name of a number would give its meaning."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

FENCES = catalog(
    table("ods.leads", ["lead_no"], "called_at", ["lead_no:i", "called_at:t|called", "stage:s|state"], synonyms=["request"],
          values={"stage": {"N": ["new"], "W": ["sold", "won"], "L": ["lost"]}}),
    table("ods.bids", ["bid_no"], "sent_at", ["bid_no:i", "lead_no:i>ods.leads.lead_no", "sent_at:t|sent", "agreed_on:d|agreed;empty if it was not", "load_kg:f|peak load#kg", "gust_kmh:f|top gust#km"],
          synonyms=["offer"], measures={"bids": {"sql": "COUNT(*)"}, "offered_load": {"sql": "SUM(load_kg)", "unit": "kg"}}),
    table("ods.works", ["work_no"], "begun_on", ["work_no:i", "bid_no:i>ods.bids.bid_no", "begun_on:d|begun", "posts:i|fence posts"],
          synonyms=["job"], measures={"works": {"sql": "COUNT(*)"}}),
)  # fmt: skip
MEALS = catalog(
    table("ods.clients", ["client_no"], None, ["client_no:i", "client_name:s", "town:s"], synonyms=["customer"]),
    table("ods.orders", ["order_no"], "ordered_at", ["order_no:i", "client_no:i>ods.clients.client_no", "ordered_at:t|ordered"], measures={"orders": {"sql": "COUNT(*)"}}),
    table("ods.drops", ["drop_no"], "arrived_at", ["drop_no:i", "order_no:i>ods.orders.order_no", "crew:s|team", "arrived_at:t|arrived|delivered"], description="Visits of a crew that brings an order to the client.",
          measures={"drops": {"sql": "COUNT(*)"}}),
    table("ods.refunds", ["refund_no"], "came_in_on", ["refund_no:i", "order_no:i>ods.orders.order_no", "came_in_on:d|returned"], description="Meals that clients sent back.",
          measures={"refunds": {"sql": "COUNT(*)"}}),
)  # fmt: skip
LABS = catalog(
    table("ods.doctors", ["doctor_no"], None, ["doctor_no:i", "doctor_name:s"]),
    table("ods.cases", ["case_no"], "opened_at", ["case_no:i", "doctor_no:i>ods.doctors.doctor_no", "opened_at:t|opened", "state:s|status"], values={"state": {"O": ["open"], "C": ["closed"], "X": ["rejected"]}}),
    table("ods.samples", ["sample_no"], "taken_at", ["sample_no:i", "case_no:i>ods.cases.case_no", "taken_at:t|taken", "tubes:i", "heat:f|top heat#celsius"], measures={"samples": {"sql": "COUNT(*)"}, "tubes_filled": {"sql": "SUM(tubes)"}}),
    table("ods.checks", ["check_no"], "checked_at", ["check_no:i", "sample_no:i>ods.samples.sample_no", "checked_at:t|checked"], description="Checks by a machine.", measures={"checks": {"sql": "COUNT(*)"}}),
)  # fmt: skip

ASKED = [
    (FENCES, "posts sold per month", "posts sold"),
    (FENCES, "number of posts sold per month", "posts sold"),
    (FENCES, "peak load agreed per month", "peak load"),
    (FENCES, "peak load sent per month", "peak load"),
    (LABS, "tubes rejected per month", "tubes rejected"),
    (LABS, "tubes closed per month", "tubes closed"),
    (MEALS, "customers who delivered the most orders", "customers who delivered"),
    (LABS, "doctors who checked samples in 2026", "doctors who checked"),
]  # fmt: skip
READ = [
    (FENCES, "highest peak load agreed per month"),
    (FENCES, "total peak load agreed per month"),
    (FENCES, "posts of jobs whose leads are sold per month"),
    (FENCES, "highest top gust sent per month"),
    (LABS, "tubes taken per month"),
    (MEALS, "customers who ordered the most orders"),
    (LABS, "highest top heat taken per month"),
]


@pytest.mark.parametrize(("project", "wish", "phrase"), ASKED, ids=[one[1] for one in ASKED])
def test_what_other_rows_people_or_names_say_is_asked_back(project, wish, phrase):
    found = understand(wish, project)
    assert found.request is None, compact(found)
    assert [one.phrase for one in found.questions] == [phrase]


@pytest.mark.parametrize(("project", "wish"), READ, ids=[one[1] for one in READ])
def test_what_the_rows_that_are_read_say_is_answered(project, wish):
    found = understand(wish, project)
    assert found.request is not None, (found.questions, found.refusal)

# ruff: noqa: E501 - one wish a line
"""Shares of what somebody did, periods of some rows, words of descriptions for rows without a value, sums of things."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact

READ = [
    # the whole of a share, where its part says who did it
    ("firebrigade", "share of checks that failed, per inspector", "ods.checks; by inspector; get -checks, -checks if has_passed <> True; then ratio(checks if has_passed <> True, checks)"),
    ("firebrigade", "share of checks that the building failed", "ods.checks; get -checks, -checks if building_id is not null and has_passed <> True; then ratio(checks if building_id is not null and has_passed <> True, checks)"),
    # what a description says of rows without a value
    ("charity", "number of anonymous gifts", "ods.donations; where donor_id is null; get count(*)"),
    ("charity", "average gift per campaign, without the anonymous ones", "ods.donations; where donor_id is not null; by campaign_code; get avg(amount_cents)"),
    ("charity", "share of anonymous donations", "ods.donations; get -donations, -donations if donor_id is null; then ratio(donations if donor_id is null, donations)"),
    ("museum", "insured value of the paintings that are in the store", "ods.objects; where kind = PNT and exhibition_code is null; get insured_value"),
    ("museum", "how many sculptures are not in the store?", "ods.objects; where kind = SCU and exhibition_code is not null; get count(*)"),
    ("firebrigade", "firefighters of the headquarters", "ods.firefighters; where station_code is null"),
    # sums over the rows of each thing
    ("charity", "donors who gave at least 500 euros in total", "ods.donations; where donor_id is not null; by donor_id; get income; having income >= 500"),
    ("charity", "donors who gave no less than 500 euros in total", "ods.donations; where donor_id is not null; by donor_id; get income; having income >= 500"),
    ("charity", "donors from Malmo who gave at least 200 euros in total", "ods.donations; join donor=ods.donors; where donor.city = Malmo and donor_id is not null; by donor_id; get income; having income >= 200"),
    ("driving", "learners who paid more than 1000 euros in total", "ods.payments; by learner_id; get paid; having paid > 1000"),
    ("charity", "campaigns that brought in more than 2000 euros in 2025", "ods.donations; where given_at 2025-01-01..2026-01-01; by campaign_code; get income; having income > 2000"),
    ("charity", "how many volunteers helped more than 20 hours", "[ods.shifts; by volunteer_id; get hours_helped; having hours_helped > 20]; get count(*)"),
    # what nobody did
    ("museum", "tours that nobody is planned for yet", "ods.tours; where guide_id is null"),
    ("fishmarket", "show me all lots above 500 kg that nobody bought", "ods.lots; where weight_kg > 500 and buyer_id is null"),
    ("charity", "gifts over 100 euros that nobody thanked for", "ods.donations; where amount_cents > 10000 and thanked_at is null"),
    ("nursery", "plants that nobody has ordered", "ods.plants; where no ods.order_lines by plant_code"),
    ("nursery", "plants that were never ordered", "ods.plants; where no ods.order_lines by plant_code"),
    # turns of everyday English
    ("fishmarket", "unpaid bills, number and sum in euros", "ods.bills; where paid_on is null; get count(*), sum((amount_cents / 100))"),
    ("gym", "What percentage of bookings is made through the app?", "ods.reservations; get -count(*), -count(*) if source = APP; then ratio(count(*) if source = APP, count(*)) %"),
    ("fishmarket", "how many boats left the fleet in 2025", "ods.boats; where left_fleet_on 2025-01-01..2026-01-01; get count(*)"),
    ("bloodbank", "share of each outcome among all gifts, in percent", "ods.gifts; by outcome; get -gifts; then share(gifts) %"),
    ("driving", "Which town do most of our pupils come from?", "ods.learners; by town; get count(*); top 1 pupil_count ties"),
    ("chess", "three openings most often played", "ods.games; where opening is not null; by opening; get count(*); top 3 row_count"),
    ("bloodbank", "donations per month with cumulated total", "ods.gifts; by month(taken_at); get count(*), -gifts; then running(gifts)"),
    ("bloodbank", "requests per week compared to the week before, difference in number", "ods.requests; by week(asked_at); get requests; then change(requests)"),
    ("chess", "How many games were played at each tournament, with its name", "ods.games; join event=ods.events; by event_id, event.event_name; get count(*)"),
    # rows of a table, and not a number of another whose description has the word "number"
    ("chess", "number of games per month", "ods.games; by month(started_at); get count(*)"),
    ("chess", "rolling 3 month average of the number of games", "ods.games; by month(started_at); get count(*); then moving(count(*)) x3 avg"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "wish", "request_"), READ)
def test_a_wish_is_read(known, wish, request_):
    assert compact(understand(wish, schema(known).catalog)) == request_


@pytest.mark.parametrize(
    ("known", "wish", "named"),
    [
        ("ferry", "tickets per month, only the refunded ones", "the month of sold_at, or of refunded_on?"),
        ("ferry", "tickets per month that were refunded", "the month of sold_at, or of refunded_on?"),
        (
            "library",
            "loans more than 10 days late",
            "has only rows of ods.loans with returned_at: do those without it count",
        ),
        ("library", "loans returned more than 10 days late", "are the loans wanted, or only their returned?"),
        ("charity", "campaigns that raised less than 1000 euros", "the sum of what, for each of ods.campaigns?"),
    ],
)
def test_what_two_readings_answer_differently_is_asked(known, wish, named):
    found = understand(wish, schema(known).catalog)
    assert found.request is None
    assert named in found.questions[0].text


def test_a_share_whose_part_is_all_rows_is_refused():
    found = understand("share of checks with a building", schema("firebrigade").catalog)
    assert found.request is None
    assert "each row of ods.checks has building_id" in found.refusal


def test_a_word_that_a_description_says_of_two_columns_is_not_read():
    found = understand("donations by the known donors", schema("charity").catalog)
    assert found.request is None


@pytest.mark.parametrize(
    ("known", "wish"), [("translation", "jobs nobody works on yet"), ("firebrigade", "drills nobody led")]
)
def test_what_nobody_did_is_no_other_empty_column(known, wish):
    """`delivered_at` says nothing of who works on a job, and a guest may have led a drill without a leader."""
    assert understand(wish, schema(known).catalog).request is None


def test_a_sum_that_may_be_of_other_rows_is_not_taken():
    """Boats pay for fuel, and for stays."""
    assert understand("boats that paid more than 1000 euros altogether", schema("harbour").catalog).request is None


def test_things_are_not_counted_by_what_they_have():
    found = understand("donors who gave blood at least three times", schema("bloodbank").catalog)
    assert found.request is None
    assert "'donors': one row for each of them, or for each blood group?" in found.questions[0].text

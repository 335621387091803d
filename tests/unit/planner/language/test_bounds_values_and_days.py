# ruff: noqa: E501 - one wish, or one table, a line
"""Values that a thing is said to have, bounds behind groups, days beside moments, and words of the present."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

_SPEAKS = {"ENG": ["English"], "GER": ["German"]}
GARDEN = catalog(
    table("ods.parks", ["park_code"], None, ["park_code:s", "quarter:s", "soil:s", "metres_to_river:i|way to the river#m", "has_shed:b|shed", "sponsor:s;who pays for it; empty where it is our own"],
          values={"soil": {"CLY": ["clay"], "SND": ["sand"]}}, measures={"parks": {"sql": "COUNT(*)"}}),
    table("ods.plots", ["plot_no"], None, ["plot_no:i", "park_code:s>ods.parks.park_code", "plot_kind:s|kind", "area_m2:f|area#m2"],
          values={"plot_kind": {"VEG": ["vegetable"], "FLO": ["flower"]}}, measures={"plots": {"sql": "COUNT(*)"}}),
    table("ods.gardeners", ["gardener_no"], "joined_on", ["gardener_no:i", "full_name:s|name", "home_town:s|town;where the gardener lives; empty if not told", "joined_on:d|joined|signed up"],
          values={"home_town": {"Arn": [], "Bex": []}}, measures={"gardeners": {"sql": "COUNT(*)"}}),
    table("ods.leases", ["lease_no"], "begun_on", ["lease_no:i", "plot_no:i>ods.plots.plot_no", "gardener_no:i>ods.gardeners.gardener_no", "begun_on:d|begun|start", "ended_on:d|ended|hand-back;empty while the gardener has the plot", "yearly_fee_eur:f|fee|charge#EUR"],
          synonyms=["contract"], measures={"leases": {"sql": "COUNT(*)", "synonyms": ["hand-overs"]}}),
    table("ods.bills", ["bill_no"], "due_on", ["bill_no:i", "lease_no:i>ods.leases.lease_no", "due_on:d|due", "paid_at:t|paid;empty if nothing was paid", "bill_eur:f#EUR", "rebate_eur:f|rebate;empty without one#EUR"],
          measures={"bills": {"sql": "COUNT(*)"}, "rebates": {"sql": "SUM(rebate_eur)", "unit": "EUR"}, "billed": {"sql": "SUM(bill_eur)", "unit": "EUR", "synonyms": ["billed amount"]},
                    "paid_rate": {"sql": "AVG(CASE WHEN paid_at IS NULL THEN 0.0 ELSE 1.0 END)", "description": "share of bills that were paid"}}),
    table("ods.fines", ["fine_no"], "given_on", ["fine_no:i", "gardener_no:i>ods.gardeners.gardener_no", "given_on:d|given", "fine_eur:f|fine#EUR"]),
    table("ods.wardens", ["warden_no"], None, ["warden_no:i", "warden_name:s|name", "volunteer:b|volunteer", "speaks:s"], values={"speaks": _SPEAKS}),
    table("ods.courses", ["course_no"], "held_on", ["course_no:i", "course_language:s|language", "held_on:d|held"], values={"course_language": _SPEAKS}),
    table("ods.seats", ["seat_no"], "taken_on", ["seat_no:i", "course_no:i>ods.courses.course_no", "warden_no:i>ods.wardens.warden_no", "gardener_no:i>ods.gardeners.gardener_no", "taken_on:d|booked", "stars:i|rating", "damp_percent:f|damp#percent"],
          synonyms=["booking"], measures={"seats": {"sql": "COUNT(*)"}}),
    table("ods.repairs", ["repair_no"], "reported_at", ["repair_no:i", "plot_no:i>ods.plots.plot_no", "warden_no:i>ods.wardens.warden_no", "reported_at:t|reported", "mended_at:t|mended;empty while it is open", "trade:s", "priority:s", "cost_eur:f|cost#EUR"],
          values={"trade": {"WAT": ["water"], "FEN": ["fence"]}, "priority": {"H": ["urgent"], "L": ["low"]}}, measures={"repairs": {"sql": "COUNT(*)"}, "repair_cost": {"sql": "SUM(cost_eur)", "unit": "EUR", "synonyms": ["repair costs"]}}),
)  # fmt: skip

READ = [
    # a value that a column of the things is said to have
    ("gardeners whose home town is Arn", "ods.gardeners; where home_town = Arn"),
    ("gardeners whose town is Arn or Bex", "ods.gardeners; where home_town in Arn, Bex"),
    ("gardeners whose home town is unknown", "ods.gardeners; where home_town is null"),
    ("parks where the soil is clay", "ods.parks; where soil = CLY"),
    ("number of repairs whose trade is water per month", "ods.repairs; where trade = WAT; by month(reported_at); get count(*)"),
    ("parks whose soil is not clay", "ods.parks; where soil <> CLY; show park_code, soil"),
    # a bound behind the group of its figure
    ("repair cost per day over 800 euros", "ods.repairs; by day(reported_at); get repair_cost; having repair_cost > 800"),
    ("alert when repair costs per day are over 800 euros", "ods.repairs; by day(reported_at); get repair_cost; having repair_cost > 800; alert True"),
    ("alert when repair costs of one day exceed 800 euros", "ods.repairs; by day(reported_at); get repair_cost; having repair_cost > 800; alert True"),
    ("Tell me when the repairs of one day cost more than 800 euros", "ods.repairs; by day(reported_at); get repair_cost; having repair_cost > 800; alert True"),
    ("number of repairs per plot above 5", "ods.repairs; by plot_no; get count(*); having repair_count > 5"),
    ("days with repair costs over 800 euros", "ods.repairs; by day(reported_at); get repair_cost; having repair_cost > 800"),
    # the best rows within what another table has
    ("the 3 most expensive repairs in each park", "ods.repairs; join plot=ods.plots; show repair_no, plot_no, warden_no, reported_at, mended_at, trade, priority, cost_eur, plot.park_code; top 3 cost_eur per park_code"),
    # how far something is from a place
    ("parks less than 500 m from the river", "ods.parks; where metres_to_river < 500"),
    ("parks with a shed and within 2 km of the river", "ods.parks; where has_shed = True and metres_to_river <= 2000"),
    # what each row says anyway
    ("gardeners who signed up but never booked anything", "ods.gardeners; where no ods.seats by gardener_no"),
    # how long it takes until something is done
    ("how long does it take until a repair is mended", "ods.repairs; get avg(hours(reported_at→mended_at))"),
    ("how long does it take on average until a water repair is mended, in days", "ods.repairs; where trade = WAT; get avg(days(reported_at→mended_at))"),
    ("average number of days until repairs are mended per trade", "ods.repairs; by trade; get avg(days(reported_at→mended_at))"),
    ("days from reported to mended, on average, per trade", "ods.repairs; by trade; get avg(days(reported_at→mended_at))"),
    # a moment beside a day: the day itself is not over
    ("bills paid after due", "ods.bills; where due_on < day(paid_at)"),
    ("bills paid late", "ods.bills; where due_on < day(paid_at)"),
    ("bills paid on time", "ods.bills; where due_on >= day(paid_at)"),
    ("bills that were due before they were paid", "ods.bills; where due_on < day(paid_at)"),
    # whose value it is, of two tables that have it
    ("seats in German courses", "ods.seats; join course=ods.courses; where course.course_language = GER"),
    ("average stars of English courses per warden", "ods.seats; join course=ods.courses; where course.course_language = ENG; by warden_no; get avg(stars)"),
    ("seats of English wardens", "ods.seats; join warden=ods.wardens; where warden.speaks = ENG"),
    # an amount, and a key that is called so
    ("average fine per gardener", "ods.fines; by gardener_no; get avg(fine_eur)"),
    # slips
    ("how mnay plots are there per park", "ods.plots; by park_code; get count(*)"),
    # a column in percent is so anyway
    ("average damp per warden in %", "ods.seats; by warden_no; get avg(damp_percent)"),
    # what the choices of the questions below lead to
    ("gardeners with a current lease", "ods.gardeners; where ods.leases by gardener_no where ended_on is null"),
    ("number of bills with a rebate", "ods.bills; where rebate_eur > 0; get count(*)"),
    ("parks without sponsor", "ods.parks; where sponsor is null"),
    ("number of repairs of volunteers", "ods.repairs; join warden=ods.wardens; where warden.volunteer = True; get count(*)"),
    # figures of groups beside their average are no rows
    ("trades with repair costs below average", "ods.repairs; by trade; get repair_cost; then -above_average(repair_cost)"),
    ("parks whose number of plots is above average", "ods.plots; by park_code; get count(*); then -above_average(count(*))"),
]  # fmt: skip

ASKED = [
    ("how many gardeners are there right now per town", "'right now': only those with a row of ods.leases whose ended_on is empty? ods.gardeners itself does not say it ('with a current lease',)"),
    ("how many repairs are below the average of their trade, per trade", "'below the average': said of single repairs, or of groups?"),
    ("number of repairs with costs below average per trade", "said of single repairs, or of groups?"),
    ("hand-overs and hand-backs per month", "the figures have different times, ods.leases.ended_on and ods.leases.begun_on, and a row of the result has one of them: which one? ('month of ods.leases.ended_on', 'month of ods.leases.begun_on')"),
    ("own parks", "'own parks': only rows of which ods.parks.sponsor is empty, or all of them? ('parks without sponsor', 'all parks')"),
    ("repairs reported by volunteers per month", "'reported by volunteers': only what they did, or a group for yes and one for no? ('of volunteers',)"),
    ("number of rebates per month", "'number of rebates': how many rows of ods.bills have one, or the total of their money? ('number of bills with a rebate', 'total rebates')"),
    ("number of charges per gardener", "how many rows have one, or the total of ods.leases.yearly_fee_eur?"),
    ("soil we pay for", "'we pay': which rows say so? Only ods.bills.paid_at would be shown"),
    ("trades without urgent repairs", "no row at all of each trade, or at least one of another kind?"),
    ("area mended in 2025", "ods.plots.area_m2 for each row of ods.repairs, which no word names?"),
    ("repairs open for more than 3 days", "REFUSED mended_at cannot be empty and be compared at once: how long something has gone on until today"),
    ("paid rate in %", "REFUSED '%' of the wish has no place"),
    ("seats in German", "'German' may mean ods.wardens.speaks 'GER' or ods.courses.course language 'GER'"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "request_"), READ)
def test_a_wish_is_read(wish, request_):
    assert compact(understand(wish, GARDEN)).startswith(request_)


@pytest.mark.parametrize(("wish", "asked"), ASKED)
def test_what_two_readings_answer_differently_is_asked(wish, asked):
    assert asked in compact(understand(wish, GARDEN))

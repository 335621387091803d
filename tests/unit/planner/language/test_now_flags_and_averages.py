# ruff: noqa: E501 - one wish, or one column, a line
"""What is so now, what only a flag says, comparisons with an average, rows for so many of all, and who people are."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS, catalog, table

WORKSHOP = catalog(
    table("ods.mechanics", ["mechanic_id"], None,
          ["mechanic_id:i", "mechanic_name:s", "grade:s", "hired_on:d|hired", "left_on:d|left;last day at work, empty for those who still work here"],
          description="People who repair cars.", values={"grade": {"J": ["junior"], "S": ["senior"]}}),
    table("ods.owners", ["owner_id"], None, ["owner_id:i", "owner_name:s", "has_card:b|club card"], description="People who bring their car."),
    table("ods.leases", ["lease_id"], None, ["lease_id:i", "kind:s", "ends_on:d|ends;last day"], values={"kind": {"V": ["van"], "L": ["limousine"]}}),
    table("ods.jobs", ["job_id"], "brought_at",
          ["job_id:i", "owner_id:i>ods.owners.owner_id;who brought the car", "mechanic_id:i>ods.mechanics.mechanic_id", "brought_at:t|brought", "ready_at:t|ready",
           "kind:s", "is_urgent:b|urgent|in a hurry", "called_off_on:d|called off;empty unless it was called off", "price_cents:i|price#cents"],
          synonyms=["repair"], values={"kind": {"O": ["oil change"], "B": ["brakes", "brake"]}}, description="Cars that owners brought."),
)  # fmt: skip

READ = [
    # what is so now
    ("mechanics per grade now", "ods.mechanics; where left_on is null; by grade; get count(*)"),
    ("how many mechanics do we have at the moment?", "ods.mechanics; where left_on is null; get count(*)"),
    ("current mechanics", "ods.mechanics; where left_on is null"),
    ("jobs per kind now", "ods.jobs; by kind; get count(*)"),
    # a flag alone
    ("brakes or oil changes in a hurry", "ods.jobs; where kind in B, O and is_urgent = True"),
    ("owners with the club card", "ods.owners; where has_card = True"),
    ("jobs per kind, urgent only", "ods.jobs; where is_urgent = True; by kind; get count(*)"),
    # rows for so many of all
    ("urgent jobs per 100 jobs, by kind", "ods.jobs; by kind; get -count(*) if is_urgent = True, -count(*); then ratio(count(*) if is_urgent = True, count(*)) x 100"),
    ("urgent repairs for every 1,000 repairs", "ods.jobs; get -count(*) if is_urgent = True, -count(*); then ratio(count(*) if is_urgent = True, count(*)) x 1000"),
    # rates of what a column of yes or no, or a time, says
    ("called off rate per kind", "ods.jobs; by kind; get -count(*), -count(*) if called_off_on is not null; then ratio(count(*) if called_off_on is not null, count(*))"),
    # averages of groups
    ("days with more jobs than the average day", "ods.jobs; by day(brought_at); get count(*); then -above_average(count(*)); having job_count_above_average > 0"),
    ("weeks that were quieter than average, by number of jobs", "ods.jobs; by week(brought_at); get count(*); then -above_average(count(*)); having job_count_above_average < 0"),
    ("owners with fewer repairs than the average owner", "ods.jobs; by owner_id; get count(*); then -above_average(count(*)); having repair_count_above_average < 0"),
    # who people are, and what they did
    ("people who brought a car at least twice", "ods.jobs; by owner_id; get count(*); having row_count >= 2"),
    ("how many people brought a brake job in May 2024", "ods.jobs; where brought_at 2024-05-01..2024-06-01 and kind = B; get count distinct(owner_id)"),
    # days of the week against each other, and rows that do not count
    ("number of jobs on Mondays vs Fridays", "ods.jobs; where day_of_week(brought_at) in 1, 5; by day_of_week(brought_at); get count(*)"),
    ("jobs per month without urgent jobs", "ods.jobs; where is_urgent <> True; by month(brought_at); get count(*)"),
    ("jobs that are not brake jobs", "ods.jobs; where kind <> B"),
    ("jobs in the first half of 2024 per kind", "ods.jobs; where brought_at 2024-01-01..2024-07-01; by kind; get count(*)"),
    ("owners without the club card who brought a car more than 3 times", "ods.jobs; join owner=ods.owners; where owner.has_card <> True; by owner_id; get count(*); having row_count > 3"),
    ("how many owners brought a car in May 2024", "ods.jobs; where brought_at 2024-05-01..2024-06-01; get count distinct(owner_id)"),
    ("mechanics who still work here", "ods.mechanics; where left_on is null"),
    ("what part of jobs is urgent?", "ods.jobs; get -count(*), -count(*) if is_urgent = True; then ratio(count(*) if is_urgent = True, count(*))"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "wanted"), READ, ids=lambda part: part[:60])
def test_read_as(wish, wanted):
    assert compact(understand(wish, WORKSHOP)) == wanted


def test_a_thing_and_how_long_it_lasts():
    found = compact(understand("average outage time in hours by cause", CATALOGS["energy"]))
    assert found == "dwd.outages; by cause; get avg(hours(began_at→ended_at))"


NOT_GUESSED = [
    ("leases per kind now", "ods.leases.ends_on is empty"),  # an end that is known may lie in the future
    ("jobs of current mechanics per kind", "said of mechanics"),
    ("owners with the club card per kind of job", "which figure is wanted"),
    ("days that were busier than the average day", "by the number of what"),
    ("owners with more repairs than the average mechanic", "mechanic"),  # of other groups
    ("jobs in March 2024 compared with the month before", "month before is no part of the time"),
    ("who has the highest price?", "who"),
    ("how many jobs per 100 owners", "per 100"),
    ("mechanics and jobs per grade", "mechanics"),
    ("who braked at least twice?", "no groups are asked for"),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "named"), NOT_GUESSED)
def test_asked_back(wish, named):
    found = compact(understand(wish, WORKSHOP))
    assert found.startswith(("ASKS", "REFUSED"))
    assert named in found

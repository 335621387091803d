# ruff: noqa: E501 - one wish, or one column, a line
"""Days from a date to a moment, groups called like values, sums that decide, deeds done on average, names apart."""

import pytest

from streamhouse.planner.compose import compose
from streamhouse.planner.understand import understand
from streamhouse.sql.dialect import render
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

BINDERY = catalog(
    table("ods.binders", ["binder_no"], None, ["binder_no:i", "binder_name:s|name", "craft:s", "hour_rate_eur:f|hourly rate#EUR"], values={"craft": {"M": ["material", "materials"], "P": ["paper"]}}),
    table("ods.jobs", ["job_no"], "begun_at",
          ["job_no:i", "binder_no:i>ods.binders.binder_no", "asked_on:d|asked for|request", "begun_at:t|begun|begin", "ready_at:t|ready;when it was ready; empty until then",
           "fetched_at:t|fetched|picked up;when the customer came for it; empty until then", "way:s", "purpose:s", "pages_sewn:i|pages sewn", "pages_glued:i|pages glued", "needs_press:b"],
          synonyms=["book job"], values={"way": {"P": ["pick-up"], "M": ["mail"]}, "purpose": {"G": ["gift"], "M": ["material"]}},
          measures={"jobs": {"sql": "COUNT(*)", "synonyms": ["jobs begun"]}, "pages": {"sql": "SUM(pages_sewn)"}, "glued": {"sql": "SUM(pages_glued)"}, "usual_glue": {"sql": "AVG(pages_glued)"}}),
    table("ods.covers", ["cover_no"], None, ["cover_no:i", "job_no:i>ods.jobs.job_no;job that it is for; empty if it is in stock", "material:s", "sheets:i"], values={"material": {"L": ["leather"], "C": ["cloth"]}},
          measures={"covers": {"sql": "COUNT(*)"}, "sheets_cut": {"sql": "SUM(sheets)"}}),
)  # fmt: skip

READ = [
    # a name of a column behind "per" is no value of other tables
    ("sheets cut per material", "ods.covers; by material; get sheets_cut"),
    ("covers by material", "ods.covers; by material; get covers"),
    # the catalog adds the number up, and folds it in no other way
    ("binder with the most pages sewn", "ods.jobs; by binder_no; get sum(pages_sewn); top 1 total_pages_sewn ties"),
    # an adjective that is the name of a time
    ("jobs that are ready", "ods.jobs; where ready_at is not null"),
    ("jobs not ready yet", "ods.jobs; where ready_at is null"),
    ("jobs ready but not picked up", "ods.jobs; where fetched_at is null and ready_at is not null"),
    # how long it takes to do something
    ("how long does it take on average to fetch a job, by way", "ods.jobs; by way; get avg(hours(begun_at→fetched_at))"),
    ("how long does it take on average to fetch gift jobs, in days", "ods.jobs; where purpose = G; get avg(days(begun_at→fetched_at))"),
    # a day has no time: the time from one is in days
    ("average time from request to begin", "ods.jobs; get avg(days(asked_on→begun_at))"),
    # the name of a measure, with what is counted within it
    ("sheets of leather cut", "ods.covers; where material = L; get sheets_cut"),
    ("jobs that need a press", "ods.jobs; where needs_press = True"),
    ("jobs where we need a press", "ods.jobs; where needs_press = True"),
    # things behind a key that may be empty: nobody is no binder
    ("top 2 binders by covers", "ods.covers; join job=ods.jobs; where job.binder_no is not null; by job.binder_no; get covers; top 2 covers"),
    ("covers per binder", "ods.covers; join job=ods.jobs; by job.binder_no; get covers"),
    # the "e" of who does something, lost while typing
    ("jobs per bindr", "ods.jobs; by binder_no; get jobs"),
]  # fmt: skip
NOT_READ = [
    "binder with the most pages glued",  # they are averaged, too
    "average hours between request and begin",  # a day has no hours
    "highest rating per craft",  # a rating is no hourly rate
    "binders with a rating above 20",
    "how long does it take on average to praise a job",
    "jobs begun and fetched in 2025",  # both in 2025, or only fetched then
    "number of jobs begun and fetched per month",
]


@pytest.mark.parametrize(("wish", "wanted"), READ)
def test_a_wish_is_read(wish, wanted):
    found = understand(wish, BINDERY)
    assert compact(found) == wanted, (found.refusal, found.questions)


@pytest.mark.parametrize("wish", NOT_READ)
def test_what_a_reading_would_guess_is_not_read(wish):
    found = understand(wish, BINDERY)
    assert found.request is None, compact(found)


def test_days_from_a_date_to_a_moment_are_whole_ones():
    found = understand("average number of days between request and begin", BINDERY)
    assert found.request is not None, (found.refusal, found.questions)
    assert "CAST(CAST(jobs.begun_at AS DATE) AS TIMESTAMP)" in render(compose(found.request, BINDERY))


def test_days_between_two_moments_keep_their_fractions():
    found = understand("average number of days between begin and fetched", BINDERY)
    assert found.request is not None, (found.refusal, found.questions)
    assert "AS DATE" not in render(compose(found.request, BINDERY))


@pytest.mark.parametrize(
    "wish", ["jobs that were begun and fetched in 2025", "number of jobs begun and fetched per month"]
)
def test_each_choice_between_two_deeds_leads_on(wish):
    (question,) = understand(wish, BINDERY).questions
    for choice in question.choices:
        found = understand(wish.replace(question.phrase, choice), BINDERY)
        assert found.request is not None, (choice, found.refusal, found.questions)

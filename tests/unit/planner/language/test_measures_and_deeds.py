# ruff: noqa: E501 - one wish, or one column, a line
"""Measures in other units, counts beside sums, deeds that were never done, two sides, days without a year."""

import pytest

from benchmarks.wishes.catalogs import schema
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

SAWMILL = catalog(
    table("ods.owners", ["owner_no"], None, ["owner_no:i", "owner_name:s|name", "town:s", "owner_since:d", "has_sheds:b|shed", "distance_km:f|distance#km"],
          synonyms=["forester", "borrower"]),
    table("ods.saws", ["saw_no"], None, ["saw_no:i", "saw_name:s", "blade_mm:i|blade length|length#mm"]),
    table("ods.stacks", ["stack_no"], None, ["stack_no:i", "kind:s"], synonyms=["pile"], values={"kind": {"X": ["bus"]}}),
    table("ods.cuts", ["cut_no"], "cut_at",
          ["cut_no:i", "owner_no:i>ods.owners.owner_no", "stack_no:i>ods.stacks.stack_no", "helper_no:i>ods.saws.saw_no;saw that helped; empty if none did", "cut_at:t|sawed",
           "wait_secs:i|waiting time#seconds", "set_secs:i#seconds", "clean_secs:i|cleaning time#seconds", "grade:s", "amount_cents:i|amount#cents", "delay_min:i|delay#minutes", "dust_g:i#g"],
          values={"grade": {"A": ["clear"], "B": ["knotty"], "R": ["reject"]}},
          measures={"cuts": {"sql": "COUNT(*)"}, "mean_wait": {"sql": "AVG(wait_secs)", "unit": "seconds", "synonyms": ["average waiting time", "mean wait"]},
                    "handling": {"sql": "AVG(set_secs + clean_secs)", "unit": "seconds", "synonyms": ["average handling time"]},
                    "dust": {"sql": "SUM(dust_g) / 1000", "unit": "kg", "synonyms": ["kilos of dust"]},
                    "clean_hours": {"sql": "SUM(clean_secs) / 3600", "unit": "hours"}}),
    table("dwd.good_cuts", ["cut_no"], "cut_at", ["cut_no:i>ods.cuts.cut_no", "owner_no:i>ods.owners.owner_no", "cut_at:t|sawed"], upstream=["ods.cuts"]),
)  # fmt: skip

READ = [
    ("average waiting time per grade in minutes", "ods.cuts; by grade; get avg((wait_secs / 60))"),
    ("average handling time in minutes by grade", "ods.cuts; by grade; get avg(((set_secs + clean_secs) / 60))"),
    ("waiting time per grade", "ods.cuts; by grade; get mean_wait"),
    ("waiting time per grade, expressed in minutes", "ods.cuts; by grade; get avg((wait_secs / 60))"),
    ("cleaning time by grade", "ods.cuts; by grade; get clean_hours"),
    ("mean waiting time per grade", "ods.cuts; by grade; get avg(wait_secs)"),
    ("total amount of cuts per grade", "ods.cuts; by grade; get sum(amount_cents)"),
    ("number of cuts and total amount per grade", "ods.cuts; by grade; get count(*), sum(amount_cents)"),
    ("cuts and total amount per grade", "ods.cuts; by grade; get count(*), sum(amount_cents)"),
    ("number of cuts and total value per grade", "ods.cuts; by grade; get count(*), sum(amount_cents)"),
    ("cuts per grade, number and value", "ods.cuts; by grade; get count(*), sum(amount_cents)"),
    ("cuts, count and amount by grade", "ods.cuts; by grade; get count(*), sum(amount_cents)"),
    ("cuts by grade: number and amount", "ods.cuts; by grade; get count(*), sum(amount_cents)"),
    ("owners who never sawed a pile", "ods.owners; where no ods.cuts by owner_no"),
    ("how many owners have never sawed", "ods.owners; where no ods.cuts by owner_no; get count(*)"),
    ("cuts of owners more than 30 km away, by grade", "ods.cuts; join owner=ods.owners; where owner.distance_km > 30; by grade; get cuts"),
    ("cuts more than 2 hours late by grade", "ods.cuts; where delay_min > 120; by grade; get cuts"),
    ("cuts of owners with a shed vs those without", "ods.cuts; join owner=ods.owners; by owner.has_sheds; get cuts"),
    ("cuts from owners with and without a shed", "ods.cuts; join owner=ods.owners; by owner.has_sheds; get cuts"),
    ("cuts that ended as a reject per month", "ods.cuts; where grade = R; by month(cut_at); get cuts"),
    ("how many cuts ended up knotty", "ods.cuts; where grade = B; get count(*)"),
    ("how many cuts does each owner make", "ods.cuts; by owner_no; get count(*)"),
    ("how many kilos of dust did we collect per grade", "ods.cuts; by grade; get dust"),
    ("cuts of buses per month", "ods.cuts; join stack=ods.stacks; where stack.kind = X; by month(cut_at); get cuts"),
    ("average number of cuts an owner made", "[ods.cuts; by owner_no; get count(*)]; get avg(cut_count)"),
]  # fmt: skip
NOT_READ = [
    "owners who never sawed a log",  # nothing is called so
    "owners who never sawed a saw",  # a cut may have none
    "cuts more than 30 minutes away by grade",
    "cuts of owners more than 30 kg away by grade",
    "cuts that ended in March per grade",
]


@pytest.mark.parametrize(("wish", "wanted"), READ)
def test_a_wish_is_read(wish, wanted):
    found = understand(wish, SAWMILL)
    assert compact(found) == wanted, (found.refusal, found.questions)


@pytest.mark.parametrize("wish", NOT_READ)
def test_what_a_reading_would_lose_is_not_read(wish):
    found = understand(wish, SAWMILL)
    assert found.request is None, compact(found)


@pytest.mark.parametrize("said", ["since 1 April", "since April", "before April 3"])
def test_a_day_without_a_year_is_asked(said):
    (question,) = understand(f"cuts {said}, by grade", SAWMILL).questions
    assert question.phrase == said
    assert "of which year" in question.text


def test_a_measure_that_answers_for_its_column_is_said():
    assert any("mean_wait" in one for one in understand("waiting time per grade", SAWMILL).assumptions)


def test_what_a_deed_was_done_to_is_said():
    assert any("sawed a pile" in one for one in understand("owners who never sawed a pile", SAWMILL).assumptions)


def test_a_verb_is_no_doer_that_the_catalog_calls_by_it():
    read = compact(understand("how many books did each member borrow", schema("library").catalog))
    assert read == "ods.loans; join copy=ods.copies; by member_id; get count distinct(copy.book_no)"


def test_never_is_said_of_the_things_that_are_counted():
    read = compact(understand("how many members have never borrowed", schema("library").catalog))
    assert read == "ods.members; where no ods.loans by member_id; get count(*)"


def test_since_begins_a_time_where_a_column_ends_with_it():
    assert understand("orders since March by town", schema("brewery").catalog).request is None

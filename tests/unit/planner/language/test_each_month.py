"""A month is read alike whatever its name is, though "may" and "march" are verbs elsewhere."""

import re
from functools import cache

import pytest

from streamhouse.planner.language.words import MONTHS
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS

WISHES = [
    "loans from {}",
    "number of loans from {}",
    "average number of renewals of loans from {}",
    "loans in {}",
    "loans of {}",
    "{} loans",
    "loans, {} only",
    "loans, only {}",
    "only {} loans",
    "the {} loans",
    "number of loans from {} per branch",
    "loans that were due in {}",
    "loans since {}",
    "loans until {}",
    "loans before {}",
    "loans after {}",
    "loans by {}",
    "loans up to {}",
    "loans not in {}",
    "loans without {}",
    "loans except {}",
    "loans through {}",
    "loans per branch in {} 2025",
    "loans from {} 2025",
    "loans per branch {} 2025",
    "loans from 3 {} 2025",
    "loans from {} on",
    "loans from {} onwards",
    "loans from {} to July",
    "loans from February to {}",
    "loans between {} and July",
    "loans between February and {}",
    "loans from {} and July",
    "loans from {} and August per branch",
    "loans in July and {}",
    "loans in July or {}",
    "loans per branch: {}",
    "loans per branch, {}",
    "loans per branch ({})",
    "{}: loans per branch",
    "in {}, loans per branch",
    "loans of last {}",
    "loans each {}",
    "loans every {}",
    "loans at the end of {}",
    "loans in early {}",
    "loans in mid {}",
    "loans during {} and on Mondays",
    "loans dated {}",
    "loans as of {}",
    "how many loans were there in {}",
    "how many loans did we have from {}",
    "list the loans from {}",
]


def _has(read: str, month: int) -> bool:
    return month in map(int, re.findall(r"\d+", read))


@cache
def _read(wish: str) -> str | None:
    """What a wish is read as; None: it is refused or asked back."""
    found = understand(wish, CATALOGS["library"])
    return None if found.request is None else compact(found)


@pytest.mark.parametrize("month", ["May", "March"])
@pytest.mark.parametrize("wish", WISHES)
def test_a_month_is_read_like_another(wish, month):
    found, other = _read(wish.format(month)), _read(wish.format("June"))
    assert (found is None) == (other is None)
    assert found is None or _has(found, MONTHS[month.lower()]), "the month is lost"


@pytest.mark.parametrize("month", ["may", "MAY"])
@pytest.mark.parametrize("wish", WISHES)
def test_a_month_in_other_letters_is_not_lost(wish, month):
    found = _read(wish.format(month))
    assert found is None or _has(found, MONTHS[month.lower()])


@pytest.mark.parametrize(
    "wish", ["loans from June on", "loans from May onwards", "loans from June to July", "loans from may to july"]
)
def test_a_span_that_names_no_year_is_asked_about(wish):
    found = understand(wish, CATALOGS["library"])
    assert [found.request, "of which year" in found.questions[0].text] == [None, True]


@pytest.mark.parametrize("wish", ["may I see the loans per branch", "May I have the loans per branch please"])
def test_may_is_a_verb_where_a_person_asks(wish):
    assert _read(wish) == _read("loans per branch")

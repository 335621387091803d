"""What is said around a wish is left out by name, and nothing that is said of its data."""

import pytest

from streamhouse.planner.language.courtesies import without_courtesies
from streamhouse.planner.understand import understand
from tests.unit.planner.wish_catalogs import CATALOGS

AROUND = [
    ("Hi! How many loans were there per branch? Thanks a lot", "How many loans were there per branch?"),
    ("Good morning all, loans per branch please, thank you so much!", "loans per branch please!"),
    ("Just curious, loans per branch", "loans per branch"),
    ("My boss wants to know how many loans there were per branch", "how many loans there were per branch"),
    ("For the board: loans per branch", "loans per branch"),
    ("I'm preparing the slides for tomorrow and would love to have loans per branch", "loans per branch"),
    ("loans per branch, could you look that up for me?", "loans per branch?"),
]
DATA = [
    "loans for the board members",
    "loans per branch for the year 2024",
    "members who thanked us",
    "the average team size per branch",
    "loans of the right type",
]


@pytest.mark.parametrize(("wish", "left"), AROUND)
def test_what_is_said_around_is_left_out(wish, left):
    found, named = without_courtesies(wish)
    assert found == left
    assert named


@pytest.mark.parametrize("wish", DATA)
def test_what_is_said_of_the_data_stays(wish):
    assert without_courtesies(wish) == (wish, ())


def test_what_was_left_out_is_an_assumption():
    found = understand("Hi! How many loans were there per branch? Thanks a lot", CATALOGS["library"])
    assert [text for text in found.assumptions if "says nothing of the data" in text] == [
        "'Hi!' says nothing of the data",
        "'Thanks a lot' says nothing of the data",
    ]


@pytest.mark.parametrize("wish", ["loans per branch pls", "plz show loans per branch"])
def test_short_forms_of_please_say_nothing(wish):
    found = understand(wish, CATALOGS["library"])
    assert found.request is not None
    assert found.request.block == understand("loans per branch", CATALOGS["library"]).request.block

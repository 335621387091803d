"""The check over a finished reading knows nothing of the rules: a Request that lacks a word's role is refused."""

from dataclasses import replace

import pytest

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.grammar import read_wish
from streamhouse.planner.language.lexicon import lexicon_of
from streamhouse.planner.language.resolve import resolved
from streamhouse.planner.language.roles import unseen
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import tokenize
from streamhouse.planner.request import Measure
from tests.unit.planner.wish_catalogs import CATALOGS


def _read(wish: str) -> tuple[Draft, Shaped]:
    lexicon, draft = lexicon_of(CATALOGS["hotel"]), Draft()
    read_wish(tokenize(wish), lexicon, draft)
    found = resolved(draft, lexicon)
    assert isinstance(found, Shaped)
    return draft, found


def test_what_is_there_is_seen():
    for wish in ("average nights per channel", "top 3 channels by revenue", "bookings with more than 5 nights"):
        assert unseen(tokenize(wish), *_read(wish)) == ""


@pytest.mark.parametrize(
    ("wish", "lost"),
    [
        ("average bookings per channel", "average"),
        ("the median of bookings per channel", "median"),
        ("share of bookings per channel", "share"),
        ("bookings per channel in percent", "percent"),
        ("the highest bookings per channel", "highest"),
        ("different guests per channel", "different"),
        ("web or phone bookings per channel", "or"),
        ("how many bookings and how many guests per channel", "how many"),
    ],
)
def test_a_role_that_the_request_lacks_is_named(wish, lost):
    draft, found = _read("number of bookings per channel")
    assert unseen(tokenize(wish), draft, found) == lost


def test_a_comparison_turned_round_is_named():
    draft, found = _read("bookings with more than 5 nights")
    assert unseen(tokenize("bookings with less than 5 nights"), draft, found) == "less than 5"


def test_a_group_that_is_not_there_is_named():
    draft, found = _read("number of bookings")
    assert unseen(tokenize("bookings per channel"), draft, found) == "per channel"


def test_a_figure_that_is_not_there_is_named():
    draft, found = _read("bookings with more than 5 nights")
    assert unseen(tokenize("how much were bookings with more than 5 nights"), draft, found) == "how much"
    counted = replace(found, block=found.block.model_copy(update={"measures": (Measure(name="n"),)}))
    assert unseen(tokenize("how many bookings with more than 5 nights"), draft, counted) == ""

"""Variants with a known meaning of wishes that are read: each is read differently, or is asked back."""

from pathlib import Path

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS

pytestmark = pytest.mark.proof

ACCEPTED = Path(__file__).parents[1] / "read" / "accepted.txt"
OPPOSITES = (
    ("more than", "less than"),
    ("at least", "at most"),
    ("before", "after"),
    ("since", "until"),
    ("highest", "lowest"),
    ("most", "fewest"),
    ("longest", "shortest"),
    ("first", "last"),
    ("over", "under"),
    ("above", "below"),
    ("with", "without"),
    ("were", "were not"),
    ("is", "is not"),
)
TAILS = ("in May 2023", "not in May 2023", "before May 2023", "after May 2023", "on Mondays", "not on Mondays")
ORDERED = ("highest first", "lowest first", "longest first", "shortest first", "most first", "fewest first")
INSERTED = ("last", "half", "twice", "same", "almost", "former", "many", "besides")


def _accepted() -> list[tuple[str, str]]:
    lines = ACCEPTED.read_text(encoding="utf-8").splitlines()[::2]
    return [(schema.strip(), wish.strip()) for schema, wish in (line.split("|", 1) for line in lines)]


def _read(schema: str, wish: str) -> str | None:
    """What a wish is read as; None: it is asked back."""
    found = understand(wish, CATALOGS[schema])
    return None if found.request is None else compact(found)


@pytest.mark.parametrize(("word", "opposite"), [*OPPOSITES, *(pair[::-1] for pair in OPPOSITES)])
def test_the_opposite_of_a_word_is_read_differently(word, opposite):
    same = []
    for schema, wish in _accepted():
        plain = f" {wish.lower()} "
        if f" {word} " not in plain or "alert" in plain or "band" in plain or any(order in plain for order in ORDERED):
            continue  # rows have no order, and bands are read by their bounds
        changed = plain.replace(f" {word} ", f" {opposite} ", 1).strip()
        found = _read(schema, changed)
        if found is not None and found == _read(schema, wish.lower()):
            same.append(changed)
    assert same == []


def test_a_time_that_is_added_changes_what_is_read_and_each_time_does_so_in_its_own_way():
    same = []
    for schema, wish in _accepted()[::5]:
        plain = wish.rstrip(".?! ")
        found = [_read(schema, one) for one in (plain, *(f"{plain} {tail}" for tail in TAILS))]
        there = [one for one in found if one is not None]
        if len(set(there)) != len(there):
            same.append((plain, found))
    assert same == []


@pytest.mark.parametrize("word", INSERTED)
def test_a_word_that_changes_a_wish_is_never_passed_over(word):
    lost = []
    for schema, wish in _accepted()[::12]:
        words = wish.split()
        wanted = _read(schema, wish)
        if word in wish.lower().split():
            continue
        for at in range(1, len(words) + 1):
            changed = " ".join([*words[:at], word, *words[at:]])
            if _read(schema, changed) == wanted:
                lost.append(changed)
    assert lost == []

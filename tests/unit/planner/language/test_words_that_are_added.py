"""A word group that changes what is asked changes the answer, or the wish is refused: no rule passes over it."""

import random
from pathlib import Path

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import CATALOGS

pytestmark = pytest.mark.proof

ACCEPTED = Path(__file__).parents[1] / "read" / "accepted.txt"
TAILS = (
    "in May 2023", "not in May 2023", "except in May", "on Mondays", "before noon", "without any", "except the first",
    "and not cancelled", "only weekends", "at least 3", "at most 2 each", "per year", "by weekday", "top 3",
    "and so on", "and so forth", "etc.", "and the median", "and the average", "first 5 only", "over 1000", "twice",
    "as well as the previous ones", "each time", "per person", "of last year", "unless late", "among others", "or more",
    "and vice versa", "and their total", "and similar ones", "except one", "half of them", "at the most",
    "excluding duplicates", "ignoring empty ones", "rounded", "the other way round", "every other", "not once",
    "and the opposite", "in the order of age", "one by one", "if there are several", "and nothing else",
)  # fmt: skip
INSERTED = ("not", "each", "never", "at least", "except", "without", "other", "same", "half", "first", "last", "almost",
            "former", "both", "more", "less", "current", "several", "few", "most", "double", "next", "previous",
            "second", "unlike", "mainly", "roughly")  # fmt: skip
SEED = 18
PICKED = 20


def _accepted() -> list[tuple[str, str]]:
    lines = ACCEPTED.read_text(encoding="utf-8").splitlines()[::2]
    return [(schema.strip(), wish.strip()) for schema, wish in (line.split("|", 1) for line in lines)]


def _answer(schema: str, wish: str) -> str | None:
    """What a wish is answered with, and what was assumed; None: it is not."""
    found = understand(wish, CATALOGS[schema])
    return None if found.request is None else f"{compact(found)} {sorted(found.assumptions)}"


def _changed(schema: str, wish: str, chance: random.Random) -> list[str]:
    plain = wish.rstrip(".?! ")
    words = plain.split()
    found = [f"{plain} {tail}" for tail in chance.sample(TAILS, 4)]
    found += [f"{plain}, {tail}" for tail in chance.sample(TAILS, 2)]
    for word in chance.sample(INSERTED, 4):
        at = chance.randrange(1, len(words))
        found.append(" ".join([*words[:at], word, *words[at:]]))
    tables = sorted(CATALOGS[schema].tables.values(), key=lambda one: one.name)
    columns = [column for one in tables for column in one.columns if column.name.replace("_", " ") not in wish]
    column = chance.choice([one for one in columns if not one.references])
    found += [f"{plain} {said} {column.name.replace('_', ' ')}" for said in ("and", "without", "per")]
    values = [
        w[0]
        for one in tables
        for c in one.columns
        for w in c.values.values()
        if w and len(w[0]) > 2 and w[0] not in wish
    ]
    value = chance.choice(values)
    return [*found, f"{plain} except {value}", f"{plain}, {value} only"]


def test_what_is_added_to_a_wish_is_not_passed_over():
    chance = random.Random(SEED)
    same = []
    for schema, wish in chance.sample(_accepted(), PICKED):
        wanted = _answer(schema, wish)
        changed = [one for one in _changed(schema, wish, chance) if one.lower() != wish.lower()]
        same += [f"{schema} | {one}" for one in changed if _answer(schema, one) == wanted]
    assert same == []


@pytest.mark.parametrize("tail", ["and so on", "and so forth", "one by one", "the other way round", "and the like"])
def test_a_tail_that_says_something_is_named(tail):
    for schema, wish in _accepted()[::30]:
        found = understand(f"{wish.rstrip('.?! ')} {tail}", CATALOGS[schema])
        assert found.request is None, wish


@pytest.mark.parametrize(
    ("schema", "wish", "named"),
    [
        ("hotel", "how many bookings were cancelled each month and by whom", "'whom'"),
        ("library", "how many loans per month and by whom", "'whom'"),
        ("library", "loans per branch, and which", "'which'"),
        ("library", "which members loan poetry", "'members'"),
        ("hotel", "which guests book suites", "'guests'"),
    ],
)
def test_a_question_is_answered_whole(schema, wish, named):
    assert named in understand(wish, CATALOGS[schema]).refusal

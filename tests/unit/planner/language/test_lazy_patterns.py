"""A pattern is left out only where its text is not there, so that no turn is missed."""

import re
from pathlib import Path

import pytest

from streamhouse.planner.language.lazy_patterns import Turn, needed_text
from streamhouse.planner.language.turns_of_asking import TURNS_OF_ASKING
from streamhouse.planner.language.turns_of_patterns import TURNS_OF_PATTERNS
from streamhouse.planner.language.turns_of_speech import TURNS_OF_SPEECH

READ = Path(__file__).parents[1] / "read"


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"\bhow many of (?:our|the) ", "how many of "),
        (r"\bsepa?rate(?:ly)? for\b", "rate"),
        (r"\bcolou?rs? only", " only"),
        (r"^which|what$", ""),
        (r"\b(?:a|b) [^a-z]{3}\s\d", ""),
        (r"[\]x] total\b", " total"),
    ],
)
def test_the_text_that_each_match_has(pattern, needed):
    assert needed_text(pattern) == needed


def test_no_match_lacks_the_text_that_its_pattern_needs():
    lines = [
        line for name in ("accepted", "turns") for line in (READ / f"{name}.txt").read_text("utf-8").splitlines()[::2]
    ]
    wishes = [line.partition("|")[2].strip() for line in lines]
    for pattern, becomes in (*TURNS_OF_SPEECH, *TURNS_OF_ASKING, *TURNS_OF_PATTERNS):
        plain, turn = re.compile(pattern, re.IGNORECASE), Turn(pattern, becomes)
        for wish in (*wishes, *map(str.upper, wishes)):
            assert turn.apply(wish, wish.lower()) == plain.sub(becomes, wish), pattern

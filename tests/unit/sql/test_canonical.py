"""Equal means equal, and most of what is equal is seen."""

from collections import Counter

import pytest

from tests.equal_pairs import Pair, meaning, pairs

PAIRS = list(pairs())


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{p.change}: {p.first[:60]}" for p in PAIRS])
def test_verdict(pair: Pair) -> None:
    first, second = meaning(pair.first), meaning(pair.second)
    assert first.rows is not None, first.why
    assert first.means(second) is pair.same, f"{first.key}\n{second.key}\n{pair.second}"


def test_enough_is_tried() -> None:
    tried = Counter(pair.same for pair in PAIRS)
    assert tried[True] >= 100
    assert tried[False] >= 100

"""Equal means equal, and most of what is equal is seen."""

from collections import Counter
from pathlib import Path

import pytest

from streamhouse.sql.canonical import CanonicalInput, canonical
from tests.equal_pairs import Pair, meaning, pairs
from tests.sql_corpus import LINES, P, columns, queries, typed
from tests.tables import each

pytestmark = pytest.mark.proof

PAIRS = list(pairs())
DIFFERENT = [
    block.strip().splitlines()
    for block in (Path(__file__).parents[2] / "fixtures/canonical/different.sql").read_text().split("\n\n")[1:]
]


@each("pair", PAIRS, ids=[f"{p.change}: {p.first[:60]}" for p in PAIRS])
def test_verdict(pair: Pair) -> None:
    first, second = meaning(pair.first), meaning(pair.second)
    assert first.rows is not None, first.why
    assert first.means(second) is pair.same, f"{first.key}\n{second.key}\n{pair.second}"


def test_enough_is_tried() -> None:
    tried = Counter(pair.same for pair in PAIRS)
    assert tried[True] >= 100
    assert tried[False] >= 100


@each(("first", "second"), DIFFERENT, ids=[first for first, _ in DIFFERENT])
def test_one_word_makes_a_difference(first: str, second: str) -> None:
    assert not meaning(first).means(meaning(second))
    assert meaning(first).means(meaning(first))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT cust, sum(amt) AS s FROM o GROUP BY ROLLUP (cust)",
        "SELECT store, id, rank() OVER w AS r FROM o WINDOW w AS (PARTITION BY store ORDER BY amt)",
        "SELECT o.id FROM o JOIN (k JOIN c ON k.cust = c.cust) ON o.cust = k.cust",
    ],
)
def test_what_is_not_followed_is_compared_as_text(sql: str) -> None:
    found = meaning(sql)
    assert (found.rows, bool(found.why)) == (None, True)
    assert found.means(meaning(f"{sql}  -- the same"))
    assert not found.means(meaning(sql.replace("id", "cust") if "id" in sql else sql.replace("sum", "max")))


def test_what_values_are_made_of_and_what_decides_the_rows() -> None:
    found = meaning(
        "SELECT q.store, q.s + 1 AS s, d.label FROM (SELECT store, cust, sum(amt) AS s FROM o WHERE st > 'a' "
        "GROUP BY store, cust) AS q LEFT JOIN d ON q.cust = d.cust"
    )
    assert found.values == {
        "store": frozenset({("o", "store")}),
        "s": frozenset({("o", "amt")}),
        "label": frozenset({("d", "label")}),
    }
    assert found.decides == frozenset({("o", "st"), ("o", "store"), ("o", "cust"), ("d", "cust")})


@each("sql", queries())
def test_every_query_of_the_corpus_is_read_again_as_it_was(sql: str) -> None:
    text = typed(sql).sql
    inputs = {"lines": CanonicalInput("lines", columns(LINES)), "p": CanonicalInput("p", columns(P))}
    used = {name: given for name, given in inputs.items() if name in typed(sql).reads}
    assert canonical(text, used).means(canonical(typed(text).sql, used))

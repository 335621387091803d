"""The ready actions over changes say what the suites of Spark's AutoCDC publish; tests/autocdc.py has the cases.

Here DuckDB answers; tests/integration/spark/test_autocdc.py has the same on Spark, in epochs.
"""

import random

import pytest

from streamhouse.compiler import compile_flow
from streamhouse.errors import TypeMismatchError
from streamhouse.model.flow import Flow, Read, Step
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import Strategy
from streamhouse.registry.registry import Registry
from tests import autocdc
from tests.autocdc import CASES, TYPES, Case, row
from tests.ready import columns
from tests.small_duckdb import SmallDuckDB
from tests.tables import each

COLUMNS = columns(TYPES)
SQL = {name: autocdc.action(name).sql for name in autocdc.ACTIONS}


@pytest.fixture(scope="module")
def answers():
    """(ready action, rows of the changes) → rows of its result."""
    database = SmallDuckDB()

    def answer(name, rows):
        database.put("rows", list(rows), COLUMNS)
        return database.answer(SQL[name]).to_pylist()

    return answer


@pytest.fixture(scope="module")
def found(answers):
    """Ready action → rows of its result over the changes of all cases, for each order in which they come."""
    rows = [row for batch in autocdc.batches(CASES) for row in batch]
    return {name: [answers(name, some) for some in orders(rows)] for name in ("scd2", "cdc_apply")}


@each("name", CASES)
def test_history(found, name):
    for rows in found["scd2"]:
        assert autocdc.of_case(CASES, name, autocdc.history(rows)) == autocdc.wanted_history(CASES, name)


@each("name", CASES)
def test_latest(found, name):
    for rows in found["cdc_apply"]:
        assert autocdc.of_case(CASES, name, autocdc.latest(rows)) == autocdc.wanted_latest(CASES, name)


def orders(rows):
    """The rows as they came, and in other orders: which one it was must not show."""
    chance = random.Random(4)
    return [rows, rows[::-1], *(chance.sample(rows, len(rows)) for _ in range(3))]


DEDUPLICATED = {
    "keeps only the row with the largest sequence value per key": ([(1, "a", 10), (1, "c", 30), (1, "b", 20)], "c"),
    "is no-op if there's a single event for a key": ([(1, "a", 10)], "a"),
    "handles equal sequencing values for the same key": ([(1, "a", 10), (1, "b", 10)], "b"),
    "ignores rows with null sequencing when a non-null value exists": ([(1, "z", None), (1, "a", 10)], "a"),
}


@each("name", DEDUPLICATED)
def test_deduplicate_microbatch(answers, name):
    """`deduplicateMicrobatch …` of Scd1BatchProcessorSuite."""
    changes, expected = DEDUPLICATED[name]
    for rows in orders([row(change, {}) for change in changes]):
        assert autocdc.latest(answers("deduplicate_latest", rows)) == [(1, expected)]


def random_changes(seed):
    """As AutoCdcRandomCdcTestMixin makes them: one sequence for each event, deletes, and events that come twice."""
    chance, sequence, changes = random.Random(seed), 0, []
    for key in range(10):
        for _ in range(chance.randint(1, 40)):
            name = None if chance.random() < 0.2 else chance.choice(["red", "blue", "green", "yellow"])
            changes += [(key, name, sequence)] * (2 if chance.random() < 0.15 else 1)
            sequence += 1
    return changes


def applied(changes):
    """The history by one loop over the changes in their order."""
    versions, now = [], {}
    for key, name, sequence in changes:
        known = now.get(key)
        if known is not None and known[1] == name:
            continue
        if known is not None:
            versions.append((*now.pop(key), sequence))
        if name is not None:
            now[key] = (key, name, sequence)
    return [*versions, *((*one, None) for one in now.values())]


@pytest.mark.parametrize("seed", range(3))
def test_random_changes_in_any_order(answers, seed):
    """AutoCdcOutOfOrderConvergenceSuite and AutoCdcCrossScdConvergenceSuite."""
    changes = random_changes(seed)
    case = {"random": Case([changes], applied(changes))}
    for rows in orders(autocdc.batches(case)[0]):
        versions = autocdc.history(answers("scd2", rows))
        assert sorted(versions, key=str) == autocdc.wanted_history(case, "random")
        current = sorted((key, name) for key, name, *_, is_current in versions if is_current)
        assert sorted(autocdc.latest(answers("cdc_apply", rows))) == current


@pytest.mark.parametrize("name", ["cdc_apply", "scd2"])
@pytest.mark.parametrize("column", ["id", "at"])
def test_a_key_or_sequence_that_may_be_null_is_refused(name, column):
    """Spark stops at the row: NULL_SEQUENCE and the keys in both suites of handlers. Here the source does."""
    nullable = columns(TYPES | {column: TYPES[column].removesuffix(" not null")})
    with pytest.raises(TypeMismatchError, match=f"ods.changes.{column} may be NULL") as refused:
        compiled(name, nullable)
    assert "declare the column of the source as not null" in refused.value.hint


def test_each_is_incremental_and_asks_nothing():
    for name in autocdc.ACTIONS:
        planned = compiled(name, COLUMNS)
        assert planned.strategy is Strategy.RECOMPUTE, planned.reason
        assert planned.notices == ()


def compiled(name, of):
    """The step of a ready action over a table of changes that has the columns `of`."""
    table = Table(name="ods.changes", columns=of, tiers=Tiers(hot="forever"))
    step = Step(use=name, reads={"rows": Read(table="ods.changes")}, writes=f"dwd.{name}")
    flow = Flow(flow="f", steps=(step,))
    (planned,) = compile_flow(flow, Registry([autocdc.action(name)]), {}, {"ods.changes": table}).steps
    return planned

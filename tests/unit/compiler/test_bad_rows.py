"""A source whose bad rows go to a dead-letter table: what the plan has besides, and what an edit of it means."""

import pytest

from streamhouse.compiler import compile_project
from streamhouse.compiler.diff import diff
from streamhouse.compiler.migration import same_streams
from streamhouse.model.bad_rows import LETTER_COLUMNS, OnBadRows
from streamhouse.model.outcome import Outcome
from streamhouse.model.table import Column
from streamhouse.model.types import History, Strategy
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow
from streamhouse.registry.registry import Registry

ACTION = """/* ---
action: take
step: ingest
inputs: {rows: {id: bigint}}
--- */
SELECT id FROM rows
"""
FLOW = """flow: shop
sources:
  orders: {files: {path: data/*.csv, columns: {id: int}%s}}
steps:
  - {use: take, reads: {rows: orders}, writes: ods.orders}
tables: {ods.orders: {tiers: {warm: forever}}}
"""
READER = """flow: watch
steps:
  - {use: watch, reads: {letters: ods.shop_orders__dead_letters}, writes: dwd.watched}
"""
WATCH = """/* ---
action: watch
step: clean
inputs: {letters: {position: string, reason: string}}
output: {primary_key: [position]}
--- */
SELECT position, reason FROM letters
"""
DEAD = "ods.shop_orders__dead_letters"


def plan(option="", *, kind="int"):
    registry = Registry([read_action(ACTION, "take.sql").action, read_action(WATCH, "watch.sql").action])
    flows = [read_flow(FLOW % option, "shop.yaml")]
    if option:
        flows.append(read_flow(READER, "watch.yaml"))
    return compile_project(flows, registry, {"shop": {"orders": (Column(name="id", type=kind),)}})["shop"]


DEAD_LETTER = ", on_bad_rows: dead_letter"


def test_the_dead_letter_table_is_a_step_like_others():
    found = plan(DEAD_LETTER)
    assert [source.name for source in found.sources] == ["orders", "orders__dead_letters"]
    step = next(step for step in found.steps if step.writes.name == DEAD)
    assert step.strategy is Strategy.MAP
    assert step.writes.primary_key == ("position",)
    assert step.writes.tiers == found.tables["ods.orders"].tiers
    assert [c.name for c in step.writes.columns] == [*(c.name for c in LETTER_COLUMNS), "seen_at"]
    assert len(found.segments) == 1
    base = found.as_there(found.sources[1]).options["base"]
    assert base["columns"] == [{"name": "id", "type": "int", "nullable": True}]


def test_an_edit_of_the_policy_takes_no_row_again():
    before, after = plan(), plan(DEAD_LETTER)
    for old, new in ((before, after), (after, plan(", on_bad_rows: {action: dead_letter, limit: 1%}"))):
        assert diff(old, new, {}).outcome is Outcome.SWAP
        assert same_streams(old, new)


@pytest.mark.parametrize("limit", ["many", "101%", -1, "1 %%"])
def test_no_limit(limit):
    with pytest.raises(ValueError, match="limit"):
        OnBadRows.model_validate({"action": "dead_letter", "limit": limit})


def test_a_limit_of_a_policy_that_stops_is_refused():
    with pytest.raises(ValueError, match="first bad row"):
        OnBadRows.model_validate({"limit": 1})


@pytest.mark.parametrize(("limit", "rows", "most"), [(5, 10**6, 5), ("1%", 10, 10), ("1%", 5_000, 50), ("0%", 5, 0)])
def test_limits(limit, rows, most):
    assert OnBadRows.model_validate({"action": "dead_letter", "limit": limit}).most(rows) == most


def test_dead_letters_are_rebuilt_with_the_table_that_reads_their_source():
    """Else a row that can be read now would be in the table, and come again by a replay."""
    before, after = plan(DEAD_LETTER), plan(DEAD_LETTER, kind="bigint")

    def outcomes(history, **choices):
        changed = diff(with_history(before, history), with_history(after, history), {}, **choices)
        found = {step.table: step.outcome for step in changed.steps}
        return found["ods.orders"], found[DEAD]

    assert outcomes("keep") == (Outcome.FORWARD, Outcome.NO_OP)
    assert outcomes("rewrite") == (Outcome.REBUILD, Outcome.REBUILD)
    assert outcomes("keep", choices={"ods.orders": Outcome.REBUILD}) == (Outcome.REBUILD, Outcome.REBUILD)
    assert outcomes("rewrite", choices={"ods.orders": Outcome.FORWARD}) == (Outcome.FORWARD, Outcome.NO_OP)


def with_history(found, history):
    segments = tuple(
        segment.model_copy(
            update={"steps": tuple(step.model_copy(update={"history": History(history)}) for step in segment.steps)}
        )
        for segment in found.segments
    )
    return found.model_copy(update={"segments": segments})

"""What holds of every diff, tried on queries changed in every way `equal_pairs` knows."""

from datetime import timedelta

import pytest
from sqlglot import exp

from streamhouse.compiler import compile_flow
from streamhouse.compiler.diff import diff
from streamhouse.errors import StreamhouseError, UnknownActionError
from streamhouse.model.action import Action, Output
from streamhouse.model.flow import Flow, Read, Step
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import History, ReadMode, StepKind, Strategy
from streamhouse.sql.dialect import parse_query
from tests.equal_pairs import Pair, pairs
from tests.sql_corpus import AT, KEYS, ORDERS, columns

pytestmark = pytest.mark.proof

TABLES = {
    name: Table(
        name=f"ods.{name}", columns=columns(types), primary_key=KEYS[name], tiers={"hot": "7d", "cold": "forever"}
    )
    for name, types in ORDERS.items()
}
PAIRS = list(pairs())


class _One:
    def __init__(self, action: Action) -> None:
        self._action = action

    def action(self, use: str) -> Action:
        if use != self._action.action:
            raise UnknownActionError(use, [self._action.action])
        return self._action


def plan(sql: str, history: History | None = None) -> FlowPlan | None:
    """`sql` as the one step of a flow; None: it cannot be kept up to date."""
    tree = parse_query(sql, AT)
    ports = sorted({table.name for table in tree.find_all(exp.Table)} & set(ORDERS))
    reads = {p: Read(table=f"ods.{p}", mode=ReadMode.LOOKUP if p == "d" else ReadMode.CHANGES) for p in ports}
    names = tuple(sorted(tree.named_selects))
    for key in ((), ("id",), ("store",), names[:1], names[:2]):
        action = Action(
            action="a", step=StepKind.CLEAN, inputs={p: {} for p in ports}, sql=sql, output=Output(primary_key=key)
        )
        flow = Flow(flow="f", history=history, steps=(Step(use="a", reads=reads, writes="dwd.t"),))
        try:
            return compile_flow(flow, _One(action), {}, {table.name: table for table in TABLES.values()})
        except StreamhouseError:
            continue
    return None


def compiled(pair: Pair, history: History | None = None) -> tuple[FlowPlan, FlowPlan] | None:
    old, new = plan(pair.first, history), plan(pair.second, history)
    return (old, new) if old is not None and new is not None else None


TRIED = [(pair, both) for pair in PAIRS if (both := compiled(pair)) is not None]


def test_enough_is_tried() -> None:
    assert sum(pair.same for pair, _ in TRIED) >= 80
    assert sum(not pair.same for pair, _ in TRIED) >= 80
    assert {new.steps[0].strategy for _, (_, new) in TRIED} == set(Strategy)


@pytest.mark.parametrize(("pair", "both"), TRIED, ids=[f"{p.change}: {p.first[:60]}" for p, _ in TRIED])
def test_no_change_of_meaning_is_swapped_in(pair: Pair, both: tuple[FlowPlan, FlowPlan]) -> None:
    old, new = both
    found = diff(old, new, {})
    (step,) = found.steps
    said = f"{pair.second}\n{step.findings}"
    if pair.same:
        told = {f.rule for f in step.findings if f.outcome is not Outcome.NO_OP}
        # What is proven of it may differ: nullability, strategy, and with that the key and how the store folds.
        before, after = old.steps[0].writes, new.steps[0].writes
        relaid = bool(before.merge) != bool(after.merge) or before.primary_key != after.primary_key
        assert told <= {10, 40, *([29] if relaid else [])}, said
    else:
        swapped = new.steps[0].strategy.sees_all
        assert step.outcome.weight >= (Outcome.SWAP if swapped else Outcome.FORWARD).weight, said


@pytest.mark.parametrize(("pair", "both"), TRIED, ids=[f"{p.change}: {p.first[:60]}" for p, _ in TRIED])
def test_every_diff(pair: Pair, both: tuple[FlowPlan, FlowPlan]) -> None:
    old, new = both
    for before, after in ((old, new), (new, old)):
        found = diff(before, after, {}, age=timedelta(days=1))
        assert [table.table for table in found.tables] == list(after.tables)
        assert all(finding.proof for step in found.steps for finding in step.findings)
        assert found.outcome is max((s.outcome for s in found.steps), key=lambda outcome: outcome.weight)
        assert diff(before, before, {}).outcome is Outcome.NO_OP


def test_a_rewriting_layer_never_keeps_the_old_meaning() -> None:
    for pair in PAIRS[::5]:
        both = compiled(pair, History.REWRITE)
        if both is not None and not pair.same:
            (step,) = diff(*both, {}).steps
            kept = [f for f in step.findings if f.outcome is Outcome.FORWARD and f.rule != 19]
            assert not kept or step.outcome.weight > Outcome.FORWARD.weight

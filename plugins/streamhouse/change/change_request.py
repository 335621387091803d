"""Asks for changes: what follows from a comparison is written into the journal."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamhouse.change.built_already import built_already
from streamhouse.compiler.marks import marks
from streamhouse.compiler.migration import copied, followers, overtaken, tables_to_rebuild, taken_up
from streamhouse.errors import BlockedError
from streamhouse.model.definition import Definition
from streamhouse.model.outcome import FlowDiff, Outcome, StepChange
from streamhouse.model.plan import FlowPlan
from streamhouse.model.review import SwapGate
from streamhouse.model.table import Column
from streamhouse.model.version import at_versions
from streamhouse.project.compare import Applied, Choices, PlanComparison, compare
from streamhouse.state.changes import Wish
from streamhouse.state.records import Change
from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class Begun:
    """What a runner of a flow begins with.

    Attributes:
        plan: As applied, over the names that stores hold.
        change: What the runner is to carry out on the way to the plan wanted; None: nothing.
        warnings: What keeps its old meaning after that, or waits for a person.
    """

    plan: FlowPlan
    change: Change | None = None
    warnings: tuple[str, ...] = ()


def begin(
    state: StateStore,
    plan: FlowPlan,
    by: str = "run",
    *,
    budget: int | None = None,
    definition: Definition | None = None,
    is_applied: bool = False,
) -> Begun:
    """Record that `plan` is wanted; a flow that was never applied begins with it at once.

    Args:
        state: Holds the journal.
        plan: As compiled.
        by: Who asks.
        budget: See `compare`.
        definition: The files that it follows from.
        is_applied: It was applied, and nothing else is wanted: what is applied by now stays, whatever it is.

    Raises:
        BlockedError: a person must decide first, or another flow is to be applied first. Nothing was asked.
        OtherVersionError: another version of Streamhouse recorded the plan of the flow.
        StateConflictError: the plan of the flow is damaged.
    """
    known = state.plan(plan.flow)
    if known is None:
        refuse_ahead(state, plan)
        state.save_plan(plan, definition=definition)
        return Begun(at_versions(plan, state.versions(plan.flow)))
    standing, open_change = at_versions(known[1], state.versions(plan.flow)), state.open_change(plan.flow)
    if (
        is_applied
        or known[1].fingerprint == plan.fingerprint
        or (open_change is not None and open_change.plan.fingerprint == plan.fingerprint)
    ):
        if definition is not None and known[1].fingerprint == plan.fingerprint:
            state.definitions.note(plan, definition)
        open_change = open_change or state.go_on(plan.flow)  # else it reads on where no row comes any more
        waiting = (_waits(open_change),) if open_change is not None and open_change.waits else ()
        return Begun(standing, open_change, waiting)
    compared = compare(plan, Applied.of(state), {}, budget=budget)
    change = ask(state, compared, by, definition=definition)
    warnings = tuple(map(warning, forward_steps(compared.found)))
    for text in warnings:
        state.append_event(plan.flow, "plan", text)
    return Begun(standing, change, warnings)


def _waits(change: Change) -> str:
    why = change.error or "it is built"
    return f"change {change.id} waits for a person: {why}; let it serve: streamhouse changes {change.id} --swap"


def ask(
    state: StateStore,
    compared: PlanComparison,
    by: str,
    choices: Choices | None = None,
    gate: SwapGate | None = None,
    definition: Definition | None = None,
) -> Change:
    """Write into the journal that the plan is to be carried out.

    Where an environment has exactly what that would build, the environment is promoted: see `built_already`.

    Args:
        state: Holds the journal.
        compared: The plan, applied before.
        by: Who asks.
        choices: What a person chose for tables whose change blocks.
        gate: See `Wish`.
        definition: See `Wish`.

    Raises:
        BlockedError: a change blocks, and nobody chose what to do; rows would pass a reader by; or another flow is to
            be applied first.
    """
    found = compared.decided(choices or {})
    refuse_blocked(compared.plan.flow, found)
    refuse_ahead(state, compared.plan)
    wish = replace(wish_of(state, compared.plan, found), gate=gate, definition=definition)
    built = built_already(state, wish)
    if built is not None and not built.is_running:
        return state.promote(built.change, gate or SwapGate.AUDIT)
    return state.ask_change(wish, by)


def refuse_ahead(state: StateStore, plan: FlowPlan) -> None:
    """Refuse a plan that reads what another flow has in its files and not yet in its tables.

    Raises:
        BlockedError: the other flow is to be applied first.
    """
    owners = {name: other for _, other in state.plans().values() if other.flow != plan.flow for name in other.tables}
    for table in plan.external:
        owner = owners.get(table.name)
        if owner is None:  # its flow was never applied, and makes the table when it runs first
            continue
        open_change = state.open_change(owner.flow)
        there = {
            c.name
            for p in (owner, open_change.plan if open_change is not None else owner)
            for c in _columns(p, table.name)
        }
        adapted_names = {one.column.name for one in plan.adapted.get(table.name, ())}
        used = {c for step in plan.steps for read in step.reads if read.table == table.name for c in read.columns}
        if ahead := sorted(used - there - adapted_names):
            raise BlockedError(
                f"{plan.flow} reads {', '.join(ahead)} of {table.name}, which the files of {owner.flow} have "
                "and what is applied has not",
                hint=f"apply that first: streamhouse apply {owner.flow}",
            )


def _columns(plan: FlowPlan, table: str) -> tuple[Column, ...]:
    return plan.tables[table].columns if table in plan.tables else ()


def wish_of(state: StateStore, plan: FlowPlan, found: FlowDiff) -> Wish:
    """What is to be asked for, so that a plan takes the place of the applied one.

    Raises:
        BlockedError: rows would pass a reader by.
    """
    applied = state.plan(plan.flow)
    again = taken_up(applied[1] if applied is not None else None, plan, state.tables.columns_ever(plan.flow))
    to_rebuild = tables_to_rebuild(found, plan, state.tables.known(), again)
    copies, following = copied(found, plan, to_rebuild, again), followers(found)
    if applied is not None and to_rebuild:
        others = [other for name, (_, other) in state.plans().items() if name != plan.flow]
        _refuse_overtaken(plan.flow, overtaken(applied[1], plan, to_rebuild, others, following))
    column_marks = marks(found, plan, to_rebuild, copies, state.tables.meanings)
    return Wish(plan, found.outcome, to_rebuild, followers=following, copies=copies, marks=column_marks)


def _refuse_overtaken(flow: str, found: Mapping[str, str]) -> None:
    for table, other in found.items():
        raise BlockedError(
            f"{flow}: {other} is rebuilt, with rows of something that it is computed from for the first time, "
            f"and {table}, which is not rebuilt, would never get them",
            hint=f"apply it in two steps: first with {other} computed from its old inputs, then with the new input",
        )


def refuse_blocked(flow: str, found: FlowDiff) -> None:
    """Refuse a change that a person must decide first.

    Raises:
        BlockedError: it says which table, and how to decide.
    """
    blocked = [step for step in found.steps if step.outcome is Outcome.BLOCK]
    reasons = [f"{s.table}: {f.proof}" for s in blocked for f in s.findings if f.outcome is Outcome.BLOCK]
    reasons += [setting.proof for setting in found.settings if setting.outcome is Outcome.BLOCK]
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        raise BlockedError(
            f"{flow}: a person must decide first: {reasons[0]}{more}",
            hint=f"see: streamhouse plan {flow}; then, for example: streamhouse apply {flow}"
            + (f" --choose {blocked[0].table}=rebuild" if blocked else ""),
        )


def forward_steps(found: FlowDiff) -> list[StepChange]:
    """The steps whose older rows keep the old meaning."""
    return [step for step in found.steps if step.change == "changed" and step.outcome is Outcome.FORWARD]


def warning(change: StepChange) -> str:
    """One line for a person."""
    why = f" (rule {change.main.rule}): {change.main.proof}" if change.main is not None else ""
    return f"{change.table}: {change.outcome}{why}; rows already written are as they were"

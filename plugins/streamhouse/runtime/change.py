"""Asks for changes: compares what files say with what is applied, and writes what follows into the journal."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from streamhouse.compiler.change import blocked, copied, decided, followers, marks, shared, tables_anew, taken_up
from streamhouse.compiler.cost import over_budget, with_cost
from streamhouse.compiler.diff import diff
from streamhouse.errors import BlockedError, StateConflictError
from streamhouse.model.outcome import FlowDiff, Outcome, StepChange
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import at_versions
from streamhouse.state.changes import Wish
from streamhouse.state.records import Change
from streamhouse.state.store import StateStore

Choices = Mapping[str, Outcome]
"""Table → what a person chose where a change blocks."""


@dataclass(frozen=True)
class Compared:
    """A plan against what is applied.

    Attributes:
        revision: Of the applied plan; None: never applied.
        applied: The applied plan.
        found: What the change does.
        with_choices: What it does once a person chose.
    """

    plan: FlowPlan
    revision: int | None
    applied: FlowPlan | None
    found: FlowDiff
    with_choices: Callable[[Choices], FlowDiff]

    def decided(self, choices: Choices) -> FlowDiff:
        """What the change does once a person chose for tables whose change blocks; for others nobody can choose."""
        blocking = {step.table for step in self.found.steps if step.outcome is Outcome.BLOCK}
        valid = {table: choice for table, choice in choices.items() if table in blocking}
        return self.with_choices(valid) if valid else self.found

    @property
    def is_change(self) -> bool:
        """Whether anything but the record of another text is to be done."""
        return self.applied is None or self.found.outcome is not Outcome.NO_OP

    @property
    def blocks(self) -> bool:
        """Whether a person must decide first."""
        return self.found.outcome is Outcome.BLOCK


@dataclass(frozen=True)
class Applied:
    """What runs.

    Attributes:
        plans: Flow → revision and plan.
        ages: Flow → how long it has run.
        rows: Table → rows written so far.
        tables: Every table that was ever applied.
    """

    plans: Mapping[str, tuple[int, FlowPlan]]
    ages: Mapping[str, timedelta]
    rows: Mapping[str, int] = field(default_factory=dict)
    tables: Collection[str] = ()

    @classmethod
    def of(cls, state: StateStore | None) -> "Applied":
        """What the state store says; nothing where there is none."""
        if state is None:
            return cls({}, {})
        plans, now = state.plans(), datetime.now(UTC)
        ages = {name: now - state.history(name)[0].applied_at for name in plans}
        return cls(plans, ages, state.rows_written(), state.known_tables())


def compare(
    plan: FlowPlan, applied: Applied, desired: Mapping[str, FlowPlan], *, budget: int | None = None
) -> Compared:
    """What applying a plan would do.

    Args:
        plan: As compiled from the files.
        applied: What runs.
        desired: Flows as their files have them; read of those that never ran.
        budget: Bytes that building a table anew may read without a person's word; None: any number.
    """
    others = {name: other for name, other in desired.items() if name not in applied.plans}
    others |= {name: other for name, (_, other) in applied.plans.items()}
    others.pop(plan.flow, None)
    revision, old = applied.plans.get(plan.flow, (None, None))
    age = applied.ages.get(plan.flow, timedelta(0))
    running = {name: other for name, (_, other) in applied.plans.items()}

    def found(choices: Choices) -> FlowDiff:
        found = diff(old, plan, others, age=age, choices=choices)
        if old is None:
            return found
        anew = tables_anew(found, plan, applied.tables)
        found = with_cost(found, plan, anew, applied.rows)
        found = blocked(found, over_budget(found, budget))
        found = blocked(found, shared(plan, anew, running), final=True)
        return decided(found, choices)

    return Compared(plan, revision, old, found({}), found)


@dataclass(frozen=True)
class Begun:
    """What a runner of a flow begins with.

    Attributes:
        plan: As applied, over the names that stores hold.
        change: What the runner is to carry out on the way to the plan wanted; None: nothing.
        warnings: What keeps its old meaning after that.
    """

    plan: FlowPlan
    change: Change | None = None
    warnings: tuple[str, ...] = ()


def begin(state: StateStore, plan: FlowPlan, by: str = "run", *, budget: int | None = None) -> Begun:
    """Record that `plan` is wanted; a flow that was never applied begins with it at once.

    Raises:
        BlockedError: a person must decide first. Nothing was asked.
    """
    try:
        known = state.plan(plan.flow)
    except StateConflictError:  # of a version whose plans this one cannot read
        known = None
    if known is None:
        state.save_plan(plan)
        return Begun(at_versions(plan, state.versions(plan.flow)))
    standing, asked = at_versions(known[1], state.versions(plan.flow)), state.open_change(plan.flow)
    if known[1].fingerprint == plan.fingerprint or (asked is not None and asked.plan.fingerprint == plan.fingerprint):
        return Begun(standing, asked)
    compared = compare(plan, Applied.of(state), {}, budget=budget)
    change = ask(state, compared, by)
    warnings = tuple(map(warning, kept(compared.found)))
    for text in warnings:
        state.append_event(plan.flow, "plan", text)
    return Begun(standing, change, warnings)


def ask(state: StateStore, compared: Compared, by: str, choices: Choices | None = None) -> Change:
    """Write into the journal that the plan is to be carried out.

    Args:
        state: Holds the journal.
        compared: The plan, applied before.
        by: Who asks.
        choices: What a person chose for tables whose change blocks.

    Raises:
        BlockedError: a change blocks, and nobody chose what to do.
    """
    found = compared.decided(choices or {})
    refuse_blocked(compared.plan.flow, found)
    again = taken_up(compared.applied, compared.plan, state.columns_ever(compared.plan.flow))
    anew = tables_anew(found, compared.plan, state.known_tables(), again)
    copies = copied(found, compared.plan, anew, again)
    wish = Wish(
        compared.plan,
        found.outcome,
        anew,
        followers=followers(found),
        copies=copies,
        marks=marks(found, anew, copies),
    )
    return state.ask_change(wish, by)


def refuse_blocked(flow: str, found: FlowDiff) -> None:
    """Raise BlockedError when a person must decide first."""
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


def kept(found: FlowDiff) -> list[StepChange]:
    """The steps whose older rows keep the old meaning."""
    return [step for step in found.steps if step.change == "changed" and step.outcome is Outcome.FORWARD]


def warning(change: StepChange) -> str:
    """One line for a person."""
    why = f" (rule {change.main.rule}): {change.main.proof}" if change.main is not None else ""
    return f"{change.table}: {change.outcome}{why}; rows already written are as they were"

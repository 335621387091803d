"""Compares plans with what is applied. Loads no database: a look at unchanged plans needs none."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from streamhouse.compiler.diff import diff
from streamhouse.compiler.diff.beside import Beside, FlowIndex
from streamhouse.model.definition import Definition
from streamhouse.model.flow import Flow
from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.project.applied import AppliedState
from streamhouse.project.cache.made_of import CachedMadeOf
from streamhouse.project.check import load_registry
from streamhouse.project.desired import Desired, desired, desired_flow
from streamhouse.project.project import Project
from streamhouse.registry.files import DefinitionFile, DefinitionFiles

if TYPE_CHECKING:
    from streamhouse.sql.made_of import MadeOfMemory
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.store import StateStore

Choices = Mapping[str, Outcome]
"""Table → what a person chose where a change blocks."""


@dataclass(frozen=True)
class PlanComparison:
    """A plan against what is applied.

    Attributes:
        revision: Of the applied plan; None: never applied.
        applied: The applied plan.
        found: What the change does.
        with_choices: What it does once a person chose.
        files: That the plan follows from; None: it follows from no files as they are.
        rules: Whether they say something that is no part of the plan, and that what is applied does not: how the flow
            follows changes upstream.
    """

    plan: FlowPlan
    revision: int | None
    applied: FlowPlan | None
    found: FlowDiff
    with_choices: Callable[[Choices], FlowDiff]
    files: DefinitionFiles | None = None
    rules: bool = False

    def definition(self, project: Project) -> Definition | None:
        """The texts that the plan follows from; None: see `files`."""
        if self.files is None:
            return None
        return load_registry(project, self.files).definition(self.plan.flow)

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
    def changes_applied(self) -> bool:
        """Whether it changes a plan that is applied: an environment may have what it would build."""
        return self.applied is not None and self.is_change

    @property
    def blocks(self) -> bool:
        """Whether a person must decide first."""
        return self.found.outcome is Outcome.BLOCK

    @cached_property
    def fingerprint(self) -> str:
        """Of the plan."""
        return self.plan.fingerprint

    @cached_property
    def applied_fingerprint(self) -> str | None:
        """Of the applied plan; None: never applied."""
        if self.applied is None:
            return None
        return self.fingerprint if self.applied is self.plan else self.applied.fingerprint

    @property
    def differs(self) -> bool:
        """Whether the plan is another than the applied one, be it in its text alone, or what it follows from is."""
        return self.rules or self.fingerprint != self.applied_fingerprint


@dataclass(frozen=True)
class TableContents:
    """What tables hold.

    Attributes:
        rows: Table → rows written so far.
        tables: Every table that was ever applied.
        columns: Gives of a flow: table → every column that a plan of it gave the table.
    """

    rows: Mapping[str, int]
    tables: Collection[str]
    columns: Callable[[str], Mapping[str, Collection[str]]] = lambda _flow: {}


_NOTHING = TableContents({}, ())


@dataclass(frozen=True)
class Applied:
    """What runs.

    Attributes:
        plans: Flow → revision and plan.
        ages: Flow → how long it has run.
        written: Gives what tables hold; asked only when something changes.
    """

    plans: Mapping[str, tuple[int, FlowPlan]]
    ages: Mapping[str, timedelta]
    written: Callable[[], TableContents] = lambda: _NOTHING

    @cached_property
    def flows(self) -> FlowIndex:
        """The flows that run."""
        return FlowIndex({name: plan for name, (_, plan) in self.plans.items()})

    def flows_with(self, desired: Mapping[str, FlowPlan], memory: "MadeOfMemory | None" = None) -> FlowIndex:
        """The flows that run, and those of `desired` that never did; `memory` as of the index."""
        new = {name: plan for name, plan in desired.items() if name not in self.plans}
        is_known = not new and memory is None
        return self.flows if is_known else FlowIndex({**new, **self.flows.plans}, memory)

    @classmethod
    def of(cls, state: "StateStore") -> "Applied":
        """What the state store says."""
        plans, now = state.plans(), datetime.now(UTC)
        ages = {name: now - state.history(name)[0].applied_at for name in plans}

        def contents() -> TableContents:
            return TableContents(state.overview.rows_written(), state.tables.known(), state.tables.columns_ever)

        return cls(plans, ages, contents)

    @classmethod
    def found(cls, found: AppliedState) -> "Applied":
        """What the state store of a project says, or said when its files were as they are."""
        now = datetime.now(UTC)
        return cls(
            {name: (one.revision, one.plan) for name, one in found.flows.items()},
            {name: now - one.since for name, one in found.flows.items()},
            lambda: TableContents(found.rows, found.tables, lambda flow: found.columns.get(flow, {})),
        )


def compare_project(
    project: Project,
    flow: str | None = None,
    *,
    processes: int = 1,
    files: DefinitionFiles | None = None,
    unreadable: "Unreadable | None" = None,
) -> list[PlanComparison]:
    """What applying the files of a project would do, flow by flow; no state store is created.

    Args:
        project: Its files, and its state store, are read.
        flow: Look at this one alone; others need not be sound then, as far as it reads nothing from them.
        processes: As for `check_project`.
        files: In place of those of the project, such as these with a proposal's in them.
        unreadable: Gets flow → error of each applied plan that cannot be read; such a flow is not compared, and others
            are compared with what its files say. None: the first such error is raised.

    Raises:
        UnknownFlowError: no file defines the flow.
        DefinitionError, DefinitionErrors: a file is wrong.
    """
    if flow is None:
        looked = desired(project, processes=processes, files=files, unreadable=unreadable)
    else:
        looked = desired_flow(project, flow, files, unreadable)
    applied, budget = Applied.found(looked.applied), project.settings.rebuild_budget
    with CachedMadeOf.at(project) as memory:
        flows = applied.flows_with(looked.plans, memory)
        found = [
            replace(compare(plan, applied, looked.plans, budget=budget, flows=flows), files=looked.files)
            for plan in looked.plans.values()
            if plan.flow not in (unreadable or {})
        ]
    others = _other_rules(project, looked, [one.plan.flow for one in found if not one.differs])
    return [replace(one, rules=True) if one.plan.flow in others else one for one in found]


def _other_rules(project: Project, looked: Desired, flows: Collection[str]) -> frozenset[str]:
    """Of flows whose plans are as they are applied, those whose files said something else then."""
    by_name = {file.name: file for file in (*looked.files.actions, *looked.files.flows)}
    edited: dict[str, list[str]] = {}
    for flow in flows:
        texts = looked.applied.flows[flow].texts if flow in looked.applied.flows else {}
        names = [name for name, text in texts.items() if name not in by_name or by_name[name].text_hash != text]
        if names:
            edited[flow] = names
    state = project.existing_state() if edited else None
    if state is None:
        return frozenset()
    with state:
        definitions = state.definitions.applied({})
    return frozenset(
        flow
        for flow, names in edited.items()
        if flow in definitions
        and any(
            n not in by_name or _rules(n, definitions[flow].files[n]) != _rules(n, by_name[n].text()) for n in names
        )
    )


@lru_cache(maxsize=4096)  # an action that many flows use differs in each of them
def _rules(name: str, text: str) -> str:
    from streamhouse.registry.fingerprint import fingerprint  # parses SQL: not for a look at unchanged plans
    from streamhouse.registry.registry import understood

    read = understood(DefinitionFile(name, text.encode()))
    return fingerprint(read if isinstance(read, Flow) else read.action, meaning=False)


def compare(
    plan: FlowPlan,
    applied: Applied,
    desired: Mapping[str, FlowPlan],
    *,
    budget: int | None = None,
    flows: FlowIndex | None = None,
) -> PlanComparison:
    """What applying a plan would do.

    Args:
        plan: As compiled from the files.
        applied: What runs.
        desired: Flows as their files have them; read of those that never ran.
        budget: Bytes that rebuilding a table may read without a person's word; None: any number.
        flows: `applied.flows_with(desired)`, where many plans are compared.
    """
    revision, old = applied.plans.get(plan.flow, (None, None))
    others = Beside(flows if flows is not None else applied.flows_with(desired), plan.flow)
    age = applied.ages.get(plan.flow, timedelta(0))

    def found(choices: Choices) -> FlowDiff:
        difference = diff(old, plan, others, age=age, choices=choices)
        if old is None or difference.outcome is Outcome.NO_OP:
            return difference
        return _guarded(difference, old, plan, applied, budget, choices)

    return PlanComparison(plan, revision, old, found({}), found)


def _guarded(
    found: FlowDiff, old: FlowPlan, plan: FlowPlan, applied: Applied, budget: int | None, choices: Choices
) -> FlowDiff:
    """The difference with what it builds and reads, and what therefore nobody or only a person may do."""
    from streamhouse.compiler.cost import over_budget, with_cost
    from streamhouse.compiler.migration import blocked, decided, shared, tables_to_rebuild, taken_up
    from streamhouse.compiler.rebuilt import with_rebuilt

    written = applied.written()
    again = taken_up(old, plan, written.columns(plan.flow))
    to_rebuild = tables_to_rebuild(found, plan, written.tables, again)
    found = with_rebuilt(found, plan, to_rebuild, again, written.tables)
    found = with_cost(found, plan, to_rebuild, written.rows)
    found = blocked(found, over_budget(found, budget))
    return decided(blocked(found, shared(plan, to_rebuild, Beside(applied.flows, plan.flow)), final=True), choices)

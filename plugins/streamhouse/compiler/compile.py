"""From definitions to plans."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal, Protocol

from streamhouse.compiler.check import (
    Readable,
    check_layer,
    check_ports,
    check_reads,
    check_schema_change,
    check_table_options,
)
from streamhouse.compiler.detached import detach_steps
from streamhouse.compiler.kept import deletions
from streamhouse.compiler.older_nulls import OlderNulls
from streamhouse.compiler.order import foreign_writers, ordered_flows, ordered_steps, writers, writes_place
from streamhouse.compiler.segments import check_streams, segments
from streamhouse.compiler.shared import disagreements, joined, with_tables, with_whole_tables
from streamhouse.compiler.step import plan_step
from streamhouse.errors import (
    Location,
    SourceError,
    StreamhouseError,
    UnknownActionError,
)
from streamhouse.model.action import Action
from streamhouse.model.bad_rows import KIND, LETTER_COLUMNS, with_dead_letters
from streamhouse.model.flow import Flow, Step
from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep, Truncation
from streamhouse.model.read_as import ReadAs, as_read
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Ranges
from streamhouse.registry.problems import Problems
from streamhouse.sql.last_resort import guard_analysis


class Actions(Protocol):
    """Where actions come from; a registry is one."""

    def action(self, use: str) -> Action:
        """The action called `name` or `name@major`.

        Raises:
            UnknownActionError: there is none.
        """


SourceColumns = Mapping[str, tuple[Column, ...]]


PlanStep = Callable[[Step, Action, Flow, Mapping[str, Readable]], PlannedStep]
"""`plan_step`, or what gives the same and remembers it."""

CompileFlow = Callable[[Flow, Actions, SourceColumns, Mapping[str, Table]], FlowPlan]
"""`compile_flow`, or what gives the same and remembers it."""


class View(Protocol):
    """Which columns a step is not to see: those that came later and that its policy does not let in."""

    def hidden(self, step: Step, action: Action, table: str, columns: tuple[Column, ...]) -> frozenset[str]:
        """Names among the `columns` of a `table` or source that the step reads."""

    def adapted(self, name: str) -> tuple[ReadAs, ...]:
        """How columns of a source, or of a table of another flow, are made of what is there."""

    def again(self, name: str) -> str:
        """Which time a table of another flow, or segment, is read from its beginning; empty: the first."""

    def truncated(self, name: str) -> Mapping[str, Truncation]:
        """What a person decided of removals of all rows of a source."""

    def skipped_ranges(self, name: str) -> Ranges:
        """Ranges of a source or table that a person said to go on behind: their rows are gone."""

    @property
    def applied(self) -> FlowPlan:
        """The flow as it runs: rows that it wrote may have NULL where new ones have none."""

    @property
    def detached_groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of steps that are detached; see `compiler.detached`."""


def compile_flow(
    flow: Flow,
    registry: Actions,
    source_columns: SourceColumns,
    external: Mapping[str, Table] | None = None,
    plan: PlanStep = plan_step,
    view: View | None = None,
) -> FlowPlan:
    """Resolve, check, type and order a flow's steps.

    Args:
        flow: Its steps may stand in any order.
        registry: Supplies the actions; only read.
        source_columns: Source of the flow → what it delivers.
        external: Tables of other flows, by name; those it neither reads nor writes are ignored.
        plan: Plans one step.
        view: What steps do not see of what they read; None: they see everything.

    Returns:
        Each step once, after the steps that write what it reads. Equal inputs give an equal plan,
        so a plan can be compared, hashed and stored.

    Raises:
        DefinitionError: the one thing wrong, at its place: UnknownActionError, UnknownTableError,
            DuplicateWriterError, CyclicFlowError, PortError, MissingParameterError, UnknownKeyError,
            TypeMismatchError, UnknownColumnError, UntypedColumnError, OutputColumnError, StrategyError,
            TierError, SqlSyntaxError or SourceError.
        DefinitionErrors: several things are wrong. A step whose input is wrong is not looked at.
    """
    problems = Problems()
    external = external or {}
    flow = with_dead_letters(flow)
    writer, duplicates = writers(flow)
    problems.add(*duplicates, *check_reads(flow, writer, external), *check_table_options(flow, writer))
    problems.add(*check_schema_change(flow, writer))
    actions = _actions(flow, registry, problems)
    try:
        order = ordered_steps(flow)
    except StreamhouseError as error:
        problems.add(error)
        problems.raise_any()
        raise
    external = _known(external, writer, view)
    readable = _readable(flow, source_columns, external, problems)
    planned: list[PlannedStep] = []
    older = OlderNulls(view.applied) if view is not None else None
    shared: dict[str, Table] = {}
    for step in order:
        action = actions.get(step.use)
        if action is None:
            continue
        errors = [*check_layer(step, action), *check_ports(step, action, flow.sources)]
        problems.add(*errors)
        if errors or any(read.table not in readable for read in step.reads.values()):
            continue
        try:
            done = (
                plan(step, action, flow, readable) if view is None else _seen(step, action, flow, readable, view, plan)
            )
            if older is not None:
                done = older.keeps(done, {read.table: readable[read.table].columns for read in done.reads})
        except StreamhouseError as error:
            problems.add(error)
            continue
        # Beside what is remembered of a step, which does not tell where it stands.
        notices = (*done.notices, *deletions(done, flow))
        planned.append(done if notices == done.notices else done.model_copy(update={"notices": notices}))
        table = done.writes
        if done.part:
            # Of the flows compiled before this one, and of the steps before this one.
            known = shared.get(step.writes, external.get(step.writes))
            problems.add(*disagreements(known, table, writes_place(step)))
            table = shared[step.writes] = joined(known, table)
        readable[step.writes] = Readable.of(table)
    problems.raise_any()
    done_plan = with_tables(_plan(flow, planned, readable, external, view), shared)
    if older is not None and older.found:
        done_plan = done_plan.model_copy(update={"older_nulls": older.found})
    return _adapted(done_plan, view)


def compile_project(
    flows: Iterable[Flow],
    registry: Actions,
    source_columns: Mapping[str, SourceColumns],
    compiled: CompileFlow = compile_flow,
    views: Mapping[str, View] | None = None,
    apart: Mapping[str, Actions] | None = None,
    plan: PlanStep = plan_step,
) -> dict[str, FlowPlan]:
    """Compile flows that may read each other's tables.

    Args:
        flows: In any order, each name once.
        registry: Supplies the actions.
        source_columns: Flow → source → what it delivers.
        compiled: Compiles one flow that has no view.
        views: Flow → what its steps do not see.
        apart: Flow → where its actions come from, of those that have others than `registry`.
        plan: Plans one step of a flow that has a view.

    Returns:
        Flow → plan, each after the flows whose tables it reads.

    Raises:
        DefinitionError, DefinitionErrors: as `compile_flow`, over all flows; also DuplicateWriterError when
            two flows write one table and CyclicFlowError when flows read each other's tables.
    """
    named = {flow.flow: flow for flow in flows}
    whole = {name: with_dead_letters(flow) for name, flow in named.items()}
    problems = Problems()
    owners, duplicates = foreign_writers(whole)
    problems.add(*duplicates)
    try:
        order = ordered_flows(whole, owners)
    except StreamhouseError as error:
        problems.add(error)
        problems.raise_any()
        raise
    plans: dict[str, FlowPlan] = {}
    tables: dict[str, Table] = {}
    failed: set[str] = set()
    for name in order:
        flow = named[name]
        read = {owner for step in flow.steps for r in step.reads.values() for owner in owners.get(r.table, ())}
        if read & failed:
            failed.add(name)
            continue
        try:
            view = (views or {}).get(name)
            actions = (apart or {}).get(name, registry)
            columns = source_columns.get(name, {})
            with guard_analysis(flow.at, f"flow '{name}'"):
                plans[name] = (
                    compiled(flow, actions, columns, tables)
                    if view is None
                    else compile_flow(flow, actions, columns, tables, plan, view)
                )
        except StreamhouseError as error:
            problems.add(error)
            failed.add(name)
            continue
        tables |= plans[name].tables
    problems.raise_any()
    return with_whole_tables(plans)


def _seen(
    step: Step, action: Action, flow: Flow, readable: Mapping[str, Readable], view: View, plan: PlanStep
) -> PlannedStep:
    tables = {read.table for read in step.reads.values()}
    hidden = {table: view.hidden(step, action, table, readable[table].columns) for table in tables}
    visible_inputs = {
        table: replace(readable[table], columns=tuple(c for c in readable[table].columns if c.name not in names))
        for table, names in hidden.items()
    }
    done = plan(step, action, flow, visible_inputs)
    reads = tuple(read.model_copy(update={"hidden": tuple(sorted(hidden[read.table]))}) for read in done.reads)
    return done.model_copy(update={"reads": reads})


def _known(external: Mapping[str, Table], own: Collection[str], view: View | None) -> Mapping[str, Table]:
    """Tables of other flows as the steps of this one know them."""
    if view is None:
        return external
    return {
        name: table.model_copy(update={"columns": as_read(table.columns, adaptations)})
        if name not in own and (adaptations := view.adapted(name))
        else table
        for name, table in external.items()
    }


def _adapted(plan: FlowPlan, view: View | None) -> FlowPlan:
    names = [source.name for source in plan.sources] + [table.name for table in plan.external]
    if view is None:
        return plan
    found = {name: adaptations for name in names if (adaptations := view.adapted(name))}
    again = {table.name: time for table in plan.readable if (time := view.again(table.name))}
    skipped_ranges = {table.name: ranges for table in plan.readable if (ranges := view.skipped_ranges(table.name))}
    updates = {"adapted": found, "again": again, "given_up": skipped_ranges}
    plan = plan.model_copy(update=updates) if any(updates.values()) else plan
    return detach_steps(plan, view.detached_groups)


def _actions(flow: Flow, registry: Actions, problems: Problems) -> dict[str, Action]:
    found: dict[str, Action] = {}
    for step in flow.steps:
        if step.use in found:
            continue
        try:
            found[step.use] = registry.action(step.use)
        except UnknownActionError as error:
            error.at = step.places.get("use", step.at)
            problems.add(error)
        except StreamhouseError as error:  # the action's own file is broken
            problems.add(error)
    return found


def _readable(
    flow: Flow, source_columns: SourceColumns, external: Mapping[str, Table], problems: Problems
) -> dict[str, Readable]:
    used = {read.table for step in flow.steps for read in step.reads.values()}
    tables = {name: external[name] for name in sorted(used) if name in external}
    readable = {name: Readable.of(table) for name, table in tables.items()}
    for name, source in flow.sources.items():
        if name not in used:
            continue
        if source.kind == KIND:
            readable[name] = Readable(LETTER_COLUMNS, source.primary_key, source=True)
        elif name not in source_columns:
            problems.add(SourceError(f"the columns of source '{name}' are not known", at=_place(source.at, flow)))
        else:
            readable[name] = Readable(source_columns[name], source.primary_key, source=True)
    return readable


def _place(at: Location, flow: Flow) -> Location:
    return at if at != Location("") else flow.at


def _truncations(flow: Flow, source: str) -> Literal["kept", "asked"]:
    """Whether a person is asked when all rows are removed from a source: by the policies of the steps that read it."""
    reads = [step.writes for step in flow.steps if any(read.table == source for read in step.reads.values())]
    policies = {flow.schema_change.policy_for(EventType.TRUNCATE_TABLE, table)[0] for table in reads}
    return "asked" if policies & {Policy.FREEZE, Policy.EVOLVE, Policy.TRY_EVOLVE} else "kept"


def _plan(
    flow: Flow,
    steps: list[PlannedStep],
    readable: Mapping[str, Readable],
    external: Mapping[str, Table],
    view: View | None,
) -> FlowPlan:
    written = {step.writes.name: step for step in steps}
    used = {read.table for step in steps for read in step.reads}
    cut = segments(tuple(steps), external, flow.commit_interval)
    check_streams(flow, cut, readable_tables={**external, **{s.writes.name: s.writes for s in steps}})
    first = frozenset[str]().union(*(segment.loads_first for segment in cut))
    return FlowPlan(
        flow=flow.flow,
        description=flow.description,
        owner=flow.owner,
        tags=flow.tags,
        freshness=flow.freshness,
        max_rows_per_epoch=flow.max_rows_per_epoch,
        sources=tuple(
            _planned_source(flow, name, readable[name], view, loads_first=name in first)
            for name in sorted(flow.sources)
            if name in used
        ),
        local_epoch_rows=flow.local_epoch_rows,
        external=tuple(external[name] for name in sorted(used) if name in external and name not in written),
        segments=cut,
    )


__all__ = ["Actions", "CompileFlow", "PlanStep", "SourceColumns", "View", "compile_flow", "compile_project"]


def _planned_source(flow: Flow, name: str, read: Readable, view: View | None, *, loads_first: bool) -> PlannedSource:
    source = flow.sources[name]
    return PlannedSource(
        name=source.name,
        kind=source.kind,
        options=source.options,
        columns=read.columns,
        primary_key=read.primary_key,
        loads_first=loads_first,
        truncations=_truncations(flow, name) if read.primary_key else "kept",
        truncated=dict(view.truncated(name)) if view is not None else {},
        given_up=view.skipped_ranges(name) if view is not None else {},
    )

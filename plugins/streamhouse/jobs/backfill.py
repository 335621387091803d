"""Restates a flow's tables from their whole history, while the flow waits (design D6, D9)."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from streamhouse.engine.lease import LeaseGuard, leased
from streamhouse.engine.traces import refuse_older_state
from streamhouse.engine.unreadable_flows import plans_beside
from streamhouse.errors import RestateError, StateConflictError, UnknownTableError, did_you_mean
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.version import at_versions, table_name
from streamhouse.project.applied import applied_state
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.restating import Restated, Restating
from streamhouse.state.plans import Unreadable, refuse_unreadable
from streamhouse.state.records import EpochRecord
from streamhouse.tiering.restate import EVERYTHING, TimeSpan


def backfill(
    project: Project,
    flow: str,
    *,
    tables: Collection[str] = (),
    span: TimeSpan = EVERYTHING,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restated]:
    """Bring tables of a flow to what their SQL, as applied, says of all rows read so far, up to its own positions.

    History is read from the coldest tier that holds it. The flow must not run meanwhile; it goes on from
    where it stood, so between history and stream no row is missed or counted twice. Cut short, a backfill
    leaves right rows beside old ones; run again, it does the rest.

    Args:
        project: Holds the flow.
        flow: Its name; it must have run before.
        tables: Those to restate, with all that this flow makes from them; empty: every table.
        span: Only rows of this event time.
        dry_run: Compare, and write nothing.
        say: Is called with what is being done.

    Returns:
        One entry for each table looked at, upstream first.

    Raises:
        LeaseHeldError: the flow runs.
        UnknownTableError: the flow does not write a table named.
        UnknownFlowError: nothing defines it.
        RestateError: a table cannot be restated, or the flow has not run.
        StateConflictError: an epoch is unfinished; or a flow whose plan cannot be read may share a table with this one.
    """
    plan = _applied(project, flow)
    _chosen(plan, tables)
    with opened(project, say=say) as open_:
        return restate(open_, plan, tables=tables, span=span, dry_run=dry_run, say=say)


def restate(
    open_: Open,
    plan: FlowPlan,
    *,
    tables: Collection[str] = (),
    span: TimeSpan = EVERYTHING,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restated]:
    """The same over what is open, of a plan that is applied."""
    with leased(open_.state, plan.flow, this_owner(), alive=is_alive) as guard:
        last = {segment.name: _last_epoch(open_, plan, segment) for segment in plan.segments}
        stored = at_versions(plan, open_.state.versions(plan.flow))
        plans_beside(stored, open_.state)  # a backfill writes what an epoch may write
        refuse_older_state(stored, open_.stores, open_.state.newest_known)
        restating = Restating(open_, stored, last, span, say, dry_run=dry_run)
        done = []
        for segment, step in _chosen(stored, tables):
            with _not_by_an_epoch(open_, guard, segment, step, dry_run=dry_run):
                done.append(restating.step(segment, step))
            if done[-1].lost and not dry_run:
                open_.state.append_event(plan.flow, "loss", done[-1].lost)
        if not dry_run:
            open_.state.append_event(plan.flow, "backfill", _summary(done))
        return done


def _summary(done: Sequence[Restated]) -> str:
    upserts, deletes = sum(one.upserts for one in done), sum(one.deletes for one in done)
    tables = ", ".join(table_name(one.table) for one in done)
    return f"{upserts:,} rows written and {deletes:,} keys removed in {tables}"


@contextmanager
def _not_by_an_epoch(
    open_: Open, guard: LeaseGuard, segment: Segment, step: PlannedStep, *, dry_run: bool
) -> Iterator[None]:
    """Something else than an epoch writes to a table, which its flow finds longer than it left it.

    Cut short, nobody knows where it ends: the next run takes that from the store.
    """
    table = step.writes
    if not dry_run:
        open_.state.note_ends(guard.lease, segment.name, {table.name: None})
    yield
    if not dry_run:
        end = open_.stores[table.tiers.target].end(table)
        open_.state.note_ends(guard.lease, segment.name, {table.name: end})


def _applied(project: Project, flow: str) -> FlowPlan:
    unreadable: Unreadable = {}
    applied = applied_state(project, {}, unreadable).plans
    refuse_unreadable(unreadable, [flow])
    if flow not in applied:
        plan_of(project, flow)  # says what is wrong with its name, or its files
        raise RestateError(
            f"{flow} has not run yet, so there is no history to restate", hint=f"streamhouse run {flow} --once"
        )
    return applied[flow]


def _chosen(plan: FlowPlan, tables: Collection[str]) -> list[tuple[Segment, PlannedStep]]:
    every = [(segment, step) for segment in plan.segments for step in segment.steps]
    written = [table_name(step.writes.name) for _, step in every]
    for name in tables:
        if name not in written:
            raise UnknownTableError(
                f"{plan.flow} does not write {name}",
                hint=did_you_mean(name, written, f"it writes: {', '.join(written)}"),
            )
    if not tables:
        return every
    touched = {step.writes.name for _, step in every if table_name(step.writes.name) in tables}
    for _, step in every:
        if any(read.table in touched for read in step.reads):
            touched.add(step.writes.name)
    return [(segment, step) for segment, step in every if step.writes.name in touched]


def _last_epoch(open_: Open, plan: FlowPlan, segment: Segment) -> EpochRecord:
    last = open_.state.last_epoch(plan.flow, segment.name)
    if last is None:
        raise RestateError(
            f"{plan.flow} has not run yet, so there is no history to restate",
            hint=f"streamhouse run {plan.flow} --once",
        )
    if (unfinished := open_.state.unfinished(plan.flow, segment.name)) is not None:
        raise StateConflictError(
            f"epoch {unfinished} of {plan.flow} is not finished",
            hint=f"finish it first: streamhouse run {plan.flow} --once",
        )
    return last

"""Restates a flow's tables from their whole history, while the flow stands still (design D6, D9)."""

from collections.abc import Callable, Collection

from streamhouse.engine.lease import leased
from streamhouse.errors import RestateError, StateConflictError, UnknownTableError, did_you_mean
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.version import at_versions, table_name
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.restating import Restated, Restating
from streamhouse.state.records import EpochRecord
from streamhouse.tiering.restate import EVERYTHING, Span


def backfill(
    project: Project,
    flow: str,
    *,
    tables: Collection[str] = (),
    span: Span = EVERYTHING,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restated]:
    """Bring tables of a flow to what their SQL says of all rows read so far, up to the flow's own positions.

    History is read from the coldest tier that holds it. The flow must not run meanwhile; it goes on from
    where it stood, so between history and stream no row is missed or counted twice. Cut short, a backfill
    leaves right rows beside old ones; run again, it does the rest.

    Args:
        project: Holds the flow.
        flow: Its name; it must have run before.
        tables: Those to restate, with all that this flow makes from them; empty: every table.
        span: Only rows of this event time.
        dry_run: Compare, and write nothing.
        say: Told what is being done.

    Returns:
        One entry for each table looked at, upstream first.

    Raises:
        LeaseHeldError: the flow runs.
        UnknownTableError: the flow does not write a table named.
        RestateError: a table cannot be restated, the flow has not run, or its files are not what is applied.
        StateConflictError: an epoch is unfinished.
    """
    plan = plan_of(project, flow)
    _chosen(plan, tables)
    _check_applied(project, plan)
    with opened(project, say=say) as open_, leased(open_.state, flow, this_owner(), alive=is_alive):
        last = {segment.name: _last_epoch(open_, plan, segment) for segment in plan.segments}
        restating = Restating(open_, at_versions(plan, open_.state.versions(flow)), last, span, say, dry_run=dry_run)
        return [restating.step(segment, step) for segment, step in _chosen(restating.plan, tables)]


def _check_applied(project: Project, plan: FlowPlan) -> None:
    with project.state() as state:
        known = state.plan(plan.flow)
    if known is not None and known[1].fingerprint != plan.fingerprint:
        raise RestateError(
            f"the files of {plan.flow} differ from revision {known[0]}, which is applied",
            hint=f"apply them first: streamhouse apply {plan.flow}",
        )


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

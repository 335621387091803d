"""Applies what the files say to a flow: through the runner that carries it, or here when none does."""

import time
from collections.abc import Callable

from streamhouse.change.building import running_plan
from streamhouse.change.change_request import ask, refuse_ahead
from streamhouse.change.environment import of
from streamhouse.change.journal import let_serve
from streamhouse.change.reconcile import Reconciler
from streamhouse.errors import AuditFailedError, ChangeFailedError, LeaseHeldError
from streamhouse.model.review import SwapGate
from streamhouse.project.compare import Choices, PlanComparison
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, execution_of, opened
from streamhouse.runtime.owner import is_alive
from streamhouse.state.records import Change, Phase, RunnerState
from streamhouse.state.store import StateStore

_LOOK_S = 0.2


def apply(
    project: Project,
    compared: PlanComparison,
    by: str,
    *,
    choices: Choices | None = None,
    gate: SwapGate = SwapGate.AUDIT,
    wait: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Change | None:
    """Carry out a plan.

    Where a runner carries the flow, it takes the plan over between two epochs, or rebuilds tables beside
    those that serve and then takes it over; this waits for it. Else it is done here. Killed at any moment, either
    the old plan with the old tables serves or the new one with the new ones; asked again, it goes on.

    Args:
        project: Holds the flow.
        compared: The plan against what is applied.
        by: Who asks, for the journal.
        choices: What a person chose for tables whose change blocks.
        gate: What lets tables that are rebuilt serve.
        wait: Until it is done, or waits for a person; else return when it is asked.
        say: Is called with what is being done.

    Returns:
        The change, done or with `wait=False` or a gate maybe not yet; None when there is none: the flow was never
        applied, and its first run makes its tables, or the plan is what is applied.

    Raises:
        BlockedError: a person must decide first, or another flow is to be applied first.
        AuditFailedError: what was built does not serve; it waits for a person.
        ChangeFailedError: it could not be carried out; what was applied before stays.
    """
    with project.state() as state:
        definition = compared.definition(project)
        if compared.applied is None:
            refuse_ahead(state, compared.plan)
            state.save_plan(compared.plan, definition=definition)
            return None
        if compared.rules and definition is not None:
            state.definitions.note(compared.plan, definition)
            return None
        change = ask(state, compared, by, choices, gate, definition)
        return _followed(project, state, change, wait=wait, say=say)


def promote(
    project: Project,
    flow: str,
    environment: str,
    *,
    gate: SwapGate = SwapGate.AUDIT,
    wait: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Change:
    """Let what an environment has serve in production; see `apply`.

    Raises:
        AuditFailedError: see `apply`.
        NoEnvironmentError: there is none.
        StateConflictError: another plan was applied to production since it was made.
        ChangeFailedError: it could not be carried out; what was applied before stays.
    """
    with project.state() as state:
        return _followed(project, state, state.promote(of(state, flow, environment), gate), wait=wait, say=say)


def swap(project: Project, change_id: int, *, wait: bool = True, say: Callable[[str], None] = lambda _: None) -> Change:
    """Let what a change built serve, whatever its audit found; see `apply`.

    Raises:
        UnknownChangeError: there is none of that number.
        StateConflictError: it is done or given up, or built in an environment.
        ChangeFailedError: it could not be carried out; what was applied before stays.
    """
    change = let_serve(project, change_id)
    with project.state() as state:
        return _followed(project, state, change, wait=wait, say=say)


def _followed(project: Project, state: StateStore, change: Change, *, wait: bool, say: Callable[[str], None]) -> Change:
    """Wait for the runner that carries the flow, or do what it would do."""
    while wait and change.is_open and not change.waits:
        if _is_carried(state, change.flow) or not _carried_out_here(project, state, change, say):
            say(_stage(change))
            time.sleep(_LOOK_S)
        change = state.change(change.id)
    return _result(change)


def _carried_out_here(project: Project, state: StateStore, change: Change, say: Callable[[str], None]) -> bool:
    """Do what the runner of a flow would do; False: by now one carries it, and does it."""
    try:
        with opened(project, say=say) as open_:
            execution_of(open_, running_plan(open_.state, change.flow)).stand(Reconciler(open_, change.flow, say))
    except LeaseHeldError:
        if _is_carried(state, change.candidate):  # as an environment: its runner is no runner of the flow
            raise
        return False
    return True


def carried_out(open_: Open, change: Change, say: Callable[[str], None] = lambda _: None) -> Change:
    """Carry out a change of a flow that does not run, over what is open.

    Raises:
        LeaseHeldError: the flow runs.
        ChangeFailedError: it could not be carried out; what was applied before stays.
    """
    execution_of(open_, running_plan(open_.state, change.flow)).stand(Reconciler(open_, change.flow, say))
    return _result(open_.state.change(change.id))


def _is_carried(state: StateStore, flow: str) -> bool:
    return state.progress(flow, alive=is_alive).state is RunnerState.RUNNING


def _stage(change: Change) -> str:
    if change.phase is Phase.BUILDING:
        return f"rebuilding: {', '.join(change.versions)}; what serves goes on"
    return "waiting for the end of an epoch"


def _result(change: Change) -> Change:
    if change.waits and change.error:
        raise AuditFailedError(
            f"{change.flow}: what change {change.id} built does not serve: {change.error}",
            hint=f"see: streamhouse changes {change.id}; let it serve: streamhouse changes {change.id} --swap; "
            f"or mend it and apply again",
        )
    if change.phase is Phase.FAILED:
        raise ChangeFailedError(
            f"{change.flow}: change {change.id} failed, what was applied stays: {change.error}",
            hint=f"mend it and apply again: streamhouse apply {change.flow}",
        )
    if change.phase is Phase.WITHDRAWN:
        raise ChangeFailedError(
            f"{change.flow}: change {change.id} was withdrawn for a later one", hint="see: streamhouse changes"
        )
    return change

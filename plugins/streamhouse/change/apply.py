"""Applies what the files say to a flow: through the runner that carries it, or here when none does."""

import time
from collections.abc import Callable

from streamhouse.change.ask import ask
from streamhouse.change.building import standing
from streamhouse.change.environment import of
from streamhouse.change.reconcile import Reconciler
from streamhouse.errors import ChangeFailedError
from streamhouse.project.compare import Choices, Compared
from streamhouse.project.project import Project
from streamhouse.runtime.open import opened, runner_of
from streamhouse.runtime.owner import is_alive
from streamhouse.state.records import Change, Phase, RunnerState
from streamhouse.state.store import StateStore

_LOOK_S = 0.2


def apply(
    project: Project,
    compared: Compared,
    by: str,
    *,
    choices: Choices | None = None,
    wait: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Change | None:
    """Carry out a plan.

    Where a runner carries the flow, it takes the plan over between two epochs, or builds tables anew beside
    those that serve and then takes it over; this waits for it. Else it is done here. Killed at any moment, either
    the old plan with the old tables serves or the new one with the new ones; asked again, it goes on.

    Args:
        project: Holds the flow.
        compared: The plan against what is applied.
        by: Who asks, for the journal.
        choices: What a person chose for tables whose change blocks.
        wait: Until it is done; else return when it is asked.
        say: Told what is being done.

    Returns:
        The change, done or with `wait=False` maybe not yet; None when the flow was never applied: its first run
        makes its tables.

    Raises:
        BlockedError: a person must decide first.
        ChangeFailedError: it could not be carried out; what was applied before stays.
    """
    with project.state() as state:
        if compared.applied is None:
            state.save_plan(compared.plan)
            return None
        return _followed(project, state, ask(state, compared, by, choices), wait=wait, say=say)


def promote(
    project: Project, flow: str, environment: str, *, wait: bool = True, say: Callable[[str], None] = lambda _: None
) -> Change:
    """Let what an environment has serve in production; see `apply`.

    Raises:
        NoEnvironmentError: there is none.
        StateConflictError: another plan was applied to production since it was made.
        ChangeFailedError: it could not be carried out; what was applied before stays.
    """
    with project.state() as state:
        return _followed(project, state, state.promote(of(state, flow, environment)), wait=wait, say=say)


def _followed(project: Project, state: StateStore, change: Change, *, wait: bool, say: Callable[[str], None]) -> Change:
    """Wait for the runner that carries the flow, or do what it would do."""
    while wait and change.is_open:
        if not _is_carried(state, change.flow):
            _carry_out(project, change.flow, say)
        else:
            say(_stage(change))
            time.sleep(_LOOK_S)
        change = state.change(change.id)
    return _result(change)


def _carry_out(project: Project, flow: str, say: Callable[[str], None]) -> None:
    with opened(project, say=say) as open_:
        runner_of(open_, standing(open_.state, flow)).stand(Reconciler(open_, flow, say))


def _is_carried(state: StateStore, flow: str) -> bool:
    return state.progress(flow, alive=is_alive).state is RunnerState.RUNNING


def _stage(change: Change) -> str:
    if change.phase is Phase.BUILDING:
        return f"building anew: {', '.join(change.versions)}; what serves goes on"
    return "waiting for the end of an epoch"


def _result(change: Change) -> Change:
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

"""What a flow is, given what is wanted of it and what its runner recorded: one answer for all who look."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from streamhouse.state.records import EpochRecord, FlowProgress, Owner, RunnerState
from streamhouse.state.runners import Life, RunnerRecord, WantedFlow, WantedState
from streamhouse.state.store import StateStore


class FlowState(StrEnum):
    """The state of a flow, for its supervisor."""

    STARTING = "starting"  # wanted, and a living runner is about to carry it
    RUNNING = "running"
    STOPPING = "stopping"  # no longer wanted; the epoch in hand is finished
    STOPPED = "stopped"
    FAILED = "failed"  # wanted, and given up until it is asked again
    LOST = "lost"  # wanted, and there is no runner to carry it

    @property
    def is_over(self) -> bool:
        """Whether it stays so until somebody asks for it."""
        return self in (FlowState.STOPPED, FlowState.FAILED, FlowState.LOST)


@dataclass(frozen=True)
class FlowReport:
    """One flow as it was seen.

    Attributes:
        error: Of `failed` as the command prints it; of `lost` what its last runner said, if anything.
        wanted: None: nobody ever asked a runner for it.
        runner: That is to carry it; None: there never was one.
    """

    flow: str
    state: FlowState
    progress: FlowProgress
    wanted: WantedFlow | None = None
    runner: RunnerRecord | None = None
    error: str | None = None


def judge(wanted: WantedFlow | None, progress: FlowProgress, runner: RunnerRecord | None) -> FlowReport:
    """What a flow is.

    Args:
        wanted: What was asked.
        progress: Of the flow; `running` only while its lease stands.
        runner: The one of `wanted`, `lost` when it fell silent.
    """
    state, error = _state(wanted, progress, runner), None
    if state is FlowState.FAILED:
        error = wanted.error if wanted is not None else progress.error
    elif state is FlowState.LOST and runner is not None:
        error = runner.error
    return FlowReport(progress.flow, state, progress, wanted, runner, error)


def _state(wanted: WantedFlow | None, progress: FlowProgress, runner: RunnerRecord | None) -> FlowState:
    runs = progress.state is RunnerState.RUNNING
    if wanted is None:
        unasked = {
            RunnerState.RUNNING: FlowState.RUNNING,
            RunnerState.FAILED: FlowState.FAILED,
            RunnerState.LOST: FlowState.LOST,
        }
        return unasked.get(progress.state, FlowState.STOPPED)
    if wanted.wanted is WantedState.STOPPED:
        # A process that somebody started beside the runner is none of its business.
        own = runner is not None and progress.owner == runner.owner
        return FlowState.STOPPING if runs and own else FlowState.STOPPED
    if runs:
        return FlowState.RUNNING
    if not wanted.is_due:
        return FlowState.FAILED
    # A closing one says in a moment how it ended.
    waits = runner is not None and (runner.life.takes_up or runner.life is Life.CLOSING)
    return FlowState.STARTING if waits else FlowState.LOST


def see_every(
    store: StateStore, limit: int, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None
) -> dict[str, tuple[FlowReport, tuple[EpochRecord, ...]]]:
    """Flow → what it is now, and its last finished epochs, the last one first.

    Args:
        store: Of the project.
        limit: So many epochs of a flow are read; its freshness is theirs.
        now: The clock.
        alive: As of `see`.
    """
    wanted = {one.flow: one for one in store.runners.all_wanted()}
    runners = {one.name: one for one in store.runners.all(now, alive=alive)}

    def report(flow: str, progress: FlowProgress) -> FlowReport:
        wish = wanted.get(flow)
        return judge(wish, progress, runners.get(wish.runner) if wish is not None else None)

    sights = store.overview.flows(limit, now, alive=alive)
    return {flow: (report(flow, one.progress), one.recent) for flow, one in sights.items()}


def see(
    store: StateStore, flow: str, now: datetime | None = None, *, alive: Callable[[Owner], bool] | None = None
) -> FlowReport:
    """What a flow is now.

    Args:
        store: Of its project.
        flow: Its name.
        now: The clock.
        alive: Must answer True for processes of other hosts, of which it cannot know; None: a dead process is
            known by its silence alone.
    """
    wanted = store.runners.wanted(flow)
    runner = store.runners.runner(wanted.runner, now, alive=alive) if wanted is not None else None
    return judge(wanted, store.progress(flow, now, alive=alive), runner)

"""What people and schedulers ask of runners: start, stop, look. The runner itself is `host/runner.py`."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from streamhouse.errors import NotCarriedError, RunnerFailedError
from streamhouse.host.submit import is_cluster, submit, where_it_is
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.runtime.command import own_command
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.services.process import Process, spawn
from streamhouse.state.flow_state import FlowReport, FlowState, see
from streamhouse.state.runners import MAIN, Life, RunnerRecord, WantedState
from streamhouse.state.store import StateStore

_LOOK_S = 0.3


@dataclass(frozen=True)
class Started:
    """A runner that lives.

    Attributes:
        is_adopted: It lived before.
        flows: That are wanted of it.
    """

    runner: RunnerRecord
    is_adopted: bool
    flows: tuple[str, ...]


@dataclass(frozen=True)
class RunnerOverview:
    """Runners and flows as they are now; flows that were never asked of a runner are left out."""

    runners: tuple[RunnerRecord, ...]
    flows: tuple[FlowReport, ...]


def ask_for(project: Project, flows: Sequence[str], *, name: str | None, by: str) -> tuple[str, tuple[str, ...]]:
    """Record that flows are to run, and that those that failed are to be tried again.

    Args:
        project: Holds the flows.
        flows: Their names; empty: all that are wanted of the runner already.
        name: Of the runner; None: the one of before, at first `main`.
        by: Who asks.

    Returns:
        The runner that is to carry them, and every flow that is wanted of it.

    Raises:
        UnknownFlowError, DefinitionError: one of them cannot run. Nothing was recorded.
        NotCarriedError: none was named, and none is wanted; or they are to be carried by different runners.
    """
    for flow in flows:
        to_run(project, flow)
    with project.state() as state:
        chosen = list(flows) or [
            one.flow for one in state.runners.all_wanted(name or MAIN) if one.wanted is WantedState.RUNNING
        ]
        if not chosen:
            raise NotCarriedError("no flow is wanted of the runner", hint="name one: streamhouse runner start FLOW")
        names = {state.runners.ask(flow, WantedState.RUNNING, by, runner=name).runner for flow in chosen}
        if len(names) > 1:
            raise NotCarriedError(
                f"these flows are carried by different runners: {', '.join(sorted(names))}",
                hint="start them apart, or give --name to bring them together",
            )
        (runner,) = names
        wanted = [one.flow for one in state.runners.all_wanted(runner) if one.wanted is WantedState.RUNNING]
    return runner, tuple(wanted)


def start(
    project: Project,
    flows: Sequence[str],
    *,
    name: str | None = None,
    by: str,
    tier_every: str = "1m",
    wait: timedelta = timedelta(minutes=10),
    say: Callable[[str], None] = lambda _: None,
) -> Started:
    """Have flows carried: by the runner that lives, else by one that is started here and outlives this process.

    Args:
        project: Holds the flows.
        flows: As of `ask_for`.
        name: As of `ask_for`.
        by: Who asks.
        tier_every: How often a runner that is started fills the further tiers, as people write it.
        wait: For it to live.
        say: Is called with what is waited for.

    Raises:
        UnknownFlowError, DefinitionError, NotCarriedError: as of `ask_for`.
        RunnerFailedError: it could not be started, or not in time.
    """
    runner, wanted = ask_for(project, flows, name=name, by=by)
    until = time.monotonic() + wait.total_seconds()
    child: Process | None = None
    before: int | None = None  # fencing of the last runner when this started one; None: it did not
    with project.state() as state:
        while True:
            found = state.runners.runner(runner, alive=is_alive)
            if found is not None and found.life is Life.RUNNING:
                return Started(found, before is None or found.fencing <= before, wanted)
            waits = found is not None and (found.life.takes_up or found.life is Life.CLOSING)
            if not waits and before is None:
                before = found.fencing if found is not None else 0
                say(f"starting runner {runner}")
                child = _launch(project, runner, wanted, tier_every)
            elif not waits:
                came = found if found is not None and found.fencing > (before or 0) else None
                if came is not None or (child is not None and not child.alive):
                    raise _failed(project, runner, came)
            elif waits and found is not None:
                say(f"{runner}: {found.stage}")
            if time.monotonic() > until:
                raise _not_there_yet(project, runner, wait)
            time.sleep(_LOOK_S)


def stop(
    project: Project,
    flows: Sequence[str],
    *,
    name: str = MAIN,
    by: str,
    wait: timedelta = timedelta(minutes=5),
    say: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Have flows end after the epoch in hand, and the runner too when it has none left.

    Args:
        project: Holds the flows.
        flows: Their names; empty: all that are wanted of the runner.
        name: Of the runner.
        by: Who asks.
        wait: For their end.
        say: Is called with what is waited for.

    Returns:
        The flows that were wanted and now are not.

    Raises:
        NotCarriedError: a flow was never asked of a runner; or it did not end in time, and will yet.
    """
    state = project.existing_state()
    known = _wanted_states(state, flows, name)
    if state is None:
        return []
    with state:
        stopped = [flow for flow, wanted in known.items() if wanted is WantedState.RUNNING]
        for flow in stopped:
            state.runners.ask(flow, WantedState.STOPPED, by)
        _wait_for_end(state, list(known), wait, say)
    return stopped


def _wanted_states(state: StateStore | None, flows: Sequence[str], name: str) -> dict[str, WantedState]:
    """What runners were asked for last, of these flows or of all that one runner carries."""
    wanted_flows = state.runners.all_wanted(None if flows else name) if state is not None else []
    known = {one.flow: one.wanted for one in wanted_flows if not flows or one.flow in flows}
    for flow in flows:
        if flow not in known:
            raise NotCarriedError(f"no runner was ever asked for {flow}", hint="see: streamhouse runner status")
    return known


def _wait_for_end(state: StateStore, flows: list[str], wait: timedelta, say: Callable[[str], None]) -> None:
    until = time.monotonic() + wait.total_seconds()
    while going := _going(state, flows):
        say(f"waiting for {', '.join(going)}")
        if time.monotonic() > until:
            raise NotCarriedError(
                f"still at work after {wait.total_seconds():.0f} s: {', '.join(going)}",
                hint="it ends by itself when its epoch is whole; see: streamhouse runner status",
            )
        time.sleep(_LOOK_S)


def _not_there_yet(project: Project, runner: str, wait: timedelta) -> RunnerFailedError:
    placed = where_it_is(project.settings.spark, project.root.name, runner)
    see = placed or f"its log: {project.runner_log(runner)}"
    return RunnerFailedError(
        f"runner {runner} does not live after {wait.total_seconds():.0f} s",
        hint=f"it may come yet, see: streamhouse runner status; {see}",
    )


def look(project: Project) -> RunnerOverview:
    """All runners, and all flows that were ever asked of one."""
    state = project.existing_state()
    if state is None:
        return RunnerOverview((), ())
    with state:
        flows = tuple(see(state, one.flow, alive=is_alive) for one in state.runners.all_wanted())
        return RunnerOverview(tuple(state.runners.all(alive=is_alive)), flows)


def _going(state: StateStore, flows: Sequence[str]) -> list[str]:
    """Flows that have not ended, and runners that have no flow left and have not ended."""
    going = [flow for flow in flows if see(state, flow, alive=is_alive).state is FlowState.STOPPING]
    runners = {one.runner for one in state.runners.all_wanted() if one.flow in flows}
    for name in sorted(runners):
        if any(one.wanted is WantedState.RUNNING for one in state.runners.all_wanted(name)):
            continue
        found = state.runners.runner(name, alive=is_alive)
        if found is None:
            continue
        # Its last record is not its last breath; of a process elsewhere, only the record is known.
        breathes = found.owner.host == this_owner().host and is_alive(found.owner)
        if found.life.takes_up or found.life is Life.CLOSING or breathes:
            going.append(f"runner {name}")
    return going


def _launch(project: Project, name: str, flows: Sequence[str], tier_every: str) -> Process | None:
    """Start a runner; its process, where it is on this machine."""
    options = ("--name", name, "--tier", tier_every, "--foreground", "--project", str(project.root))
    arguments = ["runner", "start", *options]
    if is_cluster(project.settings.spark):
        submit(project, name, arguments, flows)
        return None
    project.logs.mkdir(parents=True, exist_ok=True)
    return spawn(
        [*own_command().words, *arguments],
        log=project.runner_log(name),
        folder=project.root,
        environment=os.environ,
    )


def _failed(project: Project, name: str, record: RunnerRecord | None) -> RunnerFailedError:
    text = record.error if record is not None and record.error else "its process ended"
    cause, _, hint = text.partition("\n  hint: ")
    return RunnerFailedError(
        f"runner {name} did not start: {cause}", hint=hint or f"its log: {project.runner_log(name)}"
    )

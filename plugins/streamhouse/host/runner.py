"""The runner: a process with one Spark that carries the flows which are wanted of it, until none is (design D10).

What is wanted is in the state store. The runner looks there again and again, starts what is newly wanted, and lets
what no longer is end after the epoch in hand. A flow that fails is given up until it is asked again; the others go
on. It brings the embedded services up again when they die. When Spark's Java process dies, so does the runner: the
next one goes on from the same positions.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from streamhouse.errors import LeaseLostError, RunnerFailedError, StreamhouseError
from streamhouse.host.hosted import HostedFlow
from streamhouse.host.service_watch import ServiceWatch
from streamhouse.jobs.progress import RunProgress
from streamhouse.jobs.tier import tiering_beside, tiering_on_request
from streamhouse.jobs.upkeep import upkeep_beside
from streamhouse.project.project import Project
from streamhouse.runtime.claim_beat import ClaimBeat, beating_as, why_failed
from streamhouse.runtime.open import Open, opened
from streamhouse.runtime.owner import is_alive
from streamhouse.spark.java_process import exit_code
from streamhouse.state.records import Owner
from streamhouse.state.runners import Claim, Life, RunnerRecord, WantedFlow, WantedState
from streamhouse.state.store import StateStore

RUNNER_TTL = timedelta(seconds=15)
_LOOK_S = 1.0
_RETRY_S = 5.0  # a flow that another process carries is tried again so often
_IDLE_S = 300.0  # so long a runner whose flows have all failed waits for one to be asked again
_LAST_WORDS_S = 15.0
_LOST_SPARK = 6

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Steps:
    """What to do next. `start` and `stop` name different flows."""

    start: tuple[WantedFlow, ...] = ()
    stop: tuple[str, ...] = ()


def next_steps(wanted: Sequence[WantedFlow], carried: Sequence[str], waiting: Sequence[str] = ()) -> Steps:
    """What to start and to stop.

    Args:
        wanted: All that was ever asked of this runner.
        carried: Flows that it carries, also those that are about to end.
        waiting: Flows that are to be left alone for now.
    """
    running = {one.flow for one in wanted if one.wanted is WantedState.RUNNING}
    start = tuple(one for one in wanted if one.is_due and one.flow not in carried and one.flow not in waiting)
    return Steps(start, tuple(flow for flow in carried if flow not in running))


def succession(before: RunnerRecord | None, now: Owner) -> str | None:
    """The message when a process becomes the runner; None: its predecessor ended as it was asked to.

    Args:
        before: The runner as it was, `lost` when it fell silent; None: there was none.
        now: That is it from now on.
    """
    if before is None or before.life not in (Life.LOST, Life.FAILED):
        return None
    fell = (
        f"fell silent without a word (last heard at {before.beat_at:%Y-%m-%d %H:%M:%S} UTC)"
        if before.life is Life.LOST
        else "failed"
    )
    return f"runner {before.name}: {before.owner} {fell}; {now} goes on from the same positions"


def host(
    project: Project,
    name: str,
    *,
    tier_every: timedelta | None,
    log: str | None = None,
    say: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[str, RunProgress], None] = lambda _, __: None,
) -> None:
    """Be the runner of that name, in the main thread, until no flow is wanted of it or the process is to end.

    Args:
        project: Holds the flows.
        name: Of the runner.
        tier_every: Fill the further tiers so often; None: leave that to others.
        log: Where this process' output goes, for people who look for it.
        say: Is called with what it does, in words for a person.
        on_progress: Called with a flow after each of its epochs and when its stage changes.

    Raises:
        RunnerHeldError: another living process is the runner.
        LeaseLostError: another process took its place, because this one was silent for too long.
        KeyboardInterrupt: the process was asked to end; every epoch in hand was finished.
        StreamhouseError: services or Spark did not start.
    """
    with project.state() as state, _claimed(state, name, log, say) as beating:
        services = ServiceWatch(project, beating.say, lambda text: _tell_all(state, name, text))
        with ExitStack() as stack:
            stack.callback(services.close)
            open_ = stack.enter_context(opened(project, say=beating.say, fluss_up=services.up))
            stack.enter_context(tiering_on_request(open_, name))
            tiered: list[str] = []
            if tier_every is not None:
                stack.enter_context(tiering_beside(open_, tiered, tier_every))
            stack.enter_context(upkeep_beside(open_, tiered, project.settings.upkeep_every))
            _Host(open_, beating, services, tiered, on_progress).run()


@contextmanager
def _claimed(state: StateStore, name: str, log: str | None, tell: Callable[[str], None]) -> Iterator[ClaimBeat]:
    before = state.runners.runner(name, alive=is_alive)
    with beating_as(state, name, RUNNER_TTL, log=log, tell=tell) as beating:
        if text := succession(before, beating.claim.owner):
            _tell_all(state, name, text)
        try:
            yield beating
        except LeaseLostError:  # the flows are another process's by now
            raise
        except Exception as raised:
            _give_up_all(state, beating.claim, why_failed(raised))
            raise


def _tell_all(state: StateStore, name: str, text: str) -> None:
    """Record what happened to a runner as an event of every flow that is wanted of it."""
    with suppress(StreamhouseError):
        for wanted in state.runners.all_wanted(name):
            if wanted.wanted is WantedState.RUNNING:
                state.append_event(wanted.flow, "runner", text)


def _give_up_all(state: StateStore, claim: Claim, error: str) -> None:
    _tell_all(state, claim.name, f"runner {claim.name}: {claim.owner} failed: {error.splitlines()[0]}")
    with suppress(StreamhouseError):
        for wanted in state.runners.all_wanted(claim.name):
            if wanted.is_due:
                state.runners.give_up(claim, wanted, error)


@dataclass
class _Host:
    open: Open
    beating: ClaimBeat
    services: ServiceWatch
    tiered: list[str]  # flows whose further tiers are filled beside; read by another thread
    on_progress: Callable[[str, RunProgress], None]
    flows: dict[str, HostedFlow] = field(default_factory=dict)
    _again_at: dict[str, float] = field(default_factory=dict)  # flow that another process carries → when to try
    _busy_at: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Carry what is wanted until nothing is."""
        self.beating.lives(Life.RUNNING)
        try:
            while self._round():
                time.sleep(_LOOK_S)
        except BaseException:  # also Ctrl-C and SIGTERM
            with suppress(StreamhouseError):
                self.beating.lives(Life.CLOSING, "finishing the epochs in hand")
            self._stop_all()
            raise

    def _round(self) -> bool:
        """One look at what is wanted; whether there is to be another."""
        if self.beating.lost is not None:
            raise self.beating.lost
        self._check_spark()
        self.services.check()
        try:
            return self._reconcile()
        except StreamhouseError as error:
            if not error.retryable:  # else: the state store is away
                raise
            _log.warning("%s", error)
            return True

    def _reconcile(self) -> bool:
        self._collect()
        wanted = self.open.state.runners.all_wanted(self.beating.claim.name)
        now = time.monotonic()
        steps = next_steps(wanted, tuple(self.flows), tuple(f for f, at in self._again_at.items() if now < at))
        for flow in steps.stop:
            if not self.flows[flow].is_stopping:
                self.flows[flow].stop()
        for one in steps.start:
            self._again_at.pop(one.flow, None)
            self.flows[one.flow] = hosted = HostedFlow(self.open, one, partial(self.on_progress, one.flow))
            hosted.start()
        self.tiered[:] = [flow for flow, hosted in self.flows.items() if hosted.is_applied]
        self.beating.say(self._stage())
        if self.flows or any(one.is_due for one in wanted):
            self._busy_at = now
            return True
        patient = any(one.wanted is WantedState.RUNNING for one in wanted) and now - self._busy_at < _IDLE_S
        return patient or not self.beating.retired()

    def _stage(self) -> str:
        ending = sorted(flow for flow, hosted in self.flows.items() if hosted.is_stopping)
        parts = {"carrying": sorted(set(self.flows) - set(ending)), "stopping": ending}
        return "; ".join(f"{word} {', '.join(flows)}" for word, flows in parts.items() if flows) or "waiting for flows"

    def _collect(self) -> None:
        """Take note of flows that ended."""
        for flow, hosted in list(self.flows.items()):
            if not hosted.is_over:
                continue
            if hosted.error is not None:
                self.open.state.runners.give_up(self.beating.claim, hosted.wanted, hosted.error)
            elif not hosted.is_stopping or hosted.runs_elsewhere:
                self._again_at[flow] = time.monotonic() + _RETRY_S
            del self.flows[flow]

    def _stop_all(self) -> None:
        for hosted in self.flows.values():
            hosted.stop()
        for hosted in self.flows.values():
            hosted.ended_within(None if self.beating.lost is None else _LAST_WORDS_S)

    def _check_spark(self) -> None:
        """End this process when Spark's Java process is gone: nothing in here can mend that.

        Threads that wait for an answer from it would wait forever, so nothing is waited for either.
        """
        code = exit_code()
        if code is None:
            return
        log = self.open.project.logs / "spark.log"
        hint = f"start the runner again, it goes on from the same positions; Spark's log: {log}"
        error = str(RunnerFailedError(f"Spark's Java process ended (exit code {code})", hint=hint))
        _log.error("%s", error)
        state, claim = self.open.state, self.beating.claim
        for hosted in self.flows.values():
            hosted.stop()
        until = time.monotonic() + _LAST_WORDS_S
        for hosted in self.flows.values():
            hosted.ended_within(max(0.0, until - time.monotonic()))
        _give_up_all(state, claim, error)
        self.beating.over.set()
        with suppress(StreamhouseError):
            state.runners.end(claim, error)
        os._exit(_LOST_SPARK)

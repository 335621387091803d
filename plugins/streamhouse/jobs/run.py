"""Runs a flow: brings services, Spark, stores, the runner and what was edited together."""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from statistics import median
from threading import Event, Lock

from streamhouse.capture.calls import capture_beside
from streamhouse.change.change_request import begin
from streamhouse.change.follow import Follower
from streamhouse.change.reconcile import Reconciler
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.surroundings import Beat
from streamhouse.errors import BlockedError, ChangeFailedError, StreamhouseError, UnknownFlowError
from streamhouse.jobs.progress import FailedFlow, RunProgress, Summary
from streamhouse.jobs.tier import tier_here, tiering_beside
from streamhouse.jobs.upkeep import upkeep_beside, upkeep_once_a_day
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Layer
from streamhouse.model.version import table_name
from streamhouse.project.edits import ToRun, to_run
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, execution_of, opened, readers_last
from streamhouse.spark.interrupt import ending
from streamhouse.state.waits import WaitsFor, behind, standing, waits_of

OnProgress = Callable[[RunProgress], None]
_RATE_WINDOW_S = 10.0
_REMEMBERED = 1_000  # epochs, whose ages give the median


def run_flows(
    project: Project,
    flows: Sequence[str],
    *,
    once: bool,
    tier_every: timedelta | None = None,
    on_progress: Callable[[str, RunProgress], None] = lambda _, __: None,
    on_execution: Callable[[FlowExecution], None] = lambda _: None,
) -> list[Summary | FailedFlow]:
    """Run flows in this process until they are stopped, or with `once` until what waits is drained.

    Each runs with the plan that is applied, or as its files say: see `to_run`. They share the services, the Spark
    session and this process' memory. With `once` they run one after the other, each after those of them whose tables it
    reads, and one that cannot go on keeps none of the others; else side by side. All are checked before the first runs.

    Args:
        project: Holds the flows.
        flows: Their names.
        once: Stop when the rows that wait at the start are in every layer.
        tier_every: Fill the further tiers so often, with `once` when all else is done; None: leave that to others.
        on_progress: Called with the flow's name after each epoch and when the stage changes; at first for each that
            cannot run.
        on_execution: Gets each execution before it starts, so that a signal handler can stop it.

    Returns:
        What each did, in the order of `flows`; `FailedFlow` with `once`, and of several flows, only.

    Raises:
        UnknownFlowError: nothing defines one of them; none was begun.
        DefinitionError: a flow is wrong.
        LeaseHeldError: another runner carries one of them.
        StreamhouseError: an epoch failed for good; the other flows are stopped. Nothing is lost: the next run
            goes on from there. A further tier that cannot be filled is a trouble of the summary instead.
    """
    alone = not once or len(flows) == 1  # an error is one of the whole run
    found, failed = _chosen(project, flows, alone=alone)
    if not found:
        return [failed[name] for name in flows]
    for name, kept_out in failed.items():
        on_progress(name, _kept_out(kept_out))
    plans = {name: found[name].plan for name in readers_last({name: one.plan for name, one in found.items()})}
    meters = {name: Meter(plan, partial(on_progress, name), once=once) for name, plan in plans.items()}

    def say(text: str) -> None:
        for meter in meters.values():
            meter.stage(text)

    with opened(project, say=say) as open_, ExitStack() as beside:
        further = any(len(table.tiers.present) > 1 for plan in plans.values() for table in plan.tables.values())
        if further and tier_every is not None and not once:
            beside.enter_context(tiering_beside(open_, flows, tier_every))
        if not once:
            beside.enter_context(upkeep_beside(open_, flows, project.settings.upkeep_every))
        done: dict[str, Summary | FailedFlow] = dict(failed)
        if not once and len(plans) > 1:
            done |= _side_by_side(open_, [found[name] for name in plans], meters, on_execution)
        else:
            for name in plans:
                done[name] = _in_turn(
                    open_, found[name], meters[name], once=once, alone=alone, on_execution=on_execution
                )
        if once:
            whole = [name for name in plans if isinstance(done[name], Summary)]
            for name in whole if further and tier_every is not None else ():
                tier_here(open_, [name], meters[name].stage)
            for name in whole:
                upkeep_once_a_day(open_, [name], meters[name].stage)
        for name, one in done.items():
            if isinstance(one, Summary):
                done[name] = replace(one, troubles=tuple(open_.state.troubles.current(name)))
    return [done[name] for name in flows]


def _chosen(project: Project, flows: Sequence[str], *, alone: bool) -> tuple[dict[str, ToRun], dict[str, FailedFlow]]:
    """What the flows are to run with, and which of them cannot."""
    found: dict[str, ToRun] = {}
    failed: dict[str, FailedFlow] = {}
    for name in flows:
        try:
            found[name] = to_run(project, name)
        except StreamhouseError as error:
            if alone or isinstance(error, UnknownFlowError):
                raise
            failed[name] = FailedFlow(name, error)
    return found, failed


def _kept_out(one: FailedFlow) -> RunProgress:
    """What is said, before the first flow runs, of one that cannot."""
    return RunProgress(-1, 0, None, 0.0, {}, f"does not run: {str(one.error).splitlines()[0]}")


def _in_turn(
    open_: Open,
    wanted: ToRun,
    meter: "Meter",
    *,
    once: bool,
    alone: bool,
    on_execution: Callable[[FlowExecution], None],
) -> Summary | FailedFlow:
    try:
        return carry(open_, wanted.plan, meter, once=once, follow=True, wanted=wanted, on_execution=on_execution)
    except StreamhouseError as error:
        if alone:
            raise
        meter.stage(str(error).splitlines()[0])
        return FailedFlow(wanted.plan.flow, error)


def _side_by_side(
    open_: Open, flows: Sequence[ToRun], meters: Mapping[str, "Meter"], on_execution: Callable[[FlowExecution], None]
) -> dict[str, Summary]:
    executions: list[FlowExecution] = []
    over = Event()

    def started(execution: FlowExecution) -> None:
        executions.append(execution)
        if over.is_set():
            execution.stop()
        on_execution(execution)

    with ThreadPoolExecutor(len(flows), thread_name_prefix="flow") as pool:
        running = {
            one.plan.flow: pool.submit(
                carry,
                open_,
                one.plan,
                meters[one.plan.flow],
                once=False,
                follow=True,
                wanted=one,
                on_execution=started,
            )
            for one in flows
        }
        try:
            wait(running.values(), return_when=FIRST_EXCEPTION)
        finally:  # one that fails, and Ctrl-C, end them all
            over.set()
            for execution in executions:
                execution.stop()
    return {name: future.result() for name, future in running.items()}


def carry(
    open_: Open,
    plan: FlowPlan,
    meter: "Meter",
    *,
    once: bool,
    follow: bool = False,
    wanted: ToRun | None = None,
    on_execution: Callable[[FlowExecution], None] = lambda _: None,
) -> Summary:
    """Run one flow over what is already open; see `run_flows`.

    Args:
        open_: Everything connected.
        plan: As compiled; where it is another one than what is applied, that is carried out first.
        meter: Is called with what happens.
        once: Drain, then return.
        follow: Look for what changes upstream, and in the files, and follow it (docs/trigger.md).
        wanted: Where `plan` is from; None: from files, and it is wanted as it is.
        on_execution: Gets the execution before it starts.

    Raises:
        BlockedError: a person must decide first; with `once` also when a part of the flow waits for that.
        ChangeFailedError: with `once`, a part of the flow is paused for a change upstream that failed.
    """
    execution = execution_of(open_, _begun(open_, plan, meter, wanted), meter.beat, meter.stage)
    on_execution(execution)
    meter.stage("running")
    follower = Follower(open_, plan.flow, meter.stage) if follow else None
    with (
        capture_beside(open_.project, plan, once=once, say=meter.stage),
        ending(partial(_stop, execution, meter)),
    ):
        execution.run(once=once, steward=Reconciler(open_, plan.flow, meter.stage, follower))
    if execution.paused:
        raise _stands(open_, plan.flow, execution.paused)
    meter.behind = tuple(f"{one.text}; {one.remedy}" for one in behind(open_.state, plan.flow))
    return meter.summary()


def _stands(open_: Open, flow: str, segments: Collection[str]) -> StreamhouseError:
    """The error of a run that ended while segments are paused."""
    who, found = ", ".join(sorted(segments)), standing(waits_of(open_.state, flow))
    why = "".join(f"\n  {one.text}" for one in found)
    hint = "\n  ".join(dict.fromkeys(one.remedy for one in found)) or f"streamhouse approvals {flow}"
    if found and all(one.whom is WaitsFor.REPAIR for one in found):
        return ChangeFailedError(f"{flow}: {who} is paused, and its rows wait in their tables{why}", hint=hint)
    return BlockedError(f"{flow}: {who} waits for a person's word; its rows wait in their tables{why}", hint=hint)


@dataclass
class Meter:
    """Turns the beats of a runner into progress and, in the end, a summary.

    It holds no more after a million epochs than after `_REMEMBERED`.
    """

    plan: FlowPlan
    on_progress: OnProgress
    once: bool
    warnings: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    _epochs: int = 0
    _rows: dict[str, int] = field(default_factory=dict)  # table → written
    _lags: dict[Layer, deque[int]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=_REMEMBERED)))
    _recent: deque[tuple[float, int]] = field(default_factory=deque)
    _first: Beat | None = None
    _last: Beat | None = None
    _newest: dict[str, Beat] = field(default_factory=dict)  # segment → its last beat
    _lock: Lock = field(default_factory=Lock)

    def stage(self, text: str) -> None:
        """Say what happens before, between or after epochs."""
        self.on_progress(self._progress(self._last, text))

    def beat(self, beat: Beat) -> None:
        """Take note of a finished epoch."""
        with self._lock:  # segments tell side by side
            self._note(beat)
        self.on_progress(self._progress(beat, "running"))

    def _note(self, beat: Beat) -> None:
        self._epochs += 1
        self._first, self._last = self._first or beat, beat
        self._newest[beat.record.segment] = beat
        for table, count in beat.record.rows.items():
            name = table_name(table)
            self._rows[name] = self._rows.get(name, 0) + count
        for layer, lag in _freshness(beat).items():
            self._lags[layer].append(lag)
        self._recent.append((time.monotonic(), self._read_rows))
        while len(self._recent) > 2 and self._recent[-1][0] - self._recent[0][0] > _RATE_WINDOW_S:
            self._recent.popleft()

    @property
    def _read_rows(self) -> int:
        return sum(beat.read_rows for beat in self._newest.values())

    def summary(self) -> Summary:
        """What the run did."""
        seconds = 0.0
        if self._first and self._last:
            seconds = (self._last.record.finished_ms - self._first.record.started_ms) / 1000
        return Summary(
            self.plan.flow,
            self._epochs,
            dict.fromkeys(self.plan.tables, 0) | self._rows,
            seconds,
            {layer: round(median(self._lags[layer])) for layer in self.plan.layers if layer in self._lags},
            self.warnings,
            behind=self.behind,
        )

    def _progress(self, beat: Beat | None, stage: str) -> RunProgress:
        rate = 0.0
        if len(self._recent) > 1:
            (t0, n0), (t1, n1) = self._recent[0], self._recent[-1]
            rate = (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0
        elif beat:
            rate = beat.read_rows * 1000 / max(1, beat.record.finished_ms - beat.record.started_ms)
        return RunProgress(
            epoch=beat.record.epoch if beat else -1,
            rows=self._read_rows,
            total_rows=sum(b.waiting_rows for b in self._newest.values()) if beat and self.once else None,
            rows_per_second=rate,
            freshness_ms=_freshness(beat) if beat else {},
            stage=stage,
        )


def _freshness(beat: Beat) -> dict[Layer, int]:
    return {Layer(layer): ms - beat.record.at_ms for layer, ms in beat.record.layer_visible_ms.items()}


def _stop(execution: FlowExecution, meter: "Meter") -> None:
    meter.stage("ending after the epoch in hand")
    execution.stop()


def _begun(open_: Open, plan: FlowPlan, meter: "Meter", wanted: ToRun | None) -> FlowPlan:
    """The plan that the flow runs with: the wanted one, unless a person or a rebuild comes before it."""
    begun = begin(
        open_.state,
        plan,
        budget=open_.project.settings.rebuild_budget,
        definition=wanted.definition if wanted is not None else None,
        is_applied=wanted is not None and wanted.is_applied,
    )
    meter.warnings = (*begun.warnings, *(wanted.warnings if wanted is not None else ()))
    if wanted is not None and wanted.edit is not None:
        meter.stage(str(wanted.edit))
    return begun.plan

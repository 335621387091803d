"""The Flow Trigger inside the process that carries a flow: it looks, and its decisions reach the flow at once."""

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from streamhouse.change.aside import Distance, endangered
from streamhouse.change.ask import ask
from streamhouse.change.trigger import Change as Decided
from streamhouse.change.trigger import FlowLook, Trigger
from streamhouse.compiler.aside import set_aside
from streamhouse.engine.runner import Runner
from streamhouse.errors import ChangeFailedError, LeaseLostError, StreamhouseError
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_name
from streamhouse.project.compare import Applied, compare
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change, Phase

_ACTIVE_S = 1.0
_IDLE_S = 15.0
_ALARM_S = 600.0

CarryOut = Callable[[Change], None]
"""Carries out a change that was asked for, or records why it failed."""


@dataclass
class Follower:
    """Looks for one flow, and has what is decided carried out."""

    open: Open
    flow: str
    _trigger: Trigger = field(init=False)
    _carry_out: CarryOut | None = None
    _looked: float = 0.0
    _answers: tuple[int, int] | None = None  # given before a look that left questions open; None: it left none
    _followed: frozenset[str] = frozenset()  # changes upstream that are being carried out
    _distance: Distance = field(init=False)
    _join_at: float = 0.0  # not before this, on the monotonic clock
    _alarm_at: float = 0.0  # likewise
    _told: set[str] = field(default_factory=set)  # tables whose rows may be lost
    _given_up: str = ""  # fingerprint of a plan of other segments that could not be carried out

    def __post_init__(self) -> None:
        self._trigger = Trigger(self.open.project, self.open.state, self.open.stores, self._apply)
        self._distance = Distance(self.open)

    def due(self, runner: Runner) -> bool:
        """Whether it is time for a look: soon after an epoch or an answer, now and then while there is none."""
        now = time.monotonic()
        if self._answers is not None and self._answers != self._answered():
            return True
        wait = _ACTIVE_S if runner.beat_at > self._looked else _IDLE_S
        return now - self._looked >= wait

    def differs(self, inputs: Collection[str]) -> bool:
        """Whether some of what is read looks other than at the last look; from any thread."""
        return self._trigger.differs(self.flow, [table_name(name) for name in inputs])

    def look(self, runner: Runner, carry_out: CarryOut, *, at_rest: bool = False) -> FlowLook | None:
        """Look once, and hold the steps that must not read on, and what follows them.

        Args:
            runner: Carries the flow.
            carry_out: For what is decided.
            at_rest: No stream runs.
        """
        self._looked = time.monotonic()
        self._carry_out = carry_out
        answers = self._answered()
        found = self._trigger.look([self.flow])
        looked = next((one for one in found if one.flow == self.flow), None)
        if looked is not None:
            freed = bool(runner.waiting)
            runner.waiting = self.open.state.upstream.standing(self.flow)
            if runner.waiting or at_rest or not freed:  # what is free reads on first, before streams are ended
                self._part_or_join(runner, carry_out)
            self._tell_endangered(runner)
            self._answers = answers if looked.approvals else None
        return looked

    def waiting(self) -> frozenset[str]:
        """Steps that wait for something else than what is being carried out."""
        return self.open.state.upstream.standing(self.flow, self._followed)

    def _part_or_join(self, runner: Runner, carry_out: CarryOut) -> None:
        """Cut the steps that stand off from those that may go on; join both again when nothing stands any more.

        Where it cannot be now, as an epoch is half done or another change is asked for, whole segments stand.
        """
        state = self.open.state
        applied = state.plan(self.flow)
        if applied is None or not (runner.waiting or applied[1].aside):
            return
        told = "nothing of it waits for a person any more: all its steps go on together"
        wanted: FlowPlan | None = None
        if runner.waiting:
            wanted = set_aside(applied[1], [runner.waiting])
            told = f"{', '.join(sorted(runner.waiting))} and what follows wait for a person; the other steps go on"
        elif time.monotonic() >= self._join_at:
            self._join_at = time.monotonic() + _IDLE_S
            wanted = self._trigger.together(self.flow) if self._distance.is_small(runner.plan) else None
        if wanted is None or wanted.fingerprint in (applied[1].fingerprint, self._given_up):
            return
        if self._is_changing(runner):
            return
        change = ask(state, compare(wanted, Applied.of(state), {}), "trigger")
        try:
            carry_out(change)
        except StreamhouseError as error:  # the flow goes on with the segments it has
            if error.retryable or isinstance(error, LeaseLostError):
                raise
        phase = state.change(change.id).phase
        if phase is Phase.APPLIED:
            state.append_event(self.flow, "segments", told)
        elif phase is Phase.FAILED:
            self._given_up = wanted.fingerprint

    def _is_changing(self, runner: Runner) -> bool:
        """Whether an epoch is half done, which needs the plan there is, or another change is asked for."""
        state = self.open.state
        with runner.between_epochs():  # else one that merely runs would count
            half = any(state.unfinished(self.flow, segment.name) is not None for segment in runner.plan.segments)
        return half or state.open_change(self.flow) is not None

    def _tell_endangered(self, runner: Runner) -> None:
        """Note, once for each table, that rows may be lost which steps that stand have yet to read."""
        held, now = runner.held, time.monotonic()
        if not held:
            self._told.clear()
        if not held or now < self._alarm_at:
            return
        self._alarm_at = now + _ALARM_S
        with suppress(StreamhouseError):  # the next time
            for table, text in endangered(self.open, runner.plan, held, datetime.now(UTC)):
                if table not in self._told:
                    self.open.state.append_event(self.flow, "retention", text)
                    self._told.add(table)

    def _answered(self) -> tuple[int, int]:
        """How many questions were answered, and when the last one was."""
        _, count, last_ms = self.open.state.approvals.stamp()
        return count, last_ms

    def _apply(self, decision: Decided) -> None:
        """See `runtime.trigger.ApplyChange`."""
        assert self._carry_out is not None, "only a look decides"
        if decision.beyond:
            events = ", ".join(str(one.event) for one in decision.beyond)
            raise ChangeFailedError(f"{events}: granted, but nothing carries it out by itself yet")
        state = self.open.state
        compared = compare(decision.plan, Applied.of(state), {}, budget=self.open.project.settings.rebuild_budget)
        blocking = [step.table for step in compared.found.steps if step.outcome is Outcome.BLOCK]
        change = ask(state, compared, "trigger", dict.fromkeys(blocking, Outcome.REBUILD) if decision.approved else {})
        self._followed = frozenset(one.event.id for one in decision.decisions)
        try:
            self._carry_out(change)
        finally:
            self._followed = frozenset()
        done = state.change(change.id)
        if done.phase is not Phase.APPLIED:
            raise ChangeFailedError(f"change {done.id} is {done.phase}: {done.error or 'the runner was stopped'}")

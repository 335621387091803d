"""Carries out a change while the streams of its flow run: beside them, between two epochs, or after they end."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from streamhouse.change.building import Building, last_epochs, wanted_plan
from streamhouse.change.finish import Finish
from streamhouse.change.follow import Follower
from streamhouse.change.gate import Gatekeeper
from streamhouse.change.looks import Looks
from streamhouse.change.refusals import refuse_behind, refuse_half_done, waiting
from streamhouse.compiler.migration import same_streams
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.points import reach
from streamhouse.errors import StateConflictError, StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change, Phase

_CHECK_S = 0.5  # between two tries to find no epoch half done
_CAUGHT_UP_S = 2.0  # a round of the candidate that is shorter leaves so little that the flow may wait for the next


@dataclass(frozen=True)
class UnderWay:
    """Carries out changes of one flow beside its streams.

    Attributes:
        open: Everything connected.
        flow: Its name.
        say: Is called with what the flow does now.
        gate: Judges what was rebuilt.
        looks: Learns when tables are filled.
        follower: Knows which steps wait; None: what changes upstream is not looked at.
    """

    open: Open
    flow: str
    say: Callable[[str], None]
    gate: Gatekeeper
    looks: Looks
    follower: Follower | None

    @property
    def _finish(self) -> Finish:
        return Finish(self.open, self.flow, self.say)

    def carry_out(self, execution: FlowExecution, change: Change, *, hold: bool = False) -> None:
        """Carry a change out; one that cannot be is recorded as failed.

        Args:
            execution: Carries the flow.
            change: To carry out.
            hold: No epoch reads on with the old plan while the new one is made ready.

        Raises:
            LeaseLostError: a newer runner took the flow over.
        """
        try:
            self._carry_out(execution, change, hold=hold)
        except StreamhouseError as error:
            self._finish.failed(execution, change, error)

    def _carry_out(self, execution: FlowExecution, change: Change, *, hold: bool) -> None:
        state, steps = self.open.state, waiting(execution, change, self.follower)
        if execution.is_stuck:
            refuse_half_done(state, self.flow, execution.segments_of(steps))
        refuse_behind(state, execution, change, steps)
        if not self._is_ready(execution, change):
            return
        wanted = wanted_plan(state, change)
        self._finish.expand(wanted)
        swaps = not change.versions and same_streams(execution.plan, wanted)
        if not swaps or not self._swap(execution, change, wanted, hold=hold):
            execution.turn()  # the rest is done at rest, or is left to a person

    def _is_ready(self, execution: FlowExecution, change: Change) -> bool:
        """Whether all that it builds is built, and the gate lets it through as far as it can be judged by now."""
        if not change.versions:
            return self.gate.lets(execution, change)
        with suppress(StateConflictError):  # tiering has gone beyond where the flow was: with the flow at rest
            return self._built_beside(execution, change)
        return True

    def _built_beside(self, execution: FlowExecution, change: Change) -> bool:
        """Fill the candidate while the flow runs, until little is left to do; whether to go on to the swap then."""
        state = self.open.state
        if not last_epochs(state, execution.plan):
            return True
        building = Building(self.open, change, self.say)
        state.move_change(execution.lease, change, Phase.BUILDING)
        with self.looks.building():
            building.fill()
            while not execution.wait(0) and state.change(change.id).is_open:
                began = time.monotonic()
                at = building.catch_up()
                if time.monotonic() - began < max(_CAUGHT_UP_S, execution.plan.freshness.total_seconds()):
                    # Segments that read each other's tables, and another flow's new version, say the same only at rest.
                    moving = len(execution.plan.segments) > 1 or change.moves
                    return bool(moving) or self.gate.lets(execution, change, at)
        return False

    def _swap(self, execution: FlowExecution, change: Change, wanted: FlowPlan, *, hold: bool) -> bool:
        """False: only with the streams at rest, for an epoch that began cannot end with the plan it has."""
        with ExitStack() as stack:
            still = stack.enter_context(ExitStack())
            if hold:
                still.enter_context(_all_paused(execution))
            take = stack.enter_context(execution.prepared(wanted))
            reach("apply_prepared")
            while not execution.wait(0):
                with execution.between_epochs() as whole:
                    if whole:
                        if self.open.state.complete_change(execution.lease, change):
                            reach("apply_completed")
                            take()
                            self._finish.applied(change, "between two epochs, no stream was stopped")
                        return True
                if execution.is_stuck:
                    return False
                still.close()  # an epoch that failed runs again with the plan it had, and must be let
                execution.wait(_CHECK_S)
        return True


@contextmanager
def _all_paused(execution: FlowExecution) -> Iterator[None]:
    before, execution.waiting = execution.waiting, frozenset(table_name(step.id) for step in execution.plan.steps)
    try:
        yield
    finally:
        execution.waiting = before

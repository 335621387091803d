"""Carries out a change while no stream of its flow runs, stage by stage.

Mend an epoch that is half done, or settle: let every segment read the same with the applied plan. Then make the new
columns, bring what is rebuilt to where the flow is, let the gate judge it, and switch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamhouse.change.building import Building, last_epochs, reached, wanted_plan
from streamhouse.change.drain import drain_of
from streamhouse.change.finish import Finish
from streamhouse.change.follow import Follower
from streamhouse.change.gate import Gatekeeper
from streamhouse.change.half_done import HalfDone
from streamhouse.change.refusals import refuse_behind, refuse_half_done, waiting
from streamhouse.change.switch import switch_between, switch_under
from streamhouse.engine.execution import FlowExecution
from streamhouse.errors import ChangeFailedError, EpochFailedError, StreamhouseError, WriteRefusedError
from streamhouse.model.plan import FlowPlan
from streamhouse.runtime.open import Open
from streamhouse.runtime.serving import show_written
from streamhouse.state.records import Change, EpochRecord


@dataclass(frozen=True)
class Resting:
    """One change of a flow that waits.

    Attributes:
        execution: Carries the flow; has its plan as it runs.
        change: To carry out.
        wanted: The plan that it brings, over the names that stores hold.
        half: The epochs that began and did not end.
    """

    execution: FlowExecution
    change: Change
    wanted: FlowPlan
    half: HalfDone

    @property
    def must_drain(self) -> bool:
        """Whether the applied plan must read on first, so that all segments have read the same."""
        more = len(self.execution.plan.segments) > 1
        return bool(self.half or self.change.moves or self.change.versions or more)


@dataclass(frozen=True)
class AtRest:
    """Carries out changes of one flow with its streams at rest.

    Attributes:
        open: Everything connected.
        flow: Its name.
        say: Is called with what the flow does now.
        gate: Judges what was rebuilt.
        follower: Knows which steps wait; None: what changes upstream is not looked at.
    """

    open: Open
    flow: str
    say: Callable[[str], None]
    gate: Gatekeeper
    follower: Follower | None

    @property
    def _finish(self) -> Finish:
        return Finish(self.open, self.flow, self.say)

    def carry_out(self, execution: FlowExecution, change: Change) -> None:
        """Carry a change out, or leave it to wait for a person.

        Raises:
            StreamhouseError: it cannot be; it is recorded as failed, unless a store is away.
        """
        try:
            self._carry_out(execution, change)
        except StreamhouseError as error:
            self._finish.failed(execution, change, error)
            raise

    def _carry_out(self, execution: FlowExecution, change: Change) -> None:
        if not change.versions and not self.gate.lets(execution, change):
            return
        wanted = wanted_plan(self.open.state, change)
        resting = Resting(execution, change, wanted, HalfDone.of(self.open, execution.plan))
        if resting.half and resting.half.may_end_with(change, wanted):
            self._mend(resting)
            return
        settled = self._settle(resting)
        self._finish.expand(wanted)
        built = self._built(resting)
        if self.gate.lets(execution, change, reached(self.open.state, change) if built else None):
            (self._switch if settled else self._switch_under)(resting, built)

    def _mend(self, resting: Resting) -> None:
        """Let half done epochs end with the new plan: one that fails on a row is mended so."""
        execution, change, wanted = resting.execution, resting.change, resting.wanted
        self._finish.expand(wanted)
        if self.open.state.complete_change(execution.lease, change):
            execution.plan = wanted
            self._finish.applied(change, "the epoch that was not done ends with it")

    def _settle(self, resting: Resting) -> bool:
        """Bring the flow to where all its segments have read the same: half done epochs end with the plan they had.

        Returns:
            False: one of them cannot, and is to end with the new plan, over tables built as of where it began.
        """
        execution, change, state = resting.execution, resting.change, self.open.state
        execution.waiting = waiting(execution, change, self.follower)
        refuse_behind(state, execution, change, execution.waiting)
        if resting.half:
            refuse_half_done(state, self.flow, execution.paused)
        last = last_epochs(state, execution.plan)
        if not last or not resting.must_drain:
            return True
        self.say("finishing the epochs in hand")
        if not self._drained(resting, last):
            return False
        refuse_half_done(state, self.flow, execution.paused)
        return True

    def _drained(self, resting: Resting, last: Mapping[str, EpochRecord]) -> bool:
        """Whether the applied plan read to its end; False: an epoch is to end with the new plan instead."""
        execution, before = resting.execution, resting.execution.plan
        drain = drain_of(self.open, before, resting.change, last)
        execution.plan = drain.plan
        try:
            execution.drain(drain.bounds)
        except (EpochFailedError, WriteRefusedError) as error:
            execution.plan = before
            if resting.half and HalfDone.of(self.open, before).may_end_by_rebuild(resting.change, resting.wanted):
                return False
            raise ChangeFailedError(
                f"{self.flow}: an epoch began with the applied plan and cannot end with it: {error.message}",
                hint="first apply an edit that corrects this and whose outcome in the plan is swap or forward",
            ) from error
        finally:
            execution.plan = before
        return True

    def _built(self, resting: Resting) -> dict[str, EpochRecord]:
        """The candidate, caught up with the flow, which waits: segment → its last epoch."""
        if not resting.change.versions or not last_epochs(self.open.state, resting.execution.plan):
            return {}
        building = Building(self.open, resting.change, self.say)
        building.fill()
        building.catch_up()
        return building.last

    def _switch(self, resting: Resting, built: Mapping[str, EpochRecord]) -> None:
        """Record the change, and let the runner go on with it."""
        execution, change, wanted = resting.execution, resting.change, resting.wanted

        def take() -> None:
            execution.plan = wanted
            show_written(self.open.project, wanted.tables.values())
            Building(self.open, change).forget_files()

        self._finish.complete(execution, change, switch_between(self.open, execution.plan, wanted, change, built), take)

    def _switch_under(self, resting: Resting, built: Mapping[str, EpochRecord]) -> None:
        """Record the change under an epoch that is half done, and that ends with the new plan."""
        execution, change, wanted = resting.execution, resting.change, resting.wanted

        def take() -> None:
            execution.plan = wanted
            Building(self.open, change).forget_files()

        self._finish.complete(execution, change, switch_under(self.open, execution.plan, wanted, change, built), take)

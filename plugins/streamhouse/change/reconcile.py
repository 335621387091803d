"""Carries out the changes that were asked of a flow, while its runner goes on (design D7, D8).

The journal in the state store says what is wanted; what is applied changes in one transaction. Before it the old
plan and the old tables serve, after it the new ones, whenever this process is killed:

1. The columns and tables that the plan brings are made, in every tier, those downstream first. Doing it again does
   nothing, and the old plan does not mind them.
2. Tables that are rebuilt are filled beside those that serve: from their history as of some epoch, then by a
   stream of their own (the candidate), which ends where the flow is. Begun again, it goes on where it was.
3. What was built is audited and compared with what serves (`change/gate.py`). Where that fails, or a person wants to
   see it first, the change waits and the flow goes on as it was (`change/keep_up.py`).
4. Between two epochs the plan, the versions of its tables and the positions are recorded together.

A change that needs no new table and no other streams reaches the running query between two of its epochs
(`change/under_way.py`). Else the streams end after the epoch in hand, and others go on from the same positions
(`change/at_rest.py`). This module only decides when which of them is called.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from streamhouse.change.at_rest import AtRest
from streamhouse.change.follow import Follower
from streamhouse.change.gate import Gatekeeper
from streamhouse.change.keep_up import KeepUp
from streamhouse.change.looks import Looks
from streamhouse.change.retired import drop_abandoned, drop_retired
from streamhouse.change.under_way import UnderWay
from streamhouse.engine.execution import FlowExecution
from streamhouse.errors import StreamhouseError
from streamhouse.runtime.open import Open
from streamhouse.runtime.serving import show_written
from streamhouse.state.records import Change, Phase

_LOOK_S = 0.5  # between two looks whether something is asked
_IDLE_LOOK_S = 2.0  # the same, when no epoch ended for a while: hundreds of flows may idle in one process
_IDLE_AFTER_S = 10.0


@dataclass
class Reconciler:
    """The steward of one flow's execution; see `engine.execution.Steward`."""

    open: Open
    flow: str
    say: Callable[[str], None] = lambda _: None
    follower: Follower | None = None  # None: what changes upstream is not looked at
    _looked: bool = False
    _looks: Looks = field(default_factory=Looks)
    _at_rest: AtRest = field(init=False)
    _under_way: UnderWay = field(init=False)
    _keep_up: KeepUp = field(init=False)

    def __post_init__(self) -> None:
        gate = Gatekeeper(self.open, self.say)
        self._at_rest = AtRest(self.open, self.flow, self.say, gate, self.follower)
        self._under_way = UnderWay(self.open, self.flow, self.say, gate, self._looks, self.follower)
        self._keep_up = KeepUp(self.open, self.flow, self._looks)

    def between(self, execution: FlowExecution) -> None:
        """Carry out what is asked, while no stream runs.

        Where a change fails that only moves the flow to other versions of what it reads, it goes on with those it has.

        Raises:
            StreamhouseError: it cannot be; the change has failed, and what was applied stays. Where a store is away, it
                has not: the next run goes on with it.
        """
        show_written(self.open.project, execution.plan.tables.values())  # a kill may have come before it did
        drop_retired(self.open, execution.plan)
        drop_abandoned(self.open, self.flow, self.say)
        change = self.open.state.open_change(self.flow)
        if not self._looked and (execution.plan.aside or (change is not None and change.plan.aside)):
            execution.waiting = self.open.state.upstream.waiting(self.flow)  # what stood is behind the rest of the flow
        while change is not None and not change.waits:
            self._carry_out_at_rest(execution, change)
            before, change = change, self.open.state.open_change(self.flow)
            if change is not None and change.id <= before.id:
                break  # else it is several versions behind, and is asked to go on in the next one
        if self.follower is not None and not self._looked:  # what changed while nothing ran
            self._looked = True
            self.follower.look(execution, lambda change: self._at_rest.carry_out(execution, change), at_rest=True)

    def _carry_out_at_rest(self, execution: FlowExecution, change: Change) -> None:
        waiting = execution.waiting
        try:
            self._at_rest.carry_out(execution, change)
        except StreamhouseError as error:
            if not self._stays_behind(change):
                raise
            execution.waiting = waiting
            self.say(f"change {change.id} failed; {self.flow} goes on in the versions that it reads: {error.message}")

    def _stays_behind(self, change: Change) -> bool:
        """Whether a change that failed asked for nothing of the flow but to go on in other versions of what it reads.

        No person who edits the flow asked for it. The versions that the flow has get no more rows, and lose none.
        """
        state = self.open.state
        applied = state.plan(self.flow)
        if applied is None or not change.moves or state.change(change.id).phase is not Phase.FAILED:
            return False
        # What was given up of a version is nothing of the next one.
        return change.plan.model_copy(update={"given_up": applied[1].given_up}).fingerprint == applied[1].fingerprint

    def beside(self, execution: FlowExecution) -> None:
        """Carry out what is asked while the streams run; a change that cannot be is recorded as failed."""
        while not execution.rest(_LOOK_S if time.monotonic() - execution.beat_at < _IDLE_AFTER_S else _IDLE_LOOK_S):
            request_count = self._looks.request_count
            with suppress(StreamhouseError):  # the state store is away, or the lease lost: the runner ends by itself
                self._carry_out_beside(execution)
                if self.follower is not None and (self._looks.is_due(request_count) or self.follower.due(execution)):
                    self.follower.look(
                        execution, lambda change: self._under_way.carry_out(execution, change, hold=True)
                    )
            self._looks.answer(request_count)

    def before_epoch(self, execution: FlowExecution, segment: str) -> None:
        """Where something upstream looks other than at the last look, let the flow follow it before its rows are read.

        An epoch does not wait for tables that are rebuilt: it reads on with the plan there is.
        """
        [reads] = (one.reads for one in execution.plan.segments if one.name == segment)
        if self.follower is not None and self.follower.differs(reads):
            self._looks.wait_for_rows(execution)

    def rows_lost(self, execution: FlowExecution, segment: str) -> None:  # noqa: ARG002  a look is at the whole flow
        """See whether a person is to be asked about rows that are gone; until then the segment is paused."""
        if self.follower is not None:
            self._looks.wait_for_answer(execution)

    def _carry_out_beside(self, execution: FlowExecution) -> None:
        change = self.open.state.open_change(self.flow)
        if change is not None and not change.waits:
            self._under_way.carry_out(execution, change)
        elif change is not None and change.versions:
            self._keep_up.round(change)

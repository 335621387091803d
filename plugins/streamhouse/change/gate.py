"""What stands between the tables that a change built and their serving: their audit, or a person's word."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamhouse.change.building import Building
from streamhouse.change.review import Reviewing
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.points import reach
from streamhouse.model.review import Review, SwapGate
from streamhouse.model.types import Position
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change


@dataclass
class Gatekeeper:
    """Lets changes of one flow through, each once looked at by this process."""

    open: Open
    say: Callable[[str], None] = lambda _: None
    _let: set[int] = field(default_factory=set)

    def lets(self, execution: FlowExecution, change: Change, at: Mapping[str, Position] | None = None) -> bool:
        """Whether a change may be completed; else it waits for a person.

        Args:
            execution: Carries its flow.
            change: Its candidate, if it has one, is caught up.
            at: How far the flow was then; None: nothing was built.

        Raises:
            ChangeFailedError: what was built cannot be looked at.
            StateConflictError: what serves can no longer be read as it was then.
        """
        if change.id in self._let or (at is None and change.gate is not SwapGate.PERSON):
            return True
        reach("apply_caught_up")
        may = self.open.state.judge(execution.lease, change, self._review(change, at))
        reach("apply_audited")
        if may:
            self._let.add(change.id)
        else:
            self._tell(self.open.state.change(change.id))
        return may

    def _review(self, change: Change, at: Mapping[str, Position] | None) -> Review:
        building = Building(self.open, change, self.say)
        if at is None:
            return Review(at_ms=time.time_ns() // 1_000_000, notes=("no table is rebuilt",))
        if change.forgetting is not None:  # a comparison would show, and record, the rows that are left out
            return Review(at_ms=time.time_ns() // 1_000_000, notes=("rows of persons were left out",))
        if building.served_before:
            return Review(at_ms=time.time_ns() // 1_000_000, notes=("these versions served before",))
        return Reviewing(building, at).review()

    def _tell(self, change: Change) -> None:
        if not change.waits:  # given up meanwhile
            return
        why = f"what it built does not serve: {change.error}" if change.error else "it is ready, and waits"
        text = f"change {change.id}: {why}; let it serve: streamhouse changes {change.id} --swap"
        self.open.state.append_event(change.flow, "change", text)
        self.say(text)

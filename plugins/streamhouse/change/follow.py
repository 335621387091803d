"""The Flow Trigger inside the process that carries a flow: it looks, and its decisions reach the flow at once."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from streamhouse.change.change_request import ask
from streamhouse.change.detach import CarryOut, Detacher
from streamhouse.engine.execution import FlowExecution
from streamhouse.errors import ChangeFailedError
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType
from streamhouse.model.version import at_versions, table_name
from streamhouse.project.compare import Applied, compare
from streamhouse.runtime.open import Open
from streamhouse.state.records import Phase
from streamhouse.state.upstream import EventStatus
from streamhouse.stores.ledger import take_for_known
from streamhouse.trigger.result import DecidedChange, FlowLook
from streamhouse.trigger.trigger import Trigger

_ACTIVE_S = 1.0
_IDLE_S = 15.0


@dataclass
class Follower:
    """Looks for one flow, and has what is decided carried out."""

    open: Open
    flow: str
    say: Callable[[str], None] = lambda _: None
    _trigger: Trigger = field(init=False)
    _carry_out: CarryOut | None = None
    _looked: float = 0.0
    _answers: tuple[int, int] | None = None  # given before a look that left questions open; None: it left none
    _followed: frozenset[str] = frozenset()  # changes upstream that are being carried out
    _cut: Detacher = field(init=False)
    _reported_edits: frozenset[str] = frozenset()  # edits that wait, and were reported

    def __post_init__(self) -> None:
        self._trigger = Trigger(self.open.project, self.open.state, self.open.stores, self._apply)
        self._cut = Detacher(self.open, self.flow, self._trigger.together)

    def due(self, execution: FlowExecution) -> bool:
        """Whether it is time for a look: soon after an epoch or an answer, now and then while there is none."""
        now = time.monotonic()
        if self._answers is not None and self._answers != self._answered():
            return True
        wait = _ACTIVE_S if execution.beat_at > self._looked else _IDLE_S
        return now - self._looked >= wait

    def differs(self, inputs: Collection[str]) -> bool:
        """Whether some of what is read looks other than at the last look; from any thread."""
        return self._trigger.differs(self.flow, [table_name(name) for name in inputs])

    def look(self, execution: FlowExecution, carry_out: CarryOut, *, at_rest: bool = False) -> FlowLook | None:
        """Look once, and hold the steps that must not read on, and what follows them.

        Args:
            execution: Carries the flow.
            carry_out: For what is decided.
            at_rest: No stream runs.
        """
        self._looked = time.monotonic()
        self._carry_out = carry_out
        answers = self._answered()
        found = self._trigger.look([self.flow])
        looked = next((one for one in found if one.flow == self.flow), None)
        if looked is not None:
            freed = bool(execution.waiting)
            execution.waiting = self.open.state.upstream.waiting(self.flow)
            if execution.waiting or at_rest or not freed:  # what is free reads on first, before streams are ended
                self._cut.part_or_join(execution, carry_out)
            self._cut.tell_endangered(execution)
            self._answers = answers if looked.approvals else None
            self._tell_edits(looked)
        return looked

    def _tell_edits(self, looked: FlowLook) -> None:
        """Say once what waits in files."""
        edits = {
            one.event.id: one.note
            for one in looked.records
            if one.event.type is EventType.EDIT and one.status is EventStatus.WAITING
        }
        for event, note in edits.items():
            if event not in self._reported_edits and note:
                self.say(note)
        self._reported_edits = frozenset(edits)

    def waiting(self) -> frozenset[str]:
        """Steps that wait for something else than what is being carried out."""
        return self.open.state.upstream.waiting(self.flow, self._followed)

    def _answered(self) -> tuple[int, int]:
        """Another one whenever a question was answered."""
        _, count, sum_ms = self.open.state.approvals.stamp()
        return count, sum_ms

    def _apply(self, decision: DecidedChange) -> None:
        """See `trigger.result.ApplyChange`."""
        assert self._carry_out is not None, "only a look decides"
        if decision.beyond:
            events = ", ".join(str(one.event) for one in decision.beyond)
            raise ChangeFailedError(f"{events}: granted, but nothing carries it out by itself yet")
        state = self.open.state
        compared = compare(decision.plan, Applied.of(state), {}, budget=self.open.project.settings.rebuild_budget)
        blocking = [step.table for step in compared.found.steps if step.outcome is Outcome.BLOCK]
        choices = dict.fromkeys(blocking, Outcome.REBUILD) if decision.approved else {}
        change = ask(state, compared, "trigger", choices, definition=decision.definition)
        self._followed = frozenset(one.event.id for one in decision.decisions)
        self._take_for_known(decision)
        try:
            self._carry_out(change)
        finally:
            self._followed = frozenset()
        done = state.change(change.id)
        if done.phase is not Phase.APPLIED:
            raise ChangeFailedError(f"change {done.id} is {done.phase}: {done.error or 'the runner was stopped'}")

    def _take_for_known(self, decision: DecidedChange) -> None:
        """Let the ledger know the tables that a person said to read from their beginning, in place of those before."""
        again = {one.event.object for one in decision.decisions if one.event.type is EventType.RECREATE_TABLE}
        for table in at_versions(decision.plan, self.open.state.versions(self.flow)).external:
            if table_name(table.name) in again:
                store = self.open.stores[table.tiers.target]
                take_for_known(store, table.name, table)

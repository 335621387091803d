"""Records in the state store what one look saw and decided."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamhouse.model.plan import FlowPlan
from streamhouse.model.schema_change import EventType
from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.state.approvals import Approval
from streamhouse.state.store import StateStore
from streamhouse.state.upstream import EventStatus, UpstreamRecord
from streamhouse.state.waits import waits_of
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.result import DecidedChange, FlowLook
from streamhouse.trigger.settlement import Settlement
from streamhouse.trigger.target import edit_of


@dataclass(frozen=True)
class Recorder:
    """The records of one look.

    Each method raises StoreUnavailableError where the state store does not answer.

    Attributes:
        basis: What is known.
        state: The state store.
    """

    basis: Basis
    state: StateStore

    def record_look(self, flow: str, *more: UpstreamEvent) -> list[UpstreamRecord]:
        """Record what the look saw of a flow, and `more`; open events that are not among these are outdated."""
        look = self.basis.looks[flow]
        return self.state.upstream.record(flow, [*look.events, *more], self.basis.now, unseen=look.unseen)

    def record_upstream(self, flow: str) -> list[UpstreamRecord]:
        """Record what the look saw of a flow; edits that wait are not outdated by that."""
        edits = [r.event for r in self.state.upstream.open(flow) if r.event.type is EventType.EDIT]
        return self.record_look(flow, *(e for e in edits if e.before == self.basis.applied[flow].fingerprint))

    def settle(self, flow: str, settlements: Iterable[Settlement]) -> None:
        """Record what happened to events."""
        for one in settlements:
            self.state.upstream.settle(
                flow,
                one.event.id,
                one.status,
                decision=one.decision,
                plan=one.plan,
                note=one.note,
                now=self.basis.now,
            )

    def waiting_edit(self, flow: str, plan: FlowPlan) -> None:
        """Record that files say something else than `plan`, which the flow runs with, until a person applies it."""
        edit = self.basis.defined.waiting.get(flow)
        if edit is None:
            self.record_look(flow)
            return
        event = edit_of(flow, plan, edit.after)
        known = {record.event.id for record in self.state.upstream.open(flow) if record.status is EventStatus.WAITING}
        self.record_look(flow, event)
        self.settle(flow, [Settlement(event, EventStatus.WAITING, Decision(event=event), note=str(edit))])
        if event.id not in known:
            self.state.append_event(flow, "edit", str(edit))

    def result(self, flow: str, questions: tuple[Approval, ...], change: DecidedChange | None = None) -> FlowLook:
        """End the look at a flow: withdraw questions that nobody needs answered, pin what it now knows.

        Args:
            flow: Its name.
            questions: Those that wait.
            change: What it becomes; None: nothing else.
        """
        look, upstream = self.basis.looks[flow], self.state.upstream
        still, known = upstream.open(flow), upstream.events(flow)
        waits = {record.event.id for record in still}
        fresh = [r for r in known if r.since >= self.basis.now and r.event.id not in waits]
        settled = [r for r in fresh if r.status is not EventStatus.OUTDATED]
        outdated = [r.event for r in known if r.status is EventStatus.OUTDATED]
        over = {event.id for event in outdated} | {event.after for event in outdated if event.type is EventType.EDIT}
        if left := over - {question.subject for question in questions}:
            self.state.approvals.withdraw(flow, left, self.basis.now)
        # What is open is compared with what the flow knew before it, and the rest with what it knows now.
        open_objects = {*look.unseen, *(record.event.object for record in still)}
        shapes = {**look.pins, **look.live}
        pins = {name: shape.model_dump_json() for name, shape in shapes.items() if name not in open_objects}
        upstream.save_pins(flow, pins, keep=open_objects)
        paused, every_wait = upstream.paused(flow), waits_of(self.state, flow)
        return FlowLook(flow, (*still, *settled), change, questions, paused, look.unseen, every_wait, look.failed)

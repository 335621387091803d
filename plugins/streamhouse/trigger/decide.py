"""The first stage of a look: what a flow follows of the changes that it sees, by its policies and by answers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.upstream import EventStatus, UpstreamRecord
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.following import Following
from streamhouse.trigger.settlement import Settlement
from streamhouse.upstream.ability import granted
from streamhouse.upstream.reading_step import ColumnUse

AskEvent = Callable[[Following, Decision], Approval]
"""The question about a decision that blocks; asks it where nobody did, or where the last one expired."""


@dataclass(frozen=True)
class Decided:
    """What was decided about one flow.

    Attributes:
        following: What it follows.
        settlements: To be recorded, in their order: what it does not follow.
    """

    following: Following
    settlements: tuple[Settlement, ...] = ()

    def with_settlement(self, settlement: Settlement) -> "Decided":
        """The same with one more."""
        return replace(self, settlements=(*self.settlements, settlement))


def decide(basis: Basis, flow: str, records: Iterable[UpstreamRecord], ask: AskEvent) -> Decided:
    """What a flow follows; only `ask` has effects.

    Args:
        basis: What is known.
        flow: One of `basis.looks`.
        records: Events that the look saw, as they are recorded; those that are settled are passed over.
        ask: Asks a person.
    """
    found = Decided(Following(flow, basis.applied[flow]))
    lost = {event.id: event for event in basis.looks[flow].events if event.lost}
    for record in records:
        if record.event.type is EventType.EDIT:
            continue
        if record.status in (EventStatus.APPLIED, EventStatus.NOTED) and record.decision is not None:
            continue
        # More rows may have gone since a loss was noted: those are given up that are gone now.
        found = _decide(basis, found, lost.get(record.event.id, record.event), ask)
    return found


def yes(basis: Basis, flow: str, decision: Decision) -> Decision:
    """The decision once a person granted it."""
    event = decision.event
    uses = basis.impact.uses(event, flow) if event.type is EventType.DROP_COLUMN else ColumnUse.NOTHING
    keeps = uses not in (ColumnUse.NOTHING, ColumnUse.PASSED, ColumnUse.KEY)  # what steps ask for by name is NULL
    verdicts = tuple(granted(verdict, event, keeps=keeps) for verdict in decision.verdicts)
    return decision.model_copy(update={"verdicts": verdicts})


def _decide(basis: Basis, found: Decided, event: UpstreamEvent, ask: AskEvent) -> Decided:
    decision = found.following.able(basis.impact.decision(event, found.following.flow))
    if decision.outcome is Outcome.BLOCK:
        return _answered(basis, found, decision, ask(found.following, decision))
    return _taken(found, decision)


def _answered(basis: Basis, found: Decided, decision: Decision, question: Approval) -> Decided:
    """What follows from what a person said; without an answer the event waits."""
    following, event = found.following, decision.event
    if question.state is ApprovalState.GRANTED:
        agreed = yes(basis, following.flow, decision)
        found = replace(found, following=following.with_grant(agreed, decision))
        return found if agreed.outcome is Outcome.BLOCK else _taken(found, agreed)
    if question.state is ApprovalState.REFUSED:
        person = question.decided_by
        without = following.able(basis.impact.decision(event, following.flow, policy=Policy.IGNORE))
        if without.outcome is not Outcome.BLOCK and following.changes_with(without):
            return _taken(replace(found, following=following.with_refusal(event, person or "")), without)
        return found.with_settlement(Settlement(event, EventStatus.REFUSED, without, note=f"refused by {person}"))
    found = replace(found, following=following.with_question(question))
    note = f"approval {question.id}: {'; '.join(decision.asks)}"
    return found.with_settlement(Settlement(event, EventStatus.WAITING, decision, note=note))


def _taken(found: Decided, decision: Decision) -> Decided:
    if found.following.changes_with(decision):
        return replace(found, following=found.following.with_decision(decision))
    # Readers of what is gone wait, though nobody is asked: until it is there again.
    status = EventStatus.WAITING if decision.paused else EventStatus.NOTED
    return found.with_settlement(Settlement(decision.event, status, decision, note="; ".join(decision.notes) or None))

"""What is recorded of an event at the end of a look, and what is decided where it could not be followed; pure."""

from dataclasses import dataclass

from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.state.upstream import EventStatus
from streamhouse.trigger.following import Following
from streamhouse.upstream.ability import becomes_another
from streamhouse.upstream.impact import in_question


@dataclass(frozen=True)
class Settlement:
    """What happened to one event.

    Attributes:
        event: Which.
        status: What happened to it.
        decision: What was decided for each step that it reaches.
        plan: Fingerprint of the plan that carries it; None: none does.
        note: Why, in words for a person.
    """

    event: UpstreamEvent
    status: EventStatus
    decision: Decision
    plan: str | None = None
    note: str | None = None


def followed_with(following: Following, decision: Decision, event: UpstreamEvent, plan: str) -> Settlement:
    """How an event ends that a plan takes into account: applied, or refused if a person refused it."""
    if event.id in following.refused:
        return Settlement(event, EventStatus.REFUSED, decision, plan, f"refused by {following.refused[event.id]}")
    return Settlement(event, EventStatus.APPLIED, decision, plan)


def not_done(decision: Decision, why: str) -> Decision:
    """The decision where it could not be carried out: who reads what is other than it was must not read on."""
    event = decision.event
    if event.was is None:
        return decision
    return decision.model_copy(update={"verdicts": tuple(in_question(v, event, why) for v in decision.verdicts)})


def does_not_compile(decision: Decision, error: str) -> Settlement:
    """An event with which its flow does not compile: who would follow it must not read on without it."""
    event = decision.event
    if event.was is not None:
        return Settlement(event, EventStatus.FAILED, not_done(decision, error), note=error)
    verdicts = tuple(in_question(v, event, error) if becomes_another(v, event) else v for v in decision.verdicts)
    return Settlement(event, EventStatus.FAILED, decision.model_copy(update={"verdicts": verdicts}), note=error)

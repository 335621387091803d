"""What is done about an event without a person, and what becomes of a verdict that a person granted; pure."""

from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict

_FOLLOWED = frozenset({Values.TAKEN, Values.DEFAULTED, Values.NULL, Values.BOTH, Values.CAST, Values.ROW_DISCARDED})
_BOTH = frozenset({EventType.RENAME_COLUMN, EventType.MAYBE_RENAME})


def is_able(verdict: Verdict) -> bool:
    """Whether what is decided of something as a whole is done without a person."""
    return verdict.values in (Values.WAIT, Values.AS_BEFORE, Values.UNREAD)


def follows(decision: Decision) -> bool:
    """Whether somebody's plan becomes another one."""
    return any(becomes_another(verdict, decision.event) for verdict in decision.verdicts)


def becomes_another(verdict: Verdict, event: UpstreamEvent) -> bool:
    """Whether a step, or its table, becomes another one by what is decided."""
    discards = event.was is not None  # else of a field that is not read: it stays where it comes from
    return (
        verdict.spreads
        or bool(verdict.tiers)
        or verdict.values in _FOLLOWED
        or (discards and verdict.values is Values.VALUE_DISCARDED)
    )


def granted(verdict: Verdict, event: UpstreamEvent, *, keeps: bool = False) -> Verdict:
    """A verdict that blocked, after a person granted it: the change is followed.

    Args:
        verdict: The verdict.
        event: What changed.
        keeps: A column that is gone goes on being written, as NULL.
    """
    if verdict.outcome is not Outcome.BLOCK:
        return verdict
    values = Values.TAKEN
    if event.type is EventType.DROP_COLUMN:
        values = Values.NULL
    elif event.type in _BOTH:
        values = Values.BOTH
    spreads = event.column != "" and not keeps
    return verdict.model_copy(
        update={"outcome": Outcome.SWAP, "values": values, "pauses": False, "asks": "", "spreads": spreads}
    )

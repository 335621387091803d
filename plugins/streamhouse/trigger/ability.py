"""What is done about an event without a person, and what becomes of a verdict that a person granted; pure."""

from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import PlannedSource
from streamhouse.model.schema_change import EventType
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict

_BY_ITSELF = frozenset({Values.AS_BEFORE, Values.TAKEN, Values.UNREAD, Values.COUNTED, Values.WAIT})
"""What is done to values without a person. Rescue columns, casts that count and filling two columns are not yet."""

_NEEDS_NOTHING = frozenset({Values.RESCUED, Values.VALUE_DISCARDED})
"""Of a field that is not read: it stays where it comes from."""

SHOWN_BY_COLUMNS = {
    EventType.ADD_COLUMN,
    EventType.ADD_REQUIRED_COLUMN,
    EventType.UNKNOWN_FIELD,
    EventType.DROP_COLUMN,
    EventType.WIDEN_TYPE,
    EventType.NARROW_TYPE,
    EventType.CHANGE_TYPE,
    EventType.SHARDS_DISAGREE,
    EventType.ADD_FIELD,
    EventType.RELAX_NULLABILITY,
    EventType.TIGHTEN_NULLABILITY,
}
"""What the columns of a source can show once a person granted it."""


def is_able(told: Verdict, event: UpstreamEvent, source: PlannedSource | None) -> bool:
    """Whether what a verdict says is done without a person."""
    if told.values is Values.WAIT:
        return True  # a question already
    if event.column == "":
        return told.values in (Values.AS_BEFORE, Values.UNREAD)
    if told.values in _NEEDS_NOTHING:
        return event.was is None
    if told.values is Values.NULL and not told.spreads:
        return source is not None and _reads_absent_as_null(source)
    if told.values not in (*_BY_ITSELF, Values.NULL):
        return False
    if not told.spreads and not told.tiers:
        return True
    if source is None or event.type is EventType.RENAME_COLUMN:
        return False  # columns of sources alone are let in one by one; those of tables come with their flows
    return event.type is not EventType.MAYBE_RENAME or _reads_absent_as_null(source)


def _reads_absent_as_null(source: PlannedSource) -> bool:
    told = str(source.options.get("format") or source.options.get("path", ""))
    return source.kind == "cdc" or (source.kind == "files" and "json" in told)


def follows(decision: Decision) -> bool:
    """Whether somebody's plan becomes another one."""
    return any(v.spreads or v.tiers or v.values is Values.TAKEN for v in decision.verdicts)


def granted(told: Verdict, event: UpstreamEvent) -> Verdict:
    """A verdict that blocked, after a person granted it: the change is followed."""
    if told.outcome is not Outcome.BLOCK:
        return told
    values = Values.NULL if event.type is EventType.DROP_COLUMN else Values.TAKEN
    forced = event.type in SHOWN_BY_COLUMNS
    return told.model_copy(
        update={"outcome": Outcome.SWAP, "values": values, "pauses": False, "asks": "", "spreads": forced}
    )

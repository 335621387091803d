"""Whether rows that a flow has not read are gone from a source or a table; pure."""

from collections.abc import Iterable

from streamhouse.model.schema_change import EventType
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Ranges, behind
from streamhouse.model.upstream import UpstreamEvent


def positions_lost(
    name: str, read: Iterable[Position], oldest: Position, newest: Position, skipped_ranges: Ranges
) -> UpstreamEvent | None:
    """What is gone of a source; None: nothing is. The same loss has one id, however much more goes meanwhile.

    Args:
        name: What events call the source.
        read: How far each of its readers is. What a reader has not begun with it reads from the oldest on.
        oldest: The first position that still exists, of every part.
        newest: Behind the last one.
        skipped_ranges: Ranges that a person said to go on behind.
    """
    lost: Ranges = {}
    stands: list[str] = []
    details: list[str] = []
    ends_before = False
    for part in sorted({part for position in read for part in position}):
        at = [behind(skipped_ranges.get(part, ()), position[part]) for position in read if part in position]
        first, end = oldest.get(part, 0), newest.get(part, 0)
        if max(at) > end:
            ends_before = True
            stands.append(f"{part}@{max(at)}>")
            details.append(f"{part} ends at {end}, before {max(at)}, up to where it was read: another log, or cut off")
        elif min(at) < first:
            lost[part] = ((min(at), first),)
            stands.append(f"{part}@{min(at)}")
            details.append(f"{first - min(at)} of {part}, from {min(at)} to {first}")
    if not stands:
        return None
    return UpstreamEvent(
        type=EventType.POSITIONS_LOST,
        object=name,
        before=",".join(stands),
        after="gone",
        lost={} if ends_before else lost,  # a reader that goes on after the end of another log would miss its rows
        detail="; ".join(details),
    )


def table_lost(
    table: Table, read: Iterable[Position], oldest: Position, newest: Position, skipped_ranges: Ranges
) -> UpstreamEvent | None:
    """As `positions_lost`, of a table whose log forgets its oldest changes.

    Behind lost changes of a keyed table nobody can go on, for they may have been the last ones of their keys: the
    event then has no `lost`, and the table is to be read from its beginning, which its state stands in for.
    """
    begun = [{bucket: position.get(bucket, 0) for bucket in newest} for position in read if any(position.values())]
    event = positions_lost(table.name, begun, oldest, newest, skipped_ranges)
    if event is None:
        return None
    return event.model_copy(update={"tier": table.tiers.target, **({"lost": {}} if table.primary_key else {})})


def changes_lost(table: Table, read: Iterable[Position], why: str) -> UpstreamEvent:
    """A table in a lake whose snapshots since a reader's position are gone: its rows are there, its changes are not."""
    return UpstreamEvent(
        type=EventType.POSITIONS_LOST,
        object=table.name,
        before=_stands(read),
        after="gone",
        tier=table.tiers.target,
        detail=why,
    )


def source_changes_lost(name: str, read: Iterable[Position], why: str) -> UpstreamEvent:
    """A source with a key whose changes since a reader's position are gone: its rows are there, its changes are not."""
    return UpstreamEvent(
        type=EventType.POSITIONS_LOST, object=name, before=_stands(read), after="gone", lost={}, detail=why
    )


def _stands(read: Iterable[Position]) -> str:
    return ",".join(sorted({f"{part}@{at}" for position in read for part, at in position.items()}))


def loss_text(event: UpstreamEvent) -> str:
    """What a person gave up, for the flow's record."""
    rows = sum(end - first for found in event.lost.values() for first, end in found)
    where = "; ".join(f"{part}: {first} to {end}" for part, found in event.lost.items() for first, end in found)
    return f"up to {rows} rows of {event.object} are gone and were not read: {where}"

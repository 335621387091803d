"""Where a flow goes on when its plan is another: positions taken over from the segments it had. Pure."""

from collections.abc import Collection, Mapping

from streamhouse.engine.vector import cap
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position
from streamhouse.state.records import EpochRecord


def positions(plan: FlowPlan, last: Mapping[str, EpochRecord]) -> dict[str, Position]:
    """Source or table → how far the flow as a whole is: of a table it writes, its end; of another, where it is read to.

    Args:
        plan: Over the names that stores hold.
        last: Segment → its last finished epoch. What several segments read is taken from the one that is behind.
    """
    found: dict[str, Position] = {}
    for segment in plan.segments:
        for name, position in last[segment.name].end.items() if segment.name in last else ():
            found[name] = cap(position, found[name]) if name in found else position
    for segment in plan.segments:
        for name in segment.tables if segment.name in last else ():
            found[name] = last[segment.name].ends.get(name, {})
    return found


def furthest(plan: FlowPlan, last: Mapping[str, EpochRecord]) -> dict[str, Position]:
    """Source or foreign table → how far any segment has read it."""
    found: dict[str, Position] = {}
    for segment in plan.segments:
        for name, position in last[segment.name].end.items() if segment.name in last else ():
            known = found.get(name, {})
            found[name] = {key: max(position.get(key, 0), known.get(key, 0)) for key in {*position, *known}}
    return {name: position for name, position in found.items() if name not in plan.tables}


def moved(
    plan: FlowPlan,
    at: Mapping[str, Position],
    last: Mapping[str, EpochRecord],
    now_ms: int,
    *,
    held: Collection[str] = (),
) -> list[EpochRecord]:
    """For each segment of a plan an epoch that wrote nothing, by which it goes on from given positions.

    Args:
        plan: The new one, over the names that stores hold.
        at: From `positions`, of the old plan and of the candidate together.
        last: Segment → its last finished epoch, as far as there are such.
        now_ms: The time.
        held: Segments that waited while the others read on: they go on where they stood.
    """
    at_ms = max((record.at_ms for record in last.values()), default=now_ms)
    records = []
    for segment in plan.segments:
        before = last.get(segment.name)
        own = before.end if before is not None and segment.name in held else {}
        found = {**at, **own}
        inputs = {name: dict(found[name]) for name in sorted(segment.reads - set(segment.tables)) if name in found}
        records.append(
            EpochRecord(
                flow=plan.flow,
                segment=segment.name,
                # Spark may have planned the next one: its log must not be taken for that of this epoch.
                epoch=before.epoch + 2 if before is not None else 0,
                at_ms=at_ms,
                started_ms=now_ms,
                finished_ms=now_ms,
                start=inputs,
                end=inputs,
                ends={name: dict(at[name]) for name in segment.tables if name in at},
            )
        )
    return records

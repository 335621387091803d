"""Where a flow goes on when its plan is another: positions taken over from the segments it had. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from streamhouse.engine.vector import cap
from streamhouse.ingest.tables.places import further
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import table_name
from streamhouse.state.records import EpochRecord

_NONE: Mapping[str, int] = MappingProxyType({})


def positions(plan: FlowPlan, last: Mapping[str, EpochRecord], *, of: Collection[str] = ()) -> dict[str, Position]:
    """Source or table → how far the flow as a whole is: of a table it writes, its end; of another, where it is read to.

    Args:
        plan: Over the names that stores hold.
        last: Segment → its last finished epoch. What several segments read is taken from the one that is behind.
        of: Segments whose own positions are wanted; what they do not read is as it is for the others.
    """
    found = _behind(plan.segments, last)
    for segment in plan.segments:
        for name in segment.tables if segment.name in last else ():
            found[name] = last[segment.name].ends.get(name, {})
    return found | _behind([segment for segment in plan.segments if segment.name in of], last)


def _behind(segments: Iterable[Segment], last: Mapping[str, EpochRecord]) -> dict[str, Position]:
    """What segments read and do not write, and how far the one is that is behind."""
    found: dict[str, Position] = {}
    for segment in segments:
        for name, position in _reached(segment, last):
            found[name] = cap(position, found[name]) if name in found else position
    return found


def furthest(plan: FlowPlan, last: Mapping[str, EpochRecord]) -> dict[str, Position]:
    """Source or foreign table → up to where all segments can read it, and where none of them has read beyond."""
    found: dict[str, Position] = {}
    for segment in plan.segments:
        for name, position in _reached(segment, last):
            found[name] = further(position, found.get(name, {}))
    own = plan.tables
    return {name: position for name, position in found.items() if name not in own}


def _reached(segment: Segment, last: Mapping[str, EpochRecord]) -> Iterator[tuple[str, Position]]:
    """What a segment reads and does not write, and how far; nothing before its first epoch."""
    yield from last[segment.name].end.items() if segment.name in last else ()


def meeting(old: FlowPlan, new: FlowPlan, paused: Collection[str], to_rebuild: Collection[str] = ()) -> list[str]:
    """Steps of paused segments that would share a segment with steps that read on meanwhile, upstream first.

    Args:
        old: As it runs, over the names that stores hold.
        new: The plan wanted, over the same names.
        paused: Paused segments of `old`.
        to_rebuild: Tables, by the names that people know, that are rebuilt: where their steps were is nothing to them.
    """
    was = _segments(old)
    found: list[str] = []
    for segment in new.segments:
        ids = [table_name(s.id) for s in segment.steps if table_name(s.writes.name) not in to_rebuild]
        if len({was[one] for one in ids if one in was}) > 1:
            found += [one for one in ids if was.get(one) in paused]
    return found


def passed_by(
    plan: FlowPlan, paused: Collection[str], written: Collection[str], to_rebuild: Collection[str]
) -> list[str]:
    """Steps of paused segments that rebuilt tables would leave rows out of, upstream first.

    Such tables are made as of where the segments are that write them. So these must be at the same positions in what
    they share; and who goes on at the end of a new version must have read the one before to its end.

    Args:
        plan: As it runs, over the names that stores hold.
        paused: Paused segments.
        written: Those that write what is rebuilt.
        to_rebuild: That, by the names that people know.
    """
    writing = [segment for segment in plan.segments if segment.name in written]
    rebuilt_tables = {table for segment in writing for table in segment.tables}
    found: list[str] = []
    for segment in plan.segments:
        if segment.name not in paused:
            continue
        if segment.name in written:
            others = [one for one in writing if one.name != segment.name]
            passed = any(segment.reads & ((other.reads - rebuilt_tables) | other.tables.keys()) for other in others)
        else:
            passed = any(table_name(name) in to_rebuild for name in segment.reads)
        found += [table_name(step.id) for step in segment.steps] if passed else []
    return found


def parted(old: FlowPlan, new: FlowPlan) -> list[Table]:
    """Tables that a segment of `old` wrote and read, and that another than their writer's reads in `new`."""
    return [
        table
        for segment in old.segments
        for name, table in segment.tables.items()
        if name in segment.reads and any(name in one.reads and name not in one.tables for one in new.segments)
    ]


def moved(
    old: FlowPlan,
    new: FlowPlan,
    at: Mapping[str, Position],
    last: Mapping[str, EpochRecord],
    now_ms: int,
    *,
    fresh: Collection[str] = (),
    newest: Mapping[str, int] = _NONE,
) -> list[EpochRecord]:
    """For each segment of a plan an epoch that wrote nothing, by which it goes on from given positions.

    Every step goes on where its segment stood: also one that waited while others read on, and one that becomes part of
    another segment. Where steps of one segment stood apart, they go on where the one stood that was behind.

    Args:
        old: As it runs, over the names that stores hold.
        new: The plan wanted, over the same names.
        at: From `positions`, of the old plan and of the candidate together: for what a step did not read before.
        last: Segment → its last finished epoch, as far as there are such, of both plans.
        now_ms: The time.
        fresh: Sources and tables that are others now, so that no position in them is worth anything; but for those
            in `at` they are read from their beginning.
        newest: Segment of `new` → the highest number of an epoch that anything has of it, where that is known to be
            more than `last` says.
    """
    at_ms = max((record.at_ms for record in last.values()), default=now_ms)
    was = _segments(old)
    stood = {
        segment.name: last[segment.name].end | {name: last[segment.name].ends.get(name, {}) for name in segment.tables}
        for segment in old.segments
        if segment.name in last
    }
    computed = {step: by for record in last.values() for step, by in record.computed.items()}
    ended = {name: last[s.name].ends[name] for s in old.segments if s.name in last for name in last[s.name].ends}
    records = []
    for segment in new.segments:
        before = last.get(segment.name)
        inputs: dict[str, Position] = {}
        for name in sorted(segment.reads - set(segment.tables)):
            readers = {was.get(table_name(s.id), "") for s in segment.steps if any(r.table == name for r in s.reads)}
            found = [stood[one][name] for one in sorted(readers) if one in stood and name in stood[one]]
            if name in fresh or not found:
                found = [at[name]] if name in at else []
            for position in found:
                inputs[name] = cap(position, inputs[name]) if name in inputs else dict(position)
        records.append(
            EpochRecord(
                flow=new.flow,
                segment=segment.name,
                epoch=_number(before, newest.get(segment.name)),
                at_ms=at_ms,
                started_ms=now_ms,
                finished_ms=now_ms,
                start=inputs,
                end=inputs,
                ends={name: dict(at[name]) for name in segment.tables if name in at}
                | {name: dict(ended[name]) for name in segment.tables if name in ended},
                computed={step.id: computed[step.id] for step in segment.steps if step.id in computed},
            )
        )
    return records


def _number(before: EpochRecord | None, newest: int | None) -> int:
    """The number of an epoch that comes after those which there are of a segment."""
    found = [before.epoch] if before is not None else []
    found += [newest] if newest is not None else []
    # Spark may have planned the next one: its log must not be taken for that of this epoch.
    return max(found) + 2 if found else 0


def _segments(plan: FlowPlan) -> dict[str, str]:
    """Id of a step, by the name that people know → its segment."""
    return {table_name(step.id): segment.name for segment in plan.segments for step in segment.steps}

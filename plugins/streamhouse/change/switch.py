"""What one transaction records when a change is done with the streams at rest: positions, ends, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamhouse.change.building import last_epochs, now_ms, reached
from streamhouse.change.half_done import HalfDone
from streamhouse.compiler.diff import replaced
from streamhouse.engine.carried_positions import moved, parted
from streamhouse.engine.epoch_numbers import newest_number
from streamhouse.errors import ChangeFailedError
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.types import Position
from streamhouse.model.version import stored_name
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change, EpochRecord


@dataclass(frozen=True)
class Switch:
    """The transaction; see `StateStore.complete_change`.

    Attributes:
        at: How far the flow has read, of all that it reads from now on.
        text: How the change was done, for the flow's record.
        records: The epochs that its segments go on behind; empty: those they have.
        ends: Segment → ends of its tables that are others now; None: the one there was is forgotten.
        ahead: Epochs that did not end wrote to versions that are replaced.
    """

    at: Mapping[str, Position]
    text: str
    records: Sequence[EpochRecord] = ()
    ends: Mapping[str, Mapping[str, Position | None]] = field(default_factory=dict)
    ahead: bool = False


def switch_between(
    open_: Open, old: FlowPlan, wanted: FlowPlan, change: Change, built: Mapping[str, EpochRecord]
) -> Switch:
    """The switch where every epoch is done: all segments go on from the same positions.

    Args:
        open_: Everything connected; only read.
        old: As the flow runs, over the names that stores hold.
        wanted: As it is to run.
        change: Brings `wanted`.
        built: Segment of the candidate → its last epoch.

    Raises:
        ChangeFailedError: something is read for the first time, and not everywhere as far.
        StoreError: a store does not answer, or a table that a segment takes over cannot be read.
    """
    state = open_.state
    at = reached(state, change)
    for record in built.values():
        at |= record.ends
    at |= _first_read(change, wanted, at, built)
    last = last_epochs(state, old) | last_epochs(state, wanted)
    fresh = [stored_name(name, state.versions(change.flow).get(name, 1)) for name in replaced(old, wanted)]
    records: list[EpochRecord] = []
    if last:
        grown, newest = _grown(open_, old, wanted, last), _newest(open_, old, wanted)
        records = moved(old, wanted, at, grown, now_ms(), fresh=fresh, newest=newest)
    text = f"{len(change.versions)} tables were rebuilt" if change.versions else "at rest"
    return Switch(at, text, records)


def switch_under(
    open_: Open, old: FlowPlan, wanted: FlowPlan, change: Change, built: Mapping[str, EpochRecord]
) -> Switch:
    """The switch under an epoch that is half done and ends with the new plan: every position stays as it is.

    Args:
        open_: Everything connected; only read.
        old: As the flow runs, over the names that stores hold.
        wanted: As it is to run, with the same segments.
        change: Brings `wanted`.
        built: Segment of the candidate → its last epoch.
    """
    half = HalfDone.of(open_, old)
    found = {name: end for record in built.values() for name, end in record.ends.items()}
    replaced_tables = half.replaced(change)
    ends: dict[str, dict[str, Position | None]] = {}
    for before, after in zip(old.segments, wanted.segments, strict=True):
        ends[after.name] = dict.fromkeys(replaced_tables & before.tables.keys())
        ends[after.name] |= {name: found[name] for name in after.tables if name in found}
    at = reached(open_.state, change) | found
    text = f"{len(change.versions)} tables were rebuilt; the epoch that was not done ends with it"
    return Switch(at, text, ends=ends, ahead=bool(half.wrote(replaced_tables)))


def _grown(open_: Open, old: FlowPlan, wanted: FlowPlan, last: Mapping[str, EpochRecord]) -> dict[str, EpochRecord]:
    """The last epochs, with the ends of tables that another segment is to read as a backfill may have left them."""
    ends = {t.name: open_.stores[t.tiers.target].end(t) for t in parted(old, wanted)}
    return {
        name: replace(record, ends=record.ends | {t: end for t, end in ends.items() if t in record.ends})
        for name, record in last.items()
    }


def _newest(open_: Open, old: FlowPlan, wanted: FlowPlan) -> dict[str, int]:
    """Segment of `wanted` → the highest number of its epochs that is in use, of segments that write further tables.

    Only these tables are looked at: at its start the run compared the others with the state store.
    """
    before = {segment.name: segment.tables.keys() for segment in old.segments}
    found: dict[str, int] = {}
    for segment in wanted.segments:
        further = segment.tables.keys() - before.get(segment.name, frozenset())
        steps = tuple(step for step in segment.steps if _written(step) & further)
        if steps:
            part = segment.model_copy(update={"steps": steps})
            number = newest_number(wanted, part, open_.stores, open_.state.newest_known)
            found |= {segment.name: number} if number is not None else {}
    return found


def _written(step: PlannedStep) -> set[str]:
    """The tables that a step writes, by the names that stores hold."""
    return {table.name for table in (step.writes, step.quarantine) if table is not None}


def _first_read(
    change: Change, wanted: FlowPlan, at: Mapping[str, Position], built: Mapping[str, EpochRecord]
) -> dict[str, Position]:
    """What the flow reads from its beginning, and how far what was built has read it: the flow goes on there."""
    to_rebuild = {stored_name(table, version) for table, version in change.versions.items()}
    found: dict[str, Position] = {}
    for record in built.values():
        for name in record.end.keys() - at.keys() - wanted.tables.keys():
            others = [
                s for s in wanted.steps if s.writes.name not in to_rebuild and any(r.table == name for r in s.reads)
            ]
            if others or found.setdefault(name, record.end[name]) != record.end[name]:
                raise ChangeFailedError(
                    f"{change.flow} reads {name} for the first time, and not all its readers have read as much of it",
                    hint="apply it again; or first let the rebuilt steps read it, then the others",
                )
    return found

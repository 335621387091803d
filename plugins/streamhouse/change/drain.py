"""How far a flow reads before its plan changes with the streams at rest, and by which plan."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamhouse.change.building import Building, reached, running_plan
from streamhouse.compiler.diff import read_again
from streamhouse.compiler.migration import without_lost
from streamhouse.engine.carried_positions import furthest
from streamhouse.engine.vector import cap
from streamhouse.ingest.tables.places import further
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position
from streamhouse.model.version import stored_name, table_name
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change, EpochRecord


@dataclass(frozen=True)
class Drain:
    """The last epochs with the applied plan.

    Attributes:
        plan: The applied plan, without what is read from its beginning afterwards and whose rows are gone.
        bounds: Source or table, as stores call it → where each segment stops.
    """

    plan: FlowPlan
    bounds: Mapping[str, Position]


def drain_of(open_: Open, plan: FlowPlan, change: Change, last: Mapping[str, EpochRecord]) -> Drain:
    """What is to be read with the applied plan before a change of a flow is carried out.

    Args:
        open_: Everything connected; only read.
        plan: As the flow runs, over the names that stores hold.
        change: Of the flow.
        last: Segment → its last epoch.
    """
    # A version of another flow's table that serves no more is read to its end.
    read = open_.state.versions(plan.flow)
    ends = {stored_name(table, read.get(table, 1)): move.ended for table, move in change.moves.items()}
    read_to = furthest(plan, last)
    stops = _read_again(open_, change, last)
    without = without_lost(plan, change.plan, {table_name(name): at for name, at in stops.items()})
    return Drain(without, read_to | ends | _ahead(open_, change, read_to) | stops)


def _read_again(open_: Open, change: Change, last: Mapping[str, EpochRecord]) -> dict[str, Position]:
    """Tables that are read from their beginning, as stores call them → up to where a drain may read: no further."""
    plan, read = running_plan(open_.state, change.flow), open_.state.versions(change.flow)
    found: dict[str, Position] = {}
    for name in read_again(plan, change.plan):
        stored = stored_name(name, read.get(name, 1))
        for record in last.values():
            if stored in record.end:
                found[stored] = cap(record.end[stored], found.get(stored, record.end[stored]))
    return found


def _ahead(open_: Open, change: Change, own: Mapping[str, Position]) -> dict[str, Position]:
    """How far a candidate that ran by itself, in an environment, has read: the flow is to read no less."""
    if not change.versions:
        return {}
    building, at = Building(open_, change), reached(open_.state, change)
    return {
        name: further(position, own[name])
        for name, position in furthest(building.plan, building.last).items()
        if name in own and name in at  # a position in a source that becomes another one is none in this one
    }

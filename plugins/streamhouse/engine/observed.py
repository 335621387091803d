"""What the tables of a segment have in the tiers that it writes, against what the state store says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from streamhouse.engine.inputs import without_dropped
from streamhouse.engine.loss import CopyReach, LaterEpoch, LossCase, LossVerdict, SegmentRows, StateRecord, hint, judged
from streamhouse.engine.traces import newest_trace, older_state_text, removed_text
from streamhouse.engine.vector import covers
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import NotedStore, Store
from streamhouse.stores.ledger import lost_as

BEGUN = "begun"
"""The note of a hot table that a restore is filling."""


class EpochKnowledge(Protocol):
    """What the state store knows of epochs."""

    def last_epoch(self, flow: str, segment: str) -> EpochRecord | None:
        """The last finished epoch."""

    def unfinished(self, flow: str, segment: str) -> int | None:
        """The epoch in hand."""

    def newest_known(self, flow: str, segment: str) -> int | None:
        """The newest epoch, done or begun."""


def filling_writer(table: Table) -> str:
    """Under this name a restore leaves its note of a hot table."""
    return f"restore/{table.name}"


@dataclass(frozen=True)
class SeenTables:
    """What is seen of a segment.

    Attributes:
        recorded: What the state store says of its epochs.
        lost: Table that it writes → what happened to it.
        lost_inputs: Hot table of others that it reads → what happened to it.
        more: Hot table that it writes → its end, which is behind where the flow left it.
    """

    segment: Segment
    recorded: StateRecord
    lost: dict[str, str] = field(default_factory=dict)
    lost_inputs: dict[str, str] = field(default_factory=dict)
    more: dict[str, Position] = field(default_factory=dict)

    @property
    def rows(self) -> SegmentRows:
        """The worst of its tables."""
        if any(self.segment.tables[name].tiers.target is not Tier.HOT for name in self.lost):
            return SegmentRows.LOST_LAKE
        if self.lost:
            return SegmentRows.LOST_HOT
        if self.lost_inputs:
            return SegmentRows.READS_LOST
        return SegmentRows.MORE if self.more else SegmentRows.AS_LEFT

    def case(self, others: LaterEpoch, copies: CopyReach = CopyReach.WITHIN) -> LossCase:
        """What all records say together."""
        return LossCase(self.recorded, others, self.rows, copies)


def seen(plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store], epochs: EpochKnowledge) -> SeenTables:
    """Look at the tables of a segment, and change nothing.

    Args:
        plan: Over the names that stores hold.
        segment: Of it.
        stores: Every tier that its tables are in.
        epochs: Of the state store.
    """
    last, in_hand = epochs.last_epoch(plan.flow, segment.name), epochs.unfinished(plan.flow, segment.name)
    recorded = StateRecord.IN_HAND if in_hand is not None else StateRecord.NOTHING if last is None else StateRecord.DONE
    found = SeenTables(segment, recorded)
    shared = {step.writes.name for step in segment.steps if step.part}
    for name, table in segment.tables.items():
        store, left = stores[table.tiers.target], last.ends.get(name, {}) if last is not None else {}
        if (what := _lost(stores, table, left)) is not None:
            found.lost[name] = what
        elif (last is None or name in last.ends) and name not in shared and store.columns(name) is not None:
            end = store.end(table)
            # Upkeep adds snapshots to a lake. To a log only a writer adds.
            hot_or_first = table.tiers.target is Tier.HOT or last is None
            if hot_or_first and not covers({name: without_dropped(table, left, end)}, {name: end}):
                found.more[name] = end
    inputs = (t for t in plan.readable if t.name in segment.reads and t.name not in segment.tables)
    for table in (one for one in inputs if one.tiers.target is Tier.HOT):
        if (what := _lost(stores, table, {})) is not None:
            found.lost_inputs[table.name] = what
    return found


def refuse_loss(plan: FlowPlan, stores: Mapping[Tier, Store], epochs: EpochKnowledge) -> None:
    """Refuse to go on where a table of a flow is lost, or the state store is older than the tables.

    Rows would come twice, or never. What was written beside the flow is found when its streams begin.

    Args:
        plan: Over the names that stores hold.
        stores: Every tier that its tables are in.
        epochs: Of the state store.

    Raises:
        StateConflictError: so it is.
    """
    for segment in plan.segments:
        trace, known = newest_trace(plan, segment, stores), epochs.newest_known(plan.flow, segment.name)
        is_newer = trace is not None and (known is None or trace.epoch > known)
        others = LaterEpoch.DONE if is_newer else LaterEpoch.NOT_LATER
        found = seen(plan, segment, stores, epochs)
        rule = judged(found.case(others))
        if rule.verdict is LossVerdict.GO_ON or (found.rows is SegmentRows.MORE and not is_newer):
            continue
        if found.rows in (SegmentRows.AS_LEFT, SegmentRows.MORE):
            assert trace is not None, "only a newer epoch is left"
            text = older_state_text(trace, plan.flow, segment, known)
        else:
            name, happened = next(iter((found.lost or found.lost_inputs).items()))
            text = removed_text(name, happened)
        raise StateConflictError(text, hint=hint(plan.flow, LossVerdict.FILL))


def _lost(stores: Mapping[Tier, Store], table: Table, left: Position) -> str | None:
    """What happened to a table that is not there, or not all of it."""
    store = stores[table.tiers.target]
    if (what := lost_as(store, table)) is not None:
        return what
    if store.identity(table.name) is None:
        copied = [tier for tier in table.tiers.present[1:] if stores[tier].identity(table.replica.name) is not None]
        if copied:
            return f"is gone, and the {copied[0]} tier has a copy of it"
        return "is gone" if any(left.values()) else None
    if isinstance(store, NotedStore) and store.noted(filling_writer(table)) == BEGUN:
        return "was being filled by a restore that was cut off"
    if left:
        end = store.end(table)
        if not covers({table.name: end}, {table.name: without_dropped(table, left, end)}):
            return f"ends at {end}, before {left}, where the flow left it"
    return None

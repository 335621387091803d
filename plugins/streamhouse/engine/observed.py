"""What the tables of a segment have in the tiers that it writes, against what the state store says."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

from streamhouse.engine.checkpoint import logged_end
from streamhouse.engine.loss import (
    CopyReach,
    LaterEpoch,
    LossCase,
    LossRule,
    LossVerdict,
    SegmentRows,
    StateRecord,
    hint,
    judged,
)
from streamhouse.engine.note import Trace
from streamhouse.engine.traces import (
    every_trace,
    newest_of,
    older_state_text,
    other_epoch_text,
    remains_of,
    removed_text,
)
from streamhouse.engine.vector import covers, without_dropped
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import LakeStore, NotedStore, Store
from streamhouse.stores.ledger import lost_as
from streamhouse.stores.mark import mark_of, other_history

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

    def recorded_times(self, flow: str, segment: str, numbers: Collection[int]) -> dict[int, int]:
        """Epoch → its recorded time, epoch milliseconds, of those of `numbers` that are known."""


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
        ahead: Table that it writes, or reads → where it ends, before a position up to which it was read.
        unseen: Tiers of its tables that were not looked at.
    """

    segment: Segment
    recorded: StateRecord
    lost: dict[str, str] = field(default_factory=dict)
    lost_inputs: dict[str, str] = field(default_factory=dict)
    more: dict[str, Position] = field(default_factory=dict)
    ahead: dict[str, str] = field(default_factory=dict)
    unseen: frozenset[Tier] = frozenset()

    @property
    def rows(self) -> SegmentRows:
        """The worst of its tables."""
        if any(self.segment.tables[name].tiers.target is not Tier.HOT for name in self.lost):
            return SegmentRows.LOST_LAKE
        if self.ahead:
            return SegmentRows.READ_AHEAD
        if self.lost:
            return SegmentRows.LOST_HOT
        if self.lost_inputs:
            return SegmentRows.READS_LOST
        return SegmentRows.MORE if self.more else SegmentRows.AS_LEFT

    def case(self, others: LaterEpoch, copies: CopyReach = CopyReach.WITHIN) -> LossCase:
        """What all records say together."""
        return LossCase(self.recorded, others, self.rows, copies)


@dataclass(frozen=True)
class SegmentLoss:
    """Why a flow must not go on from what its records say.

    Attributes:
        text: What is wrong, for people.
        rule: That decides what is done about it.
        tables: That are lost, as stores call them; empty: the state store is.
        what: Happened to the tables, in words.
        is_state_older: Tables have rows of a later epoch than the state store knows.
    """

    flow: str
    segment: str
    text: str
    rule: LossRule
    tables: tuple[str, ...] = ()
    what: str = ""
    is_state_older: bool = False

    @property
    def error(self) -> StateConflictError:
        """For those who need to go on."""
        return StateConflictError(self.text, hint=self.hint)

    @property
    def hint(self) -> str:
        """What to type; `restore` looks at more records, so it says what can be done where these do not decide."""
        is_endless = self.rule.others == {LaterEpoch.UNKNOWN}
        decides = is_endless or self.rule.rows <= {SegmentRows.LOST_LAKE, SegmentRows.READ_AHEAD}
        return hint(self.flow, self.rule.verdict if decides else LossVerdict.FILL)


def seen(plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store], epochs: EpochKnowledge) -> SeenTables:
    """Look at the tables of a segment, and change nothing.

    Args:
        plan: Over the names that stores hold.
        segment: Of it.
        stores: Tiers; tables of others are not looked at.
        epochs: Of the state store.
    """
    last, in_hand = epochs.last_epoch(plan.flow, segment.name), epochs.unfinished(plan.flow, segment.name)
    recorded = StateRecord.IN_HAND if in_hand is not None else StateRecord.NOTHING if last is None else StateRecord.DONE
    tables, reads = segment.tables, segment.reads  # each is found out at every call
    unseen = {tier for table in tables.values() for tier in table.tiers.present if tier not in stores}
    found = SeenTables(segment, recorded, unseen=frozenset(unseen))
    shared = {step.writes.name for step in segment.steps if step.part}
    for name, table in tables.items():
        if table.tiers.target not in stores:
            continue
        store, left = stores[table.tiers.target], last.ends.get(name, {}) if last is not None else {}
        if (what := _lost(stores, table, left)) is not None:
            found.lost[name] = what
        elif (last is None or name in last.ends) and name not in shared and store.columns(name) is not None:
            end = store.end(table)
            # Upkeep adds snapshots to a lake. To a log only a writer adds.
            hot_or_first = table.tiers.target is Tier.HOT or last is None
            if hot_or_first and not covers({name: without_dropped(table, left, end)}, {name: end}):
                found.more[name] = end
    for table in (t for t in plan.readable if t.name in reads and t.name not in tables):
        if table.tiers.target not in stores:
            continue
        if (what := _lost(stores, table, {})) is not None:
            if table.tiers.target is Tier.HOT:  # of others the flow that writes them says so
                found.lost_inputs[table.name] = what
        elif last is not None and (short := beyond_end(stores, table, last.end.get(table.name, {}))) is not None:
            found.ahead[table.name] = short
    return found


def beyond_end(stores: Mapping[Tier, Store], table: Table, read: Position) -> str | None:
    """Where a table ends before a position up to which it was read, in words; None: it reaches it.

    Of a table that no flow of the project writes, or that was made again, a change upstream is what says so.
    """
    store = stores[table.tiers.target]
    known = store.ledger.known(table, store.tier)
    if known is None or known.identity is None or known.identity != store.identity(table.name):
        return None
    return short_of(stores, table, read, "up to which it was read")


def short_of(stores: Mapping[Tier, Store], table: Table, left: Position, when: str) -> str | None:
    """Where a table ends before a position at which it was left, in words; None: it reaches it, or is gone."""
    store = stores[table.tiers.target]
    if not any(left.values()) or store.identity(table.name) is None:
        return None
    end = store.end(table)
    if covers({table.name: end}, {table.name: without_dropped(table, left, end)}):
        return None
    return f"ends at {end}, before {left}, {when}"


def endless(
    plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store], epochs: EpochKnowledge, checkpoints: Path
) -> int | None:
    """The epoch in hand of a segment, if it wrote rows and no record says where it ends; None: there is none such.

    Args:
        plan: Over the names that stores hold.
        segment: Of it.
        stores: Tiers; tables of others are not looked at.
        epochs: Of the state store.
        checkpoints: Folder of all of them.
    """
    in_hand = epochs.unfinished(plan.flow, segment.name)
    if in_hand is None or logged_end(checkpoints / plan.flow / segment.name, in_hand) is not None:
        return None
    if any(one.tiers.target is Tier.HOT for one in segment.tables.values()) and not isinstance(
        stores.get(Tier.HOT), NotedStore
    ):
        return None  # its note is beside the hot tables, where nobody looks now
    remains = remains_of(plan, segment, stores, in_hand, epochs.last_epoch(plan.flow, segment.name))
    is_lost = remains.end is None and remains.wrote
    # A flow that runs elsewhere may have begun its next epoch since the first look.
    return in_hand if is_lost and epochs.unfinished(plan.flow, segment.name) == in_hand else None


def other_epoch(
    plan: FlowPlan, segment: Segment, found: Iterable[Trace | None], epochs: EpochKnowledge
) -> Trace | None:
    """A trace of an epoch whose number the state store knows for another epoch; None: there is none such.

    So it is where a table, or the state store, was put back from a copy, after the flow had gone on from another one.

    Args:
        plan: Over the names that stores hold.
        segment: Of it.
        found: As of `every_trace`.
        epochs: Of the state store.
    """
    noted = [(trace, trace.note.at_ms) for trace in found if trace is not None and trace.note is not None]
    if not noted:
        return None
    known = epochs.recorded_times(plan.flow, segment.name, {trace.epoch for trace, _ in noted})
    return next((trace for trace, at_ms in noted if known.get(trace.epoch, at_ms) != at_ms), None)


def losses(
    plan: FlowPlan, stores: Mapping[Tier, Store], epochs: EpochKnowledge, checkpoints: Path
) -> Iterator[SegmentLoss]:
    """Why a flow must not go on: tables of it are lost, or the state store is older than the tables.

    What was written beside the flow is found when its streams begin.

    Args:
        plan: Over the names that stores hold.
        stores: Tiers; tables of others are not looked at.
        epochs: Of the state store.
        checkpoints: Folder of all of them.
    """
    for segment in plan.segments:
        traces, known = every_trace(plan, segment, stores), epochs.newest_known(plan.flow, segment.name)
        trace = newest_of(plan, segment, traces)
        is_newer = trace is not None and (known is None or trace.epoch > known)
        other = other_epoch(plan, segment, traces, epochs)
        cut_off = None if is_newer or other else endless(plan, segment, stores, epochs, checkpoints)
        others = LaterEpoch.DONE if is_newer else LaterEpoch.NOT_LATER
        if other is not None or cut_off is not None:
            others = LaterEpoch.UNKNOWN
        found = seen(plan, segment, stores, epochs)
        rule = judged(found.case(others))
        is_written_beside = found.rows is SegmentRows.MORE and others is LaterEpoch.NOT_LATER
        if rule.verdict is LossVerdict.GO_ON or is_written_beside:
            continue
        if found.rows in (SegmentRows.AS_LEFT, SegmentRows.MORE):
            text = _records_text(plan.flow, segment, trace, known, cut_off, other)
            yield SegmentLoss(plan.flow, segment.name, text, rule, is_state_older=is_newer)
            continue
        lost = found.lost or found.ahead or found.lost_inputs
        for what in dict.fromkeys(lost.values()):
            names = tuple(name for name, one in lost.items() if one == what)
            yield SegmentLoss(plan.flow, segment.name, removed_text(", ".join(names), what), rule, names, what)


def _records_text(
    flow: str, segment: Segment, trace: Trace | None, known: int | None, cut_off: int | None, other: Trace | None
) -> str:
    if other is not None:
        return other_epoch_text(other, flow, segment)
    if cut_off is not None:
        return (
            f"epoch {cut_off} of {flow}/{segment.name} began and wrote rows, but Spark's log and its note, which say "
            "where it ends, are lost"
        )
    assert trace is not None, "only a newer epoch is left"
    return older_state_text(trace, flow, segment, known)


def refuse_loss(
    plan: FlowPlan,
    stores: Mapping[Tier, Store],
    epochs: EpochKnowledge,
    checkpoints: Path,
    others: Iterable[FlowPlan] = (),
) -> None:
    """Refuse to go on where `losses` finds one: rows would come twice, or never.

    Args:
        plan: Over the names that stores hold.
        stores: Every tier that its tables are in.
        epochs: Of the state store.
        checkpoints: Folder of all of them.
        others: Plans of other flows. Where one that reads from this flow is further than the state store knows, it has
            read rows of this flow that are not to be written again.

    Raises:
        StateConflictError: so it is.
    """
    for loss in losses(plan, stores, epochs, checkpoints):
        raise loss.error
    for reader in others:
        if reader.flow != plan.flow and plan.tables.keys() & {table.name for table in reader.external}:
            for loss in losses(reader, stores, epochs, checkpoints):
                if loss.is_state_older:
                    raise loss.error


def _lost(stores: Mapping[Tier, Store], table: Table, left: Position) -> str | None:
    """What happened to a table that is not there, or not all of it."""
    store = stores[table.tiers.target]
    if (what := lost_as(store, table)) is not None:
        return what
    copies = [tier for tier in table.tiers.present[1:] if tier in stores]
    if store.identity(table.name) is None:
        copied = [tier for tier in copies if stores[tier].identity(table.replica.name) is not None]
        if copied:
            return f"is gone, and the {copied[0]} tier has a copy of it"
        return "is gone" if any(left.values()) else None
    if isinstance(store, NotedStore) and store.noted(filling_writer(table)) == BEGUN:
        return "was being filled by a restore that was cut off"
    if (what := short_of(stores, table, left, "where the flow left it")) is not None:
        return what
    for tier in copies:
        lake = cast("LakeStore", stores[tier])
        mark = mark_of(lake, table.replica)
        if mark is not None and mark.source is table.tiers.target and other_history(lake.ledger, mark) is None:
            when = f"up to which the {tier} tier has its rows"
            if (what := short_of(stores, table, mark.offsets, when)) is not None:
                return what
    return None

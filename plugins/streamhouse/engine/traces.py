"""What the tables of a flow tell of its epochs, against what the state store knows (design D14)."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

from streamhouse.engine.checkpoint import EpochRemains
from streamhouse.engine.note import Trace, newest, trace_of_commit, trace_of_text
from streamhouse.engine.vector import covers
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.writer import segment_writer
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import LakeStore, NotedStore, Store

_AT_ONCE = 4


def writer_of(flow: str, segment: str, step: PlannedStep) -> str:
    """The name under which a step writes; each of several writers of one table has its own."""
    name = segment_writer(flow, segment)
    return f"{name}/{step.action}" if step.part else name


def restore_hint(flow: str) -> str:
    """What to do when the records of a flow disagree."""
    return f"see what can be known, and mend it: streamhouse restore {flow}"


def newest_trace(plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store]) -> Trace | None:
    """The newest epoch of which the tables of a segment tell; None: they tell of none.

    Args:
        plan: Over the names that stores hold.
        segment: Of it.
        stores: Tiers; tables of others are not looked at.
    """
    return newest_of(plan, segment, every_trace(plan, segment, stores))


def every_trace(plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store]) -> list[Trace | None]:
    """The trace of a segment beside its hot tables, then that in each lake table; arguments as of `newest_trace`."""
    written = written_tables(plan, segment)
    lakes = _in_lakes(written)
    is_hot = len(lakes) < len(written) and Tier.HOT in stores
    beside = [_beside(plan.flow, segment, stores[Tier.HOT])] if is_hot else []
    return beside + _commits(plan, lakes, stores)


class TracesOnce:
    """The traces of segments, each of which is read once: of a flow that does not run, and for one look.

    Args:
        stores: Tiers; tables of others are not looked at.
    """

    def __init__(self, stores: Mapping[Tier, Store]) -> None:
        self._stores = stores
        self._read: dict[tuple[object, ...], list[Trace | None]] = {}

    def every(self, plan: FlowPlan, segment: Segment) -> list[Trace | None]:
        """As `every_trace`. Plans that differ in other tables than those of the segment have the same traces."""
        written = ((table.name, table.tiers.target, writer) for table, writer in written_tables(plan, segment))
        key = (plan.flow, segment.name, *written)
        if key not in self._read:
            self._read[key] = every_trace(plan, segment, self._stores)
        return self._read[key]


def newest_of(plan: FlowPlan, segment: Segment, found: Collection[Trace | None]) -> Trace | None:
    """`newest_trace` in what `every_trace` found."""
    written = written_tables(plan, segment)
    lakes = _in_lakes(written)
    best = newest(trace for trace in found if trace is not None)
    if best is None or best.note is None or best.note.done or len(lakes) < len(written):
        return best
    # Each table has a commit of the epoch, so nothing of it is missing.
    whole = len(found) == len(lakes) and all(trace is not None and trace.epoch == best.epoch for trace in found)
    return replace(best, note=replace(best.note, done=True, ends={})) if whole else best


def lake_tables_without(plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store], epoch: int) -> list[str]:
    """Tables of a segment whose first tier is a lake, and whose newest commit is of another epoch, or there is none."""
    lakes = _in_lakes(written_tables(plan, segment))
    commits = zip(lakes, _commits(plan, lakes, stores), strict=True)
    return [table.name for (table, _), trace in commits if trace is None or trace.epoch != epoch]


def written_tables(plan: FlowPlan, segment: Segment) -> list[tuple[Table, str]]:
    """Tables of a segment, those of its quarantine too, each with the name under which it is written."""
    return [
        (table, writer_of(plan.flow, segment.name, step))
        for step in segment.steps
        for table in (step.writes, step.quarantine)
        if table is not None
    ]


def _in_lakes(written: list[tuple[Table, str]]) -> list[tuple[Table, str]]:
    """Those whose first tier is a lake."""
    return [one for one in written if one[0].tiers.target is not Tier.HOT]


def _commits(plan: FlowPlan, lakes: list[tuple[Table, str]], stores: Mapping[Tier, Store]) -> list[Trace | None]:
    """The newest trace of the writer in each table of a lake that `stores` has."""
    there = [one for one in lakes if one[0].tiers.target in stores]
    if not there:
        return []
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=f"{plan.flow}/traces") as pool:
        return [*pool.map(lambda one: _committed(one[0], one[1], stores), there)]


def remains_of(
    plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store], epoch: int | None, last: EpochRecord | None
) -> EpochRemains:
    """What the tables of a segment have of an epoch that is half done.

    Args:
        plan: Over the names that stores hold.
        segment: Of it.
        stores: Every tier that its tables are in.
        epoch: Its number; None: there is none.
        last: The last finished epoch before it.
    """
    trace = newest_trace(plan, segment, stores)
    if trace is not None and trace.epoch == epoch:
        return EpochRemains(trace.note.vector if trace.note is not None else None)
    # A lake has the number of an epoch in each commit. A version of Streamhouse without notes left none beside a log.
    hot = [table for table in segment.tables.values() if table.tiers.target is Tier.HOT and Tier.HOT in stores]
    hot = [table for table in hot if stores[Tier.HOT].identity(table.name) is not None]
    ends = last.ends if last is not None else {}
    written = any(not covers(ends, {table.name: stores[Tier.HOT].end(table)}) for table in hot)
    newer = trace is not None and epoch is not None and trace.epoch > epoch
    return EpochRemains(None, wrote=written or newer)


def refuse_older_state(
    plan: FlowPlan, stores: Mapping[Tier, Store], newest_known: Callable[[str, str], int | None]
) -> None:
    """Refuse to go on from a state store that is older than the tables: rows would come twice, or never.

    Args:
        plan: Over the names that stores hold.
        stores: Every tier that its tables are in.
        newest_known: Flow and segment → the newest epoch that the state store knows, done or begun; None: none.

    Raises:
        StateConflictError: a table has rows of a newer one.
    """
    for segment in plan.segments:
        trace, known = newest_trace(plan, segment, stores), newest_known(plan.flow, segment.name)
        if trace is None or (known is not None and trace.epoch <= known):
            continue
        raise StateConflictError(older_state_text(trace, plan.flow, segment, known), hint=restore_hint(plan.flow))


def older_state_text(trace: Trace, flow: str, segment: Segment, known: int | None) -> str:
    """What is wrong where a table has rows of a newer epoch than the state store knows.

    Args:
        trace: Of that epoch.
        flow: Whose.
        segment: Of it.
        known: The newest epoch that the state store knows; None: none.
    """
    what = "of no epoch" if known is None else f"only of epochs up to {known}"
    return (
        f"{trace.where} holds rows of epoch {trace.epoch} of {flow}/{segment.name}, but the state store "
        f"knows {what}: it was lost, or an older one was put back"
    )


def other_epoch_text(trace: Trace, flow: str, segment: Segment) -> str:
    """What is wrong where a table has rows of an epoch, and the state store another one of the same number.

    Args:
        trace: Of the epoch in the table.
        flow: Whose.
        segment: Of it.
    """
    return (
        f"{trace.where} holds rows of another epoch {trace.epoch} of {flow}/{segment.name} than the one that the state "
        "store knows: one of them was put back from a copy, and the flow had run on without it"
    )


def unknown_rows_text(tables: str) -> str:
    """What is wrong where tables have rows, and the state store knows of nothing that wrote them."""
    return f"{tables} holds rows, but the state store knows of no epoch that wrote them"


def removed_text(table: str, what: str) -> str:
    """What is wrong with a table that is not there, or not all of it."""
    return f"{table} {what}: it was lost, or dropped or made again beside the flow"


def removed(flow: str, table: str, what: str) -> StateConflictError:
    """The error of a table that is not there, or not all of it."""
    return StateConflictError(removed_text(table, what), hint=f"bring the table back; or {restore_hint(flow)}")


def _beside(flow: str, segment: Segment, store: Store) -> Trace | None:
    if not isinstance(store, NotedStore):
        return None
    return trace_of_text(f"the {store.tier} tier", store.noted(segment_writer(flow, segment.name)))


def _committed(table: Table, writer: str, stores: Mapping[Tier, Store]) -> Trace | None:
    lake = cast("LakeStore", stores[table.tiers.target])
    if lake.columns(table.name) is None:
        return None
    return trace_of_commit(table.name, lake.last_commit(table, writer))

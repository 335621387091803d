"""Which numbers of epochs are in use: rows of an epoch with such a number would be taken for a repeat."""

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from streamhouse.engine.traces import every_trace
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Tier
from streamhouse.model.writer import segment_writer
from streamhouse.stores.base import LakeStore, Store
from streamhouse.stores.mark import mark_of


def newest_number(
    plan: FlowPlan, segment: Segment, stores: Mapping[Tier, Store], newest_known: Callable[[str, str], int | None]
) -> int | None:
    """The highest number that the state store, the tables of a segment or their copies have; None: they have none.

    A segment of this name may have left the plan long ago, and the state store may have been made again since.

    Args:
        plan: Over the names that stores hold.
        segment: Of it; its tables need not be there yet.
        stores: Every tier that its tables are in.
        newest_known: Flow and segment → the newest epoch that the state store knows, done or begun; None: none.

    Raises:
        StoreError: a store does not answer, or a table or its copy cannot be read.
        StateConflictError: this version cannot read how far a copy reaches.
    """
    known = newest_known(plan.flow, segment.name)
    traces = [trace.epoch for trace in every_trace(plan, segment, stores) if trace is not None]
    found = [*traces, *epochs_of_copies(plan.flow, segment, stores), *([known] if known is not None else [])]
    return max(found, default=None)


def epochs_of_copies(flow: str, segment: Segment, stores: Mapping[Tier, Store]) -> Iterator[int]:
    """The newest epoch of a segment that each copy of its tables names, of the copies that name one.

    Args:
        flow: Whose.
        segment: Of it, over the names that stores hold.
        stores: Every tier that its tables are in.

    Raises:
        StoreError: a lake does not answer, or a copy cannot be read.
        StateConflictError: this version cannot read how far a copy reaches.
    """
    writer = segment_writer(flow, segment.name)
    for table in segment.tables.values():
        for tier in table.tiers.present[1:]:
            mark = mark_of(cast("LakeStore", stores[tier]), table.replica)
            if mark is not None and (number := mark.newest_epoch(writer)) is not None:
                yield number

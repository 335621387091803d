"""Copies of tables in further tiers that are gone, older than their record, or of another history of their flow."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import cast

from streamhouse.change.building import epochs_of_writers
from streamhouse.engine.observed import other_epoch
from streamhouse.engine.traces import TracesOnce
from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, LakeStore, LogStore, WriteContext
from streamhouse.stores.ledger import take_for_known
from streamhouse.stores.mark import again, mark_and_loss, note_filled, other_history
from streamhouse.tiering.move import tier


@dataclass(frozen=True)
class LostCopy:
    """A copy that is not as it was recorded.

    Attributes:
        what: Happened to it, in words.
        is_older: Whether it is an older one, which goes on from its own mark.
    """

    table: Table
    tier: Tier
    what: str
    is_older: bool

    def __str__(self) -> str:
        """For people."""
        name = table_name(self.table.name)
        if self.is_older:
            return f"{name}: its copy in the {self.tier} tier {self.what}, and is filled from there on"
        return f"{name}: its copy in the {self.tier} tier {self.what}, and is filled again from the first tier"


def lost_copies(open_: Open, plan: FlowPlan, of_others: Collection[str]) -> list[LostCopy]:
    """The copies of the tables of a flow that are lost.

    Args:
        open_: Everything connected.
        plan: Over the names that stores hold.
        of_others: As `tables_of_other_histories` gives them: copies of these may be right.
    """
    found = []
    for table in plan.tables.values():
        for target in table.tiers.present[1:]:
            lake = cast("LakeStore", open_.stores[target])
            mark, differs = mark_and_loss(lake, table.replica, table.tiers.target)
            other = None if table.name in of_others else other_history(lake.ledger, mark)
            if (what := other or differs) is not None:
                found.append(LostCopy(table, target, what, is_older=other is None and mark is not None))
    return found


def tables_of_other_histories(open_: Open, plan: FlowPlan, traces: TracesOnce) -> set[str]:
    """Tables that themselves have rows of other epochs than the state store knows.

    Args:
        open_: Everything connected.
        plan: Over the names that stores hold.
        traces: Of the tables as they are now.
    """
    return {
        name
        for segment in plan.segments
        if other_epoch(plan, segment, traces.every(plan, segment), open_.state) is not None
        for name in segment.tables
    }


def keep_copies(open_: Open, plan: FlowPlan, of_others: Collection[str]) -> None:
    """Keep the copies of tables of other histories, and let their marks name no epochs of these any more.

    Args:
        open_: Everything connected.
        plan: Over the names that stores hold.
        of_others: As `tables_of_other_histories` gives them.
    """
    for table in (one for name, one in plan.tables.items() if name in of_others):
        for target in table.tiers.present[1:]:
            lake, replica = cast("LakeStore", open_.stores[target]), table.replica
            mark = again(lake, replica, table.tiers.target)
            if mark is not None and other_history(lake.ledger, mark) is not None:
                without = replace(mark, round=mark.round + 1, times={})
                none = Changes(arrow_schema(replica.columns).empty_table())
                context = WriteContext(f"tiering/{replica.name}", without.round, properties=without.properties())
                lake.write(replica, none, context)
                note_filled(lake, replica, without)


def drop_copy(open_: Open, one: LostCopy) -> None:
    """Remove a copy of which no row stays; `fill_copy` fills it again."""
    lake, replica = cast("LakeStore", open_.stores[one.tier]), one.table.replica
    lake.drop(replica.name)
    take_for_known(lake, replica.name, replica)


def fill_copy(open_: Open, flow: str, one: LostCopy) -> list[str]:
    """Fill a lost copy of a table of a flow from the first tier; returns what it lacks then, in words."""
    lake, source = cast("LakeStore", open_.stores[one.tier]), open_.stores[one.table.tiers.target]
    replica, name = one.table.replica, table_name(one.table.name)
    mark = again(lake, replica, source.tier) if one.is_older else None
    if mark is None:
        drop_copy(open_, one)
    else:
        take_for_known(lake, replica.name, replica)
        note_filled(lake, replica, mark)
    oldest = source.start(one.table) if isinstance(source, LogStore) and not one.table.primary_key else {}
    lost = []
    if mark is None and (dropped := sum(oldest.values())):
        lost.append(f"{name}: {dropped:,} rows that only its copy in the {one.tier} tier had")
    try:
        tier(one.table, source, lake, epochs=lambda: epochs_of_writers(open_.state, flow, one.table.name))
    except StreamhouseError as error:
        lost.append(f"{name}: what its copy in the {one.tier} tier lacks: {error.message}")
    return lost

"""Looks for the tables of a flow that cannot be read, and says what to type for one."""

import shlex
from collections.abc import Iterator, Mapping
from typing import cast

from streamhouse.engine.traces import written_tables
from streamhouse.errors import StateConflictError, StoreError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.runtime.serving import serving
from streamhouse.stores.base import LakeStore, ListedStore, NeedsSparkError, Store, UnknownFormError
from streamhouse.stores.mark import again
from streamhouse.stores.unreadable import UnreadableTable

_ODD_TOO = "{0}; if Spark cannot read it either, {1}"
_AWAY = "bring the file back from a copy; without one, move the table away and fill it again: {0}; {1}"


def remedy_for(one: UnreadableTable, project: Project, flow: str, *, is_first: bool) -> str:
    """What to type, with the folder and the flow, where the table is one in a folder and a file of it is damaged.

    Args:
        one: The table.
        project: Whose table it is.
        flow: Writes the table.
        is_first: Whether this is the first tier of the table, and no copy.
    """
    links = serving(project, one.tier)
    is_odd = isinstance(one.error, UnknownFormError)
    if links is None or not (is_odd or type(one.error) is StoreError):
        return one.hint
    away = project.state_dir / f"{one.table}.{one.tier}.damaged"
    moved = shlex.join(["mv", str(links.place(one.table)), str(away)])
    option = " --from-sources" if is_first else ""
    away_hint = _AWAY.format(moved, f"streamhouse restore {flow}{option}")
    return _ODD_TOO.format(one.hint, away_hint) if is_odd else away_hint


def unreadable_tables(plan: FlowPlan, stores: Mapping[Tier, Store]) -> list[UnreadableTable]:
    """Ask each table of a flow for all that a look for losses needs, one by one.

    Args:
        plan: Over the names that stores hold.
        stores: Tiers; tables of others are not asked.
    """
    found: dict[tuple[str, Tier], UnreadableTable] = {}
    for table, tier, writer in _asked(plan):
        place = (table.name, tier)
        if tier in stores and place not in found and (error := _error_of(stores[tier], table, writer)) is not None:
            found[place] = UnreadableTable(table.name, tier, error)
    return list(found.values())


def check_lists(plan: FlowPlan, stores: Mapping[Tier, Store]) -> None:
    """Compare the lists of the files of each table of a flow with what was written.

    Args:
        plan: Over the names that stores hold.
        stores: Tiers; tables of others are not looked at.

    Raises:
        StoreError: one is damaged.
    """
    for (_, tier), table in {(table.name, tier): table for table, tier, _ in _asked(plan)}.items():
        if tier in stores:
            _check_lists(stores[tier], table)


def _check_lists(store: Store, table: Table) -> None:
    if isinstance(store, ListedStore) and store.identity(table.name) is not None:
        store.check_lists(table)


def _asked(plan: FlowPlan) -> Iterator[tuple[Table, Tier, str | None]]:
    """Table as a store has it, tier, and the writer whose newest commit matters; None: no one's does."""
    written = [one for segment in plan.segments for one in written_tables(plan, segment)]
    known = {table.name for table, _ in written}
    first: list[tuple[Table, str | None]] = [*written, *((one, None) for one in plan.readable if one.name not in known)]
    for table, writer in first:
        yield table, table.tiers.target, writer
    for table in plan.tables.values():
        for tier in table.tiers.present[1:]:
            yield table.replica, tier, None


def _error_of(
    store: Store, table: Table, writer: str | None
) -> StoreError | StateConflictError | NeedsSparkError | None:
    try:
        if store.identity(table.name) is None:
            return None
        store.columns(table.name)
        store.end(table)
        if store.tier is not Tier.HOT:
            lake = cast("LakeStore", store)
            if writer is not None:
                lake.last_commit(table, writer)
            elif store.tier is not table.tiers.target:
                again(lake, table, table.tiers.target)
            else:
                lake.snapshot_properties(table)
        _check_lists(store, table)
    except (StoreError, StateConflictError, NeedsSparkError) as error:
        return error
    return None

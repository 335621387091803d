"""Drops versions of tables that nobody needs any more."""

from collections.abc import Callable
from datetime import UTC, datetime

from streamhouse.change.building import Building, drop_version
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_name
from streamhouse.runtime.open import Open
from streamhouse.state.records import UnreadableChange

_EVENTS = 1_000  # of a flow, among which it is looked for whether a change was named


def drop_abandoned(open_: Open, flow: str, say: Callable[[str], None] = lambda _: None) -> None:
    """Drop what changes of a flow built that were given up.

    What a change built that cannot be read stays, and is named once; `streamhouse changes` shows it at any time.
    """
    unreadable: list[UnreadableChange] = []
    for change in open_.state.left_behind(flow, unreadable):
        Building(open_, change).discard()
        open_.state.cleared(change)
    known = {event.text for event in open_.state.events(flow, limit=_EVENTS)} if unreadable else set()
    for one in unreadable:
        if one.text not in known:
            say(one.text)
            open_.state.append_event(flow, "change", one.text)


def drop_retired(open_: Open, plan: FlowPlan) -> None:
    """Drop versions of a flow's tables that serve no more, are old enough, and that no flow reads.

    Args:
        open_: Everything connected.
        plan: As the flow runs.
    """
    oldest = datetime.now(UTC) - open_.project.settings.keep_old_versions
    own = {table_name(name) for name in plan.tables}
    for one in open_.state.tables.retired():
        name, behind = one.table.name, open_.state.tables.readers(one.table.name).values()
        if name in own and one.at < oldest and not any(version <= one.version for version in behind):
            drop_version(open_, one.table, one.version)
            open_.state.tables.dropped(name, one.version)
            open_.state.append_event(plan.flow, "change", f"version {one.version} of {name} was dropped")

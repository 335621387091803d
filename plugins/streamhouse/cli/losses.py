"""What commands say of lost tables: the same words, the same exit code and the same keys of `--json`."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from streamhouse.cli.app import App
from streamhouse.cli.output import CommandOutput

if TYPE_CHECKING:
    from streamhouse.model.plan import FlowPlan
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.records import Change, UnreadableChange

LOST = 6
"""Exit code of a look that found something lost."""


def seen_losses(app: App, flows: Collection[str] = (), desired: "Mapping[str, FlowPlan] | None" = None) -> "SeenLosses":
    """What flows lost; starts and changes nothing.

    Args:
        app: Knows the project.
        flows: Their names; empty: all flows.
        desired: As for `lost_tables`.

    Raises:
        StoreUnavailableError, StateConflictError: as `StateStore` does.
    """
    from streamhouse.runtime.lost_tables import lost_tables

    state = app.project.existing_state()
    with state or nullcontext():
        found = lost_tables(app.project, state, desired)
    return found.of(set(flows)) if flows else found


def unreadable_plans(unreadable: "Unreadable") -> "SeenLosses":
    """Flows whose applied plans cannot be read, as losses."""
    from streamhouse.runtime.lost_tables import LostTables, SeenLosses

    return SeenLosses([LostTables.of_state(flow, error) for flow, error in unreadable.items()])


def show_unreadable(changes: "Iterable[UnreadableChange]", output: CommandOutput) -> None:
    """Changes that cannot be read, with what to type."""
    for one in changes:
        output.line(f"{one.flow}: {unreadable_text(one)}", style="red")


def unreadable_text(change: "Change | UnreadableChange") -> str | None:
    """Why a change cannot be read, with what to do or what stays of it; None: it can be read."""
    from streamhouse.state.records import Change

    return None if isinstance(change, Change) else f"{change.error.code} {change.text}"


def show_lost(seen: "SeenLosses", output: CommandOutput) -> None:
    """What is lost, with what to type."""
    for one in seen.lost:
        output.line(str(one), style="red")


def show_unseen(seen: "SeenLosses", output: CommandOutput) -> None:
    """Of which tiers it is not known whether they have all of their rows, and why."""
    for tier, why in seen.unseen.items():
        output.line(f"the {tier} tier was not looked at for lost rows: {why}")


def lost_documents(seen: "SeenLosses") -> dict[str, Any]:
    """The same for `--json`."""
    lost = [{**asdict(one), "text": one.text} for one in seen.lost]
    return {"lost": lost, "not_looked_at": dict(seen.unseen)}

"""`streamhouse trigger`: look for changes upstream of the flows, and decide."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import SECONDS
from streamhouse.cli.losses import LOST, lost_documents, seen_losses, show_lost, show_unseen

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.trigger.result import FlowLook
    from streamhouse.trigger.trigger import Trigger

CHANGES, WAITS = 10, 11
_REST = 20  # so many times as long as a look for losses took, there is no other one: it reads of each lake


@click.command(
    short_help="Look for changes upstream, decide, and ask.",
    epilog="""\b
Exit codes of --once: 0 nothing changed, 6 something is lost or damaged (docs/restore.md), 10 something is to be
applied, 11 something waits for a person.
\b
Examples:
  streamhouse trigger --once              # look once, show what was found and decided
  streamhouse trigger --once orders --json | jq '.flows[].paused'
  streamhouse trigger --every 10          # go on looking until Ctrl-C
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW]...")
@click.option("--once", is_flag=True, help="Look once; the exit code says what was found.")
@click.option("--every", default=5.0, show_default=True, type=SECONDS, help="Seconds between two looks.")
@shared_options
@click.pass_context
def trigger(context: click.Context, flows: tuple[str, ...], once: bool, every: float) -> None:
    """Look at what every FLOW (all, without names) reads, and at the project's files, and show what changed.

    Each change is reported once, with what it means for each step by the policies under 'schema_change' in the
    flow's file (docs/trigger.md). What may be done is left to the flow's runner; for the rest a person is asked
    (streamhouse approvals). A flow that never ran has nothing to compare with and is not looked at. Tables of the
    hot tier are looked at while Fluss runs, those of the cold tier by a runner alone. What is lost comes first, as in
    'streamhouse status'.
    """
    app: App = context.obj
    _check(app, flows)
    with _opened(app) as looker:
        if looker is not None and not once:
            _go_on(app, looker, flows, every)
        found = looker.look(flows or None) if looker is not None else []
    lost = _with_failed(app, found, seen_losses(app, flows))
    _show(app, found, lost)
    if lost.lost:
        context.exit(LOST)
    if any(look.approvals or look.paused for look in found):
        context.exit(WAITS)
    if any(look.change is not None or look.records for look in found):
        context.exit(CHANGES)


def _go_on(app: App, looker: "Trigger", flows: tuple[str, ...], every: float) -> None:
    """Look until Ctrl-C, and show each look that found something, or whose losses are others than before."""
    from streamhouse.project.rested import Rested

    before: SeenLosses | None = None
    losses = Rested(lambda: seen_losses(app, flows, {}), _REST)
    while True:
        found = looker.look(flows or None)
        lost = _with_failed(app, found, losses.now())
        if any(look.records or look.change for look in found) or (lost != before and (lost.lost or before)):
            _show(app, found, lost)
        before = lost
        time.sleep(every)


def _with_failed(app: App, found: "list[FlowLook]", lost: "SeenLosses") -> "SeenLosses":
    """What is lost, and each table of which a store could not say what its readers have not read yet."""
    from streamhouse.runtime.lost_tables import LostTables, SeenLosses

    more = []
    for look in found:
        known = {name for one in lost.lost if one.flow == look.flow for name in one.tables}
        for name, one in look.failed.items():
            if name not in known and not one.is_unseen:
                more.append(LostTables.of_unreadable(app.project, look.flow, one, is_first=True))
    return SeenLosses([*lost.lost, *more], lost.unseen)


def _check(app: App, flows: tuple[str, ...]) -> None:
    state = app.project.existing_state() if flows else None
    with state or nullcontext():
        for name in flows:
            app.check_flow(name, state)


@contextmanager
def _opened(app: App) -> "Iterator[Trigger | None]":
    """A trigger that applies nothing, over the tiers that are up; None: no flow ever ran."""
    from streamhouse.trigger.trigger import Trigger

    state = app.project.existing_state()
    if state is None:
        yield None
        return
    with ExitStack() as stack:
        stack.enter_context(state)
        stores = _stores(app)
        for store in stores.values():
            stack.callback(store.close)
        yield Trigger(app.project, state, stores)


def _stores(app: App) -> dict[Any, Any]:
    """The hot and the warm tier, as far as they are up; what is not up is reported as not looked at."""
    from streamhouse.errors import MissingPackageError, StoreUnavailableError
    from streamhouse.model.types import Tier
    from streamhouse.runtime.stores import open_stores
    from streamhouse.services.services import Services

    stores: dict[Any, Any] = {}
    endpoints = Services(app.project.root).status().endpoints
    fluss = app.project.settings.fluss or (endpoints.fluss if endpoints is not None else None)
    for tier in (Tier.HOT, Tier.WARM):
        try:
            stores |= open_stores(app.project, None, fluss, [tier])
        except (StoreUnavailableError, MissingPackageError):
            continue
    return stores


def _show(app: App, found: "list[FlowLook]", lost: "SeenLosses") -> None:
    from streamhouse.cli.events import document as event_document
    from streamhouse.trigger.trigger import document

    if app.as_json:
        flows = [{**document(look), "events": [event_document(one) for one in look.records]} for look in found]
        app.output.document({"flows": flows, **lost_documents(lost)})
        return
    show_lost(lost, app.output)
    if not found and not lost.lost:
        app.output.line("no flow ever ran, so there is nothing to compare with")
    for look in found:
        _show_look(look, app.output)
    show_unseen(lost, app.output)


def _show_look(look: "FlowLook", output: "CommandOutput") -> None:
    from streamhouse.cli.events import show_decision

    summary = "nothing changed" if not look.records else f"{len(look.records)} changes"
    output.line(f"{look.flow}: {summary if len(look.records) != 1 else 'one change'}", style="bold")
    for record in look.records:
        output.line(f"{record.event.id}  {record.status}  {record.event}")
        if record.note:
            output.line(f"  {record.note.splitlines()[0]}")
        if record.decision is not None:
            show_decision(record.decision, output)
    if look.paused:
        output.line(f"waiting at their positions: {', '.join(sorted(look.paused))}", style="yellow")
    for question in look.approvals:
        output.line(f"asked: {question.asks} (streamhouse approvals {question.id})", style="yellow")
    for one in look.waits:
        if one.whom in ("repair", "runner", "source"):
            output.line(f"{one.text}; {one.remedy}", style="red" if one.whom == "repair" else "yellow")
    for name, reason in look.unseen.items():
        output.line(f"not looked at: {name} ({reason})")

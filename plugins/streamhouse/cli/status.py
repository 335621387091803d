"""`streamhouse status`: how the flows are doing."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.losses import LOST, lost_documents, show_lost, show_unseen
from streamhouse.cli.output import CommandOutput, duration_text

if TYPE_CHECKING:
    from streamhouse.project.edits import Edit
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.state.autopilot import AutopilotDecision
    from streamhouse.state.flow_state import FlowReport
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.records import FlowEvent, FlowProgress
    from streamhouse.state.store import StateStore
    from streamhouse.state.troubles import TableTrouble
    from streamhouse.state.waits import Wait

_EVENTS = 1_000  # the newest, which have what the last epochs counted
_STYLES = {"running": "green", "failed": "red", "lost": "red"}


@click.command(
    short_help="Show how the flows are doing.",
    epilog="""\b
Examples:
  streamhouse status
  streamhouse status orders
  streamhouse status orders --json | jq -r '.flows[0].state'
""",
)
@click.argument("flow", required=False)
@shared_options
@click.pass_context
def status(context: click.Context, flow: str | None) -> None:
    """Show how the flows are doing: state, rows, epochs, and freshness of each layer.

    States: starting; running; stopping; stopped; failed (with its error); lost (its process ended without
    saying so, or none was started yet).
    Freshness is how long rows took from the source until they were readable in a layer. Tables that
    wait are named, with what waits, for whom, and what to do; the others of their flow go on.
    Rows that could not be read are counted: streamhouse quarantine list. The first lines name edits of files that
    wait for 'streamhouse apply', tiers that cannot be filled, lakes that cannot be kept up, and what the autopilot
    proposes. The last line names the shortcuts of the last Spark session (docs/shortcuts.md).
    What is lost comes first: tables that are gone, older or damaged, and a state store that is. The exit code is 6
    then (docs/restore.md). Nothing is started for it: a line names what was not looked at.
    """
    app: App = context.obj
    looked = _look(app, flow)
    _show_status(app, flow, looked)
    if looked.lost is not None and looked.lost.lost:
        context.exit(LOST)


def _edits(app: App) -> "tuple[dict[str, Edit], str | None]":
    """Flow → its edit that waits; and why not all are known: the plan of some flow cannot be read."""
    from streamhouse.errors import StateConflictError
    from streamhouse.project.edits import edits

    unreadable: Unreadable = {}
    try:
        found = edits(app.project, unreadable)
    except StateConflictError as error:
        return {}, f"{error.code} {error.message}"
    return found, "; ".join(f"{error.code} {error.message}" for error in unreadable.values()) or None


def _show_status(app: App, flow: str | None, looked: "_FlowReports") -> None:
    from streamhouse.project.shortcuts import noted_shortcuts

    edited, unknown_edits = _edits(app)
    shortcuts = noted_shortcuts(app.project.state_dir)
    if app.as_json:
        flows = [looked.document(s, edited.get(s.flow)) for s in looked.flows]
        applies = app.project.settings.auto_apply
        taken: dict[str, Any] = {"shortcuts": asdict(shortcuts)} if shortcuts is not None else {}
        taken |= {"edits_not_looked_at": unknown_edits} if unknown_edits is not None else {}
        app.output.document({"project": app.project.root, "auto_apply": applies, "flows": flows, **taken})
        return
    if looked.lost is not None:
        show_lost(looked.lost, app.output)
    _show_edits_and_proposals(looked, edited, app.output)
    _show_dead_letters(looked, app.output)
    if flow is not None:
        _show_one(looked, app.output)
    else:
        _show_all(looked, app.output)
    if looked.lost is not None:
        show_unseen(looked.lost, app.output)
    if unknown_edits is not None:
        app.output.line(f"edits of files were not looked at: {unknown_edits}")
    if shortcuts is not None:
        app.output.line(str(shortcuts), style="yellow" if shortcuts.off else "")


@dataclass(frozen=True)
class _FlowReports:
    """What the state store has of flows, and of one alone what happened to it last."""

    flows: "list[FlowReport]"
    waiting: dict[str, list[str]]
    """Flow → its tables that are paused."""
    waits: "dict[str, tuple[Wait, ...]]"
    """Flow → what waits, and for whom."""
    troubles: "list[TableTrouble]"
    proposals: "list[AutopilotDecision]"
    events: "list[FlowEvent] | None"
    dead_letters: dict[str, dict[str, int]]
    """Flow → dead-letter table → rows."""
    lost: "SeenLosses | None" = None

    def document(self, s: "FlowReport", edit: "Edit | None") -> dict[str, Any]:
        return {
            **_document(s),
            "waiting": self.waiting[s.flow],
            "waits": [one.document() for one in self.waits[s.flow]],
            "edit": _edit_document(edit),
            "troubles": [asdict(one) for one in self.troubles if one.flow == s.flow],
            "proposals": [_proposal(one) for one in self.proposals if one.flow == s.flow],
            "dead_letters": self.dead_letters.get(s.flow, {}),
            **(lost_documents(self.lost.of([s.flow])) if self.lost is not None else {}),
            **({"events": list(map(_event_document, self.events))} if self.events is not None else {}),
        }


def _look(app: App, flow: str | None) -> _FlowReports:
    from streamhouse.errors import UnknownFlowError
    from streamhouse.runtime.lost_tables import lost_tables

    state = app.project.existing_state()
    with state or nullcontext():
        known = _known_flows(app, state)
        if flow is not None and flow not in known:
            raise UnknownFlowError(flow, known)
        reports = [_flow_report(state, name) for name in ([flow] if flow else known)]
        waiting = {s.flow: _waiting(state, s.flow) for s in reports}
        if state is None:
            lost = lost_tables(app.project, None).of(set(waiting))
            none: dict[str, tuple[Wait, ...]] = dict.fromkeys(waiting, ())
            return _FlowReports(reports, waiting, none, [], [], [] if flow else None, {}, lost)
        from streamhouse.state.waits import WaitsOfFlows

        every_wait = WaitsOfFlows.read(state)
        lost = lost_tables(app.project, state, waits=every_wait).of(set(waiting))
        events = state.events(flow, limit=10) if flow else None
        dead = {s.flow: _dead_letters(state, s) for s in reports}
        troubles, waits = state.troubles.current(flow), {s.flow: every_wait.of(s.flow) for s in reports}
        return _FlowReports(reports, waiting, waits, troubles, state.autopilot.open(flow), events, dead, lost)


def _dead_letters(state: "StateStore", s: "FlowReport") -> dict[str, int]:
    """Dead-letter table of a flow → its rows, as its epochs counted them."""
    from streamhouse.model.bad_rows import DEAD_LETTER, DEAD_LETTERS, parse_counts

    written = {table: rows for table, rows in s.progress.rows.items() if table.endswith(DEAD_LETTERS) and rows}
    if not written:
        return {}
    events = [event for event in state.events(s.flow, limit=_EVENTS) if event.kind == DEAD_LETTER]
    counts = parse_counts(event.text for event in events)
    return {table: counts.get(table, rows) for table, rows in written.items()}


def _show_dead_letters(looked: _FlowReports, output: CommandOutput) -> None:
    for flow, tables in looked.dead_letters.items():
        for table, rows in tables.items():
            if rows:
                text = f"{flow}: {rows:,} rows could not be read; see: streamhouse quarantine show {table}"
                output.line(text, style="yellow")


def _show_edits_and_proposals(looked: _FlowReports, edited: "Mapping[str, Edit]", output: CommandOutput) -> None:
    for s in looked.flows:
        if s.flow in edited:
            output.line(f"{s.flow}: {edited[s.flow]}", style="yellow")
        if found := [one for one in looked.proposals if one.flow == s.flow]:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            text = f"the autopilot {found[0].state}: {found[0].remedy}{more}; see: streamhouse autopilot log {s.flow}"
            output.line(f"{s.flow}: {text}", style="yellow")


def _known_flows(app: App, state: "StateStore | None") -> list[str]:
    from streamhouse.errors import DefinitionError, DefinitionErrors

    names = set(state.flows()) if state is not None else set()
    try:
        names |= set(app.registry.flows)
    except (DefinitionError, DefinitionErrors):
        if not names:  # a file that is wrong now does not hide what runs
            raise
    return sorted(names)


def _flow_report(state: "StateStore | None", flow: str) -> "FlowReport":
    from streamhouse.runtime.owner import liveness
    from streamhouse.state.flow_state import judge, see
    from streamhouse.state.records import FlowProgress, RunnerState

    if state is None:
        return judge(None, FlowProgress(flow, RunnerState.STOPPED), None)
    return see(state, flow, alive=liveness())


def _waiting(state: "StateStore | None", flow: str) -> list[str]:
    """Tables of a flow that are paused, upstream first."""
    from streamhouse.errors import StateConflictError

    if state is None:
        return []
    try:
        applied, standing = state.plan(flow), state.upstream.waiting(flow)
    except StateConflictError:  # it is named as lost
        return []
    segments = applied[1].segments_of(standing) if applied is not None else ()
    return [name for segment in segments for name in segment.tables]


def show_troubles(troubles: "Iterable[TableTrouble]", output: CommandOutput) -> None:
    """What goes wrong with tables of flows, with what to do."""
    for one in troubles:
        often = f", {one.times:,} times" if one.times > 1 else ""
        output.line(f"{one.flow}: {one}; since {one.since:%Y-%m-%d %H:%M:%S} UTC{often}", style="red")
        if one.hint:
            output.line(f"  hint: {one.hint}")


def _show_all(looked: _FlowReports, output: CommandOutput) -> None:
    flows = looked.flows
    if not flows:
        output.line("no flows yet; write one in flows/, or see: streamhouse init --help")
        return
    show_troubles(looked.troubles, output)
    layers = list(dict.fromkeys(layer for s in flows for layer in s.progress.freshness))
    rows = [_cells(s, layers) for s in flows]
    output.table(("flow", "state", "epochs", "rows written", "last epoch (UTC)", *layers), rows)
    for s in flows:
        if s.error:
            output.line(f"{s.flow}: {s.error}", style="red")
        _show_waits(looked, s.flow, output)


def _cells(s: "FlowReport", layers: "list[str]") -> tuple[object, ...]:
    p = s.progress
    return (
        s.flow,
        s.state.value,
        p.epochs,
        sum(p.rows.values()),
        p.last_epoch_at,
        *(duration_text(p.freshness[x].last_ms) if x in p.freshness else None for x in layers),
    )


def _show_waits(looked: _FlowReports, flow: str, output: CommandOutput) -> None:
    """Which tables are paused, what waits for whom, and what to do; edits of files have a line of their own."""
    if waiting := looked.waiting[flow]:
        output.line(f"{flow}: {', '.join(waiting)} wait at their positions", style="yellow")
    for one in looked.waits[flow]:
        if not (one.is_edit and one.whom == "person"):
            output.line(f"{flow}: {one.text}", style="red" if one.whom == "repair" else "yellow")
            output.line(f"  hint: {one.remedy}")


def _show_one(looked: _FlowReports, output: CommandOutput) -> None:
    [s] = looked.flows
    p = s.progress
    output.line(f"{s.flow} is {s.state.value}", style=_STYLES.get(s.state.value, ""))
    if s.error:
        output.line(s.error, style="red")
    _show_waits(looked, s.flow, output)
    show_troubles(looked.troubles, output)
    output.facts(_facts(p))
    if p.rows:
        output.line()
        output.table(("table", "rows written"), list(p.rows.items()))
    if p.freshness:
        output.line()
        _show_freshness(p, output)
    if looked.events:
        output.line()
        output.table(("at (UTC)", "event", ""), [(e.at, e.kind, e.text) for e in looked.events])


def _facts(p: "FlowProgress") -> dict[str, object]:
    return {
        "since": p.since,
        "by": p.owner,
        "plan revision": p.revision,
        "epochs": p.epochs,
        "last epoch": p.last_epoch_at,
    }


def _show_freshness(p: "FlowProgress", output: CommandOutput) -> None:
    rows = [
        (layer, duration_text(f.last_ms), duration_text(f.p50_ms), duration_text(f.p95_ms), f.epochs)
        for layer, f in p.freshness.items()
    ]
    output.table(("layer", "last", "p50", "p95", "epochs"), rows)


def _document(s: "FlowReport") -> dict[str, Any]:
    p = s.progress
    return {
        "flow": s.flow,
        "state": s.state,
        "since": p.since,
        "error": s.error,
        "owner": {"host": p.owner.host, "pid": p.owner.pid} if p.owner else None,
        "revision": p.revision,
        "epochs": p.epochs,
        "last_epoch_at": p.last_epoch_at,
        "rows": p.rows,
        "freshness": {
            layer: {"last_ms": f.last_ms, "p50_ms": f.p50_ms, "p95_ms": f.p95_ms, "epochs": f.epochs}
            for layer, f in p.freshness.items()
        },
    }


def _proposal(one: "AutopilotDecision") -> dict[str, Any]:
    names = ("id", "state", "kind", "text", "remedy", "reason")
    return {name: getattr(one, name) for name in names}


def _edit_document(edit: "Edit | None") -> dict[str, Any] | None:
    return {"outcome": edit.outcome, "text": edit.text} if edit is not None else None


def _event_document(event: "FlowEvent") -> dict[str, Any]:
    return {"kind": event.kind, "text": event.text, "at": event.at}

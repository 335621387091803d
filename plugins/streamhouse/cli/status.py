"""`streamhouse status`: how the flows are doing."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import Output, duration_text

if TYPE_CHECKING:
    from streamhouse.state.records import Event, FlowProgress
    from streamhouse.state.store import StateStore

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
@click.pass_obj
def status(app: App, flow: str | None) -> None:
    """Show how the flows are doing: state, rows, epochs, and freshness of each layer.

    States: running; stopped; failed (with its error); lost (its process ended without saying so).
    Freshness is how long rows took from the source until they were readable in a layer. Tables that
    wait for a person's answer are named; the others of their flow go on.
    """
    from streamhouse.errors import UnknownFlowError

    state = app.project.existing_state()
    try:
        known = _known_flows(app, state)
        if flow is not None and flow not in known:
            raise UnknownFlowError(flow, known)
        progress = [_progress(state, name) for name in ([flow] if flow else known)]
        waiting = {p.flow: _waiting(state, p.flow) for p in progress}
        events = state.events(flow, limit=10) if state is not None and flow is not None else []
    finally:
        if state is not None:
            state.close()
    if app.as_json:
        flows = [
            {
                **_document(p),
                "waiting": waiting[p.flow],
                **({"events": list(map(_event_document, events))} if flow else {}),
            }
            for p in progress
        ]
        app.output.document({"project": app.project.root, "flows": flows})
    elif flow is not None:
        _show_one(progress[0], waiting[flow], events, app.output)
    else:
        _show_all(progress, waiting, app.output)


def _known_flows(app: App, state: "StateStore | None") -> list[str]:
    from streamhouse.errors import DefinitionError, DefinitionErrors

    names = set(state.flows()) if state is not None else set()
    try:
        names |= set(app.registry.flows)
    except (DefinitionError, DefinitionErrors):
        if not names:  # a file that is wrong now does not hide what runs
            raise
    return sorted(names)


def _progress(state: "StateStore | None", flow: str) -> "FlowProgress":
    from streamhouse.runtime.owner import liveness
    from streamhouse.state.records import FlowProgress, RunnerState

    if state is None:
        return FlowProgress(flow, RunnerState.STOPPED)
    return state.progress(flow, alive=liveness())


def _waiting(state: "StateStore | None", flow: str) -> list[str]:
    """Tables of a flow that stand still until a person decides, upstream first."""
    from streamhouse.errors import StateConflictError

    if state is None:
        return []
    try:
        applied, standing = state.plan(flow), state.upstream.standing(flow)
    except StateConflictError:  # of a version whose plans this one cannot read
        return []
    segments = applied[1].segments_of(standing) if applied is not None else ()
    return [name for segment in segments for name in segment.tables]


def _show_all(flows: "list[FlowProgress]", waiting: dict[str, list[str]], output: Output) -> None:
    if not flows:
        output.line("no flows yet; write one in flows/, or see: streamhouse init --help")
        return
    layers = list(dict.fromkeys(layer for p in flows for layer in p.freshness))
    rows = [
        (
            p.flow,
            p.state.value,
            p.epochs,
            sum(p.rows.values()),
            p.last_epoch_at,
            *(duration_text(p.freshness[x].last_ms) if x in p.freshness else None for x in layers),
        )
        for p in flows
    ]
    output.table(("flow", "state", "epochs", "rows written", "last epoch (UTC)", *layers), rows)
    for p in flows:
        if p.error:
            output.line(f"{p.flow}: {p.error}", style="red")
        if waiting[p.flow]:
            output.line(f"{p.flow}: {_waits(p.flow, waiting[p.flow])}", style="yellow")


def _waits(flow: str, tables: list[str]) -> str:
    return f"{', '.join(tables)} wait at their positions for a person: streamhouse approvals {flow}"


def _show_one(p: "FlowProgress", waiting: list[str], events: "list[Event]", output: Output) -> None:
    output.line(f"{p.flow} is {p.state.value}", style=_STYLES.get(p.state.value, ""))
    if p.error:
        output.line(p.error, style="red")
    if waiting:
        output.line(_waits(p.flow, waiting), style="yellow")
    output.facts(
        {
            "since": p.since,
            "by": p.owner,
            "plan revision": p.revision,
            "epochs": p.epochs,
            "last epoch": p.last_epoch_at,
        }
    )
    if p.rows:
        output.line()
        output.table(("table", "rows written"), list(p.rows.items()))
    if p.freshness:
        output.line()
        columns = ("layer", "last", "p50", "p95", "epochs")
        output.table(
            columns,
            [
                (layer, duration_text(f.last_ms), duration_text(f.p50_ms), duration_text(f.p95_ms), f.epochs)
                for layer, f in p.freshness.items()
            ],
        )
    if events:
        output.line()
        output.table(("at (UTC)", "event", ""), [(e.at, e.kind, e.text) for e in events])


def _document(p: "FlowProgress") -> dict[str, Any]:
    return {
        "flow": p.flow,
        "state": p.state,
        "since": p.since,
        "error": p.error,
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


def _event_document(event: "Event") -> dict[str, Any]:
    return {"kind": event.kind, "text": event.text, "at": event.at}

"""`streamhouse status`: how the flows are doing."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import Output, duration_text

if TYPE_CHECKING:
    from streamhouse.project.edits import Edit
    from streamhouse.state.flow_state import SeenFlow
    from streamhouse.state.records import Event
    from streamhouse.state.store import StateStore
    from streamhouse.state.troubles import Trouble

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

    States: starting; running; stopping; stopped; failed (with its error); lost (its process ended without
    saying so, or none was started yet).
    Freshness is how long rows took from the source until they were readable in a layer. Tables that
    wait for a person's answer are named; the others of their flow go on. The first lines name edits of files that
    wait for 'streamhouse apply', tiers that cannot be filled, and lakes that cannot be kept up.
    """
    from streamhouse.errors import UnknownFlowError
    from streamhouse.project.edits import edits

    state = app.project.existing_state()
    try:
        known = _known_flows(app, state)
        if flow is not None and flow not in known:
            raise UnknownFlowError(flow, known)
        seen = [_seen(state, name) for name in ([flow] if flow else known)]
        waiting = {s.flow: _waiting(state, s.flow) for s in seen}
        troubles = state.troubles.standing(flow) if state is not None else []
        events = state.events(flow, limit=10) if state is not None and flow is not None else []
    finally:
        if state is not None:
            state.close()
    edited = edits(app.project)
    if app.as_json:
        flows = [
            {
                **_document(s),
                "waiting": waiting[s.flow],
                "edit": _edit_document(edited.get(s.flow)),
                "troubles": [asdict(one) for one in troubles if one.flow == s.flow],
                **({"events": list(map(_event_document, events))} if flow else {}),
            }
            for s in seen
        ]
        applies = app.project.settings.auto_apply
        app.output.document({"project": app.project.root, "auto_apply": applies, "flows": flows})
        return
    for s in seen:
        if s.flow in edited:
            app.output.line(f"{s.flow}: {edited[s.flow]}", style="yellow")
    if flow is not None:
        _show_one(seen[0], waiting[flow], troubles, events, app.output)
    else:
        _show_all(seen, waiting, troubles, app.output)


def _known_flows(app: App, state: "StateStore | None") -> list[str]:
    from streamhouse.errors import DefinitionError, DefinitionErrors

    names = set(state.flows()) if state is not None else set()
    try:
        names |= set(app.registry.flows)
    except (DefinitionError, DefinitionErrors):
        if not names:  # a file that is wrong now does not hide what runs
            raise
    return sorted(names)


def _seen(state: "StateStore | None", flow: str) -> "SeenFlow":
    from streamhouse.runtime.owner import liveness
    from streamhouse.state.flow_state import judge, see
    from streamhouse.state.records import FlowProgress, RunnerState

    if state is None:
        return judge(None, FlowProgress(flow, RunnerState.STOPPED), None)
    return see(state, flow, alive=liveness())


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


def show_troubles(troubles: "Iterable[Trouble]", output: Output) -> None:
    """What goes wrong with tables of flows, with what to do."""
    for one in troubles:
        often = f", {one.times:,} times" if one.times > 1 else ""
        output.line(f"{one.flow}: {one}; since {one.since:%Y-%m-%d %H:%M:%S} UTC{often}", style="red")
        if one.hint:
            output.line(f"  hint: {one.hint}")


def _show_all(
    flows: "list[SeenFlow]", waiting: dict[str, list[str]], troubles: "list[Trouble]", output: Output
) -> None:
    if not flows:
        output.line("no flows yet; write one in flows/, or see: streamhouse init --help")
        return
    show_troubles(troubles, output)
    layers = list(dict.fromkeys(layer for s in flows for layer in s.progress.freshness))
    rows = [
        (
            s.flow,
            s.state.value,
            p.epochs,
            sum(p.rows.values()),
            p.last_epoch_at,
            *(duration_text(p.freshness[x].last_ms) if x in p.freshness else None for x in layers),
        )
        for s, p in ((s, s.progress) for s in flows)
    ]
    output.table(("flow", "state", "epochs", "rows written", "last epoch (UTC)", *layers), rows)
    for s in flows:
        if s.error:
            output.line(f"{s.flow}: {s.error}", style="red")
        if waiting[s.flow]:
            output.line(f"{s.flow}: {_waits(s.flow, waiting[s.flow])}", style="yellow")


def _waits(flow: str, tables: list[str]) -> str:
    return f"{', '.join(tables)} wait at their positions for a person: streamhouse approvals {flow}"


def _show_one(
    s: "SeenFlow", waiting: list[str], troubles: "list[Trouble]", events: "list[Event]", output: Output
) -> None:
    p = s.progress
    output.line(f"{s.flow} is {s.state.value}", style=_STYLES.get(s.state.value, ""))
    if s.error:
        output.line(s.error, style="red")
    if waiting:
        output.line(_waits(s.flow, waiting), style="yellow")
    show_troubles(troubles, output)
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


def _document(s: "SeenFlow") -> dict[str, Any]:
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


def _edit_document(edit: "Edit | None") -> dict[str, Any] | None:
    return {"outcome": edit.outcome, "text": edit.text} if edit is not None else None


def _event_document(event: "Event") -> dict[str, Any]:
    return {"kind": event.kind, "text": event.text, "at": event.at}

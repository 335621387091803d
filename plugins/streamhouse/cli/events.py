"""`streamhouse events`: what changed upstream of the flows, and what became of it."""

from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.state.upstream import UpstreamRecord


@click.command(
    short_help="Show what changed upstream of the flows.",
    epilog="""\b
What became of a change:
  seen      nothing is decided yet
  noted     there is nothing to do
  waiting   a person must decide; some readers may be paused (streamhouse approvals)
  applied   the flow follows
  refused   a person said no: the flow goes on without it
  failed    decided, but not carried out; it is tried again
  outdated  something else is there by now
\b
Examples:
  streamhouse events
  streamhouse events orders
  streamhouse events 4f2a91c07b3d     # one change, with what is decided for each step
  streamhouse events orders --json | jq '.events[] | select(.status == "waiting")'
""",
)
@click.argument("flow", required=False, metavar="[FLOW|ID]")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="Show the newest so many.")
@shared_options
@click.pass_obj
def events(app: App, flow: str | None, limit: int) -> None:
    """Show changes of what FLOW reads (all flows, without it), or all that is known of the change ID.

    Changes are of files of the project, of tables, of the columns of sources, and of what arrives in them.
    The same change is recorded once, however often it is seen. What a change does is in docs/trigger.md.
    """
    chosen, is_one = _known(app, flow)
    found = chosen[-limit:]
    if app.as_json:
        app.output.document({"events": [document(one) for one in found]})
    elif not found:
        app.output.line("nothing changed upstream; to look now: streamhouse trigger --once")
    elif is_one and len(found) == 1:
        show_one(found[0], app.output)
    else:
        rows = [(one.event.id, one.flow, one.status, str(one.event), one.since, one.note) for one in found]
        app.output.table(("id", "flow", "status", "change", "since (UTC)", "why"), rows)


def _known(app: App, flow: str | None) -> "tuple[list[UpstreamRecord], bool]":
    """Changes that the state store knows of, and whether one of them was asked for by its id."""
    from streamhouse.errors import UnknownFlowError

    state = app.project.existing_state()
    if state is None:
        if flow is not None and flow not in app.flow_names(None):
            raise UnknownFlowError(flow, app.flow_names(None))
        return [], False
    with state:
        known = app.flow_names(state)
        records = state.upstream.events(limit=10_000)
    return _chosen(flow, records, {*known, *(one.flow for one in records)})


def _chosen(name: str | None, records: "list[UpstreamRecord]", flows: set[str]) -> "tuple[list[UpstreamRecord], bool]":
    """The events that a person asked for, and whether by the identifier of one.

    The name of a flow is never the beginning of an identifier.
    """
    from streamhouse.errors import UnknownFlowError
    from streamhouse.state.identifiers import begin_so

    if name is None:
        return records, False
    if name in flows:
        return [one for one in records if one.flow == name], False
    ids = {one.event.id for one in records}
    found = begin_so(name, ids)
    if len(found) > 1:
        raise click.BadParameter(f"{len(found)} changes begin with '{name}': {', '.join(sorted(found))}")
    if not found:
        raise UnknownFlowError(name, sorted({*flows, *ids}))
    return [one for one in records if one.event.id == found[0]], True


def show_one(record: "UpstreamRecord", output: "CommandOutput") -> None:
    """Print a change with what is decided for each step it reaches."""
    event = record.event
    output.line(str(event), style="bold")
    output.facts(
        {
            "id": event.id,
            "flow": record.flow,
            "status": record.status.value,
            "since": record.since,
            "seen": record.observed_at,
            "versions": f"{event.before} → {event.after}",
            "plan": record.plan,
            "why": record.note,
        }
    )
    if record.decision is not None:
        show_decision(record.decision, output)


def show_decision(decision: Any, output: "CommandOutput") -> None:
    """Print what a decision says for each step, and its notes."""
    rows = [
        (v.outcome, v.flow, v.step, f"{v.policy} ({v.said})", v.values, "yes" if v.pauses else None, _tiers(v))
        for v in decision.verdicts
    ]
    if rows:
        output.table(("outcome", "flow", "step", "policy", "values", "waits", "in the tiers"), rows)
    for note in decision.notes:
        output.line(f"note: {note}")


def _tiers(verdict: Any) -> str | None:
    lines = [f"{one.tier}: {'; '.join(map(str, one.ddl))}" for one in verdict.tiers]
    return " | ".join(lines) or None


def document(record: "UpstreamRecord") -> dict[str, Any]:
    """A change as JSON."""
    return {
        "id": record.event.id,
        "flow": record.flow,
        "status": record.status.value,
        "since": record.since,
        "seen_at": record.observed_at,
        "change": str(record.event),
        "event": record.event.model_dump(mode="json"),
        "decision": record.decision.model_dump(mode="json", exclude={"event"}) if record.decision else None,
        "plan": record.plan,
        "note": record.note,
    }

"""`streamhouse autopilot`: find faults of running flows, propose, apply within limits, measure, take back."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import interval
from streamhouse.cli.lazy import LazyGroup
from streamhouse.cli.losses import LOST, lost_documents, seen_losses, show_lost, show_unseen
from streamhouse.errors import StreamhouseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.autopilot.rounds import RemedyProposal, Round
    from streamhouse.project.autopilot import AutopilotMode
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.state.autopilot import AutopilotDecision

_STYLES = {"kept": "green", "rolled back": "red", "refused": "red", "left": "yellow"}


@click.group(cls=LazyGroup, short_help="Find faults of running flows, and remove those that may be removed.")
@shared_options
def autopilot() -> None:
    """Find faults of flows that run: epochs that are too small, freshness that does not hold, sources that fell silent,
    skew, small files, tiers that are behind, failures.

    Each finding is a proposal with its evidence. `suggest` shows them; `auto` applies those that change no row (no-op
    and swap) within the limits of `autopilot:` in streamhouse.yaml, measures what came of it, and takes back what
    made it worse. `log` shows every decision and its reason. Where something is lost, it comes first, as in
    'streamhouse status', and the exit code is 6 (docs/restore.md).
    """  # noqa: D205


@autopilot.command(
    epilog="""\b
Examples:
  streamhouse autopilot suggest
  streamhouse autopilot suggest orders --json | jq '.proposals[].numbers'
"""
)
@click.argument("flow", required=False)
@shared_options
@click.pass_context
def suggest(context: click.Context, flow: str | None) -> None:
    """Look once at FLOW (all flows that ran, without it), and show what is wrong and what would mend it.

    Changes and records nothing, and needs no Spark.
    """
    from streamhouse.autopilot.rounds import Autopilot
    from streamhouse.project.autopilot import AutopilotMode

    app: App = context.obj
    _check(app, flow)
    flows = (flow,) if flow else ()
    found = Autopilot(app.project, AutopilotMode.SUGGEST).look(flows)
    lost = seen_losses(app, flows)
    if app.as_json:
        app.output.document(_document(found, lost))
    else:
        show_lost(lost, app.output)
        _show_proposals(app, found, lost)
        show_unseen(lost, app.output)
    _end(context, found, lost)


@autopilot.command(
    epilog="""\b
Examples:
  streamhouse autopilot auto               # until Ctrl-C, or: streamhouse autopilot off
  streamhouse autopilot auto orders --every 5m
  streamhouse autopilot auto --once        # one round; the next one measures what this one applied
"""
)
@click.argument("flows", nargs=-1, metavar="[FLOW...]")
@click.option("--every", metavar="DURATION", default="1m", show_default=True, help="Begin a round so often.")
@click.option("--once", is_flag=True, help="One round.")
@shared_options
@click.pass_context
def auto(context: click.Context, flows: tuple[str, ...], every: str, once: bool) -> None:
    """Apply what the limits allow, measure it, and take back what made it worse, for each FLOW (all, without names).

    This command is a person's word, whatever `mode` in streamhouse.yaml says; its limits hold: which flows, how many
    changes a day, how long a flow then stays as it is, quiet hours. Only what changes no row is applied (no-op, swap,
    a round of upkeep or tiering). May be stopped and killed at any moment: the next round goes on.
    """
    from datetime import UTC, datetime
    from threading import Event

    from streamhouse.autopilot.off_switch import was_turned_off
    from streamhouse.jobs.rounds import rounds

    app: App = context.obj
    for flow in flows:
        _check(app, flow)
    pause, stop = None if once else interval(every), Event()
    began, lost = datetime.now(UTC), None
    for _ in rounds(pause, stop):
        if was_turned_off(app.project, began):
            break
        try:
            lost = _auto_round(context, flows, lost, once=once)
        except StreamhouseError as error:  # the next round may do better
            if once:
                raise
            click.echo(str(error), err=True)


def _auto_round(
    context: click.Context, flows: tuple[str, ...], before: "SeenLosses | None", *, once: bool
) -> "SeenLosses":
    """One round; what was lost at its end. Of several rounds, only one that has other losses than `before` shows it."""
    from streamhouse.project.autopilot import AutopilotMode

    app: App = context.obj
    done = _round(app, AutopilotMode.AUTO, flows)
    lost = seen_losses(app, flows)
    if once and app.as_json:
        app.output.document(_document(done, lost))
    elif not app.as_json:
        _show_round(app, done, lost, quiet=not once, is_news=lost != before)
    if once:
        _end(context, done, lost)
    return lost


@autopilot.command(
    "round",
    short_help="One round in the mode of streamhouse.yaml: what a schedule runs.",
    epilog="""\b
Examples:
  streamhouse autopilot round             # as Airflow's DAG or a cron job
  streamhouse autopilot round --json | jq '.decisions[].reason'
""",
)
@shared_options
@click.pass_context
def round_(context: click.Context) -> None:
    """One round in the mode of streamhouse.yaml: do nothing (off), record proposals (suggest), or do as `auto` does."""
    from streamhouse.project.autopilot import AutopilotMode
    from streamhouse.runtime.lost_tables import SeenLosses

    app: App = context.obj
    mode = app.project.settings.autopilot.mode
    done = _round(app, mode, ())
    lost = seen_losses(app) if mode is not AutopilotMode.OFF else SeenLosses()
    if app.as_json:
        app.output.document(_document(done, lost))
    else:
        _show_round(app, done, lost, quiet=False)
    _end(context, done, lost)


@autopilot.command(
    epilog="""\b
Examples:
  streamhouse autopilot off
"""
)
@shared_options
@click.pass_obj
def off(app: App) -> None:
    """Turn the autopilot off: a schedule's rounds do nothing from now on, and a loop ends before its next round.

    Writes `mode: off` into streamhouse.yaml where it says something else. What was applied stays, measured or not;
    `mode: suggest` or `mode: auto` turns it on again.
    """
    from streamhouse.autopilot.off_switch import turn_off

    turn_off(app.project)
    state = app.project.existing_state()
    standing: list[AutopilotDecision] = []
    if state is not None:
        with state:
            standing = [one for one in state.autopilot.open() if one.applied_at is not None]
    if app.as_json:
        app.output.document({"mode": "off", "not_measured": [_decision(one) for one in standing]})
        return
    app.output.line("the autopilot is off")
    for one in standing:
        app.output.line(f"{one.flow}: applied, stays, and is not measured: {one.remedy}", style="yellow")


@autopilot.command(
    epilog="""\b
What became of a proposal:
  suggested    the fault is there; the reason says why nothing was done
  over         the fault is gone, and nothing was done
  applied      it is being measured
  kept         it was measured, and stays
  rolled back  it made it worse, and the flow has what it had before
  refused      it could not be applied; what was there stays
  left         somebody edited the file meanwhile; it stays as that person wrote it
\b
Examples:
  streamhouse autopilot log orders
  streamhouse autopilot log --json | jq '.decisions[] | select(.state == "rolled back")'
"""
)
@click.argument("flow", required=False)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="Show the newest so many.")
@shared_options
@click.pass_obj
def log(app: App, flow: str | None, limit: int) -> None:
    """Show what the autopilot proposed and did for FLOW (all flows, without it), with the reason of each decision."""
    _check(app, flow)
    state = app.project.existing_state()
    found: list[AutopilotDecision] = []
    if state is not None:
        with state:
            found = state.autopilot.log(flow, limit)
    if app.as_json:
        app.output.document({"decisions": [_decision(one) for one in found]})
    elif not found:
        app.output.line("no decisions yet; to look now: streamhouse autopilot suggest")
    else:
        rows = [(one.id, one.state_at, one.flow, one.state, one.remedy, one.reason) for one in found]
        app.output.table(("id", "since (UTC)", "flow", "state", "proposal", "why"), rows)


def _check(app: App, flow: str | None) -> None:
    if flow is not None:
        state = app.project.existing_state()
        try:
            app.check_flow(flow, state)
        finally:
            if state is not None:
                state.close()


def _round(app: App, mode: "AutopilotMode", flows: "Sequence[str]") -> "Round":
    """One round, by the settings as they are now."""
    from streamhouse.autopilot.rounds import Autopilot
    from streamhouse.cli.stages import StageView
    from streamhouse.project.project import Project

    with StageView() as view:
        project = Project.at(app.project.root)
        return Autopilot(project, mode, view.say).round(flows)


def _end(context: click.Context, done: "Round", lost: "SeenLosses") -> None:
    """End with the first failure, or with the exit code of losses."""
    for error in done.failed.values():
        raise error
    if lost.lost:
        context.exit(LOST)


def _show_round(app: App, done: "Round", lost: "SeenLosses", *, quiet: bool, is_news: bool = True) -> None:
    if is_news:
        show_lost(lost, app.output)
    for one in done.decisions:
        app.output.line(f"{one.flow}: {one.state} ({one.id}): {one.remedy}", style=_STYLES.get(one.state, ""))
        app.output.line(f"  {one.text}")
        app.output.line(f"  {one.reason}")
    for flow, error in done.failed.items():
        app.output.line(f"{flow}: {error}", style="red")
    if not quiet and not done.decisions:
        app.output.line(f"{done.mode}: nothing new; see: streamhouse autopilot log")
    if not quiet:
        _show_unseen(app, done)
        show_unseen(lost, app.output)


def _show_proposals(app: App, found: "Round", lost: "SeenLosses") -> None:
    if not found.proposals:
        hurt = {one.flow for one in lost.lost}
        flows = ", ".join(flow for flow in found.flows if flow not in hurt)
        if flows:
            app.output.line(f"nothing is wrong with {flows}")
        elif not hurt:
            app.output.line("no flow ever ran, so there is nothing to look at")
    for one in found.proposals:
        finding = one.finding
        app.output.line(f"{finding.flow}: {finding.text}", style="bold")
        facts = {
            "kind": finding.kind.value + (f", {finding.about}" if finding.about else ""),
            "since": finding.since or "unknown: no earlier look found it",
            "compared": ", ".join(f"{name} {value:,g}" for name, value in finding.numbers.items()) or None,
            "remedy": finding.remedy,
            "edit": ", ".join(f"{key}: {value}" for key, value in finding.edits.items()) or None,
            "outcome": one.outcome.value if one.outcome else None,
            "effect": f"{finding.effect}, measured for {_window(one)}" if finding.effect else None,
            "auto": "would apply it now" if one.why_not is None else f"would not: {one.why_not}",
        }
        app.output.facts({f"  {name}": value for name, value in facts.items() if value is not None})
    _show_unseen(app, found)


def _show_unseen(app: App, found: "Round") -> None:
    for what, why in found.unseen.items():
        app.output.line(f"not looked at: {what}: {why}", style="yellow")


def _window(one: "RemedyProposal") -> str:
    from streamhouse.model.types import format_duration

    return format_duration(one.finding.window) if one.finding.window else "one look afterwards"


def _document(found: "Round", lost: "SeenLosses") -> dict[str, Any]:
    return {
        "mode": found.mode,
        "flows": found.flows,
        "proposals": [
            {
                **asdict(one.finding),
                "effect": one.finding.effect,
                "outcome": one.outcome,
                "before": one.before,
                "why_not": one.why_not,
            }
            for one in found.proposals
        ],
        "decisions": [_decision(one) for one in found.decisions],
        "unseen": found.unseen,
        "failed": {flow: str(error) for flow, error in found.failed.items()},
        **lost_documents(lost),
    }


def _decision(one: "AutopilotDecision") -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if name not in ("old_text", "new_hash")}

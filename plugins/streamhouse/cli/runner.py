"""`streamhouse runner`: the process that carries flows in the background."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import interval, so_often, tier_option
from streamhouse.cli.lazy import LazyGroup
from streamhouse.cli.person import whoami

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.host.runner_calls import RunnerOverview, Started
    from streamhouse.state.flow_state import FlowReport
    from streamhouse.state.runners import RunnerRecord

_name = click.option(
    "--name",
    metavar="NAME",
    help="Which runner, where a project has several. [default: the one that carried the flow, else main]",
)
_by = click.option("--by", hidden=True, help="Who asks, when it is not a person.")
_RUNNER_NAME = r"^[a-z][a-z0-9_-]{0,62}$"


@click.group(cls=LazyGroup, short_help="Have flows carried in the background.")
@shared_options
def runner() -> None:
    """Have flows carried by a process that stays when you leave.

    A runner holds one Spark and carries the flows that are wanted of it, each by itself: one that fails does not
    stop the others. What is wanted is remembered, so a runner that was killed is replaced by starting it again,
    and its flows go on from the same positions. 'streamhouse run' does the same in your terminal, until Ctrl-C.
    """


@runner.command(
    short_help="Have flows carried from now on.",
    epilog="""\b
Examples:
  streamhouse runner start orders            # returns when the runner lives
  streamhouse runner start orders returns    # the runner that lives takes up what it does not carry yet
  streamhouse runner start                   # all that were wanted, also those that failed
  streamhouse runner start orders --name big # in a process of its own
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW...]")
@_name
@tier_option()
@click.option("--foreground", is_flag=True, help="Be the runner, here, until no flow is wanted of it or Ctrl-C.")
@click.option("--wait", metavar="DURATION", default="10m", show_default=True, help="How long it may take to live.")
@_by
@shared_options
@click.pass_obj
def start(
    app: App, flows: tuple[str, ...], name: str | None, tier_every: str, foreground: bool, wait: str, by: str | None
) -> None:
    """Have each FLOW carried from now on; without one, all that are wanted already.

    Takes the runner that lives, and starts one when none does: never a second of the same name. It lives on when
    this terminal is closed; it writes to .streamhouse/logs. A FLOW that failed is tried again.

    Where settings name a Spark on YARN or Kubernetes, the cluster places the runner.
    """
    _check_name(name)
    every = so_often(tier_every)
    names, person = tuple(dict.fromkeys(flows)), by or whoami()
    if foreground:
        _host(app, names, name, every, person)
        return
    from streamhouse.cli.stages import StageView
    from streamhouse.host import runner_calls

    with StageView() as view:
        until = interval(wait, "--wait")
        started = runner_calls.start(
            app.project, names, name=name, by=person, tier_every=tier_every, wait=until, say=view.say
        )
    _show_started(app, started)


def _show_started(app: App, started: "Started") -> None:
    record = started.runner
    if app.as_json:
        app.output.document({**_runner_document(record), "adopted": started.is_adopted, "flows": started.flows})
        return
    how = "lives already" if started.is_adopted else "lives"
    app.output.line(f"runner {record.name} {how}: {record.owner}", style="green")
    app.output.line(f"flows: {', '.join(started.flows)} (see: streamhouse runner status)")


@runner.command(
    short_help="Let flows end, and the runner with the last.",
    epilog="""\b
Examples:
  streamhouse runner stop orders
  streamhouse runner stop          # all, and the runner ends
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW...]")
@click.option("--name", metavar="NAME", default="main", show_default=True, help="Which runner, when no FLOW is given.")
@click.option("--wait", metavar="DURATION", default="5m", show_default=True, help="How long it may take.")
@_by
@shared_options
@click.pass_obj
def stop(app: App, flows: tuple[str, ...], name: str, wait: str, by: str | None) -> None:
    """Let each FLOW end, without one all of the runner, when the epoch in hand is whole.

    A runner that has no flow left ends too. Where Airflow asked for the flow, pause its DAG first: else its next
    run starts the flow again.
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.host import runner_calls

    with StageView() as view:
        stopped = runner_calls.stop(
            app.project,
            tuple(dict.fromkeys(flows)),
            name=name,
            by=by or whoami(),
            wait=interval(wait, "--wait"),
            say=view.say,
        )
    if app.as_json:
        app.output.document({"stopped": stopped})
    else:
        app.output.line(f"stopped: {', '.join(stopped)}" if stopped else "nothing was wanted of it")


@runner.command(
    short_help="Show runners, and what flows are to be and are.",
    epilog="""\b
Examples:
  streamhouse runner status
  streamhouse runner status --json | jq -r '.flows[] | select(.state == "failed") | .error'
""",
)
@shared_options
@click.pass_obj
def status(app: App) -> None:
    """Show the runners, and what is wanted of each flow and what it is.

    States of a flow: starting, running, stopping, stopped, failed (given up until it is started again), lost (its
    runner is gone without a word: start it again, it goes on from the same positions).
    """
    from streamhouse.host import runner_calls

    looked = runner_calls.look(app.project)
    if app.as_json:
        app.output.document(
            {
                "runners": [_runner_document(one) for one in looked.runners],
                "flows": [_flow_document(one) for one in looked.flows],
            }
        )
    else:
        _show(looked, app.output)


def _host(app: App, flows: tuple[str, ...], name: str | None, every: timedelta | None, by: str) -> None:
    from streamhouse.cli.runner_log import RunnerLog
    from streamhouse.host import runner_calls
    from streamhouse.host.runner import host

    chosen = name or "main"
    if flows:  # else: what is wanted of it; a flow that failed stays so
        chosen, _ = runner_calls.ask_for(app.project, flows, name=name, by=by)
    with RunnerLog() as log:
        place = str(app.project.runner_log(chosen)) if not log.is_terminal else None
        host(app.project, chosen, tier_every=every, log=place, say=log.say, on_progress=log.progress)


def _check_name(name: str | None) -> None:
    import re

    if name is not None and not re.match(_RUNNER_NAME, name):
        raise click.BadParameter("a name is of lower-case letters, digits, _ and -", param_hint="--name")


def _show(looked: "RunnerOverview", output: "CommandOutput") -> None:
    if not looked.runners and not looked.flows:
        output.line("no runner yet (start one with: streamhouse runner start FLOW)")
        return
    output.table(
        ("runner", "state", "process", "since (UTC)", "last heard (UTC)", "what it does"),
        [(r.name, r.life.value, str(r.owner), r.since, r.beat_at, r.stage) for r in looked.runners],
    )
    output.line()
    wanted = [(f, f.wanted) for f in looked.flows if f.wanted is not None]
    output.table(
        ("flow", "wanted", "state", "runner", "asked by", "asked at (UTC)"),
        [(f.flow, w.wanted.value, f.state.value, w.runner, w.requested_by, w.requested_at) for f, w in wanted],
    )
    for one in looked.runners:
        if one.error:
            output.line(f"runner {one.name}: {one.error}", style="red")
    for flow in looked.flows:
        if flow.error:
            output.line(f"{flow.flow}: {flow.error}", style="red")


def _runner_document(record: "RunnerRecord") -> dict[str, Any]:
    return {
        "name": record.name,
        "state": record.life,
        "owner": str(record.owner),
        "host": record.owner.host,
        "pid": record.owner.pid,
        "since": record.since,
        "heard_at": record.beat_at,
        "stage": record.stage,
        "log": record.log,
        "error": record.error,
    }


def _flow_document(report: "FlowReport") -> dict[str, Any]:
    wanted = report.wanted
    assert wanted is not None, "only what was asked is looked at"
    return {
        "flow": report.flow,
        "state": report.state,
        "wanted": wanted.wanted,
        "runner": wanted.runner,
        "asked_by": wanted.requested_by,
        "asked_at": wanted.requested_at,
        "error": report.error,
    }

"""`streamhouse run`: bring a flow's tables up to date."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import so_often, tier_option
from streamhouse.cli.output import CommandOutput, duration_text, rate_text
from streamhouse.cli.status import show_troubles
from streamhouse.errors import ChangeFailedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.jobs.progress import FailedFlow, Summary


@click.command(
    short_help="Run a flow: bring its tables up to date.",
    epilog="""\b
Examples:
  streamhouse run orders --once    # take what is there, then stop
  streamhouse run orders           # until Ctrl-C
  streamhouse run orders returns   # both in one process
  streamhouse run orders --once --json | jq .rows
""",
)
@click.argument("flows", nargs=-1, required=True, metavar="FLOW...")
@click.option("--env", "environment", metavar="NAME", help="Keep an environment of the one FLOW up to date instead.")
@tier_option("With --once: when all else is done.")
@click.option("--once", is_flag=True, help="Stop when all rows that wait now are in every layer.")
@shared_options
@click.pass_obj
def run(app: App, flows: tuple[str, ...], once: bool, environment: str | None, tier_every: str) -> None:
    """Run each FLOW here: read new rows, update every layer, stop at Ctrl-C.

    Starts the embedded services and Spark when they are not up, and stops what it started. A run
    goes on from where the last one ended, also when that one was killed. Progress goes to standard
    error, the result to standard output.

    A flow goes on with the plan that was applied to it; edits of its files wait for 'streamhouse apply', unless
    'auto_apply' of streamhouse.yaml says that they are taken. A flow that was never applied runs with what its files
    say. With --once, a flow that cannot go on is reported at the end, with its exit code, and those behind it run. All
    are checked before the first one runs, and it is said at once which cannot.
    """
    if environment is not None:
        _run_environment(app, flows, environment, once=once)
        return
    from streamhouse.cli.progress import ProgressView
    from streamhouse.jobs.progress import FailedFlow
    from streamhouse.jobs.run import run_flows

    names = tuple(dict.fromkeys(flows))
    every = so_often(tier_every)
    with ProgressView(*names) as view:
        done = run_flows(app.project, names, once=once, tier_every=every, on_progress=view.show)
    _show_all(app, done)
    failed = [one for one in done if isinstance(one, FailedFlow)]
    if failed:
        raise click.exceptions.Exit(failed[0].error.exit_code)
    summaries = [one for one in done if not isinstance(one, FailedFlow)]
    if any(one.troubles for one in summaries):  # the rows are in, and a tier lacks them
        raise click.exceptions.Exit(StoreError.exit_code)
    if any(one.behind for one in summaries):  # green would hide that newer rows do not come
        raise click.exceptions.Exit(ChangeFailedError.exit_code)


def _run_environment(app: App, flows: tuple[str, ...], environment: str, *, once: bool) -> None:
    from streamhouse.change.environment import run as keep
    from streamhouse.cli.stages import StageView

    if len(flows) != 1:
        raise click.UsageError("--env runs one FLOW at a time")
    with StageView() as view:
        change = keep(app.project, flows[0], environment, once=once, say=view.say)
    if app.as_json:
        app.output.document({"flow": flows[0], "environment": environment, "tables": change.versions})
    else:
        app.output.line(f"{flows[0]}: {', '.join(change.versions)} are up to date in {environment}")


def _show_all(app: App, done: "Sequence[Summary | FailedFlow]") -> None:
    from streamhouse.cli.failures import error_document
    from streamhouse.jobs.progress import FailedFlow

    if app.as_json:
        documents = [
            {"flow": one.flow, "error": error_document(one.error)} if isinstance(one, FailedFlow) else asdict(one)
            for one in done
        ]
        app.output.document(documents[0] if len(documents) == 1 else {"flows": documents})
        return
    for one in done:
        if not isinstance(one, FailedFlow):
            _show(one, app.output)
    for one in done:
        if isinstance(one, FailedFlow):
            click.echo(f"{one.flow}: {one.error}", err=True)


def _show(summary: "Summary", output: CommandOutput) -> None:
    show_troubles(summary.troubles, output)
    for text in summary.behind:
        output.line(f"{summary.flow} gets no newer rows: {text}", style="yellow")
    for warning in summary.warnings:
        output.line(f"edited since the last run: {warning}", style="yellow")
    if summary.warnings:
        output.line(f"to restate them: streamhouse backfill {summary.flow} --dry-run, then without --dry-run")
    if not summary.epochs:
        output.line(f"{summary.flow}: nothing new to read, every table is up to date")
        return
    rate = sum(summary.rows.values()) / summary.seconds if summary.seconds else 0
    epochs = "1 epoch" if summary.epochs == 1 else f"{summary.epochs:,} epochs"
    took = duration_text(summary.seconds * 1000)
    output.line(f"{summary.flow}: {epochs} in {took}, {rate_text(rate)} rows written per second")
    output.table(("table", "rows written"), list(summary.rows.items()))
    output.table(
        ("layer", "freshness (median)"),
        [(layer.value, duration_text(lag)) for layer, lag in summary.freshness_ms.items()],
    )

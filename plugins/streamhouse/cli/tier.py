"""`streamhouse tier`: fill the warm and cold tiers."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import interval
from streamhouse.cli.status import show_troubles
from streamhouse.errors import StoreError

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.install.stage import Stage
    from streamhouse.jobs.tier_round import Tiered
    from streamhouse.tiering.move import MoveProgress

OVERDUE = 12


@click.command(
    short_help="Fill the warm and cold tiers of flows.",
    epilog="""\b
Examples:
  streamhouse tier                      # all flows, once
  streamhouse tier orders --every 30s   # beside a flow that runs, until Ctrl-C
  streamhouse tier --check              # move nothing; exits with 12 when rows are overdue
  streamhouse tier orders --refill      # after a lake was lost: fill its copies again from the first tier
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW...]")
@click.option("--every", metavar="DURATION", help="Go on until Ctrl-C, with a round so often: 30s, 5m.")
@click.option(
    "--check",
    is_flag=True,
    help="Move nothing; show what waits, what fails, and which rows the hot tier may drop before a lake has them.",
)
@click.option(
    "--refill",
    is_flag=True,
    help="Fill copies again that are gone, damaged or older than recorded. Rows that only they had stay lost.",
)
@shared_options
@click.pass_obj
def tier(app: App, flows: tuple[str, ...], every: str | None, check: bool, refill: bool) -> None:
    """Copy new rows of each FLOW's tables to their warm and cold tiers.

    A flow writes the first tier of its tables; this command fills the others. Each row arrives exactly once, because
    the lake's snapshot records how far the copy reaches. You can stop, kill and repeat the command at any time, also
    while the flow runs. Rows that are not in a lake after half of the hot tier's retention are overdue: they are
    reported here, as an event of the flow, and by exit code 12. If a table cannot be filled, the others are filled and
    the command ends with its error; `streamhouse status` shows it until the table is filled.
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.jobs.tier import tier_flows

    if sum(map(bool, (every, check, refill))) > 1:
        raise click.UsageError("--every, --check and --refill go without each other")
    pause = interval(every) if every else None
    with StageView() as view:

        def show(_: str, moved: "MoveProgress") -> None:
            view.show(_stage(moved))

        done = tier_flows(app.project, flows, every=pause, check=check, refill=refill, say=view.say, on_moved=show)
    _show(app, done, check=check)
    if done.troubles:
        raise click.exceptions.Exit(StoreError.exit_code)
    if done.overdue:
        raise click.exceptions.Exit(OVERDUE)


def _stage(moved: "MoveProgress") -> "Stage":
    from streamhouse.install.stage import Stage

    return Stage(f"{moved.table} {moved.source} → {moved.target}: {moved.rows:,} rows", _share(moved))


def _share(moved: "MoveProgress") -> float | None:
    waiting = moved.waiting_rows
    return None if waiting is None or not moved.rows + waiting else moved.rows / (moved.rows + waiting)


def _show(app: App, done: "Tiered", *, check: bool) -> None:
    if app.as_json:
        app.output.document(
            {
                "flows": _documents(done),
                **({"waiting": [asdict(one) for one in done.waiting]} if check else {}),
                "overdue": [asdict(one) for one in done.overdue],
                "troubles": [asdict(one) for one in done.troubles],
            }
        )
        return
    _show_tables(app.output, done)


def _show_tables(output: "CommandOutput", done: "Tiered") -> None:
    show_troubles(done.troubles, output)
    moved = [
        (flow, moved.table, f"{moved.source} → {moved.target}", moved.rows)
        for flow, every in done.moved.items()
        for moved in every
    ]
    waiting = [
        (one.table, f"{one.source} → {one.target}", "all" if one.rows is None else one.rows) for one in done.waiting
    ]
    if moved:
        output.table(("flow", "table", "tiers", "rows moved"), moved)
    if waiting:
        output.table(("table", "tiers", "rows that wait"), waiting)
    if not (moved or waiting or done.overdue or done.troubles):
        output.line("nothing to move: no flow that has run has a table with a further tier")
    for one in done.overdue:
        output.line(str(one), style="yellow")


def _documents(done: "Tiered") -> list[dict[str, Any]]:
    return [{"flow": flow, "moved": [asdict(moved) for moved in every]} for flow, every in done.moved.items()]

"""`streamhouse tier`: fill the warm and cold tiers."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import interval
from streamhouse.cli.status import show_troubles
from streamhouse.errors import StoreError

if TYPE_CHECKING:
    from streamhouse.jobs.tier_round import Tiered
    from streamhouse.tiering.move import Moved

OVERDUE = 12


@click.command(
    short_help="Fill the warm and cold tiers of flows.",
    epilog="""\b
Examples:
  streamhouse tier                      # all flows, once
  streamhouse tier orders --every 30s   # beside a flow that runs, until Ctrl-C
  streamhouse tier --check              # move nothing; exits with 12 when rows are overdue
  streamhouse tier orders --refill      # after a lake was lost: its copies anew, from the first tier
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW...]")
@click.option("--every", metavar="DURATION", help="Go on until Ctrl-C, with a round so often: 30s, 5m.")
@click.option(
    "--check",
    is_flag=True,
    help="Move nothing; tell what waits, what fails, and which rows the hot tier may drop before a lake has them.",
)
@click.option(
    "--refill",
    is_flag=True,
    help="Make copies anew that are gone, damaged or older than recorded. Rows that only they had stay lost.",
)
@shared_options
@click.pass_obj
def tier(app: App, flows: tuple[str, ...], every: str | None, check: bool, refill: bool) -> None:
    """Bring the warm and cold copies of each FLOW's tables to where the flow is now.

    The tier a flow writes is the first that its tables have; this fills the others. Each row arrives exactly once: how
    far a copy reaches is kept in the lake's own snapshot, so this may be stopped, killed and run again at any moment,
    and beside a flow that runs. Rows that are not in a lake after half of the time that the hot tier keeps them are
    told: as an event of the flow, here, and by the exit code 12. A table that cannot be filled leaves the others alone
    and ends this with its error; `streamhouse status` shows it until it is filled again.
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.install.stage import Stage
    from streamhouse.jobs.tier import tier_flows

    if sum(map(bool, (every, check, refill))) > 1:
        raise click.UsageError("--every, --check and --refill go without each other")
    with StageView() as view:

        def show(_: str, moved: "Moved") -> None:
            view.show(Stage(f"{moved.table} {moved.source} → {moved.target}: {moved.rows:,} rows", _share(moved)))

        done = tier_flows(
            app.project,
            flows,
            every=interval(every) if every else None,
            check=check,
            refill=refill,
            say=lambda text: view.show(Stage(text)),
            on_moved=show,
        )
    _show(app, done, check=check)
    if done.troubles:
        raise click.exceptions.Exit(StoreError.exit_code)
    if done.overdue:
        raise click.exceptions.Exit(OVERDUE)


def _share(moved: "Moved") -> float | None:
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
    show_troubles(done.troubles, app.output)
    moved = [
        (flow, moved.table, f"{moved.source} → {moved.target}", moved.rows)
        for flow, every in done.moved.items()
        for moved in every
    ]
    waiting = [
        (one.table, f"{one.source} → {one.target}", "all" if one.rows is None else one.rows) for one in done.waiting
    ]
    if moved:
        app.output.table(("flow", "table", "tiers", "rows moved"), moved)
    if waiting:
        app.output.table(("table", "tiers", "rows that wait"), waiting)
    if not (moved or waiting or done.overdue or done.troubles):
        app.output.line("nothing to move: no flow that has run has a table with a further tier")
    for one in done.overdue:
        app.output.line(str(one), style="yellow")


def _documents(done: "Tiered") -> list[dict[str, Any]]:
    return [{"flow": flow, "moved": [asdict(moved) for moved in every]} for flow, every in done.moved.items()]

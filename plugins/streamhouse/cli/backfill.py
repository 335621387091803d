"""`streamhouse backfill`: recompute history."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.runtime.restating import Restated

_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"])


@click.command(
    short_help="Recompute a flow's tables from their whole history.",
    epilog="""\b
Examples:
  streamhouse backfill orders --dry-run                        # what would change
  streamhouse backfill orders --tables dwd.orders              # that table, and all made from it
  streamhouse backfill orders --from 2026-01-01 --to 2026-02-01
""",
)
@click.argument("flow")
@click.option("--from", "start", type=_TIME, help="Only rows whose event time is not before this (UTC).")
@click.option("--to", "end", type=_TIME, help="Only rows whose event time is before this (UTC).")
@click.option("--tables", help="Restate these, separated by commas, and all that FLOW makes from them.")
@click.option("--dry-run", is_flag=True, help="Compare, and write nothing; exits with 10 when rows would change.")
@shared_options
@click.pass_obj
def backfill(
    app: App, flow: str, start: datetime | None, end: datetime | None, tables: str | None, dry_run: bool
) -> None:
    """Bring the tables of FLOW to what their SQL says of every row the flow has read so far.

    After a changed action was applied, its tables may still hold what the old SQL made of older rows. A backfill
    runs the SQL that is applied over the whole history, read from the coldest tier that holds it, and writes only
    what differs; an edit of files that waits does not count. FLOW must not run meanwhile; its next run goes on
    where it stood: no row is missed or counted twice. Stopped with Ctrl-C, a backfill can be run again and does the
    rest.
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.jobs.backfill import backfill as restate
    from streamhouse.tiering.restate import TimeSpan

    if start is not None and end is not None and start >= end:
        raise click.BadParameter(f"{end} is not after --from {start}, so no row is between", param_hint="--to")
    span = TimeSpan(*(at.replace(tzinfo=UTC) if at else None for at in (start, end)))
    names = tuple(name.strip() for name in tables.split(",") if name.strip()) if tables is not None else ()
    if tables is not None and not names:
        raise click.BadParameter("it names no table; without it, all are restated", param_hint="--tables")
    with StageView() as view:
        done = restate(app.project, flow, tables=names, span=span, dry_run=dry_run, say=view.say)
    _show(app, flow, done, dry_run=dry_run)
    if dry_run and any(one.upserts or one.deletes for one in done):
        raise click.exceptions.Exit(10)


def _show(app: App, flow: str, done: "Sequence[Restated]", *, dry_run: bool) -> None:
    if app.as_json:
        app.output.document({"flow": flow, "dry_run": dry_run, "tables": [asdict(one) for one in done]})
    else:
        changed = [one for one in done if one.upserts or one.deletes]
        what = "would change" if dry_run else "restated"
        app.output.line(f"{flow}: {len(changed)} of {len(done)} tables {what}")
        rows = [(one.table, one.upserts, one.deletes) for one in done]
        app.output.table(("table", "rows written", "rows removed"), rows)
        for text in filter(None, (one.lost for one in done)):
            app.output.line(f"{'would lose' if dry_run else 'lost'}: {text}")

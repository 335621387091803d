"""`streamhouse upkeep`: drop old partitions, compact lake tables and expire their snapshots."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.cli.output import CommandOutput
    from streamhouse.jobs.upkeep import TableUpkeep


@click.command(
    short_help="Drop old partitions, compact warm and cold tables, remove old snapshots.",
    epilog="""\b
Examples:
  streamhouse upkeep                      # all flows, once
  streamhouse upkeep orders --every 1h    # beside a flow that runs, until Ctrl-C
  streamhouse upkeep --full --orphans     # rewrite every file, clean up after failed commits
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW...]")
@click.option(
    "--full", is_flag=True, help="Rewrite every file with its deletes applied, instead of the small ones only."
)
@click.option("--orphans", is_flag=True, help="Remove also files of no snapshot that are older than three days.")
@click.option("--every", metavar="DURATION", help="Go on until Ctrl-C, with a round so often: 10m, 1h.")
@shared_options
@click.pass_obj
def upkeep(app: App, flows: tuple[str, ...], full: bool, orphans: bool, every: str | None) -> None:
    """Keep the tables of each FLOW small and quick to read.

    A tier drops the days of a partitioned table that are older than it holds rows, once the colder tiers have them.
    In warm and cold, writers leave many small files and a snapshot for each commit. This writes small files together
    and removes snapshots older than `keep_snapshots` of streamhouse.yaml, but none from which a flow or tiering has
    yet to read on. No other row goes; flows, tiering and queries may run meanwhile. Stopped or killed, it can be run
    again.

    The journals of topics that flows read with `cdc` become shorter, too (docs/sources.md, changes from a topic).
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.jobs.upkeep import keep_up

    pause = interval(every) if every else None
    with StageView() as view:
        done = keep_up(app.project, flows, full=full, orphans=orphans, every=pause, say=view.say)
    if app.as_json:
        journals = {
            name: {"before_bytes": before, "after_bytes": after} for name, (before, after) in done.journals.items()
        }
        app.output.document({"tables": [asdict(one) for one in done.tables], "journals": journals})
        return
    if done.tables:
        _show_tables(app.output, done.tables, orphans=orphans)
    elif not done.journals:
        app.output.line("nothing to keep: no table is in a warm or cold tier yet")
    for name, (before, after) in done.journals.items():
        app.output.line(f"journal {name}: {before:,} → {after:,} bytes")
    for one in done.tables:
        if one.waiting:
            app.output.line(
                f"{one.table}: {len(one.waiting)} old partitions stay in {one.tier} until colder tiers and readers "
                "have their rows: streamhouse tier"
            )


def _show_tables(output: "CommandOutput", tables: "Sequence[TableUpkeep]", *, orphans: bool) -> None:
    parted = any(one.dropped or one.waiting for one in tables)
    rows = [
        (
            one.flow,
            one.table,
            one.tier.value,
            f"{one.before.files:,} → {one.after.files:,}" if one.before and one.after else "",
            f"{one.before.size_bytes:,} → {one.after.size_bytes:,}" if one.before and one.after else "",
            one.snapshots,
            *((len(one.dropped),) if parted else ()),
            *((one.orphans,) if orphans else ()),
        )
        for one in tables
    ]
    more = [*(["partitions dropped"] if parted else []), *(["orphans removed"] if orphans else [])]
    output.table(("flow", "table", "tier", "files", "bytes", "snapshots removed", *more), rows)

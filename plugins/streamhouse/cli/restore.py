"""`streamhouse restore`: go on after the state store, checkpoints or the hot tier were lost or put back."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.jobs.restore import Restored


@click.command(
    short_help="Go on after a loss: of the state store, checkpoints, the hot tier.",
    epilog="""\b
Examples:
  streamhouse restore --dry-run          # what was lost of every flow, and what would be done
  streamhouse restore orders
  streamhouse restore orders --rebuild   # where it cannot be known how far the flow is
""",
)
@click.argument("flows", nargs=-1, metavar="[FLOW]...")
@click.option("--rebuild", is_flag=True, help="Drop all tables of FLOW in every tier; its sources are read again.")
@click.option(
    "--from-sources",
    is_flag=True,
    help="Compute what tables lack from what FLOW reads, all of which must still be there; they keep what they have.",
)
@click.option(
    "--trust",
    multiple=True,
    type=click.Choice(["state", "files"]),
    help="state: it is the newest, though hot tables without a note end elsewhere. files: go on by their plan, though "
    "another one wrote the tables.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask before --rebuild.")
@click.option("--dry-run", is_flag=True, help="Look, and change nothing.")
@shared_options
@click.pass_obj
def restore(
    app: App,
    flows: tuple[str, ...],
    rebuild: bool,
    from_sources: bool,
    trust: tuple[str, ...],
    yes: bool,
    dry_run: bool,
) -> None:
    """Set the records of each FLOW to what its tables have, and fill its lost hot tables again from the lakes.

    Every epoch writes a note with its rows: in the commit of a lake, or beside the hot tables. With these notes a flow
    continues where it was, when the state store or the checkpoints were lost or replaced by older copies. Lost hot
    tables are filled again from their copies in the lakes and from the flow's inputs. The output says what cannot be
    restored. Flows that read tables of FLOW, or whose tables it reads, are restored with it. None of them may run
    meanwhile. Without FLOW, all flows of the project are restored. You can stop the command at any time and run it
    again.
    """
    from streamhouse.cli.stages import StageView
    from streamhouse.jobs.restore import restore_flows

    if rebuild:
        _confirm(flows, asks=not (yes or dry_run))
    with StageView() as view:
        done = restore_flows(
            app.project,
            flows,
            rebuild=rebuild,
            from_sources=from_sources,
            trust=trust,
            dry_run=dry_run,
            say=view.say,
        )
    _show(app, done, dry_run=dry_run)


def _confirm(flows: tuple[str, ...], *, asks: bool) -> None:
    if not flows:
        raise click.UsageError("--rebuild needs the names of the flows whose tables it drops")
    if asks:
        tables = f"every table of {', '.join(flows)}, in every tier"
        click.confirm(f"This drops {tables}. Rows that its sources lost are gone. Go on?", abort=True, err=True)


def _show(app: App, done: "Sequence[Restored]", *, dry_run: bool) -> None:
    if app.as_json:
        app.output.document({"dry_run": dry_run, "flows": [asdict(one) for one in done]})
        return
    for one in done:
        app.output.line(f"{one.flow}: {'nothing is missing' if not one.did and not one.lost else ''}".rstrip())
        for text in one.did:
            app.output.line(f"  {'would: ' if dry_run else ''}{text}")
        for text in one.lost:
            app.output.line(f"  does not come back: {text}")

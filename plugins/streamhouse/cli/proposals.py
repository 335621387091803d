"""`streamhouse proposals`: what was proposed and what became of it; a proposal is corrected, written or removed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.ask import PREVIEW_ROWS, after_build, build_in, say_stage, show, show_checks, show_list
from streamhouse.cli.ask_target import check_build, write_target
from streamhouse.cli.environment_name import ENVIRONMENT_NAME
from streamhouse.cli.output import CommandOutput
from streamhouse.cli.proposal_list import fates_of, remove_proposal, show_every

if TYPE_CHECKING:
    from streamhouse.planner.proposal import Proposal
    from streamhouse.planner.proposals import Stored


@click.command(
    short_help="Show what was proposed, and what became of it.",
    epilog="""\b
Examples:
  streamhouse proposals
  streamhouse proposals 3f2a9c01d4be
  streamhouse proposals 3f2a9c01d4be --write
  streamhouse proposals 3f2a9c01d4be --write --env review
  streamhouse proposals 3f2a9c01d4be --set 'block.filters=[]' --set 'name="board"'
  streamhouse proposals 3f2a9c01d4be --remove
""",
)
@click.argument("proposal_id", metavar="[ID]", required=False)
@click.option(
    "--write",
    metavar="[DIR]",
    is_flag=False,
    flag_value="",
    help="Write its files into the project, or into a folder, after a final check.",
)
@click.option(
    "--trial/--no-trial", default=True, show_default=True, help="Try the new step on a sample before: as of ask."
)
@click.option(
    "--env",
    "environment",
    metavar="NAME",
    type=ENVIRONMENT_NAME,
    help="With --write, the new tables are built in an environment.",
)
@click.option(
    "--preview",
    metavar="N",
    type=click.IntRange(min=1),
    help="Propose the same again, with examples on real rows and so many rows of the answer.",
)
@click.option(
    "--set",
    "edits",
    metavar="'PATH=JSON'",
    multiple=True,
    help="Propose again with this part of the Request replaced; may be repeated: name='\"sales\"', block.filters='[]'. "
    "The Request: streamhouse proposals ID --json.",
)
@click.option("--remove", is_flag=True, help="Remove the proposal, and what was sent to a model for it.")
@shared_options
@click.pass_obj
def proposals(
    app: App,
    proposal_id: str | None,
    write: str | None,
    trial: bool,
    environment: str | None,
    preview: int | None,
    edits: tuple[str, ...],
    remove: bool,
) -> None:
    """List the proposals of this project, the newest first, or show proposal ID.

    Proposals come from `streamhouse ask`, and from clients of `streamhouse mcp`: what they ask is written by --write
    alone.
    """
    from streamhouse.planner.proposals import Proposals

    store = Proposals(app.project)
    if remove:
        if proposal_id is None or edits or write is not None or preview is not None:
            raise click.UsageError("--remove goes with the ID of one proposal, and with no other option")
        remove_proposal(app, proposal_id)
        return
    if write is not None and preview is not None:
        raise click.UsageError("--preview makes the proposal again, and --write writes it as it is: leave one out")
    if write is not None and edits:
        raise click.UsageError("--set makes another proposal, and --write writes this one: look at the other one first")
    if write is not None:
        if proposal_id is None:
            raise click.UsageError("say which proposal is to be written")
        target = write_target(app, write, environment)
        _write(app, store.get(proposal_id).proposal, target, environment, trial=trial)
        return
    if preview is not None or edits:
        _again(app, proposal_id, read_edits(edits), preview, environment)
        return
    if environment is not None:
        raise click.UsageError("--env is for what --write puts into the project: give both, or none")
    if proposal_id is not None:
        _show_stored(app, store.get(proposal_id))
    else:
        show_every(app, store.all())


def _again(app: App, proposal_id: str | None, edits: dict[str, Any], rows: int | None, environment: str | None) -> None:
    """Make a proposal again, with parts replaced, or with examples and rows; refuse what goes with neither."""
    from streamhouse.jobs.ask import revise
    from streamhouse.jobs.ask_options import Options

    if proposal_id is None:
        raise click.UsageError("say which proposal is to be made again")
    options = Options(
        examples=True if rows else None, preview=PREVIEW_ROWS if rows is None else rows, environment=environment
    )
    found = revise(app.project, proposal_id, edits, options, say=say_stage)
    if app.as_json:
        app.output.models(found)
    else:
        show(found, app.output, root=app.project.root)
    click.get_current_context().exit(found.status.exit_code)


def read_edits(texts: tuple[str, ...]) -> dict[str, Any]:
    """Path of a part of a Request → what it is to be, of what was typed behind --set.

    Raises:
        UsageError: an edit is not PATH=JSON.
    """
    found = {}
    for one in texts:
        path, _, value = one.partition("=")
        try:
            found[path.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            text = f"; a text has quotes: {path.strip()}={json.dumps(value)}" if value else ""
            raise click.UsageError(f"--set {one}: write 'PATH=JSON'{text}") from None
    return found


def _show_stored(app: App, found: "Stored") -> None:
    if app.as_json:
        app.output.models(found)
    else:
        show(found.proposal, app.output, root=app.project.root)
        ((_, became),) = fates_of(app, [found])
        app.output.line()
        app.output.line(f"became {became}")
        _show_events(found, app.output)


def _write(app: App, proposal: "Proposal", target: Path | None, environment: str | None, *, trial: bool) -> None:
    from streamhouse.jobs import ask as asking
    from streamhouse.planner.proposals import Proposals

    check_build(app, proposal, environment)
    written = asking.write(app.project, proposal, target, trial=trial, say=say_stage)
    checks = Proposals(app.project).get(proposal.id).proposal.checks
    build = environment if proposal.flow else None
    built = build is not None and build_in(app, proposal.flow, build)
    if app.as_json:
        paths = [str(file) for file in written]
        app.output.document({"proposal": proposal.id, "written": paths, "built": build if built else None,
                             "checks": [one.model_dump(mode="json") for one in checks]})  # fmt: skip
        return
    show_checks(checks, app.output)
    for file in written:
        app.output.line(f"written: {file}", style="green")
    show_list(app.output, "next:", after_build(proposal, build) if built and build else proposal.commands)


def _show_events(found: "Stored", output: CommandOutput) -> None:
    output.line()
    output.table(("when", "what", "detail"), [(one.at, one.what, one.detail or None) for one in found.events])

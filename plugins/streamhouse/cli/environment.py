"""`streamhouse env`: changes that are built beside production until they are promoted."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.lazy import LazyGroup
from streamhouse.cli.losses import LOST, show_unreadable, unreadable_text

if TYPE_CHECKING:
    from streamhouse.state.records import Change, UnreadableChange


@click.group("env", cls=LazyGroup, short_help="List, promote and discard environments.")
@shared_options
def environment() -> None:
    """Environments: changes built beside production.

    `streamhouse apply FLOW --env dev` makes one: tables of its own for what the change touches and all that is made
    from it, filled with their history. It reads the rest as production has it, and costs production nothing.
    `run FLOW --env dev` keeps it up to date, `query --env dev` looks at it.
    """


@environment.command(
    "list",
    epilog="""\b
Examples:
  streamhouse env list
  streamhouse env list --json | jq -r '.environments[].name'
""",
)
@shared_options
@click.pass_context
def list_(context: click.Context) -> None:
    """List every environment with its tables. Exit code 6: one of them cannot be read."""
    from streamhouse.state.records import newest_first

    app: App = context.obj
    unreadable: list[UnreadableChange] = []
    with app.project.existing_state() or nullcontext() as state:
        readable = state.environments(unreadable) if state is not None else []
    found = newest_first(readable, unreadable)
    if app.as_json:
        app.output.document({"environments": [environment_document(one) for one in found]})
    elif not found:
        app.output.line("none; make one: streamhouse apply FLOW --env NAME")
    else:
        show_unreadable(unreadable, app.output)
        rows = [(c.environment, c.flow, ", ".join(c.versions or ()), c.requested_at, c.requested_by) for c in found]
        app.output.table(("environment", "flow", "tables of its own", "made (UTC)", "by"), rows)
    if unreadable:
        context.exit(LOST)


def environment_document(one: "Change | UnreadableChange") -> dict[str, Any]:
    """An environment for `--json`; `error`: why it cannot be read, and what to do."""
    return {"name": one.environment, "flow": one.flow, "tables": one.versions, "error": unreadable_text(one)}


@environment.command(
    epilog="""\b
Examples:
  streamhouse env diff orders dev
  streamhouse env diff orders dev --json | jq .review.tables[].difference.changed
"""
)
@click.argument("flow")
@click.argument("name")
@shared_options
@click.pass_obj
def diff(app: App, flow: str, name: str) -> None:
    """Audit the tables of environment NAME, and compare them with those that serve. Promotes nothing."""
    from streamhouse.change.environment import diff as compare
    from streamhouse.cli.review import show_review
    from streamhouse.cli.stages import StageView

    with StageView() as view:
        change = compare(app.project, flow, name, say=view.say)
    assert change.review is not None, "it was just made"
    if app.as_json:
        app.output.document({"flow": flow, "environment": name, "review": change.review.model_dump(mode="json")})
        return
    show_review(change.review, app.output)
    app.output.line(f"let it serve: streamhouse env promote {flow} {name}")


@environment.command(
    epilog="""\b
Example:
  streamhouse env promote orders dev
"""
)
@click.argument("flow")
@click.argument("name")
@click.option("--accept-audit", is_flag=True, help="Promote it also where its audit fails.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Return when it is done, or when it is asked.")
@shared_options
@click.pass_obj
def promote(app: App, flow: str, name: str, accept_audit: bool, wait: bool) -> None:
    """Let the tables of environment NAME serve in production, instead of those FLOW has there.

    They are brought to where production is, and audited, first; see `streamhouse env diff`.
    """
    from streamhouse.change.apply import promote as swap
    from streamhouse.cli.stages import StageView
    from streamhouse.model.review import SwapGate

    with StageView() as view:
        gate = SwapGate.OPEN if accept_audit else SwapGate.AUDIT
        change = swap(app.project, flow, name, gate=gate, wait=wait, say=view.say)
    if app.as_json:
        app.output.document({"flow": flow, "change": change.id, "phase": change.phase, "tables": change.versions})
    else:
        done = "serve now" if not change.is_open else f"are asked for; see: streamhouse changes {flow}"
        app.output.line(f"{flow}: {', '.join(change.versions)} of {name} {done}", style="green")


@environment.command(
    epilog="""\b
Example:
  streamhouse env discard orders dev
"""
)
@click.argument("flow")
@click.argument("name")
@shared_options
@click.pass_obj
def discard(app: App, flow: str, name: str) -> None:
    """Drop environment NAME of FLOW, and its tables."""
    from streamhouse.change.environment import discard as drop
    from streamhouse.cli.stages import StageView

    with StageView() as view:
        change = drop(app.project, flow, name, say=view.say)
    error = unreadable_text(change)
    if app.as_json:
        dropped = change.versions if error is None else {}
        app.output.document({"flow": flow, "environment": name, "dropped": dropped, "error": error})
    elif error is not None:
        app.output.line(f"{flow}: {name} is gone; {error}", style="yellow")
    else:
        app.output.line(f"{flow}: {name} is gone, with {', '.join(change.versions or ())}")

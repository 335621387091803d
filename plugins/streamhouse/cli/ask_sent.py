"""`streamhouse ask --show-sent`: what left this machine for a language model."""

import re
from typing import Any

import click

from streamhouse.cli.app import App

_ID = re.compile(r"[0-9a-f]{12}")  # of a proposal; a wish has letters beyond these, and more than one word


def show_stored(app: App, wish: str | None) -> bool:
    """Show what was sent for a proposal that is kept, or for the last one.

    Args:
        app: Of the command.
        wish: The id of a proposal; None: the last one for which something was sent.

    Returns:
        False: it is no id but a wish, and nothing was shown.

    Raises:
        UnknownProposalError: it is an id, and neither a proposal nor anything that was sent has it.
    """
    from streamhouse.planner.models.sent import newest, sent_for
    from streamhouse.planner.proposals import Proposals

    name = wish if wish is not None else newest(app.project)
    if name is None:
        _nothing(app)
        return True
    if not _ID.fullmatch(name):
        return False
    if not sent_for(app.project, name):
        Proposals(app.project).get(name)
    show_sent_for(app, name)
    return True


def show_sent_for(app: App, proposal_id: str) -> None:
    """Show what was sent for a proposal, or for a wish without one: messages as they left, but each only once."""
    from streamhouse.planner.models.sent import sent_for

    calls = sent_for(app.project, proposal_id)
    has_proposal = not any(call.get("unfinished") for call in calls)
    if app.as_json:
        app.output.models({"proposal": proposal_id if has_proposal else None, "sent": calls})
        return
    if not calls:
        click.echo(f"nothing was sent to a model for proposal {proposal_id}", err=True)
    for call in calls:
        app.output.line()
        whose = f"proposal {proposal_id}" if has_proposal else "a wish that has no proposal"
        app.output.line(f"sent for {whose} at {call['at']}", style="bold")
        _show_requests(app, call["requests"])


def _show_requests(app: App, requests: list[dict[str, Any]]) -> None:
    before = 0
    for number, request in enumerate(requests, 1):
        app.output.line(f"request {number} to {request['model']}", style="bold")
        messages = request["messages"]
        if number == 1:
            app.output.line(_instructions(messages))
            app.output.line(f"it may answer as: {', '.join(request['answers'])}")
        for message in messages[before:]:
            _show(app, message)
        before = len(messages)


def _show(app: App, message: dict[str, Any]) -> None:
    for part in message.get("parts", []):
        what = part.get("part_kind", "")
        content = part.get("args") or part.get("content") or ""
        app.output.line(f"[{what}]", style="dim")
        app.output.line(content if isinstance(content, str) else str(content))


def _instructions(messages: list[dict[str, Any]]) -> str:
    return next((str(one["instructions"]) for one in messages if one.get("instructions")), "")


def _nothing(app: App) -> None:
    if app.as_json:
        app.output.models({"sent": []})
    else:
        click.echo("nothing was sent to a model", err=True)

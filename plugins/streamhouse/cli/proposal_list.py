"""What `streamhouse proposals` lists: each proposal, and the furthest that it came."""

from contextlib import nullcontext
from typing import TYPE_CHECKING

from streamhouse.cli.app import App

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamhouse.planner.fates import Became
    from streamhouse.planner.proposals import Stored


def show_every(app: App, every: "Sequence[Stored]") -> None:
    """Print a list of proposals."""
    if app.as_json:
        app.output.models({"proposals": [_short(one, became) for one, became in fates_of(app, every)]})
    elif every:
        rows = [
            (one.proposal.id, one.proposal.status, str(became), one.proposal.table or None, one.proposal.wish)
            for one, became in fates_of(app, every)
        ]
        app.output.table(("id", "status", "became", "table", "wish"), rows)
    else:
        app.output.line("nothing was proposed yet; see: streamhouse ask --help")


def remove_proposal(app: App, name: str) -> None:
    """Remove a proposal, and say so.

    Raises:
        UnknownProposalError: there is none of that id.
    """
    from streamhouse.planner.proposals import Proposals

    Proposals(app.project).remove(name)
    if app.as_json:
        app.output.document({"removed": name})
    else:
        app.output.line(f"removed: proposal {name}; files that were written stay")


def fates_of(app: App, every: "Sequence[Stored]") -> "list[tuple[Stored, Became]]":
    """Each proposal with what became of it."""
    from streamhouse.planner.fates import Fates

    with app.project.existing_state() or nullcontext() as state:
        fates = Fates(app.project, state)
        return [(one, fates.of(one)) for one in every]


def _short(stored: "Stored", became: "Became") -> dict[str, object]:
    one = stored.proposal
    return {"id": one.id, "status": one.status.value, "became": became.what, "detail": became.detail,
            "table": one.table, "wish": one.wish, "at": became.at}  # fmt: skip

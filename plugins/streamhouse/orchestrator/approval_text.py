"""What Airflow shows of a question: bounded, as its database keeps it for each task. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamhouse.planner.proposal import Proposal
from streamhouse.planner.proposal_text import proposal_text
from streamhouse.state.approvals import Approval

MOST_CHARACTERS = 4_000
"""Of the proposals together."""

_LINES = 8  # of each part of a proposal
_IDS = 20


def approval_body(question: Approval, proposals: Sequence[Proposal]) -> str:
    """The evidence of a question, and the proposals that it came from, in Markdown."""
    until = f"{question.expires_at:%Y-%m-%d %H:%M} UTC"
    return (
        f"{_block(question.evidence)}\n\n{_proposed(proposals)}"
        "Until a person answers, readers of what changed wait at their positions; "
        f"nothing is lost. The question expires at {until}. The same by command: `streamhouse approve {question.id}` "
        f"or `streamhouse refuse {question.id}`."
    )


def waiting_texts(flow: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """What the log of a look says of all that waits of a flow, and whether it wants a repair.

    Args:
        flow: One of `flows` in what `streamhouse trigger --once --json` prints.
    """
    return [
        (f"{flow.get('flow')}: {one['what']} {one['why']}; {one['remedy']}", one["waits_for"] == "repair")
        for one in flow.get("waits", [])
    ]


def lost_texts(document: Mapping[str, Any]) -> list[str]:
    """A sentence for each loss, with what to type.

    Args:
        document: What `streamhouse trigger --once --json` or `streamhouse autopilot round --json` prints.
    """
    return [f"{one['flow']}: {one['code']} {one['text']}; {one['hint']}" for one in document.get("lost", [])]


def _proposed(proposals: Sequence[Proposal]) -> str:
    """As much of the proposals as there is room for, and where to see the rest."""
    if not proposals:
        return ""
    text = "\n\n".join(proposal_text(one, _LINES) for one in proposals)
    if len(text) > MOST_CHARACTERS:
        ids = " ".join(one.id for one in proposals[:_IDS])
        shown = text[:MOST_CHARACTERS].rpartition("\n")[0]
        text = f"{shown}\n… more: streamhouse proposals, of {ids}"
    return f"{_block(text)}\n\n"


def _block(text: str) -> str:
    """A block of code that the text itself cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"

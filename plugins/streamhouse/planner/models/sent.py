"""What was sent to a model for a wish, in the state store."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from streamhouse.planner.models.recorded import Sent
from streamhouse.planner.proposals import Proposals
from streamhouse.project.project import Project


class SentRecord:
    """What is sent for one wish. Each request is recorded before it leaves, so that no end of the process loses it.

    Until there is a proposal, the record has a name of its own.

    Attributes:
        requests: In the order in which they left.
    """

    def __init__(self, project: Project) -> None:
        self.requests: list[Sent] = []
        self._proposals = Proposals(project)
        self._name = uuid4().hex[:12]
        self._at = datetime.now(UTC)

    def add(self, request: Sent) -> None:
        """Record a request that is about to leave.

        Raises:
            StoreUnavailableError, DiskFullError: it cannot be recorded, so it must not leave.
        """
        requests = [*self.requests, request]
        with self._proposals.writing() as state:
            state.proposals.send(self._name, json.dumps(requests, ensure_ascii=False), self._at)
        self.requests = requests

    def belongs_to(self, proposal_id: str) -> None:
        """Add the requests to those that were sent for a proposal before."""
        if self.requests:
            with self._proposals.writing() as state:
                state.proposals.belongs_to(self._name, proposal_id)


def sent_for(project: Project, proposal_id: str) -> list[dict[str, Any]]:
    """Each time something was sent for a proposal: when, and the requests; empty: never.

    Args:
        project: That the proposal is of.
        proposal_id: Or the name that `newest` gives. Such a record is `unfinished` where there is no proposal so far.
    """
    with Proposals(project).reading() as state:
        found = state.proposals.sent_for(proposal_id) if state is not None else []
    return [
        {"at": one.at.isoformat(), **({"unfinished": True} if one.unfinished else {}),
         "requests": json.loads(one.requests)} for one in found
    ]  # fmt: skip


def newest(project: Project) -> str | None:
    """The proposal, or the wish without one, that something was sent for last; None: none."""
    with Proposals(project).reading() as state:
        return state.proposals.sent_last() if state is not None else None

"""What was sent to a model for a wish, in a file beside its proposal that only its owner may read."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from streamhouse.planner.models.recorded import Sent
from streamhouse.planner.proposals import SENT
from streamhouse.project.project import Project


class SentRecord:
    """What is sent for one wish. Each request is in a file before it leaves, so that no end of the process loses it.

    Until there is a proposal, the file has a name of its own.

    Attributes:
        requests: In the order in which they left.
    """

    def __init__(self, project: Project) -> None:
        self.requests: list[Sent] = []
        self._project = project
        self._name = uuid4().hex[:12]
        self._at = datetime.now(UTC).isoformat()

    def add(self, request: Sent) -> None:
        """Record a request that is about to leave.

        Raises:
            OSError: it cannot be recorded, so it must not leave.
        """
        requests = [*self.requests, request]
        _write(self._project, self._name, [{"at": self._at, "unfinished": True, "requests": requests}])
        self.requests = requests

    def belongs_to(self, proposal_id: str) -> None:
        """Add the requests to those that were sent for a proposal before."""
        if self.requests:
            records = [*sent_for(self._project, proposal_id), {"at": self._at, "requests": self.requests}]
            _write(self._project, proposal_id, records)  # first, so that an end in between repeats and never loses
            _file(self._project, self._name).unlink(missing_ok=True)


def sent_for(project: Project, proposal_id: str) -> list[dict[str, Any]]:
    """Each time something was sent for a proposal: when, and the requests; empty: never.

    Args:
        project: That the proposal is of.
        proposal_id: Or the name that `newest` gives. Such a record is `unfinished` where there is no proposal so far.
    """
    try:
        found = json.loads(_file(project, proposal_id).read_bytes())
    except (OSError, ValueError):
        return []
    return list(found.get("sent", []))


def newest(project: Project) -> str | None:
    """The proposal, or the wish without one, that something was sent for last; None: none."""
    files = sorted((project.state_dir / "proposals").glob(f"*{SENT}"), key=lambda file: file.stat().st_mtime_ns)
    return files[-1].name.removesuffix(SENT) if files else None


def _write(project: Project, name: str, records: Sequence[Mapping[str, Any]]) -> None:
    file = _file(project, name)
    project.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.mkdir(exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as written:
        json.dump({"sent": records}, written, indent=1, ensure_ascii=False)
    temporary.replace(file)


def _file(project: Project, proposal_id: str) -> Path:
    return project.state_dir / "proposals" / f"{proposal_id}{SENT}"

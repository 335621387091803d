"""What was sent to a model for a proposal, in a file beside it that only its owner may read."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streamhouse.planner.models.recorded import Sent
from streamhouse.planner.proposals import SENT
from streamhouse.project.project import Project


def keep_sent(project: Project, proposal_id: str, sent: Sequence[Sent]) -> None:
    """Add what was sent to what is kept already."""
    file = _file(project, proposal_id)
    project.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.mkdir(exist_ok=True)
    records = [*sent_for(project, proposal_id), {"at": datetime.now(UTC).isoformat(), "requests": list(sent)}]
    temporary = file.with_suffix(f".{os.getpid()}.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as written:
        json.dump({"sent": records}, written, indent=1, ensure_ascii=False)
    temporary.replace(file)


def sent_for(project: Project, proposal_id: str) -> list[dict[str, Any]]:
    """Each time something was sent for a proposal: when, and the requests; empty: never."""
    try:
        found = json.loads(_file(project, proposal_id).read_bytes())
    except (OSError, ValueError):
        return []
    return list(found.get("sent", []))


def newest(project: Project) -> str | None:
    """The proposal that something was sent for last; None: none."""
    files = sorted((project.state_dir / "proposals").glob(f"*{SENT}"), key=lambda file: file.stat().st_mtime_ns)
    return files[-1].name.removesuffix(SENT) if files else None


def _file(project: Project, proposal_id: str) -> Path:
    return project.state_dir / "proposals" / f"{proposal_id}{SENT}"

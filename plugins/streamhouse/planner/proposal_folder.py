"""The folder in which earlier releases stored proposals, and its way into the state store."""

import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.project.project import Project

if TYPE_CHECKING:
    from streamhouse.state.proposals import RecordedProposal, RecordedSent
    from streamhouse.state.store import StateStore

_FOLDER = "proposals"
_SENT = ".sent.json"
UNREADABLE = "proposals.unreadable"
"""The folder for files of which no proposal could be read."""


def is_there(project: Project) -> bool:
    """Whether there is such a folder."""
    return _folder(project).is_dir()


def taken_over(project: Project, state: "StateStore") -> None:
    """Record what the folder has, once, and remove it. Files that nobody can read are moved aside.

    Cut off at any moment, it is done again, and doubles nothing.
    """
    if not is_there(project):
        return
    proposals, sent, read = [], [], []
    for file in sorted(_folder(project).glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            if file.name.endswith(_SENT):
                sent += [(file.name.removesuffix(_SENT), one) for one in _sent(json.loads(file.read_bytes()))]
            else:
                proposals.append(_proposal(json.loads(file.read_bytes())))
            read.append(file)
    state.proposals.take_over(proposals, sent)
    with suppress(OSError):  # another process took the folder over, or who looks may not write here
        _remove(_folder(project), read, project.state_dir / UNREADABLE)


def _remove(folder: Path, read: Iterable[Path], aside: Path) -> None:
    for file in (*read, *folder.glob("*.new")):  # half-written ones, too
        file.unlink(missing_ok=True)
    for file in folder.iterdir():
        aside.mkdir(mode=0o700, exist_ok=True)
        file.replace(aside / file.name)
    folder.rmdir()


def _proposal(found: Any) -> "RecordedProposal":
    from streamhouse.state.proposals import RecordedEvent, RecordedProposal

    body = found["proposal"]
    events = tuple(
        RecordedEvent(_instant(one["at"]), str(one["what"]), str(one.get("detail", ""))) for one in found["events"]
    )
    asked = json.dumps(found.get("asked", {}))
    return RecordedProposal(str(body["id"]), str(body.get("flow", "")), json.dumps(body), asked, events)


def _sent(found: Any) -> "list[RecordedSent]":
    from streamhouse.state.proposals import RecordedSent

    return [
        RecordedSent(_instant(one["at"]), json.dumps(one["requests"]), bool(one.get("unfinished")))
        for one in found["sent"]
    ]


def _instant(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _folder(project: Project) -> Path:
    return project.state_dir / _FOLDER

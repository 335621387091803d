"""Proposals of a project, each in a file of its own: what was proposed, and what became of it."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, ValidationError

from streamhouse.errors import UnknownProposalError
from streamhouse.model.types import Frozen
from streamhouse.planner.proposal import Proposal
from streamhouse.project.project import Project

SENT = ".sent.json"
"""What the name of a file ends in that has what was sent to a model for a proposal."""

Fate = Literal["asked", "revised", "failed", "written"]


class Event(Frozen):
    """One thing that happened to a proposal.

    Attributes:
        what: `asked`, `revised` into another one, `failed` when it was tried, or `written`.
        detail: The id of the other one, what failed, or where its files were written to.
    """

    at: AwareDatetime
    what: Fate
    detail: str = ""


class Asked(Frozen):
    """What was said beside a wish and is in neither the Request nor the proposal: a revision goes on with it.

    Attributes:
        flow: That gets the step; None: it was left open.
        alone: Only an action was wanted.
        build_in: The environment in which the new tables are to be built.
        assumptions: What the reading of the wish assumed; what the files assume is found again.
    """

    flow: str | None = None
    alone: bool = False
    build_in: str | None = None
    assumptions: tuple[str, ...] = ()


class Stored(Frozen):
    """A proposal with how it was asked for, and what became of it, oldest first."""

    proposal: Proposal
    events: tuple[Event, ...] = ()
    asked: Asked = Asked()


class Proposals:
    """Keeps and finds proposals; the same proposal asked for twice is kept once."""

    def __init__(self, project: Project) -> None:
        self._state = project.state_dir
        self._folder = project.state_dir / "proposals"

    def add(self, proposal: Proposal, what: Fate = "asked", detail: str = "", asked: Asked | None = None) -> None:
        """Keep a proposal, or note what became of one that is kept.

        Args:
            proposal: As it is now.
            what: Happened to it.
            detail: Of that.
            asked: How it was asked for; None: as it was before.
        """
        stored_proposal = self._read(self._file(proposal.id))
        event = Event(at=datetime.now(UTC), what=what, detail=detail)
        events = stored_proposal.events if stored_proposal is not None else ()
        if not (what == "asked" and any(one.what == "asked" for one in events)):
            events = (*events, event)
        asked = asked or (stored_proposal.asked if stored_proposal is not None else Asked())
        self._write(Stored(proposal=proposal, events=events, asked=asked))

    def get(self, name: str) -> Stored:
        """One proposal.

        Raises:
            UnknownProposalError: none has this id.
        """
        found = self._read(self._file(name)) if name.isalnum() else None
        if found is None:
            raise UnknownProposalError(name, [file.stem for file in self._files()])
        return found

    def all(self) -> list[Stored]:
        """Every proposal, the newest first."""
        found = [stored_proposal for file in self._files() if (stored_proposal := self._read(file)) is not None]
        return sorted(found, key=lambda one: one.events[-1].at if one.events else datetime.min.replace(tzinfo=UTC),
                      reverse=True)  # fmt: skip

    def _files(self) -> list[Path]:
        return sorted(file for file in self._folder.glob("*.json") if not file.name.endswith(SENT))

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _read(self, file: Path) -> Stored | None:
        try:
            return Stored.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):  # one of another version of Streamhouse is as none
            return None

    def _write(self, stored: Stored) -> None:
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(exist_ok=True)
        file = self._file(stored.proposal.id)
        temporary = file.with_suffix(f".{os.getpid()}.new")
        temporary.write_text(stored.model_dump_json(indent=2))
        temporary.replace(file)

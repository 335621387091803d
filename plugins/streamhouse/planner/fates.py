"""What became of proposals: the furthest that each came, from its events and from what runs."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from streamhouse.model.plan import FlowPlan
from streamhouse.planner.proposal import Proposal, Status
from streamhouse.planner.proposals import Event, Stored
from streamhouse.project.project import Project

if TYPE_CHECKING:
    from streamhouse.state.records import Change, UnreadableChange
    from streamhouse.state.store import StateStore

PROJECT = "the project"
"""The detail of `written`, where the files are the project's own."""


@dataclass(frozen=True)
class Became:
    """The furthest that a proposal came.

    Attributes:
        what: `applied`, `built`, `written`, `failed`, `revised` or `asked`.
        detail: Where, why or into which other one; what it waits for.
        at: When the last thing happened to it; None: it is unknown.
    """

    what: str
    detail: str = ""
    at: datetime | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}" if self.detail else self.what


class Fates:
    """Says what became of proposals; what runs is looked up once."""

    def __init__(self, project: Project, state: "StateStore | None") -> None:
        """Of one project.

        Args:
            project: Whose files are compared.
            state: Says what runs; None: nothing ever ran.
        """
        self._root = project.root
        self._state = state

    def of(self, stored: Stored) -> Became:
        """The furthest that a proposal came: what is applied stays so, whatever is asked of it afterwards."""
        last = stored.events[-1] if stored.events else None
        written = [one for one in stored.events if one.what == "written"]
        what, detail = self._written(stored.proposal, written) if written else _unwritten(last)
        return Became(what, detail, last.at if last is not None else None)

    def is_written(self, proposal: Proposal) -> bool:
        """Whether the project's files say what the proposal's say."""
        if proposal.status is not Status.PROPOSED or not proposal.files:
            return False
        return all(self._text(edit.path) == edit.after for edit in proposal.files)

    def environment(self, stored: Stored) -> str | None:
        """The environment that has the table of a proposal, with its history, until it is promoted; None: none has."""
        return self._environment(stored.proposal) if self.of(stored).what == "built" else None

    def _written(self, proposal: Proposal, written: list[Event]) -> tuple[str, str]:
        applied = self._applied.get(proposal.flow)
        if applied is not None and proposal.table in applied[1].tables:
            return "applied", f"in revision {applied[0]} of {proposal.flow}"
        if (place := self._environment(proposal)) is not None:
            return "built", f"in {place}; streamhouse env promote {proposal.flow} {place}"
        if all(one.detail != PROJECT for one in written):  # no environment is built of another folder
            return "written", f"into {written[-1].detail}"
        if (unread := self._unread_environment(proposal)) is not None:
            return "written", f"whether environment {unread.environment} has it is not known: {unread.error.message}"
        if not self.is_written(proposal):
            return "written", "and the files here say something else"
        return "written", f"waits for: streamhouse apply {proposal.flow}" if proposal.flow else "into the project"

    def _environment(self, proposal: Proposal) -> str | None:
        """The environment that has the proposal's table beside production, with its history; None: none has."""
        mine = (one for one in self._environments[0] if one.flow == proposal.flow and proposal.table in one.versions)
        return next((one.environment for one in mine if self._is_filled(one)), None)

    def _unread_environment(self, proposal: Proposal) -> "UnreadableChange | None":
        """An environment of the proposal's flow that cannot be read, and may have its table."""
        mine = (one for one in self._environments[1] if one.flow == proposal.flow)
        return next((one for one in mine if one.versions is None or proposal.table in one.versions), None)

    def _is_filled(self, change: "Change") -> bool:
        return self._state is not None and bool(self._state.recent_epochs(change.candidate, limit=1))

    @cached_property
    def _applied(self) -> dict[str, tuple[int, FlowPlan]]:
        return self._state.plans({}) if self._state is not None else {}

    @cached_property
    def _environments(self) -> "tuple[list[Change], list[UnreadableChange]]":
        """Those that can be read, and the others."""
        unread: list[UnreadableChange] = []
        return (self._state.environments(unread), unread) if self._state is not None else ([], [])

    def _text(self, path: str) -> str | None:
        try:
            return (self._root / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None


def _unwritten(last: Event | None) -> tuple[str, str]:
    return (last.what, last.detail) if last is not None and last.what != "asked" else ("asked", "")

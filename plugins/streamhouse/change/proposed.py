"""Which proposals of the planner a change came from: those whose files were written and say what is wanted now."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from streamhouse.model.definition import Definition
from streamhouse.planner.proposal import Proposal
from streamhouse.planner.proposals import Proposals, Stored
from streamhouse.project.project import Project
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.records import Change
from streamhouse.state.store import StateStore


def proposals_behind(
    records: Iterable[Stored], flow: str, wanted: Mapping[str, str], applied: Mapping[str, str]
) -> tuple[Proposal, ...]:
    """The proposals whose texts are a part of what a flow is to become, and no part of what it runs with; pure.

    A file that a person edited after the proposal was written has another text, and shows nothing.

    Args:
        records: What was proposed, and what became of it.
        flow: Its name.
        wanted: Path from the project's folder → text of the files that it is to run with.
        applied: The same of the files that it runs with.
    """
    return tuple(
        one.proposal
        for one in records
        if one.proposal.flow == flow
        and any(event.what == "written" for event in one.events)
        and any(wanted.get(edit.path) == edit.after != applied.get(edit.path) for edit in one.proposal.files)
    )


class Origins:
    """Says which proposals changes and questions came from; what was proposed is read once."""

    def __init__(self, project: Project, state: StateStore) -> None:
        self._project = project
        self._state = state

    def of_change(self, change: Change) -> tuple[Proposal, ...]:
        """The proposals that an open change came from; of one that is done or given up, none."""
        return self._of(change.flow, change.plan.fingerprint) if change.is_open else ()

    def of_question(self, question: Approval) -> tuple[Proposal, ...]:
        """The proposals that a question about a plan came from; of one about a change upstream or of the past, none."""
        is_of_plan = question.document.get("plan") == question.subject
        is_open = question.state is ApprovalState.OPEN
        return self._of(question.flow, question.subject) if is_of_plan and is_open else ()

    def _of(self, flow: str, fingerprint: str) -> tuple[Proposal, ...]:
        """By the files that the plan follows from; where they are not recorded yet, by the files of the project."""
        records = [one for one in self._records if one.proposal.flow == flow]
        if not records:
            return ()
        applied, wanted = self._applied.get(flow), self._state.definitions.of(flow, fingerprint)
        texts = wanted.files if wanted is not None else _texts(self._project, records)
        return proposals_behind(records, flow, texts, applied.files if applied is not None else {})

    @cached_property
    def _records(self) -> list[Stored]:
        return Proposals(self._project, self._state).all()

    @cached_property
    def _applied(self) -> Mapping[str, Definition]:
        return self._state.definitions.applied({})  # a proposal is shown also beside a plan that cannot be read


def _texts(project: Project, records: Iterable[Stored]) -> dict[str, str]:
    found = {}
    for path in {edit.path for one in records for edit in one.proposal.files}:
        try:
            found[path] = (project.root / path).read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
    return found

"""Proposals of a project, in its state store: what was proposed, and what became of it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from pydantic import AwareDatetime, ValidationError

from streamhouse.errors import UnknownProposalError
from streamhouse.model.types import Frozen
from streamhouse.planner.proposal import Proposal
from streamhouse.planner.proposal_folder import is_there, taken_over
from streamhouse.project.project import Project

if TYPE_CHECKING:
    from streamhouse.state.proposals import RecordedProposal
    from streamhouse.state.store import StateStore

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
    """Records and finds proposals; the same proposal asked for twice is one.

    Any method may raise `StoreUnavailableError` and what else the state store raises.
    """

    def __init__(self, project: Project, state: "StateStore | None" = None) -> None:
        """Touches nothing yet.

        Args:
            project: Whose proposals.
            state: Its state store, which stays open; None: it is opened for each call.
        """
        self._project = project
        self._state = state

    def add(self, proposal: Proposal, what: Fate = "asked", detail: str = "", asked: Asked | None = None) -> None:
        """Record a proposal as it is now, and what became of it.

        Args:
            proposal: As it is now.
            what: Happened to it.
            detail: Of that.
            asked: How it was asked for; None: as it was before.
        """
        from streamhouse.state.proposals import RecordedEvent, RecordedProposal

        event = RecordedEvent(datetime.now(UTC), what, detail)
        record = RecordedProposal(
            proposal.id, proposal.flow, proposal.model_dump_json(), (asked or Asked()).model_dump_json(), (event,)
        )
        with self.writing() as state:
            state.proposals.add(record, keeps_asked=asked is None)

    def note(self, name: str, what: Fate, detail: str) -> None:
        """Record what became of a proposal, which stays as it is.

        Raises:
            UnknownProposalError: none has this id.
        """
        from streamhouse.state.proposals import RecordedEvent

        with self.writing() as state:
            if not state.proposals.note(name, RecordedEvent(datetime.now(UTC), what, detail)):
                raise UnknownProposalError(name, state.proposals.ids())

    def get(self, name: str) -> Stored:
        """One proposal.

        Raises:
            UnknownProposalError: none has this id.
        """
        with self.reading() as state:
            record = state.proposals.get(name) if state is not None else None
            found = _stored(record) if record is not None else None
            if found is None:
                raise UnknownProposalError(name, state.proposals.ids() if state is not None else [])
            return found

    def all(self, flow: str | None = None) -> list[Stored]:
        """Every proposal of a flow (None: of all), the newest first."""
        with self.reading() as state:
            records = state.proposals.all(flow) if state is not None else []
        return [stored for one in records if (stored := _stored(one)) is not None]

    def remove(self, name: str) -> None:
        """Remove a proposal, and what was sent to a model for it.

        Raises:
            UnknownProposalError: nothing has this id.
        """
        with self.writing() as state:
            if not state.proposals.remove(name):
                raise UnknownProposalError(name, state.proposals.ids())
            state.proposals.remove_deleted()

    @contextmanager
    def reading(self) -> "Iterator[StateStore | None]":
        """The state store; None: nothing was proposed and nothing ran."""
        if is_there(self._project):
            with self.writing() as state:
                yield state
        elif self._state is not None:
            yield self._state
        else:
            with self._project.existing_state() or nullcontext() as state:
                yield state

    @contextmanager
    def writing(self) -> "Iterator[StateStore]":
        """The state store, which has what an earlier release has in files; it is created where there is none."""
        with self._project.state() if self._state is None else nullcontext(self._state) as state:
            self._project.closed()  # what a wish says, and what was sent for it, is for nobody else of this machine
            taken_over(self._project, state)
            yield state


def _stored(record: "RecordedProposal") -> Stored | None:
    """A proposal as it is recorded; None: another version of Streamhouse recorded it."""
    events = [{"at": one.at, "what": one.what, "detail": one.detail} for one in record.events]
    try:
        return Stored(
            proposal=Proposal.model_validate_json(record.body),
            events=tuple(Event.model_validate(one) for one in events),
            asked=Asked.model_validate_json(record.asked),
        )
    except ValidationError:
        return None

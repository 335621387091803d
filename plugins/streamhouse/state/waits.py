"""What of a flow waits, for whom, why, and what to do: every place that says so asks here.

A change upstream and the question about it have states of their own. Neither alone says who is to act: a question that
was granted waits for no person, and a change that was granted and failed waits for a repair.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from streamhouse.model.schema_change import EventType
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.outdated_reads import OutdatedRead, remedy, words
from streamhouse.state.plans import Unreadable, noting
from streamhouse.state.records import Change, Phase
from streamhouse.state.upstream import EventStatus, UpstreamRecord

if TYPE_CHECKING:
    from streamhouse.state.store import StateStore


class WaitsFor(StrEnum):
    """Who or what must act."""

    PERSON = "person"  # an answer
    RUNNER = "runner"  # it is decided, and the flow's runner carries it out
    REPAIR = "repair"  # it failed, or was refused and steps cannot go on without it
    SOURCE = "source"  # what is gone upstream must come back; no question is open


@dataclass(frozen=True)
class Wait:
    """One thing that waits.

    Attributes:
        what: What changed, or which change of the journal.
        whom: Who must act.
        why: In words for a person.
        remedy: What to do.
        since: When it began.
        steps: Of the flow, that are paused for it.
        question: Id of the question that a person may answer now: an open one, or a granted one that may be taken back.
        is_edit: It is an edit of files.
    """

    flow: str
    what: str
    whom: WaitsFor
    why: str
    remedy: str
    since: datetime
    steps: frozenset[str] = frozenset()
    question: str | None = None
    is_edit: bool = False

    @property
    def text(self) -> str:
        """What waits and why, in one line."""
        return " ".join(f"{self.what} {self.why}".split())

    def document(self) -> dict[str, object]:
        """For programs."""
        return {
            "what": self.what,
            "waits_for": self.whom.value,
            "why": self.why,
            "remedy": self.remedy,
            "since": self.since,
            "steps": sorted(self.steps),
            "question": self.question,
        }


def waits_of(state: "StateStore", flow: str) -> tuple[Wait, ...]:
    """All that waits of a flow, oldest first.

    Raises:
        StoreUnavailableError, StateConflictError: as `StateStore` does.
    """
    records = [r for r in state.upstream.unsettled(flow) if r.status is not EventStatus.REFUSED or _steps(r)]
    questions = state.approvals.list(flow, every=True) if records else []
    taken_back = {one.id for one in state.approvals.failed(flow)} if questions else set()
    found = [_of_record(record, questions, taken_back) for record in records]
    change = state.open_change(flow)
    found += [_of_change(change)] if change is not None else []
    found += behind(state, flow)
    return tuple(sorted(found, key=lambda one: one.since))


@dataclass(frozen=True)
class WaitsOfFlows:
    """What waits of several flows.

    Attributes:
        readable: Flow → as of `waits_of`.
        unreadable: Flow → why that cannot be read.
    """

    readable: dict[str, tuple[Wait, ...]] = field(default_factory=dict)
    unreadable: Unreadable = field(default_factory=dict)

    @classmethod
    def read(cls, state: "StateStore", flows: Collection[str] | None = None) -> Self:
        """Read it.

        Args:
            state: The state store.
            flows: Names; None: all flows that were applied or run.

        Raises:
            StoreUnavailableError: as `StateStore` does.
        """
        found = cls()
        names = state.flows() if flows is None else flows
        some = _may_wait(state) if len(names) > 1 else set(names)
        for flow in names:
            with noting(found.unreadable, flow):
                found.readable[flow] = waits_of(state, flow) if flow in some else ()
        return found

    def of(self, flow: str) -> tuple[Wait, ...]:
        """What waits of a flow; nothing where it cannot be read."""
        return self.readable.get(flow, ())


def _may_wait(state: "StateStore") -> set[str]:
    """The flows of which anything can wait: three questions for all flows, in place of three for each."""
    return state.upstream.flows_unsettled() | state.flows_in_change() | state.tables.outdated_flows()


def standing(waits: Iterable[Wait]) -> tuple[Wait, ...]:
    """Those for which steps are paused."""
    return tuple(one for one in waits if one.steps)


def _of_record(record: UpstreamRecord, questions: Sequence[Approval], failed: set[str]) -> Wait:
    """What waits with a change upstream, or with an edit."""
    own = [one for one in questions if one.subject == record.event.id]
    named = [one for one in questions if record.note and record.note.startswith(f"approval {one.id}:")]
    about = named or own
    question = about[-1] if about else None
    match record.status:
        case EventStatus.FAILED:
            revocable = [one for one in (own or questions) if one.id in failed]
            return _failed(record, revocable[-1] if revocable else None)
        case EventStatus.REFUSED:
            why = f"was {record.note or 'refused'}, and its readers cannot go on without it"
            remedy = "take it back upstream, or change the actions that need what was there before"
            return _wait(record, WaitsFor.REPAIR, why, remedy)
        case EventStatus.SEEN:
            return _for_the_runner(record, "was seen")
    if question is not None and question.state is ApprovalState.OPEN:
        why = f"waits for a person: {question.asks}"
        remedy = f"streamhouse approvals {question.id}, then approve or refuse it"
        return _wait(record, WaitsFor.PERSON, why, remedy, question.id)
    if question is not None and question.state is ApprovalState.GRANTED:
        return _for_the_runner(record, f"was granted by {question.decided_by}")
    if question is not None and question.state is ApprovalState.REFUSED:
        return _for_the_runner(record, f"was refused by {question.decided_by}")
    if record.event.type is EventType.EDIT:
        remedy = f"streamhouse plan {record.flow}, then: streamhouse apply {record.flow}"
        return _wait(record, WaitsFor.PERSON, "waits for a person", remedy)
    if question is not None:
        why = "waits for a person, and the question expired"
        return _wait(record, WaitsFor.PERSON, why, "streamhouse trigger --once asks again")
    if record.decision is not None and record.decision.asks:
        why = f"waits for a person: {'; '.join(record.decision.asks)}"
        return _wait(record, WaitsFor.PERSON, why, f"streamhouse approvals {record.flow}")
    notes = "; ".join(record.decision.notes) if record.decision is not None else ""
    why = f"holds up its readers until it is as before{f': {notes}' if notes else ''}"
    return _wait(record, WaitsFor.SOURCE, why, f"bring it back upstream; see: streamhouse events {record.flow}")


def _failed(record: UpstreamRecord, question: Approval | None) -> Wait:
    granted = f"was granted by {question.decided_by}, and " if question is not None else ""
    why = f"{granted}could not be carried out: {record.note or 'no reason is recorded'}"
    retry = f"correct the cause; the runner tries it again at each look (streamhouse run {record.flow})"
    if question is not None:
        give_up = f"or give it up: streamhouse refuse {question.id}"
    elif record.event.type is EventType.EDIT:
        give_up = "or undo the edit"
    else:
        give_up = (
            f"or go on without it: schema_change: {{on: {{{record.event.type.value}: ignore}}}} in the flow's file"
        )
    return _wait(record, WaitsFor.REPAIR, why, f"{retry}, {give_up}", question.id if question is not None else None)


def _for_the_runner(record: UpstreamRecord, how: str) -> Wait:
    why = f"{how}; the flow's runner carries it out at its next look"
    return _wait(record, WaitsFor.RUNNER, why, f"streamhouse run {record.flow}, if no runner runs the flow")


def _wait(record: UpstreamRecord, whom: WaitsFor, why: str, remedy: str, question: str | None = None) -> Wait:
    is_edit = record.event.type is EventType.EDIT
    return Wait(record.flow, str(record.event), whom, why, remedy, record.since, _steps(record), question, is_edit)


def _of_change(change: Change) -> Wait:
    what = f"change {change.id}"
    if change.phase is Phase.WAITING:
        why = f"waits for a person: {change.error or 'it is built'}"
        remedy = f"let it serve: streamhouse changes {change.id} --swap; or give it up: --withdraw"
        return Wait(change.flow, what, WaitsFor.PERSON, why, remedy, change.updated_at)
    doing = "is built" if change.phase is Phase.BUILDING else "is asked for"
    why = f"{doing}; the flow's runner carries it out"
    remedy = f"streamhouse run {change.flow} or streamhouse apply {change.flow}, if no runner runs the flow"
    return Wait(change.flow, what, WaitsFor.RUNNER, why, remedy, change.requested_at)


def left_behind(state: "StateStore", flow: str) -> list[OutdatedRead]:
    """What a flow reads at versions that get no more rows, where no open change of the flow can end that.

    Raises:
        StoreUnavailableError, StateConflictError: as `StateStore` does.
    """
    return state.tables.outdated_reads(flow) if state.open_change(flow) is None else []


def behind(state: "StateStore", flow: str) -> list[Wait]:
    """Tables of which a flow, of which nothing is asked, reads versions that get no more rows.

    Raises:
        StoreUnavailableError, StateConflictError: as `StateStore` does.
    """
    return [
        Wait(
            flow, f"version {one.version} of {one.table}", WaitsFor.REPAIR, words(flow, one), remedy(flow, one), one.at
        )
        for one in left_behind(state, flow)
    ]


def _steps(record: UpstreamRecord) -> frozenset[str]:
    return record.decision.waiting(record.flow) if record.decision is not None else frozenset()

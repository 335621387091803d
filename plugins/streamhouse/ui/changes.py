"""What waits for people, what the files would change, and what changed upstream."""

from collections.abc import Iterable

from streamhouse.change.journal import let_serve, withdraw
from streamhouse.change.proposed import Origins
from streamhouse.errors import UnknownApprovalError
from streamhouse.model.review import Review
from streamhouse.model.upstream import Verdict
from streamhouse.planner.proposal import Proposal
from streamhouse.planner.proposal_text import proposal_text
from streamhouse.project.compare import PlanComparison
from streamhouse.state.approvals import Approval
from streamhouse.state.plans import Unreadable
from streamhouse.state.records import Change, UnreadableChange, newest_first
from streamhouse.state.upstream import UpstreamRecord
from streamhouse.state.waits import waits_of
from streamhouse.ui.answers import (
    ApprovalAnswer,
    ChangeAnswer,
    CheckAnswer,
    EventAnswer,
    FlowChange,
    PlanPage,
    ProposalBehind,
    VerdictAnswer,
)
from streamhouse.ui.desk import Desk
from streamhouse.ui.problem_data import trouble


def plan(desk: Desk) -> PlanPage:
    """What applying the files would do, as `streamhouse plan` shows it.

    Raises:
        DefinitionErrors: a file is wrong.
    """
    unreadable: Unreadable = {}
    compared = desk.compared(unreadable=unreadable)
    return PlanPage(flows=tuple(map(_compared, compared)), unreadable=tuple(map(trouble, unreadable.values())))


def approvals(desk: Desk) -> list[ApprovalAnswer]:
    """Every question, those that wait first, then the newest."""
    state = desk.state
    found = state.approvals.list(every=True) if state is not None else []
    found.sort(key=lambda one: (one.state == "open", one.requested_at), reverse=True)
    if state is None:
        return []
    origins, failed = Origins(desk.project, state), {one.id for one in state.approvals.failed()}
    waits = [w for flow in {one.flow for one in found if one.id in failed} for w in waits_of(state, flow)]
    why = {w.question: f"{w.text}; {w.remedy}" for w in waits if w.question in failed}
    found.sort(key=lambda one: one.state == "open" or one.id in failed, reverse=True)
    return [_question(one, origins, why.get(one.id)) for one in found]


def decide(desk: Desk, name: str, *, grant: bool, by: str, reason: str | None) -> ApprovalAnswer:
    """Grant or refuse a question.

    Raises:
        UnknownApprovalError: nobody was asked so.
        ApprovalClosedError: it was decided already, or is too old.
    """
    state = desk.state
    if state is None:
        raise UnknownApprovalError(name, [])
    return _question(
        state.approvals.decide(name, grant=grant, by=by, reason=reason or None), Origins(desk.project, state)
    )


def journal(desk: Desk, limit: int) -> list[ChangeAnswer]:
    """The newest changes of all flows, the last one first, also those that cannot be read."""
    state = desk.state
    if state is None:
        return []
    origins = Origins(desk.project, state)
    unreadable: list[UnreadableChange] = []
    readable = state.recent_changes(None, limit, unreadable)
    return [_answer(one, origins) for one in newest_first(readable, unreadable)]


def go_on(desk: Desk, change: int, *, serve: bool) -> ChangeAnswer:
    """Let what a change built serve, or give the change up; who carries the flow does the rest.

    Raises:
        UnknownChangeError: there is none of that number.
        StateConflictError: it is done or given up.
    """
    found = let_serve(desk.project, change) if serve else withdraw(desk.project, change)
    state = desk.state if isinstance(found, Change) else None
    return _answer(found, Origins(desk.project, state) if state is not None else None)


def upstream(desk: Desk, limit: int) -> list[EventAnswer]:
    """The newest changes upstream, the last one first."""
    state = desk.state
    return [_event(one) for one in reversed(state.upstream.events(limit=limit))] if state is not None else []


def _compared(one: PlanComparison) -> FlowChange:
    return FlowChange(
        flow=one.plan.flow,
        revision=one.revision,
        outcome=one.found.outcome,
        changes=one.is_change,
        text_only=one.applied is not None and not one.is_change and one.differs,
        blocks=one.blocks,
        diff=one.found,
    )


def _question(one: Approval, origins: Origins | None, failed: str | None = None) -> ApprovalAnswer:
    return ApprovalAnswer(
        id=one.id,
        flow=one.flow,
        subject=one.subject,
        asks=one.asks,
        state=one.state.value,
        evidence=one.evidence,
        asked_at=one.requested_at,
        expires_at=one.expires_at,
        decided_at=one.decided_at,
        decided_by=one.decided_by,
        reason=one.reason,
        failed=failed,
        proposals=_proposals(origins.of_question(one)) if origins is not None else (),
    )


def _answer(one: Change | UnreadableChange, origins: Origins | None) -> ChangeAnswer:
    return change_answer(one, origins) if isinstance(one, Change) else _unreadable(one)


def change_answer(one: Change, origins: Origins | None = None) -> ChangeAnswer:
    """A change as the page has it; `origins` finds the proposals that it came from, None: they are not looked for."""
    return ChangeAnswer(
        id=one.id,
        flow=one.flow,
        phase=one.phase.value,
        outcome=one.outcome.value,
        tables=tuple(one.versions),
        environment=one.environment,
        waits=one.waits,
        open=one.is_open,
        error=one.error,
        asked_by=one.requested_by,
        asked_at=one.requested_at,
        updated_at=one.updated_at,
        checks=_checks(one.review) if one.review is not None else (),
        proposals=_proposals(origins.of_change(one)) if origins is not None else (),
    )


def _unreadable(one: UnreadableChange) -> ChangeAnswer:
    return ChangeAnswer(
        id=one.id,
        flow=one.flow,
        phase=one.phase,
        outcome=one.outcome,
        tables=tuple(one.versions or ()),
        environment=one.environment,
        waits=False,
        open=one.is_open,
        error=one.text,
        asked_by=one.requested_by,
        asked_at=one.requested_at,
        updated_at=one.updated_at,
        checks=(),
        proposals=(),
    )


def _proposals(found: Iterable[Proposal]) -> tuple[ProposalBehind, ...]:
    return tuple(ProposalBehind(id=one.id, sentence=one.sentence, text=proposal_text(one)) for one in found)


def _checks(review: Review) -> tuple[CheckAnswer, ...]:
    return tuple(
        CheckAnswer(table=table.table, name=check.name, verdict=check.verdict, text=check.text)
        for table in review.tables
        for check in table.checks
    )


def _event(one: UpstreamRecord) -> EventAnswer:
    verdicts = one.decision.verdicts if one.decision is not None else ()
    return EventAnswer(
        id=one.event.id,
        flow=one.flow,
        status=one.status.value,
        change=str(one.event),
        note=one.note,
        since=one.since,
        seen_at=one.observed_at,
        verdicts=tuple(map(_verdict, verdicts)),
    )


def _verdict(v: Verdict) -> VerdictAnswer:
    return VerdictAnswer(
        flow=v.flow,
        step=v.step,
        outcome=v.outcome,
        policy=v.policy.value,
        said=v.said,
        values=v.values.value,
        pauses=v.pauses,
    )

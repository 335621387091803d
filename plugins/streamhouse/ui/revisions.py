"""What an applied plan of a flow changed, and which change of the journal it was."""

from streamhouse.compiler.diff import diff
from streamhouse.errors import StateConflictError
from streamhouse.model.outcome import FlowDiff
from streamhouse.state.plans import Unreadable
from streamhouse.state.records import Change, Phase, PlanRevision, UnreadableChange
from streamhouse.state.store import StateStore
from streamhouse.ui.answers import RevisionPage
from streamhouse.ui.changes import change_answer
from streamhouse.ui.desk import Desk

_CHANGES = 200  # of the flow, the newest, among which that of a revision is looked for


def revision(desk: Desk, flow: str, number: int) -> RevisionPage | None:
    """One applied plan of a flow; None: it has no such revision."""
    state = desk.state
    found = next((one for one in state.history(flow) if one.revision == number), None) if state is not None else None
    if state is None or found is None:
        return None
    change = _change_of(state, found)
    return RevisionPage(
        flow=flow,
        revision=number,
        applied_at=found.applied_at,
        change=change_answer(change) if change is not None else None,
        diff=_diff(state, found),
    )


def _change_of(state: StateStore, revision: PlanRevision) -> Change | None:
    """The change that became this revision: one transaction records both."""
    unreadable: list[UnreadableChange] = []
    for one in state.recent_changes(revision.flow, _CHANGES, unreadable):
        done = one.phase is Phase.APPLIED and one.environment is None
        if done and one.plan.fingerprint == revision.fingerprint and one.updated_at == revision.applied_at:
            return one
    return None


def _diff(state: StateStore, revision: PlanRevision) -> FlowDiff | None:
    unreadable: Unreadable = {}
    try:
        before = state.plan_at(revision.flow, revision.revision - 1)
        after = state.plan_at(revision.flow, revision.revision)
    except StateConflictError:
        return None
    if before is None or after is None:
        return None
    others = {name: plan for name, (_, plan) in state.plans(unreadable).items() if name != revision.flow}
    return diff(before, after, others)

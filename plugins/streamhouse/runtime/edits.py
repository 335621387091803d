"""What an edit of a flow asks for beyond the next epoch's SQL, when a run or a backfill takes it over."""

from streamhouse.compiler.diff import diff
from streamhouse.errors import StateConflictError
from streamhouse.model.outcome import Outcome, StepChange
from streamhouse.model.plan import FlowPlan
from streamhouse.state.store import StateStore

_OLDER_ROWS_STAY = (Outcome.FORWARD, Outcome.REBUILD, Outcome.BLOCK)


def stale(state: StateStore, plan: FlowPlan) -> list[StepChange]:
    """The steps whose older rows mean something else than the rows that `plan` writes from now on.

    That is by comparison with the plan applied last; none for a flow that never ran, or that another version ran.
    """
    try:
        applied = state.plan(plan.flow)
    except StateConflictError:
        return []
    if applied is None or applied[1].fingerprint == plan.fingerprint:
        return []
    changes = diff(applied[1], plan, {}).steps
    return [change for change in changes if change.change == "changed" and change.outcome in _OLDER_ROWS_STAY]


def warning(change: StepChange) -> str:
    """One line for a person."""
    why = f" (rule {change.main.rule}): {change.main.proof}" if change.main is not None else ""
    return f"{change.table}: {change.outcome}{why}; rows already written are as they were"

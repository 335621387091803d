"""May a proposal be applied now? Pure: the time, the settings and what was done before come in as arguments."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from streamhouse.autopilot.finding import FlowFault, Means
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import format_duration
from streamhouse.project.autopilot import AutopilotMode, AutopilotSettings
from streamhouse.state.autopilot import AutopilotDecision, DecisionState
from streamhouse.state.records import AppliedChange

HISTORY = timedelta(days=1)
"""How far back decisions count."""

_SAFE = frozenset({Outcome.NO_OP, Outcome.SWAP})
_FAILED = frozenset({DecisionState.ROLLED_BACK, DecisionState.REFUSED, DecisionState.LEFT})


def why_not(
    finding: FlowFault,
    outcome: Outcome | None,
    *,
    mode: AutopilotMode,
    settings: AutopilotSettings,
    recent: Sequence[AutopilotDecision],
    now: datetime,
    busy: str | None = None,
    changed: AppliedChange | None = None,
) -> str | None:
    """Why a proposal may not be applied now, in words for a person; None: it may.

    Args:
        finding: What it would mend.
        outcome: Of the plan with its edits; None: it has none.
        mode: Of this round.
        settings: The limits.
        recent: Decisions of all flows whose state began, or that were applied, within `HISTORY`.
        now: The time, in UTC.
        busy: What else goes on with the flow, such as a change that is open; None: nothing.
        changed: The change of the flow that was applied last; None: none ever was.
    """
    if finding.means is Means.PERSON:
        return "a person must do it"
    if finding.means is Means.EDIT and outcome not in _SAFE:
        return f"it would {outcome or 'have an unknown effect'}, and only no-op and swap are applied without a person"
    if mode is not AutopilotMode.AUTO:
        return f"the mode is {mode}"
    return (
        _why_not_now(finding, settings, now)
        or busy
        or _why_not_again(finding, settings, recent, now)
        or _why_too_soon(finding, settings, recent, changed, now)
    )


def _why_not_now(finding: FlowFault, settings: AutopilotSettings, now: datetime) -> str | None:
    if settings.flows and finding.flow not in settings.flows:
        return f"{finding.flow} is not among the flows that may be changed: {', '.join(settings.flows)}"
    if settings.is_quiet(now):
        return f"these are the quiet hours, {settings.quiet_hours} UTC"
    return None


def _why_not_again(
    finding: FlowFault, settings: AutopilotSettings, recent: Sequence[AutopilotDecision], now: datetime
) -> str | None:
    """Why what was done before forbids it."""
    tried = [one for one in recent if one.finding == finding.key and now - one.state_at < HISTORY]
    failed = next((one for one in reversed(tried) if one.state in _FAILED or _was_in_vain(one)), None)
    if failed is not None:
        return f"the same was {failed.state} at {failed.state_at:%H:%M} UTC: {failed.reason}; not again for a day"
    done = [one for one in recent if one.applied_at is not None and now - one.applied_at < HISTORY]
    if len(done) >= settings.changes_per_day:
        applied = "1 change was" if len(done) == 1 else f"{len(done)} changes were"
        return f"{applied} applied in 24 hours, and no more than {settings.changes_per_day} may be"
    return None


def _why_too_soon(
    finding: FlowFault,
    settings: AutopilotSettings,
    recent: Sequence[AutopilotDecision],
    changed: AppliedChange | None,
    now: datetime,
) -> str | None:
    """Why the last change of the flow forbids another one, also where a person made it."""
    own = [
        (at, "the autopilot")
        for one in recent
        if one.flow == finding.flow and one.applied_at is not None and now - one.applied_at < HISTORY
        for at in (one.applied_at, one.state_at)
    ]
    by_anyone = [] if changed is None else [(changed.at, f"change {changed.id} of {changed.by}")]
    at, by = max((*own, *by_anyone), key=lambda one: one[0], default=(None, ""))
    if at is None or now - at >= settings.cool_down:
        return None
    return f"the flow was changed at {at:%H:%M} UTC by {by} and stays so for {format_duration(settings.cool_down)}"


def _was_in_vain(decision: AutopilotDecision) -> bool:
    """Whether a round that changes no row was done, and did nothing for its goal."""
    measured = decision.before is not None and decision.after is not None
    return (
        decision.state is DecisionState.KEPT
        and decision.means != Means.EDIT
        and measured
        and (decision.after or 0.0) >= (decision.before or 0.0)
    )

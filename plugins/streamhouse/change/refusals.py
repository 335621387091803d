"""When a change cannot be carried out before a person decides: steps that wait would pass rows by."""

from collections.abc import Collection

from streamhouse.change.building import segments_to_rebuild, wanted_plan
from streamhouse.change.follow import Follower
from streamhouse.compiler.diff import read_again
from streamhouse.engine.carried_positions import meeting, passed_by
from streamhouse.engine.execution import FlowExecution
from streamhouse.errors import ChangeFailedError
from streamhouse.state.records import Change
from streamhouse.state.store import StateStore


def waiting(execution: FlowExecution, change: Change, follower: Follower | None) -> frozenset[str]:
    """Steps that wait while a change is carried out: none for rows that are gone, if it goes on without them.

    Args:
        execution: Carries the flow.
        change: Of the flow.
        follower: Knows what is followed; None: what changes upstream is not looked at.
    """
    goes_on = read_again(execution.plan, change.plan) or execution.plan.given_up != change.plan.given_up
    return execution.waiting & follower.waiting() if goes_on and follower is not None else execution.waiting


def refuse_half_done(state: StateStore, flow: str, segments: Collection[str]) -> None:
    """An epoch of a segment that waits for a person ends with the plan it began with, or as the answer says.

    Raises:
        ChangeFailedError: one of these segments is in the middle of an epoch.
    """
    for segment in sorted(segments):
        if state.unfinished(flow, segment) is not None:
            raise ChangeFailedError(
                f"{segment} of {flow} is paused in the middle of an epoch, for something that waits",
                hint=f"decide or repair that first: streamhouse approvals {flow}",
            )


def refuse_behind(state: StateStore, execution: FlowExecution, change: Change, steps: Collection[str]) -> None:
    """Refuse what would let steps that wait go on from where others are, or leave their rows out.

    Args:
        state: The state store.
        execution: Carries the flow.
        change: Of the flow.
        steps: Those that wait.

    Raises:
        ChangeFailedError: a person must decide first.
    """
    old, waiting_segments = execution.plan, execution.segments_of(steps)
    behind = meeting(old, wanted_plan(state, change), waiting_segments, change.versions)
    if waiting_segments and len(old.segments) > 1 and (change.versions or change.moves):
        apart = bool(old.aside) and not change.moves
        behind += (
            passed_by(old, waiting_segments, segments_to_rebuild(old, change), change.versions)
            if apart
            else sorted(waiting_segments)
        )
    if behind:
        names = ", ".join(dict.fromkeys(behind))
        raise ChangeFailedError(
            f"{names} of {old.flow} is paused for something that waits, and is behind the others",
            hint=f"decide or repair that first: streamhouse approvals {old.flow}",
        )

"""Finds the environment whose tables are those that a change would build: they are promoted, and not built twice."""

from dataclasses import dataclass

from streamhouse.runtime.owner import liveness
from streamhouse.state.changes import Wish
from streamhouse.state.records import Change, RunnerState
from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class BuiltAlready:
    """An environment that has what a change would build.

    Attributes:
        change: Of the environment.
        is_running: Whether a process keeps it up to date; that process would lose it, so it is not promoted.
    """

    change: Change
    is_running: bool


def built_already(state: StateStore, wish: Wish) -> BuiltAlready | None:
    """The environment that has the plan wanted, and of its own exactly the tables that are to be rebuilt.

    One that no process runs comes first; one that cannot be read does not count. None: there is none; or production was
    asked for the same plan before, and goes on with that.

    Args:
        state: Holds the journal.
        wish: Of production.
    """
    flow, applied = wish.plan.flow, state.plan(wish.plan.flow)
    asked = state.open_change(flow)
    if applied is None or wish.moves or wish.forgetting or (asked is not None and _is_same(asked, wish)):
        return None
    found = [
        BuiltAlready(one, _runs(state, one))
        for one in state.environments([])
        if one.flow == flow and one.base == applied[0] and _is_same(one, wish)
    ]
    return min(found, key=lambda one: one.is_running, default=None)


def _is_same(change: Change, wish: Wish) -> bool:
    return (
        change.plan.fingerprint == wish.plan.fingerprint
        and not change.moves
        and set(change.versions) == wish.to_rebuild
        and change.copies == wish.copies
    )


def _runs(state: StateStore, change: Change) -> bool:
    return state.progress(change.candidate, alive=liveness()).state is RunnerState.RUNNING

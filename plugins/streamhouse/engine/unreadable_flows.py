"""A flow beside another one whose applied plan cannot be read: when the first may go on (docs/decisions)."""

from collections.abc import Collection, Iterable, Mapping

from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.version import table_name
from streamhouse.state.plans import Unreadable
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore


def refuse_unknown(
    plan: FlowPlan, others: Iterable[FlowPlan], unreadable: Unreadable, epochs: Collection[EpochRecord]
) -> None:
    """Refuse a flow that shares a table with a flow whose plan cannot be read, or may share one.

    What such a flow reads is known by the positions of its last epochs alone.

    Args:
        plan: Of the flow, over the names that people know or those that stores hold.
        others: The applied plans that can be read.
        unreadable: Flow → why its plan cannot be read.
        epochs: The last finished epoch of each segment of all flows.

    Raises:
        StateConflictError: so it is; the hint is what to do about the plan that cannot be read.
    """
    refuse_unknown_inputs(plan, others, unreadable)
    read = _read_by(epochs)
    own = {table_name(name) for name in plan.tables}
    for flow, why in unreadable.items():
        if flow not in read:
            raise beside(plan.flow, f"may not go on: it is not known whether {flow} reads its tables", why)
        if shared := sorted(own & read[flow]):
            raise beside(plan.flow, f"may not go on: {flow} reads {shared[0]}", why)


def plans_beside(plan: FlowPlan, state: StateStore) -> Collection[FlowPlan]:
    """The applied plans that can be read, over the names that stores hold, where a flow may go on beside the others.

    Args:
        plan: Of the flow, as of `refuse_unknown`.
        state: Has the plans and the epochs of all flows.

    Raises:
        StateConflictError: it may not; see `refuse_unknown`.
    """
    unreadable: Unreadable = {}
    every = state.running_plans(unreadable).values()
    refuse_unknown(plan, every, unreadable, state.newest_epochs() if unreadable else ())
    return every


def refuse_unknown_inputs(plan: FlowPlan, others: Iterable[FlowPlan], unreadable: Unreadable) -> None:
    """Refuse a flow that reads a table of a flow whose plan cannot be read; arguments as of `refuse_unknown`.

    Raises:
        StateConflictError: so it is; the hint is what to do about the plan that cannot be read.
    """
    if not unreadable:
        return
    owned = {table_name(name) for other in (*others, plan) for name in other.tables}
    if unknown := sorted({table_name(table.name) for table in plan.external} - owned):
        error = next(iter(unreadable.values()))
        raise beside(plan.flow, f"reads {unknown[0]}, and it is not known which flow writes that", error)


def beside(flow: str, what: str, error: StateConflictError) -> StateConflictError:
    """The error of a flow that needs the plan of another one, which cannot be read.

    Args:
        flow: Its name.
        what: It does, or may not do.
        error: Why the other plan cannot be read.
    """
    return StateConflictError(f"{flow} {what}; {error.message}", hint=error.hint)


def _read_by(epochs: Iterable[EpochRecord]) -> Mapping[str, set[str]]:
    """Flow → what its last epochs read, by the names that people know."""
    found: dict[str, set[str]] = {}
    for epoch in epochs:
        found.setdefault(epoch.flow, set()).update(map(table_name, epoch.end))
    return found

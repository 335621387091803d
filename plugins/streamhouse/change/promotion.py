"""Which environments have what plans would build. Loads no engine: `plan` asks it at each edit."""

from collections.abc import Iterable
from contextlib import suppress

from streamhouse.change.built_already import BuiltAlready, built_already
from streamhouse.change.change_request import wish_of
from streamhouse.errors import BlockedError
from streamhouse.project.compare import PlanComparison
from streamhouse.project.project import Project
from streamhouse.state.plans import Unreadable
from streamhouse.state.records import UnreadableChange


def unread_environments(project: Project, compared: Iterable[PlanComparison]) -> list[UnreadableChange]:
    """The environments that cannot be read, of the flows that applying changes: none of them is promoted."""
    changed = {one.plan.flow for one in compared if one.changes_applied}
    state = project.existing_state() if changed else None
    if state is None:
        return []
    unread: list[UnreadableChange] = []
    with state:
        state.environments(unread)
    return [one for one in unread if one.flow in changed]


def built_before(
    project: Project, compared: Iterable[PlanComparison], unreadable: list[UnreadableChange] | None = None
) -> dict[str, BuiltAlready]:
    """Flow → the environment that has what applying its plan would build; a flow that is absent has none, or waits.

    An environment that cannot be read is not promoted: applying builds the tables again. Beside a plan that cannot be
    read nothing is applied, and so nothing is promoted.

    Args:
        project: Its state store is read, once for all.
        compared: The plans against what is applied.
        unreadable: Gets the environments of these flows that cannot be read.
    """
    changed = [one for one in compared if one.changes_applied]
    state = project.existing_state() if changed else None
    if state is None:
        return {}
    found: dict[str, BuiltAlready] = {}
    unread: list[UnreadableChange] = []
    with state:
        environments = state.environments(unread)
        if unreadable is not None:
            unreadable += [one for one in unread if one.flow in {each.plan.flow for each in changed}]
        unknown: Unreadable = {}
        state.plans(unknown)
        for one in changed if environments and not unknown else ():
            with suppress(BlockedError):
                built = built_already(state, wish_of(state, one.plan, one.found))
                found |= {one.plan.flow: built} if built is not None else {}
    return found

"""Which environments have what plans would build. Loads no engine: `plan` asks it at each edit."""

from collections.abc import Iterable
from contextlib import suppress

from streamhouse.change.built_already import BuiltAlready, built_already
from streamhouse.change.change_request import wish_of
from streamhouse.errors import BlockedError
from streamhouse.project.compare import PlanComparison
from streamhouse.project.project import Project


def built_before(project: Project, compared: Iterable[PlanComparison]) -> dict[str, BuiltAlready]:
    """Flow → the environment that has what applying its plan would build; a flow that is absent has none, or waits.

    Args:
        project: Its state store is read, once for all.
        compared: The plans against what is applied.
    """
    changed = [one for one in compared if one.changes_applied]
    state = project.existing_state() if changed else None
    if state is None:
        return {}
    found: dict[str, BuiltAlready] = {}
    with state:
        for one in changed if state.environments() else ():
            with suppress(BlockedError):
                built = built_already(state, wish_of(state, one.plan, one.found))
                found |= {one.plan.flow: built} if built is not None else {}
    return found

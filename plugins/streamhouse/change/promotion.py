"""Which environments plans promote. Loads no engine: `plan` asks it at each edit."""

from collections.abc import Iterable

from streamhouse.change.built_already import built_already
from streamhouse.change.change_request import wish_of
from streamhouse.errors import BlockedError
from streamhouse.project.compare import PlanComparison
from streamhouse.project.project import Project
from streamhouse.state.store import StateStore


def environments_to_promote(project: Project, compared: Iterable[PlanComparison]) -> dict[str, str]:
    """Flow → the environment that applying its plan promotes, as it has what would be built.

    Flows are left out whose plans are built, or wait.

    Args:
        project: Its state store is read, once for all.
        compared: Plans against what is applied.
    """
    changed = [one for one in compared if one.is_change and one.applied is not None]
    state = project.existing_state() if changed else None
    if state is None:
        return {}
    with state:
        if not state.environments():
            return {}
        found = {one.plan.flow: _environment_to_promote(state, one) for one in changed}
    return {flow: environment for flow, environment in found.items() if environment is not None}


def _environment_to_promote(state: StateStore, compared: PlanComparison) -> str | None:
    try:
        built = built_already(state, wish_of(state, compared.plan, compared.found))
    except BlockedError:
        return None
    return built.environment if built is not None else None

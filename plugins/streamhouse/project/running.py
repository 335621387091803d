"""The definitions that applied plans follow from: by these the Flow Trigger follows what changes upstream."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from streamhouse.errors import StateConflictError, StreamhouseError
from streamhouse.model.definition import Definition
from streamhouse.model.flow import Flow
from streamhouse.model.plan import FlowPlan
from streamhouse.project.check import compile_with_upstream, load_registry
from streamhouse.project.edits import Edit, edits, is_taken
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.project.project import Project
from streamhouse.project.settings import AutoApply
from streamhouse.registry import Registry
from streamhouse.registry.registry import Broken
from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class Defined:
    """What flows are compiled from when something upstream of them changes.

    Attributes:
        registry: Every flow that was applied, as it runs or, where edits are taken, as its files have it.
        by_record: Flows whose files do not count: what they say waits, if it is something else.
        waiting: Of these, flow → what waits.
    """

    registry: Registry
    by_record: frozenset[str] = frozenset()
    waiting: Mapping[str, Edit] = field(default_factory=dict)


def defined(project: Project, state: StateStore, applied: Mapping[str, FlowPlan]) -> Defined:
    """What flows are compiled from, by `auto_apply` of the project.

    Args:
        project: Whose.
        state: Its state store.
        applied: Flow → its plan as it runs.
    """
    files, takes = load_registry(project), project.settings.auto_apply
    if takes is AutoApply.ALL:
        return Defined(files)
    found = edits(project, {})
    taken = {flow for flow, edit in found.items() if is_taken(edit.outcome, takes)}
    waiting = {flow: edit for flow, edit in found.items() if flow not in taken}
    registry = _running(project, state, files, applied, taken)
    return Defined(registry, frozenset(applied.keys() - taken), waiting)


def _running(
    project: Project, state: StateStore, files: Registry, applied: Mapping[str, FlowPlan], edited: Collection[str]
) -> Registry:
    """Flows as they were when they were applied; those in `edited` as their files have them."""
    definitions = state.definitions.applied({})
    parts: dict[str, Registry] = {}
    broken: list[Broken] = []
    for flow, plan in applied.items():
        if flow in edited:
            parts[flow] = files
        elif flow in definitions:
            parts[flow] = _registry(definitions[flow].model_dump_json())
        elif _follows_from(project, files, plan, applied):
            state.definitions.note(plan, files.definition(flow))
            parts[flow] = files
        else:
            broken.append(Broken(Flow, flow, None, _not_recorded(flow)))
    return Registry.joined(parts, broken)


def _follows_from(project: Project, files: Registry, plan: FlowPlan, applied: Mapping[str, FlowPlan]) -> bool:
    try:
        return compile_with_upstream(project, files, plan.flow, KnownInputs(applied)).fingerprint == plan.fingerprint
    except StreamhouseError:
        return False


@lru_cache(maxsize=1024)
def _registry(definition: str) -> Registry:
    return Registry.of_definition(Definition.model_validate_json(definition))


def _not_recorded(flow: str) -> StateConflictError:
    return StateConflictError(
        f"the files that {flow} was applied with are not recorded, so it cannot be compiled again",
        hint=f"apply it once: streamhouse apply {flow}",
    )

"""The last registry and catalog of a project in this process, as long as all that they follow from stays equal.

A page or a server that answers one wish after another builds them, and the index of words over the catalog, once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamhouse.model.plan import FlowPlan
from streamhouse.planner.build_catalog import KnownValues, build_catalog
from streamhouse.planner.catalog import Catalog
from streamhouse.project.check import load_registry
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.registry.files import DefinitionFiles

_PROJECTS_MAX = 4


@dataclass(frozen=True)
class _Entry:
    digest: str
    plans: Mapping[str, FlowPlan]
    values: KnownValues
    registry: Registry
    catalog: Catalog

    def follows_from(self, digest: str, plans: Mapping[str, FlowPlan], values: KnownValues) -> bool:
        # Which flow writes a table first depends on the order of plans.
        return self.digest == digest and self.values == values and list(self.plans.items()) == list(plans.items())


_entries: dict[Path, _Entry] = {}


def registry_and_catalog(
    project: Project, files: DefinitionFiles, plans: Mapping[str, FlowPlan], values: KnownValues
) -> tuple[Registry, Catalog]:
    """As `load_registry` and `build_catalog` give them; those of the last call where its arguments were equal.

    Args:
        project: Its cache is used and filled.
        files: Of the project, without errors.
        plans: Of all its flows, compiled from these files.
        values: What columns are known to hold.
    """
    entry = _entries.get(project.root)
    if entry is None or not entry.follows_from(files.digest, plans, values):
        registry = load_registry(project, files)
        entry = _Entry(files.digest, plans, values, registry, build_catalog(registry, plans, values))
        _entries.pop(project.root, None)
        for root in list(_entries)[: -_PROJECTS_MAX + 1]:
            _entries.pop(root, None)
        _entries[project.root] = entry
    return entry.registry, entry.catalog

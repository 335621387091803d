"""The registry and the catalog of a project, kept in this process for as long as all that they follow from stays equal.

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
class _Kept:
    digest: str
    plans: Mapping[str, FlowPlan]
    values: KnownValues
    registry: Registry
    catalog: Catalog

    def follows_from(self, digest: str, plans: Mapping[str, FlowPlan], values: KnownValues) -> bool:
        # Which flow writes a table first depends on the order of plans.
        return self.digest == digest and self.values == values and list(self.plans.items()) == list(plans.items())


_kept: dict[Path, _Kept] = {}


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
    kept = _kept.get(project.root)
    if kept is None or not kept.follows_from(files.digest, plans, values):
        registry = load_registry(project, files)
        kept = _Kept(files.digest, plans, values, registry, build_catalog(registry, plans, values))
        _kept.pop(project.root, None)
        for root in list(_kept)[: -_PROJECTS_MAX + 1]:
            _kept.pop(root, None)
        _kept[project.root] = kept
    return kept.registry, kept.catalog

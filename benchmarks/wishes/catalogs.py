"""What the planner is told of each project: its definitions, and the texts that its files hold. Without Spark."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project

from .wish import SCHEMAS

if TYPE_CHECKING:
    from streamhouse.model.plan import FlowPlan
    from streamhouse.planner.catalog import Catalog

MOST_TEXTS = 2000  # a column with more is a free text, or a number of its rows


@dataclass(frozen=True)
class Schema:
    """One of the small projects, checked."""

    name: str
    root: Path
    plans: "dict[str, FlowPlan]"
    catalog: "Catalog"


@lru_cache
def schema(name: str) -> Schema:
    """The project called so.

    Raises:
        SystemExit: it has errors; each with its place.
    """
    from streamhouse.planner.build_catalog import build_catalog

    project = Project.at(SCHEMAS / name)
    registry = load_registry(project)
    checked = check_project(project, registry)
    if checked.errors:
        raise SystemExit("\n".join(map(str, checked.errors)))
    plans = dict(checked.plans)
    values = {key: texts for plan in plans.values() for key, texts in _texts(plan, project.root).items()}
    return Schema(name, project.root, plans, build_catalog(registry, plans, values))


def _texts(plan: "FlowPlan", root: Path) -> dict[tuple[str, str], frozenset[str]]:
    """The texts in each column of the tables that a source fills as it is; the catalog hands them on downstream."""
    from streamhouse.ingest.kinds import open_source

    sources = {source.name: open_source(source, root) for source in plan.sources}
    found: dict[tuple[str, str], frozenset[str]] = {}
    for segment in plan.segments:
        for step in segment.steps:
            if step.action == "ingest_as_is":
                source = sources[step.reads[0].table]
                rows = source.read({}, source.available())
                for column in step.writes.columns:
                    texts = frozenset(rows[column.name].drop_null().to_pylist()) if column.type == "string" else None
                    if texts is not None and len(texts) <= MOST_TEXTS:
                        found[step.writes.name, column.name] = texts
    return found

"""A project's flows as what Airflow shall run, or as what is wrong with them; each flow by itself."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.orchestrator.engine_columns import EngineColumns
from streamhouse.orchestrator.engine_command import EngineCommand, engine_command, resolve
from streamhouse.orchestrator.spec import FlowSpec, flow_spec
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.runtime.command import COMMAND_VARIABLE


@dataclass(frozen=True)
class Compiled:
    """What became of a project.

    Attributes:
        flows: Flow → its DAGs.
        yaml: Flow → the text of its file.
        broken: Flow → what is wrong with it, each error with its place, cause and hint.
    """

    flows: Mapping[str, FlowSpec]
    yaml: Mapping[str, str]
    broken: Mapping[str, str]


def compile_flows(root: Path) -> Compiled:
    """Compile every flow of the project at `root`; one that is broken takes only those away that read from it.

    Nothing is parsed when nothing changed since the last time (`project/check.py`).

    Raises:
        NotAProjectError: there is no project.
        DefinitionError: its settings are wrong.
    """
    from streamhouse.project.check import check_project, load_registry

    project = Project.at(root, EngineColumns(root, _command))
    checked = check_project(project)
    registry = load_registry(project)
    plans: dict[str, FlowPlan] = dict(checked.plans)
    broken: dict[str, str] = {}
    if checked.errors:
        plans, broken = _each(project, registry)
    specs = {name: _spec(project, registry, plan) for name, plan in sorted(plans.items())}
    return Compiled(
        {name: spec for name, (spec, _) in specs.items()}, {name: text for name, (_, text) in specs.items()}, broken
    )


def _command() -> EngineCommand:
    # Outside of tasks only the environment is sure to tell it.
    return resolve(None, os.environ) if os.environ.get(COMMAND_VARIABLE) else engine_command()


def _each(project: Project, registry: Registry) -> tuple[dict[str, FlowPlan], dict[str, str]]:
    from streamhouse.project.check import compile_with_upstream

    plans: dict[str, FlowPlan] = {}
    broken: dict[str, str] = {}
    for name in sorted({*registry.flows, *registry.broken_flows}):
        try:
            plans[name] = compile_with_upstream(project, registry, name)
        except StreamhouseError as error:
            broken[file_stem(name)] = str(error)
    return plans, broken


def _spec(project: Project, registry: Registry, plan: FlowPlan) -> tuple[FlowSpec, str]:
    file = registry.flows[plan.flow].at.file
    yaml = (project.root / file).read_text(encoding="utf-8-sig", errors="replace")
    uses = dict.fromkeys(f"{step.action}@{step.version}" for step in plan.steps)
    sql = {use: registry.action(use).sql for use in uses}
    return flow_spec(plan, file=file, yaml=yaml, sql=sql), yaml


def file_stem(flow: str) -> str:
    """The name of a file for a flow, whose own name may be what is wrong with it."""
    return re.sub(r"[^a-z0-9_]", "_", flow.lower())[:100] or "unnamed"

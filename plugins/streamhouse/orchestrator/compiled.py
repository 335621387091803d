"""A project's flows as what Airflow shall run, or as what is wrong with them; each flow by itself."""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.orchestrator.engine_columns import EngineColumns
from streamhouse.orchestrator.engine_command import EngineCommand, engine_command, resolve
from streamhouse.orchestrator.spec import FlowSpec, flow_spec
from streamhouse.project.autopilot import AutopilotMode
from streamhouse.project.project import Project
from streamhouse.project.settings import AutoApply
from streamhouse.registry import Registry
from streamhouse.runtime.command import COMMAND_VARIABLE


@dataclass(frozen=True)
class Compiled:
    """What became of a project.

    Attributes:
        flows: Flow → its DAGs.
        yaml: Flow → the text of its file.
        broken: Flow → what is wrong with its files, each error with its place, cause and hint, or why its applied plan
            cannot be read. One that was applied has its DAGs all the same; without its plan they are those of its file.
        autopilot: Whether the project has rounds of the autopilot.
    """

    flows: Mapping[str, FlowSpec]
    yaml: Mapping[str, str]
    broken: Mapping[str, str]
    autopilot: bool = False


def compile_flows(root: Path) -> Compiled:
    """The flows of the project at `root`: as they were applied, and those that never were as their files say.

    Where `auto_apply` is `all`, as their files say. One that is broken takes only those away that read from it, and
    none that was applied. A flow that was applied and that no file defines any more has DAGs while it is wanted to run.
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
    specs = {name: _spec(project, registry, plan) for name, plan in plans.items()}
    if project.settings.auto_apply is not AutoApply.ALL:
        specs |= _applied(project, {*registry.flows, *registry.broken_flows}, broken)
    specs = dict(sorted(specs.items()))
    return Compiled(
        {name: spec for name, (spec, _) in specs.items()},
        {name: text for name, (_, text) in specs.items()},
        broken,
        project.settings.autopilot.mode is not AutopilotMode.OFF,
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
    return _spec_of(plan, file, yaml, registry)


def _spec_of(plan: FlowPlan, file: str, yaml: str, registry: Registry) -> tuple[FlowSpec, str]:
    uses = dict.fromkeys(f"{step.action}@{step.version}" for step in plan.steps)
    sql = {use: registry.action(use).sql for use in uses}
    return flow_spec(plan, file=file, yaml=yaml, sql=sql), yaml


def _applied(project: Project, named: Collection[str], broken: dict[str, str]) -> dict[str, tuple[FlowSpec, str]]:
    """Flow → its DAGs as it runs, and the text of its file then; `broken` gets flows whose plans cannot be read."""
    state = project.existing_state()
    if state is None:
        return {}
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.runners import WantedState  # loads SQLAlchemy, which a project that never ran need not

    with state:
        wanted = {one.flow for one in state.runners.all_wanted() if one.wanted is WantedState.RUNNING}
        unreadable: Unreadable = {}
        plans = {n: plan for n, (_, plan) in state.plans(unreadable).items() if n in named or n in wanted}
        definitions = state.definitions.applied({})
    broken |= {file_stem(n): str(error) for n, error in unreadable.items() if n in named or n in wanted}
    found: dict[str, tuple[FlowSpec, str]] = {}
    for name, plan in plans.items():
        definition = definitions.get(name)
        part = Registry.of_definition(definition) if definition is not None else None
        if part is not None and definition is not None:
            file = part.flow(name).at.file
            found[name] = _spec_of(plan, file, definition.files[file], part)
        else:
            found[name] = flow_spec(plan, file=f"flows/{name}.yaml", yaml="", sql={}), ""
    return found


def file_stem(flow: str) -> str:
    """The name of a file for a flow, whose own name may be what is wrong with it."""
    return re.sub(r"[^a-z0-9_]", "_", flow.lower())[:100] or "unnamed"

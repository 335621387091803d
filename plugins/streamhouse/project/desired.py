"""What the files say, for flows that see what is upstream as they run with it.

A column that came upstream is no edit: the Flow Trigger lets it in, as far as the policies say (docs/trigger.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamhouse.compiler.older_nulls import is_tightened
from streamhouse.errors import DefinitionErrors
from streamhouse.model.plan import FlowPlan
from streamhouse.project.applied import AppliedState, applied_state
from streamhouse.project.check import check_project, compile_one, compile_with_upstream, load_registry
from streamhouse.project.contracts import check_contracts
from streamhouse.project.project import Project
from streamhouse.registry.files import DefinitionFiles, read_files

if TYPE_CHECKING:
    from streamhouse.registry import Registry
    from streamhouse.state.plans import Unreadable


@dataclass(frozen=True)
class Desired:
    """What the files say, and what is applied; a plan that was applied as it is, is one object in both.

    Attributes:
        plans: Flow → its plan, each after those it reads from.
        files: That the plans follow from.
    """

    plans: Mapping[str, FlowPlan]
    applied: AppliedState
    files: DefinitionFiles


def desired(
    project: Project,
    *,
    processes: int = 1,
    files: DefinitionFiles | None = None,
    unreadable: "Unreadable | None" = None,
) -> Desired:
    """What the files of all flows say.

    Args:
        project: Its state store is read.
        processes: As for `check_project`.
        files: In place of those of the project, such as these with a proposal's in them.
        unreadable: As for `applied_state`.

    Raises:
        DefinitionErrors: a file is wrong.
    """
    files = files or read_files(project.root)
    checked = check_project(project, files=files, processes=processes)
    if checked.errors:
        raise DefinitionErrors(checked.errors)
    applied = applied_state(project, checked.plans, unreadable)
    running = applied.plans
    if _sees_more(checked.plans, running):
        from streamhouse.project.known_inputs import KnownInputs

        checked = check_project(project, known_inputs=KnownInputs(running), files=files)
        if checked.errors:
            raise DefinitionErrors(checked.errors)
        applied = applied_state(project, checked.plans, unreadable)
    _refuse_broken_contracts(project, checked.plans, files)
    return Desired(checked.plans, applied, files)


def desired_plans(project: Project, unreadable: "Unreadable | None" = None) -> dict[str, FlowPlan]:
    """Flow → its plan, of all flows, each after those it reads from.

    Args:
        project: Its state store is read.
        unreadable: As for `applied_state`.

    Raises:
        DefinitionErrors: a file is wrong.
    """
    return dict(desired(project, unreadable=unreadable).plans)


def desired_flow(
    project: Project, flow: str, files: DefinitionFiles | None = None, unreadable: "Unreadable | None" = None
) -> Desired:
    """As `desired`, with the plan of one flow only; the applied state is that of all flows.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
        DefinitionErrors: several things are.
    """
    files = files or read_files(project.root)
    of_files = compile_one(project, flow, files)
    applied = applied_state(project, {flow: of_files}, unreadable)
    plan = over_what_runs(project, of_files, applied.plans, lambda: load_registry(project, files))
    if plan is not of_files:
        applied = applied_state(project, {flow: plan}, unreadable)
    _refuse_broken_contracts(project, {flow: plan}, files)
    return Desired({flow: plan}, applied, files)


def desired_plan(project: Project, flow: str) -> FlowPlan:
    """The plan that the files of a project give one flow, which need not be the applied one.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
        DefinitionErrors: several things are.
    """
    return desired_flow(project, flow).plans[flow]


def _refuse_broken_contracts(project: Project, plans: Mapping[str, FlowPlan], files: DefinitionFiles) -> None:
    errors = check_contracts(project, plans, files).errors
    if errors:
        raise errors[0] if len(errors) == 1 else DefinitionErrors(errors)


def over_what_runs(
    project: Project, plan: FlowPlan, running: Mapping[str, FlowPlan], registry: Callable[[], "Registry"]
) -> FlowPlan:
    """A plan of files, compiled once more over what its flow runs with and its files do not say, if there is such.

    Args:
        project: Its cache is used.
        plan: Compiled of the files alone.
        running: Flow → its plan as it runs.
        registry: Gives the files' actions and flows.

    Raises:
        DefinitionError, DefinitionErrors: the flow is wrong over what it runs with.
    """
    if not _sees_more({plan.flow: plan}, running):
        return plan
    from streamhouse.project.known_inputs import KnownInputs  # slow to load

    return compile_with_upstream(project, registry(), plan.flow, KnownInputs(running))


def _sees_more(plans: Mapping[str, FlowPlan], applied: Mapping[str, FlowPlan]) -> bool:
    """Whether flows run with something that their files do not say: of what is upstream, or of rows already written.

    Args:
        plans: Flow → its plan, compiled of the files alone.
        applied: Flow → its plan as it runs.
    """
    for plan in applied.values():
        if (
            plan.adapted
            or plan.again
            or plan.given_up
            or plan.aside
            or plan.older_nulls
            or any(source.truncated or source.given_up for source in plan.sources)
        ):
            return True
        if any(read.hidden for step in plan.steps for read in step.reads):
            return True
    for name, plan in plans.items():
        if name in applied:
            known = {source.name: source.columns for source in applied[name].sources}
            if any(source.name in known and known[source.name] != source.columns for source in plan.sources):
                return True
            if applied[name] is not plan and is_tightened(applied[name], plan):
                return True
    return False

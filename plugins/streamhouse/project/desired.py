"""What the files say, for flows that see what is upstream as they run with it.

A column that came upstream is no edit: the Flow Trigger lets it in, as far as the policies say (docs/trigger.md).
"""

from collections.abc import Mapping

from streamhouse.errors import DefinitionErrors
from streamhouse.model.plan import FlowPlan
from streamhouse.project.applied import applied_state
from streamhouse.project.check import check_project, compile_one, compile_with_upstream, load_registry
from streamhouse.project.project import Project


def desired_plans(project: Project, *, processes: int = 1) -> dict[str, FlowPlan]:
    """Flow → its plan, of all flows, each after those it reads from; `processes` is as for `check_project`.

    Raises:
        DefinitionErrors: a file is wrong.
    """
    checked = check_project(project, processes=processes)
    if checked.errors:
        raise DefinitionErrors(checked.errors)
    applied = _applied(project, checked.plans)
    if _sees_more(checked.plans, applied):
        from streamhouse.project.seen import Seen

        checked = check_project(project, seen=Seen(applied))
        if checked.errors:
            raise DefinitionErrors(checked.errors)
    return dict(checked.plans)


def desired_plan(project: Project, flow: str) -> FlowPlan:
    """The plan of one flow.

    Raises:
        UnknownFlowError: no file defines it.
        DefinitionError: it, or a flow it reads from, is wrong.
        DefinitionErrors: several things are.
    """
    plan = compile_one(project, flow)
    applied = _applied(project, {flow: plan})
    if _sees_more({flow: plan}, applied):
        from streamhouse.project.seen import Seen

        return compile_with_upstream(project, load_registry(project), flow, Seen(applied))
    return plan


def _applied(project: Project, compiled: Mapping[str, FlowPlan]) -> dict[str, FlowPlan]:
    return {name: one.plan for name, one in applied_state(project, compiled).flows.items()}


def _sees_more(plans: Mapping[str, FlowPlan], applied: Mapping[str, FlowPlan]) -> bool:
    """Whether something upstream is other than flows run with."""
    for plan in applied.values():
        if plan.adapted or plan.again or any(source.truncated or source.given_up for source in plan.sources):
            return True
        if any(read.hidden for step in plan.steps for read in step.reads):
            return True
    for name, plan in plans.items():
        if name in applied:
            known = {source.name: source.columns for source in applied[name].sources}
            if any(source.name in known and known[source.name] != source.columns for source in plan.sources):
                return True
    return False

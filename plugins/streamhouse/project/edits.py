"""Edits of files against what runs: what a flow is to run with, and what waits until a person applies it.

Saving a file changes nothing that serves. A flow goes on with the plan that was applied to it, over every restart;
its files are what it is to become when somebody says so: `streamhouse apply`, or `auto_apply` of streamhouse.yaml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamhouse.errors import (
    DefinitionError,
    DefinitionErrors,
    EnvironmentProblem,
    StoreError,
    StreamhouseError,
    UnknownFlowError,
)
from streamhouse.model.definition import Definition
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.project.applied import AppliedPlan, applied_state
from streamhouse.project.check import load_registry
from streamhouse.project.compare import PlanComparison, compare_project
from streamhouse.project.project import Project
from streamhouse.project.settings import AutoApply
from streamhouse.registry.files import text_hash

if TYPE_CHECKING:
    from streamhouse.state.plans import Unreadable

_SAFE = frozenset({Outcome.NO_OP, Outcome.SWAP})


@dataclass(frozen=True)
class Edit:
    """How the files of a flow differ from the plan that is applied.

    Attributes:
        outcome: Of applying them; None: they are wrong, or gone.
        text: What it is, in words for a person.
        after: Another one when the files say something else again.
    """

    flow: str
    outcome: Outcome | None
    text: str
    after: str

    def __str__(self) -> str:
        if self.outcome is None:
            return f"{self.text}; the flow goes on with what is applied"
        return f"an edit waits: {self.text}; see: streamhouse plan {self.flow}; take it: streamhouse apply {self.flow}"


@dataclass(frozen=True)
class ToRun:
    """What a flow is to run with.

    Attributes:
        plan: As compiled, over the names that people know.
        is_applied: It is the plan that was applied last. Whatever is applied when the flow begins is what it runs with.
        definition: The texts that the plan follows from, where it is not applied.
        edit: What waits; None: nothing does.
        warnings: What a person should know of other flows.
    """

    plan: FlowPlan
    is_applied: bool
    definition: Definition | None = None
    edit: Edit | None = None
    warnings: tuple[str, ...] = ()


def to_run(project: Project, flow: str) -> ToRun:
    """What a flow is to run with: what is applied, and what of an edit is taken by itself.

    A flow that was never applied runs with what its files say: nothing serves that this could change.

    Raises:
        UnknownFlowError: no file defines it, and it was never applied.
        DefinitionError, DefinitionErrors: it was never applied, or every edit is taken, and a file is wrong.
        StateConflictError: its applied plan cannot be read, or that of another flow, and it may not go on beside that.
    """
    takes = project.settings.auto_apply
    unreadable: Unreadable = {}
    applied = applied_state(project, {}, unreadable).flows
    if unreadable:
        return _beside_unreadable(project, flow, applied, unreadable)
    if flow in applied and takes is not AutoApply.ALL:
        return _standing(project, applied[flow].plan, takes)
    [compared] = compare_project(project, flow)
    return ToRun(compared.plan, is_applied=False, definition=compared.definition(project))


def _beside_unreadable(
    project: Project, flow: str, applied: Mapping[str, AppliedPlan], unreadable: "Unreadable"
) -> ToRun:
    """What a flow is to run with while the plan of another one cannot be read: what is applied, and no edit of it.

    Raises:
        UnknownFlowError: no file defines it, and it was never applied.
        DefinitionError: it was never applied, and its file is wrong.
        StateConflictError: it may not go on.
    """
    from streamhouse.engine.unreadable_flows import beside, refuse_unknown
    from streamhouse.state.plans import refuse_unreadable

    refuse_unreadable(unreadable, [flow])
    other, error = next(iter(unreadable.items()))
    if flow not in applied:
        load_registry(project).flow(flow)
        raise beside(flow, f"cannot begin: it is not known whether {other} has its tables", error)
    plan, state = applied[flow].plan, project.existing_state()
    assert state is not None, "it has the plans"
    with state:
        refuse_unknown(plan, [one.plan for one in applied.values()], unreadable, state.newest_epochs())
    _refuse_readers_by_file(project, plan, unreadable)
    takes = project.settings.auto_apply
    found = _standing(project, plan, AutoApply.OFF, unreadable)
    edit = found.edit
    if edit is not None and (takes is AutoApply.ALL or is_taken(edit.outcome, takes)):
        raise beside(flow, f"cannot take the edit of its files: it is not known what {other} reads", error)
    return replace(found, warnings=tuple(one.message for one in unreadable.values()))


def _refuse_readers_by_file(project: Project, plan: FlowPlan, unreadable: "Unreadable") -> None:
    """Refuse a flow whose tables another one reads by its file, where that one's applied plan cannot be read.

    Raises:
        StateConflictError: so it is.
    """
    from streamhouse.engine.unreadable_flows import beside

    defined = load_registry(project).flows
    for flow, error in unreadable.items():
        reads = {read.table for step in defined[flow].steps for read in step.reads.values()} if flow in defined else ()
        if shared := sorted(plan.tables.keys() & set(reads)):
            raise beside(plan.flow, f"may not go on: {flow} reads {shared[0]}", error)


def _standing(project: Project, plan: FlowPlan, takes: AutoApply, unreadable: "Unreadable | None" = None) -> ToRun:
    try:
        [compared] = compare_project(project, plan.flow, unreadable=unreadable)
    except StoreError:  # the state store is away: that says nothing of files
        raise
    except StreamhouseError as error:
        return ToRun(plan, is_applied=True, edit=_broken(plan.flow, error))
    if is_taken(compared.found.outcome, takes):
        return ToRun(compared.plan, is_applied=False, definition=compared.definition(project))
    return ToRun(plan, is_applied=True, edit=edit_of(compared))


def is_taken(outcome: Outcome | None, takes: AutoApply) -> bool:
    """Whether a flow takes an edit without a person's word."""
    return takes is AutoApply.ALL or (takes is AutoApply.SAFE and outcome in _SAFE)


def edit_of(compared: PlanComparison) -> Edit | None:
    """What applying the files would do; None: nothing, or the flow was never applied."""
    if compared.applied is None or not compared.differs:
        return None
    flow, found = compared.plan.flow, compared.found
    if compared.rules:
        hashed = compared.files.digest if compared.files is not None else ""
        return Edit(flow, found.outcome, "what the flow does when something changes upstream", hashed)
    if not compared.is_change:
        return Edit(flow, found.outcome, "text that changes no row", compared.fingerprint)
    changed = [step.table for step in found.steps if step.outcome is not Outcome.NO_OP]
    what = ", ".join([*changed[:3], *(["…"] if len(changed) > 3 else [])]) or "settings"
    return Edit(flow, found.outcome, f"{found.outcome} ({what})", compared.fingerprint)


def edits(project: Project, unreadable: "Unreadable | None" = None) -> dict[str, Edit]:
    """Flow → how its files differ from what is applied; of flows that were applied and whose files say something else.

    A file that is wrong hides no other flow's edit.

    Args:
        project: Its files, and its state store, are read.
        unreadable: As for `compare_project`.

    Raises:
        StoreUnavailableError, StateConflictError: as `StateStore` does.
    """
    applied = applied_state(project, {}, unreadable).flows
    if not applied:
        return {}
    found: dict[str, Edit | None] = {}
    try:
        found = {one.plan.flow: edit_of(one) for one in compare_project(project, unreadable=unreadable)}
    except (DefinitionError, DefinitionErrors, EnvironmentProblem):
        found = {flow: _standing(project, one.plan, AutoApply.OFF, unreadable).edit for flow, one in applied.items()}
    found |= {flow: _removal(flow) for flow in applied.keys() - found.keys()}
    return {flow: edit for flow, edit in sorted(found.items()) if edit is not None and flow in applied}


def _broken(flow: str, error: StreamhouseError) -> Edit:
    if isinstance(error, UnknownFlowError):
        return _removal(flow)
    text, known = str(error), isinstance(error, DefinitionError | DefinitionErrors)
    what = "its files are wrong" if known else "its files cannot be compared with what is applied"
    return Edit(flow, None, f"{what}: {text.splitlines()[0]}", text_hash(text))


def _removal(flow: str) -> Edit:
    return Edit(flow, None, "no file defines it any more", "gone")

"""Edited files, checked and compiled in memory, and compared with what is applied. Writes nothing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamhouse.errors import DefinitionErrors
from streamhouse.model.notice import Notice
from streamhouse.model.outcome import FlowDiff
from streamhouse.model.plan import FlowPlan
from streamhouse.planner.proposal import FileEdit
from streamhouse.project.applied import AppliedState
from streamhouse.project.check import compile_with_upstream
from streamhouse.project.compare import Applied, compare
from streamhouse.project.desired import over_what_runs
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.registry.files import DefinitionFile, DefinitionFiles


@dataclass(frozen=True)
class Tried:
    """What the compiler makes of edited files.

    Attributes:
        plan: Of the flow that was edited.
        notices: Of the new files.
        outcomes: What applying them would do, line by line.
    """

    plan: FlowPlan
    notices: tuple[Notice, ...]
    outcomes: tuple[str, ...]


def with_edits(files: DefinitionFiles, edits: Collection[FileEdit]) -> DefinitionFiles:
    """The files of a project as they would be."""
    after = {edit.path: DefinitionFile(edit.path, edit.after.encode()) for edit in edits}

    def edited(known: tuple[DefinitionFile, ...], endings: tuple[str, ...]) -> tuple[DefinitionFile, ...]:
        unchanged_files = [file for file in known if file.name not in after]
        new = [file for name, file in after.items() if name.endswith(endings)]
        return tuple(sorted([*unchanged_files, *new], key=lambda file: file.name.split("/")))

    return DefinitionFiles(edited(files.actions, (".sql",)), edited(files.flows, (".yaml", ".yml")))


def try_files(
    project: Project,
    files: DefinitionFiles,
    edits: Collection[FileEdit],
    flow: str,
    applied: AppliedState,
    plans: Mapping[str, FlowPlan],
    registry: Registry,
) -> Tried:
    """Compile one flow of edited files.

    Args:
        project: Its cache is used; its files are not read.
        files: Of the project as they are.
        edits: To them.
        flow: That the edits change, or add.
        applied: What runs.
        plans: Flow → its plan, as compiled from the files as they are.
        registry: Of the files as they are.

    Raises:
        DefinitionError, DefinitionErrors: an edited file is wrong, or the flow is.
    """
    names = {edit.path for edit in edits}
    registry = registry.edited(with_edits(files, edits))
    wrong = [error for error in registry.errors if error.at is None or error.at.file in names]
    if wrong:
        raise wrong[0] if len(wrong) == 1 else DefinitionErrors(wrong)
    of_files = compile_with_upstream(project, registry, flow)
    plan = over_what_runs(project, of_files, applied.plans, lambda: registry)
    notices = [n for n in registry.warnings if n.at.file in names]
    notices += [n for step in plan.steps for n in step.notices if n.at.file in names]
    compared = compare(plan, Applied.found(applied), {**plans, flow: plan}, budget=project.settings.rebuild_budget)
    return Tried(plan, tuple(dict.fromkeys(notices)), outcome_lines(compared.found, plan, compared.revision))


def outcome_lines(found: FlowDiff, plan: FlowPlan, revision: int | None) -> tuple[str, ...]:
    """What a change does, in the words of `streamhouse plan`."""
    if revision is None:
        return (f"{plan.flow}: never applied; a run would create it",)
    lines = [f"{plan.flow}: differs from revision {revision}, applied last: {found.outcome.value}"]
    lines += [
        f"{finding.outcome.value}: {step.change} {step.step}: {finding.proof}"
        for step in found.steps
        if step.change != "same"
        for finding in step.findings
    ]
    lines += [
        f"{one.table} is built from a history of {one.reading}" for one in found.tables if one.reading is not None
    ]
    return tuple(dict.fromkeys(lines))

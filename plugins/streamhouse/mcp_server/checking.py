"""Checks files and plans them, as they are or with those of a proposal; nothing is applied."""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath

from streamhouse.errors import ArgumentsError, did_you_mean
from streamhouse.mcp_server.answers import (
    Fault,
    PlanAnswer,
    PlanFinding,
    PlanFlow,
    PlanReader,
    PlanWork,
    ValidateAnswer,
)
from streamhouse.mcp_server.arguments import PlanArguments, ValidateArguments
from streamhouse.mcp_server.faults import faults_of, notice_fault, redact_all
from streamhouse.mcp_server.proposals import files_with
from streamhouse.mcp_server.shareable import Shared
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.model.outcome import Finding, FlowDiff
from streamhouse.project.check import check_project
from streamhouse.project.compare import PlanComparison, compare_project
from streamhouse.registry.files import read_files
from streamhouse.state.plans import Unreadable

_MOST = 100
_MOST_PARTS = 500


async def validate(serving: Serving, request: ValidateArguments) -> ValidateAnswer:
    """What is wrong with the project's files, each error with its place.

    Raises:
        ArgumentsError: a path leads out of the project, or to nothing that is checked.
    """
    return await serving.work.run(lambda: _validated(serving, request))


async def plan(serving: Serving, request: PlanArguments) -> PlanAnswer:
    """What applying the files would do, as `streamhouse plan` shows it.

    Raises:
        UnknownFlowError: there is no such flow.
        DefinitionErrors: a file is wrong.
    """
    return await serving.work.run(lambda: _planned(serving, request))


def _validated(serving: Serving, request: ValidateArguments) -> ValidateAnswer:
    project = serving.desk.project
    shared = serving.shared()
    read = files_with(project, request.proposal, shared) if request.proposal else read_files(project.root)
    with serving.desk.compiling():
        checked = check_project(project, files=read)
    faults = [one for error in (*checked.errors, *checked.meaning) for one in faults_of(error)]
    remarks = list(map(notice_fault, checked.notices))
    names = {file.name for file in (*read.actions, *read.flows)} | {one.file for one in (*faults, *remarks) if one.file}
    wanted = [_path_in(path, project.root, names) for path in request.paths]
    errors = [one for one in faults if _is_in(one, wanted)]
    notices = [one for one in remarks if _is_in(one, wanted)]
    errors, notices = redact_all(errors, shared), redact_all(notices, shared)
    return ValidateAnswer(
        ok=not errors,
        errors=tuple(errors[:_MOST]),
        notices=tuple(notices[:_MOST]),
        left_out=max(0, len(errors) - _MOST) + max(0, len(notices) - _MOST),
        actions=checked.actions,
        flows=checked.flows,
    )


def _path_in(text: str, root: Path, names: Collection[str]) -> PurePosixPath:
    """A path below the project's folder.

    Raises:
        ArgumentsError: it leads out of the project, or to nothing that is checked.
    """
    try:
        path = PurePosixPath(os.path.normpath(root / text)).relative_to(root.as_posix())
    except ValueError as error:
        hint = "name a file or a folder of the project, such as 'actions'"
        raise ArgumentsError(f"paths: '{text}' is not in the project", hint=hint) from error
    if not any(path == file or path in file.parents for file in map(PurePosixPath, names)):
        remedy = did_you_mean(str(path), names, "name a file or a folder that is there, such as 'actions'")
        raise ArgumentsError(f"paths: the project has no definition at '{text}'", hint=remedy)
    return path


def _is_in(fault: Fault, wanted: Sequence[PurePosixPath]) -> bool:
    if not wanted or fault.file is None:
        return True
    file = PurePosixPath(fault.file)
    return any(path == file or path in file.parents for path in wanted)


def _planned(serving: Serving, request: PlanArguments) -> PlanAnswer:
    project = serving.desk.project
    shared = serving.shared()
    files = files_with(project, request.proposal, shared) if request.proposal else None
    unreadable: Unreadable = {}
    with serving.desk.compiling():
        found = compare_project(project, request.flow, files=files, unreadable=unreadable)
    withheld_count = [0]
    found.sort(key=lambda one: not one.is_change)  # by name, those that change first
    flows = [_flow(one, shared, withheld_count) for one in found]
    shown, parts = list[PlanFlow](), 0
    for flow in flows:
        parts += len(flow.findings) + len(flow.work) + len(flow.readers)
        if shown and parts > _MOST_PARTS:
            break
        shown.append(flow)
    faults = (fault for flow, error in unreadable.items() if request.flow in (None, flow) for fault in faults_of(error))
    return PlanAnswer(
        flows=tuple(shown),
        left_out=len(flows) - len(shown),
        withheld=withheld_count[0],
        unreadable=tuple(redact_all(faults, shared)),
    )


def _flow(one: PlanComparison, shared: Shared, withheld_count: list[int]) -> PlanFlow:
    diff = one.found
    old = set(one.applied.tables) if one.applied is not None else set()
    new = [name for name in one.plan.tables if name not in old]
    findings, readers, work = _findings(diff, shared), _readers(diff, one.plan.flow, shared), _work(diff, shared)
    withheld_count[0] += sum(not shared.sees(step.table) for step in diff.steps)
    return PlanFlow(
        flow=one.plan.flow,
        revision=one.revision,
        outcome=diff.outcome,
        changes=one.is_change,
        blocks=one.blocks,
        new_tables=tuple(name for name in new if shared.sees(name)),
        findings=tuple(findings),
        readers=tuple(readers),
        work=tuple(work),
        command=f"streamhouse apply {one.plan.flow}" if one.applied is not None else f"streamhouse run {one.plan.flow}",
    )


def _findings(diff: FlowDiff, shared: Shared) -> list[PlanFinding]:
    shown_steps = (step for step in diff.steps if shared.sees(step.table))
    return [
        *(
            _finding(one, shared, step.step, step.action, str(step.change))
            for step in shown_steps
            for one in step.findings
        ),
        # A setting is of the flow: whose columns it would name, nobody could tell.
        *(
            _finding(one.model_copy(update={"columns": (), "rows": False}), shared, diff.flow, "", "setting")
            for one in diff.settings
        ),
    ]


def _finding(found: Finding, shared: Shared, step: str, action: str, change: str) -> PlanFinding:
    return PlanFinding(
        outcome=found.outcome,
        rule=str(found.rule) if found.rule else None,
        step=step,
        action=action,
        change=change,
        columns=found.columns,
        all_columns=found.rows,
        why=shared.cleaned(found.proof),
    )


def _readers(diff: FlowDiff, flow: str, shared: Shared) -> list[PlanReader]:
    found = {
        (reader.flow, reader.step): PlanReader(
            flow=reader.flow, step=reader.step, outcome=reader.outcome, why=shared.cleaned(reader.proof)
        )
        for step in diff.steps
        for reader in step.consumers
        if reader.flow != flow and shared.sees(step.table) and shared.sees(reader.step.partition(":")[0])
    }
    return list(found.values())


def _work(diff: FlowDiff, shared: Shared) -> list[PlanWork]:
    return [
        PlanWork(outcome=tier.outcome, table=table.table, tier=tier.tier.value, what=_statements(tier.ddl, shared))
        for table in diff.tables
        if shared.sees(table.table)
        for tier in table.tiers
    ]


def _statements(ddl: Iterable[object], shared: Shared) -> tuple[str, ...]:
    return tuple(shared.cleaned_sql(str(one)) for one in ddl)

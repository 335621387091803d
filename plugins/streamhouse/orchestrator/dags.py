"""DAGs out of what was compiled. Parsing comes by here, so it loads Airflow and little else."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator  # noqa: TID253  for Airflow alone
from airflow.sdk import (  # noqa: TID253
    DAG,
    Asset,
    AssetOrTimeSchedule,
    AssetWatcher,
    BaseOperator,
    CronTriggerTimetable,
    TaskGroup,
    get_parsing_context,
)

from streamhouse.model.types import Layer
from streamhouse.orchestrator.approval import FlowApprovalOperator
from streamhouse.orchestrator.operators import AutopilotOperator, LookOperator, TierOperator, UpkeepOperator
from streamhouse.orchestrator.quality import ExpectationsCheck, FreshnessCheck, OverdueCheck, RunnerCheck
from streamhouse.orchestrator.roots import root_beside
from streamhouse.orchestrator.spec import AssetSpec, DagSpec, FlowSpec, TaskKind, TaskSpec
from streamhouse.orchestrator.stream import StreamOperator
from streamhouse.orchestrator.watch import CommitsOperator, CommitTrigger, NewsTrigger

TRIGGER_DAG, APPROVAL_DAG, COMMITS_DAG = "flow_trigger", "flow_approval", "flow_commits"
AUTOPILOT_DAG = "streamhouse_autopilot"

_SINCE = datetime(2026, 1, 1, tzinfo=UTC)
_FAILURES_IN_A_ROW = 5
_QUESTIONS_AT_ONCE = 64
_AUTOPILOT_EVERY = timedelta(minutes=5)
_BEFORE_OTHERS = 100  # a person waits
_OPERATORS: Mapping[TaskKind, type[BaseOperator]] = {
    TaskKind.STREAM: StreamOperator,
    TaskKind.TIER: TierOperator,
    TaskKind.UPKEEP: UpkeepOperator,
    TaskKind.RUNNER: RunnerCheck,
    TaskKind.FRESHNESS: FreshnessCheck,
    TaskKind.EXPECTATIONS: ExpectationsCheck,
    TaskKind.OVERDUE: OverdueCheck,
}
_RETRIES = {TaskKind.STREAM: 3, TaskKind.TIER: 2, TaskKind.UPKEEP: 2}


class BrokenFlowError(Exception):
    """A flow that does not compile; its text is what is wrong, with place, cause and hint."""


def dags_in(file: str) -> dict[str, DAG]:
    """The DAGs of the compiled flow beside a file of a bundle."""
    here = Path(file)
    spec = FlowSpec.model_validate_json(here.with_suffix(".json").read_bytes())
    return flow_dags(spec, root_beside(here))


def project_dags_at(file: str) -> dict[str, DAG]:
    """The DAGs that a project has once, for a file of a bundle."""
    return project_dags(root_beside(Path(file)))


def flow_dags(spec: FlowSpec, project: str) -> dict[str, DAG]:
    """The DAGs of a flow, by id; within a task only the one that it belongs to.

    Args:
        spec: As compiled.
        project: Folder of the project on this machine.
    """
    return {dag.id: _dag(dag, spec, project) for dag in spec.dags if _is_requested(dag.id)}


def project_dags(project: str) -> dict[str, DAG]:
    """The DAGs that a project has once: the Flow Trigger, its questions, and the events of tables."""
    makers: dict[str, Callable[[str], DAG]] = {
        TRIGGER_DAG: _trigger,
        APPROVAL_DAG: _approval,
        COMMITS_DAG: _commits,
    }
    return {name: make(project) for name, make in makers.items() if _is_requested(name)}


def autopilot_dag_at(file: str) -> dict[str, DAG]:
    """The DAG of the autopilot, for a file of a bundle."""
    return autopilot_dag(root_beside(Path(file)))


def autopilot_dag(project: str) -> dict[str, DAG]:
    """The DAG of a project's autopilot, where it is not off."""
    return {AUTOPILOT_DAG: _autopilot(project)} if _is_requested(AUTOPILOT_DAG) else {}


def broken(text: str) -> None:
    """Be the import error of a flow.

    Raises:
        BrokenFlowError: always.
    """
    raise BrokenFlowError(f"\n{text}")


def _is_requested(dag: str) -> bool:
    return get_parsing_context().dag_id in (None, dag)


def _dag(spec: DagSpec, flow: FlowSpec, project: str) -> DAG:
    endless = spec.every is None
    dag = DAG(
        spec.id,
        dag_display_name=spec.title,
        description=spec.description,
        doc_md=spec.doc,
        schedule="@continuous" if endless else timedelta(seconds=spec.every or 0),
        start_date=_SINCE,
        catchup=False,
        max_active_runs=1,
        max_consecutive_failed_dag_runs=_FAILURES_IN_A_ROW if endless else 0,
        tags=list(spec.tags),
        default_args={"owner": flow.owner},
    )
    groups: dict[Layer, TaskGroup] = {}
    for task in spec.tasks:
        group = groups.get(task.layer) if task.layer else None
        if task.layer and group is None:
            group = groups[task.layer] = TaskGroup(task.layer.value, dag=dag)
        _task(task, spec, flow.flow, project, dag, group)
    return dag


def _task(task: TaskSpec, spec: DagSpec, flow: str, project: str, dag: DAG, group: TaskGroup | None) -> None:
    options = dict(task.options)
    if task.kind is TaskKind.EXPECTATIONS:
        options["every_s"] = spec.every
    _OPERATORS[task.kind](
        task_id=task.id,
        flow=flow,
        project=project,
        doc_md=task.doc or None,
        inlets=_assets(task.inlets),
        outlets=_assets(task.outlets),
        retries=_RETRIES.get(task.kind, 0),
        retry_delay=timedelta(seconds=10),
        retry_exponential_backoff=2.0,
        max_retry_delay=timedelta(minutes=5),
        dag=dag,
        task_group=group,
        **options,
    )


def _assets(specs: Iterable[AssetSpec]) -> list[Asset]:
    return [Asset(name=one.name, uri=one.uri, group=one.group) for one in specs]


def _trigger(project: str) -> DAG:
    news = Asset(
        name="streamhouse.news",
        uri="x-streamhouse://news",
        group="streamhouse",
        watchers=[AssetWatcher(name="streamhouse_news", trigger=NewsTrigger(project))],
    )
    # Flows that run look by themselves, and their news come at once; by the clock for those that do not.
    schedule = AssetOrTimeSchedule(timetable=CronTriggerTimetable("*/15 * * * *", timezone="UTC"), assets=[news])
    with _project_dag(TRIGGER_DAG, "Flow Trigger", _TRIGGER_DOC, schedule, 1) as dag:
        look = LookOperator(task_id="look", project=project, retries=2, retry_delay=timedelta(seconds=10))
        TriggerDagRunOperator.partial(
            task_id="ask", trigger_dag_id=APPROVAL_DAG, skip_when_already_exists=True
        ).expand_kwargs(look.output)
    return dag


def _approval(project: str) -> DAG:
    with _project_dag(APPROVAL_DAG, "Flow approvals", _APPROVAL_DOC, None, _QUESTIONS_AT_ONCE) as dag:
        FlowApprovalOperator(
            task_id="decide",
            project=project,
            priority_weight=_BEFORE_OTHERS,
            retries=3,
            retry_delay=timedelta(seconds=10),
        )
    return dag


def _commits(project: str) -> DAG:
    commits = Asset(
        name="streamhouse.commits",
        uri="x-streamhouse://commits",
        group="streamhouse",
        watchers=[AssetWatcher(name="streamhouse_commits", trigger=CommitTrigger(project))],
    )
    with _project_dag(COMMITS_DAG, "Commits of tables", _COMMITS_DOC, [commits], 1) as dag:
        CommitsOperator(task_id="tell", project=project, retries=2, retry_delay=timedelta(seconds=10))
    return dag


def _autopilot(project: str) -> DAG:
    with _project_dag(AUTOPILOT_DAG, "Autopilot", _AUTOPILOT_DOC, _AUTOPILOT_EVERY, 1) as dag:
        AutopilotOperator(task_id="round", project=project)
    return dag


def _project_dag(name: str, title: str, doc: str, schedule: Any, runs: int) -> DAG:
    return DAG(
        name,
        dag_display_name=title,
        description=doc.partition("\n")[0],
        doc_md=doc,
        schedule=schedule,
        start_date=_SINCE,
        catchup=False,
        max_active_runs=runs,
        is_paused_upon_creation=False,
        tags=["streamhouse"],
        default_args={"owner": "streamhouse"},
    )


_TRIGGER_DOC = """\
Looks for changes upstream of the flows and in their files, and has people asked where that is needed.

Runs when the state store has news, and every 15 minutes. What may be done is done by each flow's runner; a question
to a person becomes a run of the DAG `flow_approval`. The same by command: `streamhouse trigger --once`.
"""
_APPROVAL_DOC = """\
One run for each question to a person; answer it in Airflow's required actions.

The same as `streamhouse approvals`, `approve` and `refuse`: the first answer, there or here, decides.
"""
_COMMITS_DOC = """\
Gives the asset of each table an event for each round of commits, so that other DAGs can be scheduled on tables.

A round is a minute. Pause it where no DAG is scheduled on a table.
"""
_AUTOPILOT_DOC = """\
Looks for faults of running flows, and mends what the settings allow.

One round each five minutes, in the `mode` of `autopilot:` in streamhouse.yaml; where that is off, there is no such DAG.
The same by command: `streamhouse autopilot round`; what it decided, and why: `streamhouse autopilot log`.
"""

"""The task of a flow's stream: it makes sure that a runner carries the flow, and waits without a slot until it ends."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from airflow.sdk import BaseOperator  # noqa: TID253  this module is for Airflow alone
from airflow.sdk.exceptions import AirflowException, AirflowFailException  # noqa: TID253

from streamhouse.errors import StreamhouseError
from streamhouse.orchestrator.engine_command import engine_command
from streamhouse.orchestrator.flow_end import End, TaskEnd, carried_long, end_of, failure
from streamhouse.orchestrator.flow_trigger import BY_AIRFLOW, FlowStateTrigger, stop_flow
from streamhouse.project.project import Project
from streamhouse.state.runners import WantedState


class StreamOperator(BaseOperator):  # type: ignore[misc]
    """Has a flow carried for as long as the task lives.

    The task is the flow: whichever run or try of it comes, it takes over the runner that lives and never starts
    a second one. It ends with success when a person stops the flow, and fails with the flow's own error. A runner that
    dies after long is replaced within the try.
    """

    template_fields: ClassVar[tuple[str, ...]] = ("flow",)
    ui_color = "#d8ecf3"

    def __init__(self, *, flow: str, project: str, poll: float = 2.0, **kwargs: Any) -> None:
        """Names only: what the flow is, is read when it runs.

        Args:
            flow: Its name.
            project: Folder of the project.
            poll: Seconds between two looks at the state store.
            kwargs: Of every operator.
        """
        super().__init__(**kwargs)
        self.flow = flow
        self.project = project
        self.poll = poll

    def execute(self, context: Any) -> None:
        """Ask for the flow, adopt or start its runner, then defer."""
        self._carry(context)

    def resume(self, context: Any, event: dict[str, Any], since: str | None = None) -> None:
        """End as the flow did, unless it was carried for long until then.

        Args:
            context: Of the task.
            event: Of `event_of`.
            since: When this try began to wait; None: it did so under an older version.
        """
        end = end_of(event)
        # Else the failed tries and runs of months add up, until Airflow pauses the DAG.
        if end.verdict is TaskEnd.RETRY and carried_long(since, datetime.now(UTC)):
            self.log.error("%s", end.text)
            self._carry(context)
        _finish(end, self.log)

    def on_kill(self) -> None:
        """A person ended the task before it waited."""
        stop_flow(self.project, self.flow)

    def _carry(self, context: Any) -> None:
        by = f"{BY_AIRFLOW}, {context['ti'].dag_id}"
        try:
            self._ensure_runner(by)
        except StreamhouseError as error:
            _finish(failure(str(error)), self.log)
        trigger = FlowStateTrigger(self.project, self.flow, self.poll)
        self.defer(trigger=trigger, method_name="resume", kwargs={"since": datetime.now(UTC).isoformat()})

    def _ensure_runner(self, by: str) -> None:
        from streamhouse.runtime.owner import liveness

        project = Project.at(Path(self.project))
        with project.state() as store:
            wanted = store.runners.ask(self.flow, WantedState.RUNNING, by)
            runner = store.runners.runner(wanted.runner, alive=liveness())
        if runner is not None and runner.life.takes_up:
            self.log.info("%s is carried by the runner that lives: %s", self.flow, runner.owner)
            return
        self.log.info("no runner lives; starting one for %s", self.flow)
        arguments = ["runner", "start", self.flow, "--name", wanted.runner, "--project", str(project.root), "--by", by]
        arguments += ["--tier", "never"]  # a DAG of its own does that
        started = engine_command().call(arguments, self.log.info)
        self.log.info("%s is carried by %s", self.flow, started.get("owner", "the runner that was started"))


def _finish(end: End, log: Any) -> None:
    """End the task.

    Raises:
        AirflowFailException: it fails, and tries no more.
        AirflowException: it fails.
    """
    if end.verdict is TaskEnd.SUCCESS:
        log.info("%s", end.text)
        return
    log.error("%s", end.text)  # whatever Airflow prints around what is raised
    raise (AirflowFailException if end.verdict is TaskEnd.FAIL else AirflowException)(end.text) from None

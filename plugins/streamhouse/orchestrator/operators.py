"""Tasks that call the engine's command now and then: tiering, upkeep, a look of the Flow Trigger."""

import subprocess
from collections.abc import Collection, Sequence
from contextlib import suppress
from logging import ERROR, INFO, WARNING
from typing import Any, ClassVar

from airflow.sdk import BaseOperator  # noqa: TID253  this module is for Airflow alone
from airflow.sdk.exceptions import (  # noqa: TID253
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)

from streamhouse.errors import StreamhouseError
from streamhouse.orchestrator.approval_text import lost_texts, waiting_texts
from streamhouse.orchestrator.engine_command import engine_command
from streamhouse.orchestrator.flow_end import TaskEnd, failure
from streamhouse.orchestrator.state_store import existing_state
from streamhouse.state.store import StateStore

TABLES_ARE_LOST, SOMETHING_CHANGES, APPROVAL_IS_OPEN, ROWS_ARE_OVERDUE = 6, 10, 11, 12
"""Exit codes of the engine's command that are answers."""

_GRACE_S = 15.0


class ProjectOperator(BaseOperator):  # type: ignore[misc]
    """A task about a project; `work` does it. An error of ours ends the task with its text, without a traceback.

    Args:
        project: Folder of the project. It is no part of the serialized DAG: elsewhere it may be elsewhere.
        kwargs: Of every operator.
    """

    def __init__(self, *, project: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.project = project
        self._process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> Any:
        """Do it.

        Raises:
            AirflowFailException: it fails, and would again until a person does something.
            AirflowException: it fails.
            AirflowSkipException: there is nothing to do.
        """
        try:
            return self.work(context)
        except StreamhouseError as error:
            end = failure(str(error))
            kind = AirflowFailException if end.verdict is TaskEnd.FAIL else AirflowException
            raise kind(end.text) from None

    def work(self, context: Any) -> Any:
        """What the task does; its value is the task's XCom."""
        raise NotImplementedError

    def on_kill(self) -> None:
        """End the engine's command: asked first, then for good."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
        if process.poll() is None:
            process.kill()

    def engine(self, *arguments: str, fine: Collection[int] = ()) -> dict[str, Any]:
        """What a command of the engine printed, its progress in the task's log.

        Raises:
            EngineCallError: it failed.
        """
        return engine_command().call(
            [*arguments, "--project", self.project], self.log.info, fine=fine, on_start=self._started
        )

    def state(self) -> StateStore:
        """The state store of the project.

        Raises:
            AirflowSkipException: nothing ever ran, so there is nothing to look at.
        """
        state = existing_state(self.project)
        if state is None:
            raise AirflowSkipException("no flow of this project ever ran")
        return state

    def _started(self, process: "subprocess.Popen[str]") -> None:
        self._process = process


class FlowOperator(ProjectOperator):
    """A task about one flow."""

    template_fields: ClassVar[tuple[str, ...]] = ("flow",)

    def __init__(self, *, flow: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.flow = flow

    def skip_unless_it_ran(self) -> None:
        """End the task as skipped where the flow never ran: it has no tables yet.

        Raises:
            AirflowSkipException: it never ran.
        """
        with self.state() as state:
            if state.plan(self.flow) is None:
                raise AirflowSkipException(f"{self.flow} never ran, so it has no tables yet")


class TierOperator(FlowOperator):
    """Brings the further tiers of a flow's tables to where the flow is. Skipped when no row was there to move."""

    ui_color = "#e8f0d8"

    def work(self, context: Any) -> dict[str, int]:
        """Move rows; the assets of the copies tell how many each got.

        Raises:
            AirflowSkipException: no row waited to be moved.
        """
        self.skip_unless_it_ran()
        document = self.engine("tier", self.flow, fine=(ROWS_ARE_OVERDUE,))
        rows: dict[str, int] = {}
        for moved in (one for flow in document.get("flows", []) for one in flow["moved"]):
            self.log.info("%(table)s %(source)s → %(target)s: %(rows)s rows", moved)
            name = f"{moved['table']} ({moved['target']})"
            rows[name] = rows.get(name, 0) + moved["rows"]
        for late in document.get("overdue", []):
            self.log.warning("%s", overdue_text(late))
        if not any(rows.values()):
            raise AirflowSkipException("no row waited to be moved")
        for asset in self.outlets:
            context["outlet_events"][asset].extra = {"rows": rows.get(asset.name, 0)}
        return rows


class UpkeepOperator(FlowOperator):
    """Drops old partitions of a flow's tables, compacts those in warm and cold and removes old snapshots."""

    ui_color = "#efe6d8"

    def work(self, context: Any) -> None:  # noqa: ARG002  Airflow's signature
        """Keep every table."""
        self.skip_unless_it_ran()
        for one in self.engine("upkeep", self.flow).get("tables", []):
            if one["dropped"] or one["waiting"]:
                counts = (one["table"], one["tier"], len(one["dropped"]), len(one["waiting"]))
                self.log.info("%s, %s: %s old partitions dropped, %s wait for colder tiers or readers", *counts)
            if one["before"] is None:
                continue  # hot
            before, after = one["before"]["files"], one["after"]["files"]
            self.log.info(
                "%s, %s: %s → %s files, %s snapshots removed",
                one["table"],
                one["tier"],
                before,
                after,
                one["snapshots"],
            )


class AutopilotOperator(ProjectOperator):
    """One round of the autopilot, as the project's settings say. Skipped when it decided nothing.

    Killed at any moment, the next round goes on from what the state store says.
    """

    ui_color = "#dfe6f0"

    def work(self, context: Any) -> list[str]:  # noqa: ARG002  Airflow's signature
        """Do the round, and tell what it decided.

        Raises:
            AirflowFailException: something is lost.
            AirflowSkipException: nothing was decided.
        """
        self.state().close()
        document = self.engine("autopilot", "round", fine=(TABLES_ARE_LOST,))
        decided = document.get("decisions", [])
        for one in decided:
            self.log.info("%(flow)s: %(state)s (%(id)s): %(remedy)s; %(text)s; %(reason)s", one)
        if lost := lost_texts(document):
            raise AirflowFailException("\n".join(lost))
        if not decided:
            raise AirflowSkipException("nothing new")
        return [f"{one['flow']}: {one['state']}: {one['remedy']}" for one in decided]


class LookOperator(ProjectOperator):
    """One look of the Flow Trigger at everything that flows read, and at the files.

    It compares with what is applied, so it may be run at any time and again. What may be done is done by the flow's
    runner; its value is what `TriggerDagRunOperator` needs to have a person asked for the rest, one run for each.
    """

    ui_color = "#f3e3d8"

    def work(self, context: Any) -> list[dict[str, Any]]:  # noqa: ARG002  Airflow's signature
        """Look, tell what was found, and list the questions that wait.

        What is lost is an error in the log and no failure: the questions of other flows must reach their people.
        """
        self.state().close()
        document = self.engine("trigger", "--once", fine=(TABLES_ARE_LOST, SOMETHING_CHANGES, APPROVAL_IS_OPEN))
        for text in lost_texts(document):
            self.log.log(ERROR, "%s", text)
        for flow in document.get("flows", []):
            self._tell(flow)
        with self.state() as state:
            return [run_of(question.id) for question in state.approvals.list()]

    def _tell(self, flow: dict[str, Any]) -> None:
        events: Sequence[dict[str, Any]] = flow.get("events", [])
        if not events:
            self.log.info("%s: nothing changed", flow.get("flow"))
        for event in events:
            note = f" ({event['note'].splitlines()[0]})" if event.get("note") else ""
            self.log.info("%s: %s, %s%s", flow.get("flow"), event.get("change"), event.get("status"), note)
        for text, is_urgent in waiting_texts(flow):
            self.log.log(WARNING if is_urgent else INFO, "%s", text)


def run_of(approval: str) -> dict[str, Any]:
    """The run that asks a person for an approval; always the same one, so that nobody is asked twice."""
    return {"trigger_run_id": f"approval__{approval}", "conf": {"approval": approval}}


def overdue_text(late: dict[str, Any]) -> str:
    """One sentence about rows that a lake lacks, as `tier --json` reports them."""
    retention = _hours(late["kept"])
    return (
        f"{late['table']}: {late['rows']} rows are not in the {late['target']} tier, and are dropped after {retention}"
    )


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds:.0f} s"

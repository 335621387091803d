"""A person's word in Airflow: the same question and the same answer as `streamhouse approve` and `refuse`."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator  # noqa: TID253  this module is for Airflow alone
from airflow.sdk import Param  # noqa: TID253
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException  # noqa: TID253
from airflow.sdk.execution_time.hitl import (  # noqa: TID253
    get_hitl_detail_content_detail,
    update_hitl_detail_response,
    upsert_hitl_detail,
)
from airflow.triggers.base import BaseTrigger, TriggerEvent  # noqa: TID253

from streamhouse.errors import ApprovalClosedError, StreamhouseError
from streamhouse.project.project import Project
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.store import StateStore

_POLL_S = 5.0


class FlowApprovalOperator(ApprovalOperator):  # type: ignore[misc]
    """Asks the approval that the run's `conf` names, and records what a person says in Airflow.

    It waits without a slot, and ends as well when somebody answers by `streamhouse approve` or `refuse`: the state
    store decides. A refusal is an answer and no failure.
    """

    def __init__(self, *, project: str, **kwargs: Any) -> None:
        """The question is read when it is asked.

        Args:
            project: Folder of the project.
            kwargs: Of every operator.
        """
        reason = Param("", type="string", title="Reason", description="Why; kept with the decision.")
        super().__init__(subject="A flow asks", body="", params={"reason": reason}, **kwargs)
        self.project = project

    def execute(self, context: Any) -> dict[str, str | None]:
        """Put the question into Airflow and wait; one that was answered already is not asked.

        Raises:
            TaskDeferred: until somebody answers.
        """
        name = (context["dag_run"].conf or {}).get("approval")
        if not name:
            raise AirflowFailException(
                "this run names no approval\n  hint: runs come from the DAG flow_trigger; "
                'by hand: {"approval": "ID"}, with an ID of: streamhouse approvals'
            )
        try:
            with _state(self.project) as state:
                question = state.approvals.get(name)
        except StreamhouseError as error:
            kind = AirflowException if error.retryable else AirflowFailException
            raise kind(str(error)) from None
        if question.state is not ApprovalState.OPEN:
            return self._told(question)
        self.subject = f"{question.flow}: {question.asks}"
        self.body = _evidence(question)
        upsert_hitl_detail(
            ti_id=context["task_instance"].id,
            options=self.options,
            subject=self.subject,
            body=self.body,
            defaults=None,
            multiple=False,
            params=self.serialized_params,
            assigned_users=self.assigned_users,
        )
        self.log.info("%s\n%s", self.subject, question.evidence)
        # Not the state `awaiting_input`: there nothing but an answer in Airflow could end the wait.
        waits = ApprovalTrigger(self.project, question.id, str(context["task_instance"].id))
        return self.defer(trigger=waits, method_name="execute_complete", kwargs={"approval": question.id})  # type: ignore[no-any-return]

    def execute_complete(self, context: Any, event: dict[str, Any], approval: str = "") -> dict[str, str | None]:  # noqa: ARG002
        """Record an answer that came through Airflow; one that came another way is recorded already."""
        try:
            with _state(self.project) as state:
                if event.get("chosen_options"):
                    self._answer(state, approval, event)
                return self._told(state.approvals.get(approval))
        except StreamhouseError as error:
            kind = AirflowException if error.retryable else AirflowFailException
            raise kind(str(error)) from None

    def _answer(self, state: StateStore, approval: str, event: dict[str, Any]) -> None:
        grant = event["chosen_options"][0] == self.APPROVE
        user = event.get("responded_by_user") or {}
        reason = (event.get("params_input") or {}).get("reason") or None
        try:
            state.approvals.decide(
                approval, grant=grant, by=f"{user.get('name') or 'somebody'} in Airflow", reason=reason
            )
        except ApprovalClosedError as error:  # somebody was quicker: what was said first stands
            self.log.warning("%s", error)

    def _told(self, question: Approval) -> dict[str, str | None]:
        """What became of it, as the task's value.

        Raises:
            AirflowSkipException: nobody answered in time.
        """
        if question.state is ApprovalState.EXPIRED:
            raise AirflowSkipException(
                f"approval {question.id} expired; the Flow Trigger asks anew where it still holds"
            )
        reason = f": {question.reason}" if question.reason else ""
        self.log.info("%s was %s by %s%s", question.asks, question.state, question.decided_by, reason)
        return {"approval": question.id, "state": question.state.value, "by": question.decided_by}


class ApprovalTrigger(BaseTrigger):  # type: ignore[misc]
    """Ends when an approval was answered: in Airflow, or anywhere else, which Airflow is then told."""

    def __init__(self, project: str, approval: str, ti_id: str, poll: float = _POLL_S) -> None:
        """Touches nothing yet.

        Args:
            project: Folder of the project.
            approval: Its id.
            ti_id: Id of the task instance that asks.
            poll: Seconds between two looks.
        """
        super().__init__()
        self.project = project
        self.approval = approval
        self.ti_id = ti_id
        self.poll = poll

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How another triggerer makes it again."""
        place = f"{type(self).__module__}.{type(self).__qualname__}"
        return place, {"project": self.project, "approval": self.approval, "ti_id": self.ti_id, "poll": self.poll}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until somebody answered, or nobody did in time. While the state store is away, go on looking."""
        while True:
            # An answer that came before this task waited did not wake it.
            given = await asyncio.to_thread(get_hitl_detail_content_detail, ti_id=self.ti_id)
            if given.response_received and given.chosen_options:
                user = given.responded_by_user
                yield TriggerEvent(
                    {
                        "chosen_options": list(given.chosen_options),
                        "params_input": given.params_input or {},
                        "responded_by_user": {"id": user.id, "name": user.name} if user else None,
                    }
                )
                return
            state = await asyncio.to_thread(self._look)
            if state in (ApprovalState.GRANTED, ApprovalState.REFUSED):
                option = ApprovalOperator.APPROVE if state is ApprovalState.GRANTED else ApprovalOperator.REJECT
                await asyncio.to_thread(
                    update_hitl_detail_response, ti_id=self.ti_id, chosen_options=[option], params_input={}
                )
            if state is not ApprovalState.OPEN:
                yield TriggerEvent({"state": state.value})
                return
            await asyncio.sleep(self.poll)

    def _look(self) -> ApprovalState:
        try:
            with _state(self.project) as state:
                return state.approvals.get(self.approval).state
        except StreamhouseError as error:
            if not error.retryable:
                raise
            self.log.warning("%s", error)
            return ApprovalState.OPEN


def _evidence(question: Approval) -> str:
    """Markdown."""
    until = f"{question.expires_at:%Y-%m-%d %H:%M} UTC"
    return (
        f"```\n{question.evidence}\n```\n\nUntil somebody answers, readers of what changed wait at their positions; "
        f"nothing is lost. The question expires at {until}. The same by command: `streamhouse approve {question.id}` "
        f"or `streamhouse refuse {question.id}`."
    )


def _state(project: str) -> StateStore:
    return Project.at(Path(project)).state()

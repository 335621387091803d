"""A person's word in Airflow: the same question and the same answer as `streamhouse approve` and `refuse`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator  # noqa: TID253  this module is for Airflow alone
from airflow.sdk import Param  # noqa: TID253
from airflow.sdk.exceptions import (  # noqa: TID253
    AirflowException,
    AirflowFailException,
    AirflowRuntimeError,
    AirflowSkipException,
    TaskDeferred,
)
from airflow.triggers.base import BaseTrigger, TriggerEvent  # noqa: TID253

from streamhouse.change.proposed import Origins
from streamhouse.errors import ApprovalClosedError, StreamhouseError
from streamhouse.orchestrator.airflow_private import (
    get_hitl_detail_content_detail,
    update_hitl_detail_response,
    upsert_hitl_detail,
)
from streamhouse.orchestrator.approval_text import approval_body
from streamhouse.orchestrator.state_store import project_state
from streamhouse.planner.proposal import Proposal
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
            AirflowFailException: the run does not say which approval it is about.
        """
        name = (context["dag_run"].conf or {}).get("approval")
        if not name:
            raise AirflowFailException(
                "this run names no approval\n  hint: runs come from the DAG flow_trigger; "
                'by hand: {"approval": "ID"}, with an ID of: streamhouse approvals'
            )
        try:
            with project_state(self.project) as state:
                question = state.approvals.get(name)
                proposals = Origins(Project.at(Path(self.project)), state).of_question(question)
        except StreamhouseError as error:
            kind = AirflowException if error.retryable else AirflowFailException
            raise kind(str(error)) from None
        if question.state is not ApprovalState.OPEN:
            return self._outcome(question)
        if context["task_instance"].try_number > 1:
            # To ask again would remove an answer that an earlier try got and did not record: first look for one.
            raise self._waits(context, question.id, is_asked=False)
        raise self._asks(context, question, proposals)

    def execute_complete(self, context: Any, event: dict[str, Any], approval: str = "") -> dict[str, str | None]:
        """Record an answer that came through Airflow; one that came another way is recorded already.

        Raises:
            TaskDeferred: the state store is away, and Airflow keeps the answer meanwhile; or it never was asked.
            AirflowFailException: the approval was decided by somebody else, or is unknown.
        """
        try:
            with project_state(self.project) as state:
                if event.get("chosen_options"):
                    self._answer(state, approval, event)
                question = state.approvals.get(approval)
                proposals = Origins(Project.at(Path(self.project)), state).of_question(question)
        except StreamhouseError as error:
            if not error.retryable:
                raise AirflowFailException(str(error)) from None
            self.log.warning("%s", error)
            raise self._waits(context, approval) from None
        if question.state is ApprovalState.OPEN:
            raise self._asks(context, question, proposals)
        return self._outcome(question)

    def _asks(self, context: Any, question: Approval, proposals: Sequence[Proposal]) -> TaskDeferred:
        self.subject = f"{question.flow}: {question.asks}"
        self.body = approval_body(question, proposals)
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
        return self._waits(context, question.id)

    def _waits(self, context: Any, approval: str, *, is_asked: bool = True) -> TaskDeferred:
        # Not the state `awaiting_input`: there nothing but an answer in Airflow could end the wait.
        waits = ApprovalTrigger(self.project, approval, str(context["task_instance"].id), is_asked=is_asked)
        return TaskDeferred(trigger=waits, method_name="execute_complete", kwargs={"approval": approval})

    def _answer(self, state: StateStore, approval: str, event: dict[str, Any]) -> None:
        grant = event["chosen_options"][0] == self.APPROVE
        user = event.get("responded_by_user") or {}
        reason = (event.get("params_input") or {}).get("reason") or None
        try:
            state.approvals.decide(
                approval, grant=grant, by=f"{user.get('name') or 'a user'} in Airflow", reason=reason
            )
        except ApprovalClosedError as error:  # somebody was quicker: what was said first stands
            self.log.warning("%s", error)

    def _outcome(self, question: Approval) -> dict[str, str | None]:
        """What became of it, as the task's value.

        Raises:
            AirflowSkipException: nobody answered in time.
        """
        if question.state is ApprovalState.EXPIRED:
            raise AirflowSkipException(
                f"approval {question.id} expired; the Flow Trigger asks again where it is still so"
            )
        reason = f": {question.reason}" if question.reason else ""
        self.log.info("%s was %s by %s%s", question.asks, question.state, question.decided_by, reason)
        return {"approval": question.id, "state": question.state.value, "by": question.decided_by}


class ApprovalTrigger(BaseTrigger):  # type: ignore[misc]
    """Ends when an approval was answered: in Airflow, or anywhere else; Airflow then gets the answer."""

    def __init__(
        self, project: str, approval: str, ti_id: str, poll: float = _POLL_S, *, is_asked: bool = True
    ) -> None:
        """Touches nothing yet.

        Args:
            project: Folder of the project.
            approval: Its id.
            ti_id: Id of the task instance that asks.
            poll: Seconds between two looks.
            is_asked: Airflow shows the question; False: it may not, and then this ends at once.
        """
        super().__init__()
        self.project = project
        self.approval = approval
        self.ti_id = ti_id
        self.poll = poll
        self.is_asked = is_asked

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How another triggerer makes it again."""
        names = ("project", "approval", "ti_id", "poll", "is_asked")
        return f"{type(self).__module__}.{type(self).__qualname__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until somebody answered, or nobody did in time. While a store is away, go on looking."""
        while True:
            state = await asyncio.to_thread(self._look)
            if state is ApprovalState.OPEN:
                payload = await asyncio.to_thread(self._airflow_answer)
            elif state is not None:
                if state is not ApprovalState.EXPIRED:
                    await asyncio.to_thread(self._tell_airflow, state)
                payload = {"state": state.value}
            if state is not None and payload is not None:
                yield TriggerEvent(payload)
                return
            await asyncio.sleep(self.poll)

    def _look(self) -> ApprovalState | None:
        """None: the state store is away."""
        try:
            with project_state(self.project) as state:
                return state.approvals.get(self.approval).state
        except StreamhouseError as error:
            if not error.retryable:
                raise
            self.log.warning("%s", error)
            return None

    def _airflow_answer(self) -> dict[str, Any] | None:
        """The answer that Airflow holds; one that came before the task waited did not wake it. None: not yet."""
        try:
            detail = get_hitl_detail_content_detail(ti_id=self.ti_id)
        except AirflowRuntimeError as error:
            if not self.is_asked and (error.error.detail or {}).get("status_code") == HTTPStatus.NOT_FOUND:
                return {"state": ApprovalState.OPEN.value}
            self.log.warning("%s", error)  # a trigger that fails would lose the answer
            return None
        if not (detail.response_received and detail.chosen_options):
            return None
        user = detail.responded_by_user
        return {
            "chosen_options": list(detail.chosen_options),
            "params_input": detail.params_input or {},
            "responded_by_user": {"id": user.id, "name": user.name} if user else None,
        }

    def _tell_airflow(self, state: ApprovalState) -> None:
        option = ApprovalOperator.APPROVE if state is ApprovalState.GRANTED else ApprovalOperator.REJECT
        try:
            update_hitl_detail_response(ti_id=self.ti_id, chosen_options=[option], params_input={})
        except AirflowRuntimeError as error:  # answered in Airflow at the same moment, or never asked there
            self.log.warning("%s", error)

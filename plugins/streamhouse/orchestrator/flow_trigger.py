"""Waits, in Airflow's triggerer, until a flow is over. Reads the state store and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent  # noqa: TID253  this module is for Airflow alone

from streamhouse.errors import StreamhouseError
from streamhouse.orchestrator.flow_end import event_of
from streamhouse.orchestrator.state_store import project_state
from streamhouse.state.flow_state import FlowReport, FlowState, see
from streamhouse.state.runners import WantedState
from streamhouse.state.store import StateStore

BY_AIRFLOW = "airflow"
_LOST_LOOKS = 2  # a runner that is gone is believed gone only then


class FlowStateTrigger(BaseTrigger):  # type: ignore[misc]
    """Ends when a flow is failed, lost or stopped, with an event for `flow_end.end_of`.

    A triggerer that restarts takes it up where it was. When a person marks or clears the task, the flow is stopped.
    """

    def __init__(self, project: str, flow: str, poll: float = 2.0) -> None:
        """Touches nothing yet.

        Args:
            project: Folder of the project.
            flow: Its name.
            poll: Seconds between two looks.
        """
        super().__init__()
        self.project = project
        self.flow = flow
        self.poll = poll

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How another triggerer makes it again."""
        place = f"{type(self).__module__}.{type(self).__qualname__}"
        return place, {"project": self.project, "flow": self.flow, "poll": self.poll}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until it is over. While the state store does not answer, nothing is concluded."""
        store = await asyncio.to_thread(project_state, self.project)
        lost, away = 0, False
        try:
            while True:
                try:
                    report = await asyncio.to_thread(_see, store, self.flow)
                except StreamhouseError as error:
                    if not error.retryable:
                        raise
                    if not away:
                        self.log.warning("%s", error)
                    away = True
                else:
                    away = False
                    lost = lost + 1 if report.state is FlowState.LOST else 0
                    if report.state.is_over and (report.state is not FlowState.LOST or lost >= _LOST_LOOKS):
                        yield TriggerEvent(event_of(report))
                        return
                await asyncio.sleep(self.poll)
        finally:
            store.close()

    async def on_kill(self) -> None:
        """A person ended the task: the flow is to stop after the epoch in hand."""
        await asyncio.to_thread(stop_flow, self.project, self.flow)


def stop_flow(project: str, flow: str) -> None:
    """Record that a flow is to be stopped, where it still is to run."""
    with project_state(project) as store:
        store.runners.ask(flow, WantedState.STOPPED, BY_AIRFLOW)


def _see(store: StateStore, flow: str) -> FlowReport:
    from streamhouse.runtime.owner import liveness

    return see(store, flow, alive=liveness())

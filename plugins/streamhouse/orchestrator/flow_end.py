"""What the end of a flow's stream means to the task that supervises it. Nothing here needs Airflow."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from streamhouse.errors import RunnerLostError
from streamhouse.state.flow_state import FlowReport, FlowState
from streamhouse.state.runners import Life

# Files, definitions that do not fit together, and what waits for a person: trying again changes nothing.
_NOT_AGAIN = ("SH1", "SH2", "SH507")
_TAKEN_UP_WITHIN = timedelta(minutes=2)
_LONG = timedelta(minutes=10)  # more than Airflow waits between two tries


class TaskEnd(StrEnum):
    """How a task ends."""

    SUCCESS = "success"
    RETRY = "retry"  # it failed, and may go better the next time
    FAIL = "fail"  # it failed, and will again until a person does something


@dataclass(frozen=True)
class End:
    """How the task ends, and what its log says, without a traceback."""

    verdict: TaskEnd
    text: str


def event_of(report: FlowReport) -> dict[str, Any]:
    """What a trigger hands to its task: JSON, all of it text or null."""
    runner = report.runner
    return {
        "flow": report.flow,
        "state": report.state.value,
        "error": report.error,
        "asked_by": report.wanted.requested_by if report.wanted is not None else None,
        "runner": str(runner.owner) if runner is not None else None,
        "heard_at": f"{runner.beat_at:%Y-%m-%d %H:%M:%S} UTC" if runner is not None else None,
        "life": runner.life.value if runner is not None else None,
        "log": runner.log if runner is not None else None,
    }


def end_of(event: dict[str, Any]) -> End:
    """How a task ends that was handed this event.

    Args:
        event: Of `event_of`, for a state that `is_over`.
    """
    flow, state = event["flow"], FlowState(event["state"])
    if state is FlowState.STOPPED:
        return End(
            TaskEnd.SUCCESS, f"{flow} was stopped by {event['asked_by'] or 'its runner'}; its last epoch is whole"
        )
    if state is FlowState.FAILED:
        return failure(str(event["error"] or f"{flow} failed and did not say why"))
    lost = RunnerLostError(
        f"{flow} has no runner: {_whereabouts(event)}",
        hint="the next run starts one, which goes on from the same positions"
        + (f"; log of this one: {event['log']}" if event["log"] else ""),
    )
    return End(TaskEnd.RETRY, str(lost))


def failure(text: str) -> End:
    """How a task ends because of an error, given as the command prints it."""
    # A definition error begins with its place.
    codes = {word for line in text.splitlines() for word in line.split() if word.startswith("SH")}
    return End(TaskEnd.FAIL if any(code.startswith(_NOT_AGAIN) for code in codes) else TaskEnd.RETRY, text)


def alarm(report: FlowReport, now: datetime) -> str | None:
    """What is wrong with a flow that should run; None: nothing, or it was asked for just now.

    Args:
        report: The flow.
        now: The clock.
    """
    if report.state not in (FlowState.FAILED, FlowState.LOST):
        return None
    is_new_request = report.wanted is not None and now - report.wanted.requested_at < _TAKEN_UP_WITHIN
    return None if report.state is FlowState.LOST and is_new_request else end_of(event_of(report)).text


def carried_long(since: str | None, now: datetime) -> bool:
    """Whether a try carried its flow for so long that its end says nothing about the next start.

    Args:
        since: When it began to, in ISO format; None: nobody knows.
        now: The clock.
    """
    return since is not None and now - datetime.fromisoformat(since) >= _LONG


def _whereabouts(event: dict[str, Any]) -> str:
    if not event["runner"]:
        return "there never was one"
    who = f"{event['runner']}, last heard at {event['heard_at']},"
    if event["error"]:
        return f"{who} failed: {event['error']}"
    return f"{who} {'was asked to end' if event['life'] == Life.STOPPED else 'is gone without a word'}"

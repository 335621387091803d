from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.orchestrator.flow_end import TaskEnd, alarm, carried_long, end_of, event_of, failure
from streamhouse.state.flow_state import judge
from streamhouse.state.records import FlowProgress, Owner, RunnerState
from streamhouse.state.runners import Life, RunnerRecord, WantedFlow, WantedState

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OWNER = Owner("alpha", 100, NOW)


def end(wanted, recorded, life=None, error=None):
    runner = RunnerRecord("main", OWNER, 1, life, NOW, NOW, "carrying", "/logs/runner-main.log", error)
    event = event_of(judge(wanted, FlowProgress("retail", recorded), runner if life else None))
    assert all(value is None or isinstance(value, str) for value in event.values())
    return end_of(event)


def asked(what=WantedState.RUNNING, error=None):
    return WantedFlow("retail", what, "main", 1, "ann", NOW, over=1 if error else 0, error=error)


def test_stopped_by_a_person_is_a_success():
    ended = end(asked(WantedState.STOPPED), RunnerState.STOPPED, Life.STOPPED)
    assert ended.verdict is TaskEnd.SUCCESS
    assert ended.text == "retail was stopped by ann; its last epoch is whole"


def test_a_failure_is_told_as_the_command_tells_it():
    text = "SH401 Fluss does not answer\n  hint: streamhouse services up"
    ended = end(asked(error=text), RunnerState.FAILED, Life.RUNNING)
    assert (ended.verdict, ended.text) == (TaskEnd.RETRY, text)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("SH301 Java 17 or later is needed", TaskEnd.RETRY),
        ("SH401 Fluss does not answer", TaskEnd.RETRY),
        ("SH503 epoch 7 failed", TaskEnd.RETRY),
        ("SH507 retail: a person must decide", TaskEnd.FAIL),
        ("flows/retail.yaml:7:11: SH201 unknown action 'clean'\n  hint: did you mean 'clean_orders'?", TaskEnd.FAIL),
        ("a.sql:1:1: SH104 no SQL\nb.sql:2:1: SH104 no SQL", TaskEnd.FAIL),
        ("the engine's command was killed", TaskEnd.RETRY),
    ],
)
def test_what_a_person_must_mend_is_not_tried_again(text, verdict):
    assert failure(text).verdict is verdict


@pytest.mark.parametrize(
    ("life", "error", "words"),
    [
        (Life.LOST, None, "process 100 on alpha, last heard at 2026-03-01 12:00:00 UTC, is gone without a word"),
        (Life.STOPPED, None, "process 100 on alpha, last heard at 2026-03-01 12:00:00 UTC, was asked to end"),
        (
            Life.FAILED,
            "SH522 Spark ended",
            "process 100 on alpha, last heard at 2026-03-01 12:00:00 UTC, failed: SH522",
        ),
        (None, None, "there never was one"),
    ],
)
def test_a_runner_that_is_gone_is_replaced_by_the_next_try(life, error, words):
    ended = end(asked(), RunnerState.LOST, life, error)
    assert ended.verdict is TaskEnd.RETRY
    assert ended.text.startswith(f"SH521 retail has no runner: {words}")
    assert "hint: the next run starts one, which goes on from the same positions" in ended.text
    assert ("log of this one: /logs/runner-main.log" in ended.text) == (life is not None)


def test_a_runner_that_fell_silent_is_an_alarm_that_reads_as_the_task_of_the_flow_does():
    runner = RunnerRecord("main", OWNER, 1, Life.LOST, NOW, NOW, "carrying")
    told = alarm(judge(asked(), FlowProgress("retail", RunnerState.LOST), runner), NOW + timedelta(hours=1))
    assert told is not None
    assert told.startswith("SH521 retail has no runner: process 100 on alpha, last heard at 2026-03-01 12:00:00 UTC,")
    failed = judge(asked(error="SH503 epoch 7 failed"), FlowProgress("retail", RunnerState.FAILED), runner)
    assert alarm(failed, NOW) == "SH503 epoch 7 failed"


def test_a_flow_that_was_asked_for_just_now_is_no_alarm():
    seen = judge(asked(), FlowProgress("retail", RunnerState.STOPPED), None)
    assert alarm(seen, NOW + timedelta(seconds=119)) is None
    assert alarm(seen, NOW + timedelta(minutes=2)) is not None


@pytest.mark.parametrize("wanted", [None, asked(WantedState.STOPPED), asked()])
def test_a_flow_that_is_as_it_should_be_is_no_alarm(wanted):
    recorded = RunnerState.STOPPED if wanted is None or wanted.wanted is WantedState.STOPPED else RunnerState.RUNNING
    assert alarm(judge(wanted, FlowProgress("retail", recorded), None), NOW + timedelta(hours=1)) is None


def test_a_try_that_carried_its_flow_for_ten_minutes_is_no_failed_start():
    assert not carried_long(NOW.isoformat(), NOW + timedelta(minutes=9))
    assert carried_long(NOW.isoformat(), NOW + timedelta(minutes=10))
    assert not carried_long(None, NOW)  # of a run that began under an older version

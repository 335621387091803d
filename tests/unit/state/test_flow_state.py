from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.state.flow_state import FlowState, judge, see
from streamhouse.state.records import FlowProgress, Owner, RunnerState
from streamhouse.state.runners import Life, RunnerRecord, WantedFlow, WantedState

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RUNNER = Owner("alpha", 100, NOW)
PERSON = Owner("alpha", 200, NOW)
DUE = WantedFlow("retail", WantedState.RUNNING, "main", 3, "ann", NOW, over=2)
GIVEN_UP = WantedFlow("retail", WantedState.RUNNING, "main", 3, "ann", NOW, over=3, error="SH503 it broke")
NOT_WANTED = WantedFlow("retail", WantedState.STOPPED, "main", 4, "ann", NOW)


def runner(life, error=None):
    return RunnerRecord("main", RUNNER, 1, life, NOW, NOW, "carrying", error=error)


@pytest.mark.parametrize(
    ("wanted", "recorded", "owner", "life", "state"),
    [
        # nobody asked a runner: what 'streamhouse run' recorded
        (None, RunnerState.STOPPED, None, None, FlowState.STOPPED),
        (None, RunnerState.RUNNING, PERSON, None, FlowState.RUNNING),
        (None, RunnerState.FAILED, PERSON, None, FlowState.FAILED),
        (None, RunnerState.LOST, PERSON, None, FlowState.LOST),
        # wanted
        (DUE, RunnerState.STOPPED, None, None, FlowState.LOST),
        (DUE, RunnerState.STOPPED, None, Life.STARTING, FlowState.STARTING),
        (DUE, RunnerState.STOPPED, None, Life.RUNNING, FlowState.STARTING),
        (DUE, RunnerState.FAILED, RUNNER, Life.RUNNING, FlowState.STARTING),  # that was before it was asked again
        (DUE, RunnerState.RUNNING, RUNNER, Life.RUNNING, FlowState.RUNNING),
        (DUE, RunnerState.RUNNING, PERSON, Life.RUNNING, FlowState.RUNNING),
        (DUE, RunnerState.LOST, RUNNER, Life.RUNNING, FlowState.STARTING),
        (DUE, RunnerState.STOPPED, RUNNER, Life.CLOSING, FlowState.STARTING),
        (DUE, RunnerState.LOST, RUNNER, Life.LOST, FlowState.LOST),
        (DUE, RunnerState.STOPPED, RUNNER, Life.STOPPED, FlowState.LOST),
        (DUE, RunnerState.FAILED, RUNNER, Life.FAILED, FlowState.LOST),
        # wanted, and given up
        (GIVEN_UP, RunnerState.FAILED, RUNNER, Life.RUNNING, FlowState.FAILED),
        (GIVEN_UP, RunnerState.STOPPED, RUNNER, Life.FAILED, FlowState.FAILED),
        (GIVEN_UP, RunnerState.RUNNING, PERSON, Life.RUNNING, FlowState.RUNNING),
        # not wanted
        (NOT_WANTED, RunnerState.RUNNING, RUNNER, Life.RUNNING, FlowState.STOPPING),
        (NOT_WANTED, RunnerState.RUNNING, PERSON, Life.RUNNING, FlowState.STOPPED),
        (NOT_WANTED, RunnerState.STOPPED, RUNNER, Life.RUNNING, FlowState.STOPPED),
        (NOT_WANTED, RunnerState.LOST, RUNNER, Life.LOST, FlowState.STOPPED),
        (NOT_WANTED, RunnerState.FAILED, RUNNER, None, FlowState.STOPPED),
    ],
)
def test_each_observed_state_has_one_meaning(wanted, recorded, owner, life, state):
    progress = FlowProgress("retail", recorded, owner=owner)
    seen = judge(wanted, progress, runner(life) if life is not None else None)
    assert seen.state is state
    assert seen.state.is_over == (state in (FlowState.STOPPED, FlowState.FAILED, FlowState.LOST))


def test_the_error_is_that_of_the_try_or_of_the_runner():
    progress = FlowProgress("retail", RunnerState.FAILED, error="SH401 earlier")
    assert judge(GIVEN_UP, progress, runner(Life.RUNNING)).error == "SH503 it broke"
    assert judge(None, progress, None).error == "SH401 earlier"
    assert judge(DUE, progress, runner(Life.FAILED, "SH301 no Java")).error == "SH301 no Java"
    assert judge(DUE, progress, runner(Life.RUNNING)).error is None


def test_a_flow_is_seen_from_start_to_loss(store, owner, now):
    ttl, later = timedelta(seconds=15), now + timedelta(seconds=5)
    assert see(store, "retail", now).state is FlowState.STOPPED
    store.runners.ask("retail", WantedState.RUNNING, "ann")
    assert see(store, "retail", now).state is FlowState.LOST
    store.runners.claim("main", owner, ttl, alive=lambda _: True, now=now)
    assert see(store, "retail", now).state is FlowState.STARTING
    store.acquire("retail", owner, ttl, now)
    assert see(store, "retail", later).state is FlowState.RUNNING
    assert see(store, "retail", later, alive=lambda _: False).state is FlowState.LOST
    assert see(store, "retail", now + ttl).state is FlowState.LOST

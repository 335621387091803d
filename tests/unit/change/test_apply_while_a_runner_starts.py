"""An apply finds no runner, and meanwhile one takes the flow up: it waits for that one."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from streamhouse.change import apply as applying
from streamhouse.errors import LeaseHeldError
from streamhouse.state.records import RunnerState

HELD = LeaseHeldError("flow 'sales' is run by process 1 on here since 12:00:00 UTC")


class State:
    """A state store with one change, and a runner that takes its flow up and does it after two looks."""

    def __init__(self, carried=()):
        self.carried, self.looks = set(carried), 0

    def progress(self, flow, alive):
        return SimpleNamespace(state=RunnerState.RUNNING if flow in self.carried else RunnerState.STOPPED)

    def change(self, change_id):
        self.looks += 1
        return change(is_open=self.looks < 2)


def change(*, is_open):
    return SimpleNamespace(
        id=1, flow="sales", candidate="sales-change-1", is_open=is_open, waits=False, phase=None, versions={}
    )


@pytest.fixture
def stood(monkeypatch):
    """Who asks to carry the flow out finds that another one does."""
    asked = []

    @contextmanager
    def opened(project, *, say):
        yield SimpleNamespace(state=None)

    def stand(steward):
        asked.append(steward)
        raise HELD

    monkeypatch.setattr(applying, "opened", opened)
    monkeypatch.setattr(applying, "running_plan", lambda *_: None)
    monkeypatch.setattr(applying, "Reconciler", lambda *_: "steward")
    monkeypatch.setattr(applying, "execution_of", lambda *_: SimpleNamespace(stand=stand))
    monkeypatch.setattr(applying, "_LOOK_S", 0)
    return asked


def test_it_waits_for_the_runner_that_came_first(stood):
    said = []
    done = applying._followed(None, State(), change(is_open=True), wait=True, say=said.append)
    assert not done.is_open
    assert stood == ["steward"] * 2
    assert said == ["waiting for the end of an epoch"] * 2


def test_an_environment_that_runs_is_told(stood):
    with pytest.raises(LeaseHeldError):
        applying._followed(None, State({"sales-change-1"}), change(is_open=True), wait=True, say=lambda _: None)

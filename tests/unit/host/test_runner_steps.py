from datetime import UTC, datetime

import pytest

from streamhouse.host.runner import next_steps, succession
from streamhouse.state.records import Owner
from streamhouse.state.runners import Life, RunnerRecord, WantedFlow, WantedState

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def wanted(flow, what=WantedState.RUNNING, *, over=0):
    return WantedFlow(flow, what, "main", 2, "ann", NOW, over=over)


@pytest.mark.parametrize(
    ("asked", "carried", "waiting", "start", "stop"),
    [
        ([], [], [], [], []),
        ([wanted("a")], [], [], ["a"], []),
        ([wanted("a")], ["a"], [], [], []),  # also while it ends: it is started when it has ended
        ([wanted("a", over=1)], [], [], ["a"], []),  # it failed, and was asked again
        ([wanted("a", over=2)], [], [], [], []),  # it failed
        ([wanted("a", over=2)], ["a"], [], [], []),
        ([wanted("a", WantedState.STOPPED)], ["a"], [], [], ["a"]),
        ([wanted("a", WantedState.STOPPED)], [], [], [], []),
        ([], ["a"], [], [], ["a"]),  # another runner is to carry it
        ([wanted("a"), wanted("b")], [], ["b"], ["a"], []),  # another process carries b
        ([wanted("a", WantedState.STOPPED), wanted("b"), wanted("c", over=2)], ["a", "c"], [], ["b"], ["a"]),
    ],
)
def test_what_is_started_and_stopped(asked, carried, waiting, start, stop):
    steps = next_steps(asked, carried, waiting)
    assert ([one.flow for one in steps.start], list(steps.stop)) == (start, stop)


def test_people_are_told_who_replaced_a_runner_that_did_not_end_as_asked():
    dead, now = Owner("alpha", 1, NOW), Owner("alpha", 2, NOW)

    def told(life):
        return succession(RunnerRecord("main", dead, 1, life, NOW, NOW, "carrying a"), now)

    assert succession(None, now) is None
    assert told(Life.STOPPED) is None
    assert told(Life.LOST) == (
        "runner main: process 1 on alpha fell silent without a word (last heard at 2026-03-01 12:00:00 UTC); "
        "process 2 on alpha goes on from the same positions"
    )
    assert told(Life.FAILED) == (
        "runner main: process 1 on alpha failed; process 2 on alpha goes on from the same positions"
    )

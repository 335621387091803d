from datetime import UTC, datetime

import pytest

from streamhouse.jobs.runner import next_steps
from streamhouse.state.runners import Wanted, WantedFlow

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def wanted(flow, what=Wanted.RUNNING, *, over=0):
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
        ([wanted("a", Wanted.STOPPED)], ["a"], [], [], ["a"]),
        ([wanted("a", Wanted.STOPPED)], [], [], [], []),
        ([], ["a"], [], [], ["a"]),  # another runner is to carry it
        ([wanted("a"), wanted("b")], [], ["b"], ["a"], []),  # another process carries b
        ([wanted("a", Wanted.STOPPED), wanted("b"), wanted("c", over=2)], ["a", "c"], [], ["b"], ["a"]),
    ],
)
def test_what_is_started_and_stopped(asked, carried, waiting, start, stop):
    steps = next_steps(asked, carried, waiting)
    assert ([one.flow for one in steps.start], list(steps.stop)) == (start, stop)

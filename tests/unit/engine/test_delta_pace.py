"""Which way of a `delta` step an epoch takes."""

from typing import TYPE_CHECKING

import pytest

from streamhouse.engine import delta_pace as pace
from streamhouse.engine.delta_pace import DeltaPace

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> "Callable[[float], None]":
    """A clock that stands still but for this."""
    now = [100.0]

    def waits(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(pace, "perf_counter", lambda: now[0])
    return waits


def _measured(wait: "Callable[[float], None]", *, all_s: float, changes_s: float) -> DeltaPace:
    found = DeltaPace()
    with found.computing_all(1_000_000):
        wait(all_s)
    with found.following(1_000):
        wait(changes_s)
    return found


def test_before_it_is_measured_few_rows_are_computed_anew() -> None:
    assert DeltaPace().prefers_all(rows=1_000, changed=10, inputs=2)
    assert DeltaPace().prefers_all(rows=100_000, changed=60_000, inputs=1)
    assert not DeltaPace().prefers_all(rows=100_000, changed=1_000, inputs=2)


def test_what_is_measured_decides(wait: "Callable[[float], None]") -> None:
    assert not _measured(wait, all_s=5, changes_s=0.1).prefers_all(1_000_000, 1_000, 1)
    assert _measured(wait, all_s=1, changes_s=2).prefers_all(1_000_000, 1_000, 1)


def test_many_changes_tell_for_all(wait: "Callable[[float], None]") -> None:
    found = _measured(wait, all_s=5, changes_s=0.1)
    assert not found.prefers_all(1_000_000, 10, 1)
    assert not found.prefers_all(1_000_000, 100_000, 1)
    assert found.prefers_all(1_000_000, 1_000_000, 1)
    assert not found.prefers_all(1_000, 1_000, 1)


def test_a_slow_first_run_is_tried_again(wait: "Callable[[float], None]") -> None:
    found = _measured(wait, all_s=1, changes_s=6)
    tries = 0
    while found.prefers_all(1_000_000, 1_000, 1):
        tries += 1
    assert 3 < tries < 12
    with found.following(1_000):
        wait(0.1)
    assert not found.prefers_all(1_000_000, 1_000, 1)

"""When a stream offers the next epoch: on a clock that only rests move."""

import pytest

from streamhouse.engine import source
from streamhouse.engine.source import EpochOffsets, Pace, vector_of
from streamhouse.engine.vector import Vector


class World:
    """Time that passes while somebody rests, rows that come at their times, and the query's end."""

    def __init__(self, *rows_at):
        self.now, self.rows_at, self.asked, self.ends_at = 100.0, rows_at, 0, None
        self.knows = False

    def monotonic(self):
        return self.now

    # An event that is set when the query ends.
    def wait(self, seconds):
        assert seconds >= 0
        self.now += seconds
        return self.is_set()

    def is_set(self):
        return self.ends_at is not None and self.now >= self.ends_at

    # A clock.
    def next(self, last):
        self.asked += 1
        there = sum(at <= self.now for at in self.rows_at)
        return Vector(round(self.now * 1000), {"rows": {"row": there}}) if there > _row(last) else last

    def due_s(self, last):
        later = [at - self.now for at in self.rows_at[_row(last) :]]
        return max(0.0, later[0]) if self.knows and later else None


def _row(vector):
    return vector.positions.get("rows", {}).get("row", 0)


@pytest.fixture
def world(monkeypatch):
    def made(*rows_at, pace=None, begin=None):
        world = World(*rows_at)
        monkeypatch.setattr(source, "time", world)
        world.found, world.alone = [], []
        world.offsets = EpochOffsets(
            world,
            begin=begin or Vector(),
            pace=pace or Pace(1.0),
            ending=world,
            on_logged=lambda alone: world.alone.append(alone),
            on_failure=lambda error: None,
            on_found=lambda: world.found.append(world.now),
        )
        return world

    return made


def asked(world):
    """How many rows the next epoch ends after, and when it is offered."""
    return _row(vector_of(world.offsets.newest())), pytest.approx(world.now)


def test_a_row_that_waits_begins_an_epoch_at_once(world):
    here = world(90.0)
    assert asked(here) == (1, 100.0)
    assert here.found == [100.0]


def test_a_source_that_knows_when_its_row_comes_is_asked_then(world):
    here = world(107.3)
    here.knows = True
    rows, at = asked(here)
    assert (rows, round(here.now, 2)) == (1, 107.3)
    assert at.expected >= 107.3


def test_without_such_a_source_it_is_asked_again_and_again(world):
    here = world(103.0)
    assert asked(here)[0] == 1
    assert 103.0 <= here.now < 104.0
    assert here.asked > 3


def test_rows_that_wait_when_an_epoch_ends_are_gathered(world):
    here = world(90.0, 100.1, 100.3, pace=Pace(1.0, 0.5))
    assert asked(here)[0] == 1
    here.now += 0.2  # the epoch
    assert asked(here) == (3, 100.5)


def test_a_row_that_comes_later_begins_an_epoch_after_a_few_times_the_last_one(world):
    here = world(90.0, 102.0, pace=Pace(1.0, 60.0))
    here.knows = True
    assert asked(here)[0] == 1
    here.now += 0.2
    rows, _ = asked(here)
    assert (rows, round(here.now, 2)) == (2, 102.0)


def test_a_trickle_does_not_make_epochs_follow_each_other_at_once(world):
    here = world(90.0, 100.25, pace=Pace(1.0, 60.0))
    here.knows = True
    assert asked(here)[0] == 1
    here.now += 0.2
    assert asked(here) == (2, 100.8)


def test_an_interval_passes_whether_rows_wait_or_not(world):
    here = world(90.0, 102.0, pace=Pace(1.0, 5.0, steady=True))
    assert asked(here)[0] == 1
    here.now += 0.2
    assert asked(here) == (2, 105.0)


def test_an_epoch_that_took_longer_than_rows_are_gathered_is_followed_at_once(world):
    here = world(90.0, 100.1, pace=Pace(1.0, 0.5))
    assert asked(here)[0] == 1
    here.now += 0.7
    assert asked(here) == (2, 100.7)


def test_spark_is_answered_while_rows_are_gathered_for_long(world):
    here = world(90.0, 100.1, pace=Pace(1.0, 25.0))
    assert asked(here)[0] == 1
    here.now += 0.1
    assert asked(here) == (1, 110.1)
    assert asked(here) == (1, 120.1)
    assert asked(here) == (2, 125.0)
    assert here.found == [100.0, 125.0]


def test_the_end_of_the_query_ends_the_gathering(world):
    here = world(90.0, 100.1, pace=Pace(1.0, 5.0))
    assert asked(here)[0] == 1
    here.ends_at = 100.2
    assert asked(here)[0] == 1
    assert here.found == [100.0]


def test_an_epoch_is_alone_whose_rows_come_while_nothing_else_is_to_do(world):
    here = world(90.0, 100.1, 105.0, pace=Pace(1.0, 0.5))
    for _ in range(3):
        here.offsets.begins(here.offsets.newest())
        here.now += 0.2
    assert here.alone == [False, False, True]

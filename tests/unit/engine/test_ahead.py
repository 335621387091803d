"""Epochs that begin before Spark calls for them."""

import threading

import pytest

from streamhouse.engine.ahead import EpochsAhead
from tests.patience import PATIENCE_S


class Epochs:
    def __init__(self):
        self.ran = []
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()

    def run(self, batch):
        self.began.set()
        assert self.may_end.wait(PATIENCE_S)
        self.ran.append(batch)
        if batch == 13:
            raise ValueError("on purpose")


@pytest.fixture
def epochs():
    return Epochs()


@pytest.fixture
def ahead(epochs):
    ahead = EpochsAhead(epochs.run)
    yield ahead
    ahead.close()


def test_the_first_batch_is_run_when_it_is_called_for(epochs, ahead):
    ahead.logged()
    assert not epochs.began.wait(0.1)
    ahead.call(7)
    assert epochs.ran == [7]


def test_later_batches_begin_when_they_are_logged_and_run_once(epochs, ahead):
    ahead.call(7)
    epochs.began.clear()
    ahead.logged()
    assert epochs.began.wait(PATIENCE_S)
    ahead.call(8)
    ahead.logged()
    ahead.call(9)
    assert epochs.ran == [7, 8, 9]


def test_an_epoch_that_is_alone_ends_before_spark_plans_its_batch(epochs, ahead):
    ahead.call(0)
    ahead.logged(alone=True)
    assert epochs.ran == [0, 1]
    ahead.call(1)
    assert epochs.ran == [0, 1]


def test_spark_does_not_wait_for_long_for_an_epoch_that_is_alone(epochs, ahead):
    ahead.call(0)
    epochs.may_end.clear()
    ahead.logged(alone=True)
    assert epochs.ran == [0]
    epochs.may_end.set()
    ahead.call(1)
    assert epochs.ran == [0, 1]


def test_an_epoch_that_fails_alone_is_told_by_its_call(ahead):
    ahead.call(12)
    ahead.logged(alone=True)
    with pytest.raises(ValueError, match="on purpose"):
        ahead.call(13)


def test_a_call_waits_for_the_epoch_that_has_begun(epochs, ahead):
    ahead.call(0)
    epochs.may_end.clear()
    ahead.logged()
    ended = threading.Event()
    caller = threading.Thread(target=lambda: (ahead.call(1), ended.set()))
    caller.start()
    assert not ended.wait(0.1)
    epochs.may_end.set()
    caller.join(PATIENCE_S)
    assert ended.is_set()
    assert epochs.ran == [0, 1]


def test_a_call_raises_what_its_epoch_raised(ahead):
    ahead.call(12)
    ahead.logged()
    with pytest.raises(ValueError, match="on purpose"):
        ahead.call(13)


def test_a_batch_that_was_not_logged_anew_is_run_when_it_is_called_for(epochs, ahead):
    ahead.call(3)
    ahead.call(4)
    assert epochs.ran == [3, 4]


def test_closing_waits_for_the_epoch_that_has_begun(epochs, ahead):
    ahead.call(0)
    ahead.logged()
    ahead.close()
    assert epochs.ran == [0, 1]

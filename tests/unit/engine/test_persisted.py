"""What Spark keeps for the time of one epoch. No Spark."""

import pytest

from streamhouse.engine.persisted import PersistedFrames
from streamhouse.errors import EngineError


class Frame:
    """In place of a DataFrame."""

    def __init__(self, *, fails=False):
        self.fails = fails
        self.persists = 0

    def persist(self):
        self.persists += 1
        return self

    def unpersist(self):
        if self.fails:
            raise EngineError("Spark does not answer")
        self.persists -= 1


def test_all_frames_are_forgotten_also_where_that_fails_for_one():
    frames = [Frame(), Frame(fails=True), Frame()]
    persisted = PersistedFrames()
    assert [persisted.keep(frame) for frame in frames] == frames
    assert [frame.persists for frame in frames] == [1, 1, 1]
    with pytest.raises(EngineError, match="Spark does not answer"):
        persisted.release()
    assert [frame.persists for frame in frames] == [0, 1, 0]


def test_nothing_is_kept_after_the_end():
    persisted, late = PersistedFrames(), Frame()
    persisted.release()
    assert persisted.keep(late) is late
    persisted.release()
    assert late.persists == 0

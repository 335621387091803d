"""What an engine calls with each batch of events."""

import pytest

from streamhouse.capture.java import BatchConsumer


class Records(list):
    def size(self):
        return len(self)

    def get(self, number):
        return self[number]


class Committer:
    def __init__(self):
        self.calls = []

    def markProcessed(self, record):  # noqa: N802  Java's name
        self.calls.append(record)

    def markBatchFinished(self):  # noqa: N802
        self.calls.append("finished")


def test_java_may_forget_a_batch_that_was_taken():
    released, records, committer = [], Records(["a", "b"]), Committer()
    BatchConsumer(released.append, released.append).handleBatch(records, committer)
    assert committer.calls == ["b", "finished"]
    assert released == [records, "b", records, committer]  # the first one took it


def test_java_may_forget_a_batch_that_failed_and_confirms_nothing():
    def take(records):
        raise OSError("no space left")

    released, records, committer = [], Records(["a"]), Committer()
    with pytest.raises(OSError, match="no space left"):
        BatchConsumer(take, released.append).handleBatch(records, committer)
    assert (committer.calls, released) == ([], [records, committer])

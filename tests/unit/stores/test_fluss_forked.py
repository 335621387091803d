"""A process that was forked off has the memory of Fluss's client, and none of its threads."""

import os
from types import SimpleNamespace

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.stores.fluss.client_thread import EventLoop
from streamhouse.stores.fluss.native import Native, Target


@pytest.fixture
def forked(monkeypatch):
    """A process that was forked off while another thread had the lock of the loop."""
    monkeypatch.setattr(EventLoop, "_current", SimpleNamespace(_pid=os.getpid() + 1))
    with EventLoop._lock:
        yield


class Writer:
    """One whose locks belong to a thread that is not there."""

    def write_arrow_batch(self, _batch):
        raise AssertionError("waits for ever")


def test_a_write_is_refused_before_it_meets_a_lock(forked, monkeypatch):
    native = Native("localhost:1", 1.0)
    monkeypatch.setattr(native, "_writer", lambda *_: (SimpleNamespace(quick=set()), Writer()))
    target = Target("ods.t", 1, 1, frozenset())
    with native._lock, pytest.raises(StoreError, match="forked"):
        native.append(target, [pa.table({"k": [1]})])

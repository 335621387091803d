"""Spark asks the source of a segment's stream for offsets in this process, and logs what it says."""

import gc
import json
import subprocess
import sys
import threading
import weakref
from dataclasses import dataclass, field

import psutil
import pytest

from streamhouse.engine.source import Pace, epochs_stream, vector_of
from streamhouse.engine.vector import Vector
from streamhouse.errors import StoreUnavailableError
from streamhouse.spark.log_files import logging_session
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = [
    deep(
        "waits until Spark gives up", only=("test_nothing_outlives_a_driver_that_is_killed_while_spark_waits_for_it",)
    ),
    pytest.mark.spark,
]


class Counter:
    """A clock of epochs of one row each, up to `rows`."""

    def __init__(self, rows):
        self.rows = rows
        self.asked = 0

    def next(self, last):
        self.asked += 1
        row = last.positions.get("lines", {}).get("row", 0)
        return at(row + 1) if row < self.rows else last

    def due_s(self, last):
        return None


class Broken:
    """A clock whose store is away."""

    def next(self, last):
        raise StoreUnavailableError("the store is away")


def at(row):
    return Vector(row * 1000, {"lines": {"row": row}})


@dataclass
class Run:
    """A query over a clock's epochs, and what came of it."""

    epochs: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    logged: list = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)
    query: object = None
    close: object = None

    def until(self, epochs):
        def come():
            found = len(self.epochs) >= epochs
            assert found or self.query.isActive, self.query.exception()
            return found

        until(come, saw=lambda: self.epochs)

    def stop(self):
        self.ending.set()
        self.query.stop()
        self.close()


@pytest.fixture
def start(spark, tmp_path):
    runs = []

    def started(clock, *, begin=None, poll_s=0.0, name="one", fails_at=None):
        run = Run()

        def epoch(frame, batch):
            if batch == fails_at:
                raise ValueError("on purpose")
            run.epochs.append((batch, frame.count(), vector_of(lines(tmp_path, name, batch)[2])))

        stream = epochs_stream(
            spark,
            clock,
            begin=begin or Vector(),
            pace=Pace(poll_s),
            ending=run.ending,
            on_logged=lambda alone: run.logged.append(len(run.epochs)),
            on_failure=run.failures.append,
        )
        run.close = stream.close
        writer = stream.frame.writeStream.foreachBatch(epoch).option("checkpointLocation", str(tmp_path / name))
        run.query = writer.trigger(processingTime="1 milliseconds").start()
        runs.append(run)
        return run

    yield started
    for run in runs:
        run.stop()


def lines(folder, name, batch):
    return (folder / name / "offsets" / str(batch)).read_text().splitlines()


def test_each_batch_is_an_epoch_without_rows_whose_end_is_logged_before_it(start):
    run = start(Counter(3))
    run.until(3)
    assert run.epochs == [(0, 0, at(1)), (1, 0, at(2)), (2, 0, at(3))]
    assert run.logged == [0, 1, 2]  # each before its epoch


def test_a_checkpoint_without_epochs_begins_where_it_is_told(start):
    run = start(Counter(8), begin=at(7))
    run.until(1)
    assert run.epochs == [(0, 0, at(8))]


def test_a_restart_goes_on_after_the_last_epoch_whatever_the_beginning(start, tmp_path):
    first = start(Counter(2))
    first.until(2)
    until((tmp_path / "one" / "commits" / "1").exists)  # Spark writes it after the epoch
    first.stop()
    again = start(Counter(4))
    again.until(2)
    assert again.epochs[-2:] == [(2, 0, at(3)), (3, 0, at(4))]
    assert len(again.logged) == 2


def test_a_logged_epoch_that_failed_is_repeated_to_the_same_end_and_then_it_goes_on(start):
    failed = start(Counter(9), fails_at=1)
    with pytest.raises(Exception, match="on purpose"):
        failed.query.awaitTermination(PATIENCE_S)
    again = start(Counter(3))
    again.until(2)
    assert again.epochs == [(1, 0, at(2)), (2, 0, at(3))]
    assert again.logged == [1]  # the repeated one was logged before


def test_the_log_reads_as_that_of_a_python_data_source(start, tmp_path):
    """So that checkpoints of earlier versions go on."""
    start(Counter(1)).until(1)
    version, _, offset = lines(tmp_path, "one", 0)
    assert version == "v1"
    assert json.loads(offset) == {"vector": at(1).to_json()}


def test_what_the_clock_raises_is_told_as_it_is_and_ends_the_query(start):
    run = start(Broken())
    with pytest.raises(Exception, match="the store is away"):
        run.query.awaitTermination(PATIENCE_S)
    assert [type(failure) for failure in run.failures] == [StoreUnavailableError]
    assert run.epochs == []


def test_while_nothing_is_new_the_source_rests_and_the_end_wakes_it(start):
    clock = Counter(1)
    run = start(clock, poll_s=1_000_000.0)
    run.until(1)
    until(lambda: clock.asked >= 2)  # nothing is new: it rests from now on
    run.stop()  # within a rest that is longer than a test may take
    assert clock.asked <= 3


def test_two_queries_at_once_have_each_their_own_source(start):
    runs = [start(Counter(rows), name=f"of {rows}") for rows in (4, 2)]
    for run, rows in zip(runs, (4, 2), strict=True):
        run.until(rows)
        assert [vector for _, _, vector in run.epochs] == [at(row + 1) for row in range(rows)]


def test_no_process_is_started(start):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    run = start(Counter(1))
    run.until(1)
    started = [process for process in psutil.Process().children(recursive=True) if process.pid not in before]
    # Hadoop writes a checkpoint by way of chmod, which ends at once; what serves a query would stay.
    assert psutil.wait_procs(started, timeout=PATIENCE_S)[1] == []


def test_the_clock_is_let_go_with_the_query(start):
    clock = Counter(1)
    seen = weakref.ref(clock)
    run = start(clock)
    run.until(1)
    run.stop()
    del clock
    gc.collect()
    assert seen() is None


def test_streams_share_the_session_that_logs(spark):
    """Spark keeps each session that had a stream."""
    assert logging_session(spark) is logging_session(spark)
    assert logging_session(spark) is not spark


def test_threads_and_sockets_of_a_query_go_with_it(start, spark):
    def held():
        java = psutil.Process(spark.sparkContext._gateway.proc.pid)
        return threading.active_count(), psutil.Process().num_fds(), len(java.net_connections("tcp"))

    def run_some(numbers):
        for number in numbers:
            run = start(Counter(1), name=f"run {number}")
            run.until(1)
            run.stop()

    run_some(range(2))
    before = held()
    run_some(range(2, 12))
    until(
        lambda: all(now <= then + 3 for now, then in zip(held(), before, strict=True)),
        saw=lambda: f"{before} became {held()}",
    )


CHILD = """
import sys, threading, time
from pathlib import Path
from streamhouse.engine.source import Pace, epochs_stream
from streamhouse.engine.vector import Vector
from streamhouse.project.project import Project
from streamhouse.runtime.session import local_session
from streamhouse.project.settings import Settings

class Still:
    def next(self, last):
        print("asked", flush=True)
        return last

    def due_s(self, last):
        return None

folder = Path(sys.argv[1])
spark = local_session(Project(folder, Settings.model_validate({"spark": {"master": "local[1]"}})))
stream = epochs_stream(
    spark, Still(), begin=Vector(), pace=Pace(600.0), ending=threading.Event(),
    on_logged=lambda alone: None, on_failure=lambda error: None,
)
writer = stream.frame.writeStream.foreachBatch(lambda frame, batch: None)
writer.option("checkpointLocation", str(folder / "log")).start()
time.sleep(600)
"""


def test_nothing_outlives_a_driver_that_is_killed_while_spark_waits_for_it(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "asked\n"
        family = psutil.Process(child.pid).children(recursive=True)
        assert family
    finally:
        child.kill()
        child.wait()
    assert psutil.wait_procs(family, timeout=PATIENCE_S)[1] == []

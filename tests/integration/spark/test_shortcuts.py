"""Each shortcut gives what Spark's public way gives; one that does not is found by its probe, and is off."""

import threading

import pyarrow as pa
import pytest

from streamhouse.engine.frames import Frames
from streamhouse.engine.source import Pace, epochs_stream, vector_of
from streamhouse.engine.standing import NoneStands, Standing, standing_queries
from streamhouse.engine.vector import Vector
from streamhouse.errors import StoreUnavailableError
from streamhouse.spark import carrier, offset_log, placeholder, stream_source
from streamhouse.spark.carrier import Carrier, PublicCarrier, carrier_of
from streamhouse.spark.driver_task import DriverTasks, ScheduledTasks, tasks_of
from streamhouse.spark.probe import tried
from streamhouse.spark.public_streams import PublicStreams
from streamhouse.spark.session_copy import ClonedSessions, NewSessions, copies_of
from streamhouse.spark.shortcuts import Shortcut, Shortcuts, shortcuts_of, use_shortcuts
from streamhouse.spark.stream_source import JavaStreams
from streamhouse.spark.streams import streams_of
from tests.gate.levels import deep
from tests.patience import until
from tests.planted import KINDS, plant

pytestmark = [
    deep("more faults of each shortcut; one of each stays", only=("test_further_faults_turn_it_off",)),
    pytest.mark.spark,
]

ALL = frozenset(Shortcut)


@pytest.fixture
def chosen(spark):
    """Lets the session take other shortcuts for one test."""
    before = shortcuts_of(spark)
    yield lambda *on: use_shortcuts(spark, Shortcuts(frozenset(on)))
    use_shortcuts(spark, before)


def test_a_session_takes_all_of_them_here(spark):
    assert shortcuts_of(spark).on == ALL
    assert shortcuts_of(spark.newSession()).on == ALL


def test_each_has_two_implementations(spark, chosen):
    def kinds():
        found = (carrier_of(spark), standing_queries(spark), tasks_of(spark), streams_of(spark), copies_of(spark))
        return [type(one) for one in found]

    assert kinds() == [Carrier, Standing, DriverTasks, JavaStreams, ClonedSessions]
    chosen()
    assert kinds() == [PublicCarrier, NoneStands, ScheduledTasks, PublicStreams, NewSessions]


FURTHER = {
    "a column is lost": (Shortcut.CARRIER, carrier.Carrier, "frame", lambda right: lambda *a: right(*a).drop("day")),
    "no place": (Shortcut.STANDING_QUERIES, placeholder.Place, "of", lambda right: _raises),
    "begins late": (
        Shortcut.STREAM_SOURCE,
        stream_source._Source,
        "getBatch",
        lambda right: lambda self, *a: self.rows,
    ),
}


def _raises(*_):
    raise TypeError("'JavaPackage' object is not callable")


def assert_refused(spark, shortcut, folder, monkeypatch):
    monkeypatch.setattr("streamhouse.spark.probe._STREAM_S", 3.0)
    found = tried(spark, frozenset({shortcut}), folder)
    assert set(found.refused) == {shortcut}
    assert found.on == set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shortcut", list(Shortcut), ids=str)
def test_a_fault_turns_it_off(spark, tmp_path, monkeypatch, shortcut, kind):
    plant(monkeypatch, shortcut, kind)
    assert_refused(spark, shortcut, tmp_path, monkeypatch)


@pytest.mark.parametrize("fault", FURTHER)
def test_further_faults_turn_it_off(spark, tmp_path, monkeypatch, fault):
    shortcut, kind, name, planted = FURTHER[fault]
    monkeypatch.setattr(kind, name, planted(getattr(kind, name)))
    assert_refused(spark, shortcut, tmp_path, monkeypatch)


def test_scheduled_tasks_read_the_rows_of_each_epoch(spark, chosen):
    chosen(*(ALL - {Shortcut.DRIVER_TASKS}))
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "false")
    session.conf.set("spark.sql.execution.arrow.localRelationThreshold", "0")
    fast = Carrier(session)
    rows = pa.table({"k": [1, 1, 2], "n": [1, 2, 3]})
    held = placeholder.Place.of(fast.over(fast.sent(rows)), rows.schema)
    held.frame.createOrReplaceTempView("scheduled")
    task = tasks_of(session).make_task(session.sql("SELECT k, SUM(n) AS n FROM scheduled GROUP BY k"))
    for part in (rows, rows.slice(1), rows):
        held.put(fast.sent(part).batches.toSeq())
        wanted = {
            k: sum(n for at, n in zip(part["k"].to_pylist(), part["n"].to_pylist(), strict=True) if at == k)
            for k in part["k"].to_pylist()
        }
        assert {row["k"]: row["n"] for row in task.rows().to_pylist()} == wanted


def test_without_any_frames_run_as_before(spark, chosen):
    chosen()
    frames = Frames(spark)
    assert frames.place("rows", pa.table({"n": [1]})) is None
    assert frames.rows(frames.frame(pa.table({"n": [1, 2]}))).to_pylist() == [{"n": 1}, {"n": 2}]


class Counter:
    """A clock of epochs of one row each."""

    def __init__(self, rows, fails_at=None):
        self.rows, self.fails_at = rows, fails_at

    def next(self, last):
        row = last.positions.get("lines", {}).get("row", 0)
        if row == self.fails_at:
            raise StoreUnavailableError("the store is away")
        return at(row + 1) if row < self.rows else last

    def due_s(self, last):
        return None


def at(row):
    return Vector(row * 1000, {"lines": {"row": row}})


@pytest.fixture
def public_run(spark, tmp_path):
    """Runs a query over a clock's epochs by the public source, until there are so many."""

    def run(clock, epochs, *, streams=None, begin=None):
        streams = streams or PublicStreams()
        seen, logged, failures, ending = [], [], [], threading.Event()
        from streamhouse.engine.source import EpochOffsets

        offsets = EpochOffsets(
            clock,
            begin=begin or Vector(),
            pace=Pace(0.05),
            ending=ending,
            on_logged=lambda alone: logged.append(len(seen)),
            on_failure=failures.append,
        )
        stream = streams.stream(spark.newSession(), offsets)

        def epoch(batch):
            seen.append((batch, vector_of(offset_log.offset_at_end(tmp_path / "log", batch))))

        writer = streams.calling(stream.frame.writeStream, epoch).option("checkpointLocation", str(tmp_path / "log"))
        query = writer.trigger(processingTime="1 milliseconds").start()
        committed = tmp_path / "log" / "commits"
        try:
            # Spark writes the commit after the epoch: without it the next run repeats the epoch.
            until(lambda: not query.isActive or (len(seen) >= epochs and (committed / str(seen[-1][0])).exists()))
        finally:
            ending.set()
            query.stop()
            stream.close()
        return seen, logged, failures

    return run


def test_the_public_source_says_the_same_epochs(public_run):
    assert public_run(Counter(3), 3)[0] == [(0, at(1)), (1, at(2)), (2, at(3))]


@pytest.mark.parametrize("first", [PublicStreams, JavaStreams])
def test_either_source_goes_on_where_the_other_was(public_run, first):
    second = JavaStreams if first is PublicStreams else PublicStreams
    assert public_run(Counter(2), 2, streams=first())[0] == [(0, at(1)), (1, at(2))]
    seen = public_run(Counter(4), 2, streams=second())[0]
    assert seen[-2:] == [(2, at(3)), (3, at(4))]


def test_what_the_clock_raises_ends_the_query_of_the_public_source(public_run):
    seen, _, failures = public_run(Counter(9, fails_at=1), 9)
    assert seen == [(0, at(1))]
    assert {type(failure) for failure in failures} == {StoreUnavailableError}


def test_the_engine_takes_the_source_of_the_session(spark, chosen):
    chosen()
    stream = epochs_stream(
        spark.newSession(),
        Counter(0),
        begin=Vector(),
        pace=Pace(),
        ending=threading.Event(),
        on_logged=lambda alone: None,
        on_failure=lambda error: None,
    )
    assert stream.frame.columns == ["epoch"]
    stream.close()

"""One segment on its way: its streaming query, the epochs Spark calls for, and their retries."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from streamhouse.engine.ahead import EpochsAhead
from streamhouse.engine.checkpoint import Checkpoint
from streamhouse.engine.clock import EpochClock
from streamhouse.engine.epoch import EpochOutcome
from streamhouse.engine.failure import error_of, translated
from streamhouse.engine.frames import Frames
from streamhouse.engine.heartbeat import outlive_tasks
from streamhouse.engine.inputs import lacking, open_inputs
from streamhouse.engine.outdated_steps import computed, outdated
from streamhouse.engine.patience import Patience
from streamhouse.engine.points import reach
from streamhouse.engine.ready import Ready
from streamhouse.engine.segment import SegmentExecution
from streamhouse.engine.source import Pace, epochs_stream, segment_clock
from streamhouse.engine.surroundings import Beat, Surroundings
from streamhouse.engine.traces import remains_of, restore_hint
from streamhouse.engine.vector import Vector, covers
from streamhouse.errors import (
    RowsLostError,
    StateConflictError,
    StreamhouseError,
)
from streamhouse.ingest.lacking import LACKING
from streamhouse.model.bad_rows import DEAD_LETTER
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Position, Strategy
from streamhouse.spark.java_process import spark_answers
from streamhouse.spark.log_files import logging_session
from streamhouse.spark.streams import streams_of
from streamhouse.state.records import EpochRecord
from streamhouse.state.violations import EXPECTATION, violation_text

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_POLL_S = 0.05
_STAND_S = 0.25  # between two looks whether a segment is still paused
_LOOK_S = 1.0  # between two looks whether Spark has ended the query; what happens here rings at once


class _StopAsked(Exception):  # noqa: N818  a signal to Spark's thread, never an error
    """Ends the stream before an epoch begins, so that Spark does not count it as done."""


class SegmentStream:
    """Carries one segment until the runner stops, or until what waits is drained."""

    def __init__(self, around: Surroundings, segment: Segment) -> None:
        self._around = around
        self._segment = segment
        self._ready: Ready
        self._clock: EpochClock
        self._until: Mapping[str, Position] | None = None
        self.is_stuck = False  # rows that it needs are gone, and it waits for a person's word
        self._ending = threading.Event()  # no epoch may begin any more in the query in hand
        self._bell: SimpleQueue[None] = SimpleQueue()  # unlike an event, a signal handler may ring it at any moment
        self._failure: BaseException | None = None
        self._is_log_lost = False  # Spark's log was removed while the query ran that failed
        self._epoch_lock = threading.Lock()  # taken while an epoch runs: a stop waits for its end
        self._last: EpochRecord | None = None  # the last finished epoch; this process is the only one to add any
        self._end: Vector | None = None  # where the last epoch of this run ended
        self._ran = False  # whether this process has finished an epoch
        self._may_be_unfinished = True  # an epoch began that did not finish, for all that this process knows
        self._read_rows = 0
        self._waiting_rows = 0
        self._drains = False
        self._patience = Patience(around.patience)

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Connect to what the segment reads and writes, and check that all is as it was left.

        Raises:
            StateConflictError: a table is not as the last epoch left it.
            SchemaConflictError, TypeMismatchError: see `SegmentExecution.prepare`.
        """
        around, plan = self._around, self._around.plan
        self._ready = self._connect(plan, self._segment)
        try:
            self._last = around.state.last_epoch(plan.flow, self._segment.name)
            self._ready.runner.prepare(self._last.ends if self._last else {})
            if around.state.unfinished(plan.flow, self._segment.name) is None:
                self._find_ends(self._ready.runner)
                self._note_done()
            yield self
            if self._ran:
                self._note_done()
        finally:
            self._ready.runner.close()

    def _note_done(self) -> None:
        """Leave word with the tables that the last epoch is done: nobody need repeat it, should the state be lost."""
        around, last = self._around, self._last
        if last is None or self._patience.trouble is not None:
            return
        with suppress(StreamhouseError):  # it is repeated then
            if around.state.unfinished(around.plan.flow, self._segment.name) is None:
                self._ready.runner.note_done(last, self._ready.generation)

    def _connect(self, plan: FlowPlan, segment: Segment) -> Ready:
        around = self._around
        inputs = open_inputs(plan, segment, around.places.root, around.stores)
        cache, frames = around.cache / plan.flow, Frames(around.spark)
        return Ready(
            plan,
            segment,
            inputs,
            SegmentExecution(plan, segment, inputs, around.stores, frames, around.places, cache, around.lease),
            around.state,
        )

    def prepared(self, plan: FlowPlan) -> Ready:
        """The segment of the same name of another plan, ready to take the place of this one; close it if it never does.

        The tables that it writes, and their columns, are made. Reads and writes no rows, so epochs may run meanwhile.

        Raises:
            SchemaConflictError, TypeMismatchError: see `SegmentExecution.prepare`.
        """
        [segment] = (s for s in plan.segments if s.name == self._segment.name)
        ready = self._connect(plan, segment)
        try:
            ready.runner.prepare(self._last.ends if self._last else {})
        except BaseException:
            ready.runner.close()
            raise
        return ready

    @contextmanager
    def between_epochs(self) -> Iterator[bool]:
        """No epoch runs meanwhile. Gives whether none is half done: one that failed runs again with the plan it had."""
        with self._epoch_lock:
            flow = self._around.plan.flow
            yield self._around.state.unfinished(flow, self._segment.name) is None

    def take(self, ready: Ready) -> None:
        """Run further epochs so, from the positions where the last one ended. Only `between_epochs`."""
        before, self._ready = self._ready, ready
        self._around = replace(self._around, plan=ready.plan)
        self._segment = ready.segment
        self._clock = segment_clock(ready.plan, ready.segment, ready.inputs, self._until)
        before.runner.close()

    def next(self, last: Vector) -> Vector:
        """The end of the next epoch; see `EpochClock.next`. The stream asks here, as the plan may change under it."""
        found = self._clock.next(last)
        return Vector(_ms(_now()), last.positions, tick=True) if found == last and self._outdated() else found

    def _outdated(self) -> frozenset[str]:
        """Steps that must compute their whole table, whether or not rows come."""
        return outdated(self._ready.definitions, self._last, self._ready.alone)

    def due_s(self, last: Vector) -> float | None:
        """See `EpochClock.due_s`."""
        return self._clock.due_s(last)

    @property
    def name(self) -> str:
        """Of the segment."""
        return self._segment.name

    def ring(self) -> None:
        """Let the stream look at once whether it is to stop. Safe from any thread or signal handler."""
        self._bell.put(None)

    def run(self, *, once: bool, bounds: Mapping[str, Position] = MappingProxyType({})) -> None:
        """Run the segment, which is `opened`. A paused one begins when it may: what it reads may not be there.

        Args:
            once: Return when what waits is in every table.
            bounds: Input → where to stop `once`; absent: at its end as it is now.

        Raises:
            RowsLostError: an input has lost what was not read, and nobody is asked about it.
            StreamhouseError: an epoch failed for good.
        """
        self._drains = once
        if not once:
            self._stand()
        around, begin, inputs = self._around, self._begin(), self._ready.inputs
        if around.stop.is_set():
            return
        available = {
            name: bounds[name] if name in bounds else epoch_input.available() for name, epoch_input in inputs.items()
        }
        with suppress(RowsLostError):  # nobody knows how many; the stream will find so too
            self._waiting_rows = sum(
                epoch_input.rows_between(begin.positions.get(name, {}), available[name])
                for name, epoch_input in inputs.items()
            )
        while not around.stop.is_set():
            try:
                with spark_answers():
                    self._stream(available if once else None)
            except RowsLostError:
                if once or not self._needs_decision():
                    raise
            except StreamhouseError as error:
                if not (error.retryable or self._is_log_lost) or not self._may_try_again(error):
                    raise
            else:
                return

    def _needs_decision(self) -> bool:
        """Whether a person is asked about rows that are gone; returns when the segment need not wait any more."""
        around = self._around
        self.is_stuck = True
        try:
            around.rows_lost(self.name)
            is_paused = around.is_paused(self.name)
            self._stand()
        finally:
            self.is_stuck = False
        return is_paused or around.stop.is_set()

    def _stand(self) -> None:
        """Wait while the segment is paused, unless the runner is to end."""
        while self._around.is_paused(self.name) and not self._around.stop.is_set():
            with suppress(Empty):
                self._bell.get(timeout=_STAND_S)

    def _may_try_again(self, error: StreamhouseError) -> bool:
        """Whether there is patience left, after a pause."""
        around = self._around
        pause_s = self._patience.failed(error.message, epoch=self._last_number(), now_s=time.monotonic())
        trouble = self._patience.trouble
        if pause_s is None or trouble is None:
            return False
        if trouble.attempts == 1:
            around.state.append_event(around.plan.flow, "retry", f"{self.name} waits: {error}")
            around.on_wait(f"{error.message}; trying again")
        around.stop.wait(pause_s)
        return True

    def _tell_recovery(self) -> None:
        trouble = self._patience.over(self._last_number())
        if trouble is not None:
            seconds = time.monotonic() - trouble.since_s
            text = f"{self.name} goes on after {seconds:.1f} s and {trouble.attempts} attempts: {trouble.text}"
            self._around.state.append_event(self._around.plan.flow, "retry", text)

    def _last_number(self) -> int:
        return self._last.epoch if self._last else -1

    def _find_ends(self, runner: SegmentExecution) -> None:
        """Where the tables end, now that no attempt is unfinished: a backfill may have written to them since."""
        if self._last is None:
            runner.check_empty()
            return
        ends = runner.ends(self._last.ends)
        if ends != self._last.ends:  # before an epoch begins: should it die, these show what it wrote
            self._around.state.note_ends(self._around.lease.lease, self._segment.name, ends)
        self._last = replace(self._last, ends=ends)

    def _begin(self) -> Vector:
        return Vector(self._last.at_ms, self._last.end) if self._last else Vector()

    def _stream(self, until: Mapping[str, Position] | None) -> None:
        """One run of the streaming query, from where the last finished epoch ended."""
        self._is_log_lost = False
        around, plan, segment = self._around, self._around.plan, self._segment
        begin = self._begin()
        unfinished = around.state.unfinished(plan.flow, segment.name)
        drained = until is not None and self._reached(begin, until) and not self._needs_tick() and not self._outdated()
        if drained and unfinished is None:
            return
        next_epoch = self._last.epoch + 1 if self._last else 0
        last_end = self._last.end if self._last else None
        checkpoint = Checkpoint(around.checkpoints, plan.flow, segment.name, next_epoch, last_end)
        checkpoint.begin(unfinished, lambda: remains_of(plan, segment, around.stores, unfinished, self._last))

        def epoch(batch: int) -> None:
            with self._one_epoch():
                try:
                    self._run_epoch(self._ready.runner, checkpoint, batch)
                except BaseException as error:
                    self._fail(error)
                    self._ready.runner.abandon()
                    raise
                finally:
                    self.ring()

        self._ending.clear()
        ahead = EpochsAhead(epoch)
        self._until, self._clock = until, segment_clock(plan, segment, self._ready.inputs, until)
        stream = epochs_stream(
            logging_session(around.spark),
            self,
            begin=begin,
            pace=Pace() if until is not None else self._pace(),
            ending=self._ending,
            on_logged=lambda alone: ahead.logged(alone=alone),
            on_failure=self._fail,
            on_found=lambda: self._around.before_epoch(self.name),
        )
        query = (
            streams_of(around.spark)
            .calling(stream.frame.writeStream, ahead.call)
            .option("checkpointLocation", str(checkpoint.path))
            .queryName(f"{plan.flow}/{segment.name}")
            .trigger(processingTime="0 seconds")  # the source waits for rows
            .start()
        )
        try:
            self._watch(query, until)
        finally:
            self._end_query(query)
            ahead.close()
            stream.close()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._is_log_lost = not checkpoint.has_log  # the next one is made from the state store
            raise translated(failure)

    @contextmanager
    def _one_epoch(self) -> Iterator[None]:
        """The time of an epoch, unless none may begin any more; the thread that ends the query waits for its end."""
        self._refuse_at_end()
        # Never blocked for good: what ends the query holds the lock while it waits for Spark, and Spark for us.
        while not self._admitted():
            self._refuse_at_end()
        try:
            self._refuse_at_end()
            yield
        finally:
            self._epoch_lock.release()

    def _refuse_at_end(self) -> None:
        if self._around.stop.is_set() or self._ending.is_set():
            raise _StopAsked

    def _admitted(self) -> bool:
        """Whether an epoch may begin, after a moment; the lock is taken then."""
        if self._around.is_paused(self._segment.name):
            time.sleep(_POLL_S)
            return False
        return self._epoch_lock.acquire(timeout=_POLL_S)

    def _fail(self, error: BaseException) -> None:
        """Take note of what ends the query, before Spark makes it an error of its own."""
        self._failure = error
        self.ring()

    def _pace(self) -> Pace:
        # A row that comes while nothing else does is seen within a quarter of the freshness.
        freshness_s, interval = self._around.plan.freshness.total_seconds(), self._segment.interval
        gather_s = freshness_s / 2 if interval is None else interval.total_seconds()
        return Pace(freshness_s / 4, gather_s, steady=interval is not None)

    def _watch(self, query: "StreamingQuery", until: Mapping[str, Position] | None) -> None:
        """Return when the query should end, or has ended."""
        while not self._around.stop.is_set() and self._failure is None:
            if not query.isActive:
                if self._failure is None:
                    self._failure = error_of(query)
                return
            drained = until is not None and self._end is not None and self._reached(self._end, until)
            if drained and not self._needs_tick() and not self._outdated():
                return
            with suppress(Empty):
                self._bell.get(timeout=_LOOK_S)

    def _reached(self, end: Vector, until: Mapping[str, Position]) -> bool:
        """Whether an epoch's end is at or beyond a goal, of which partitions may have been dropped meanwhile."""
        behind = {name: at for name, at in until.items() if not covers(end.positions, {name: at})}
        inputs = self._ready.inputs
        left = {name: inputs[name].standing(at) if name in inputs else at for name, at in behind.items()}
        return covers(end.positions, left)

    def _needs_tick(self) -> bool:
        """Whether a `full` step with an interval may still lack the last rows."""
        ticks = any(step.strategy is Strategy.FULL and step.interval for step in self._segment.steps)
        return ticks and self._last is not None and self._last.start != self._last.end

    def _end_query(self, query: "StreamingQuery") -> None:
        from pyspark.errors import PySparkException

        self._ending.set()  # an epoch that Spark is about to begin must not begin; nor may the source wait for rows
        with self._epoch_lock:
            try:
                query.stop()
            except PySparkException:
                query.awaitTermination(10)

    def _run_epoch(self, runner: SegmentExecution, checkpoint: Checkpoint, batch: int) -> None:
        reach("after_offset_log")
        state, lease, last = self._around.state, self._around.lease.lease, self._last
        flow, segment = self._around.plan.flow, self._segment
        number = checkpoint.epoch(batch)
        end = checkpoint.end_of(batch)
        if last is not None and number == last.epoch and end.is_at(last.end):
            self._end = Vector(last.at_ms, last.end)  # done before a crash that Spark's commit log did not outlive
            return
        if last is not None and number != last.epoch + 1:
            raise StateConflictError(
                f"epoch {number} follows epoch {last.epoch} of {flow}/{segment.name}, or ends elsewhere",
                hint=restore_hint(flow),
            )
        # This process alone adds epochs: after one that finished there is none to ask for.
        replay = self._may_be_unfinished and state.unfinished(flow, segment.name) is not None
        if replay:
            reach("during_recovery")
            outlive_tasks(self._around.spark.sparkContext, self._around.lease.age_s)
        started = _now()
        self._may_be_unfinished = True
        at_ms = state.begin_epoch(lease, segment.name, number, end.at_ms, started)
        reach("after_begin")
        start = self._begin()
        # Before its first epoch a table ends at its beginning: this flow alone writes it.
        ends: dict[str, Position] = {name: {} for name in segment.tables} | (last.ends if last else {})
        end = Vector(at_ms, end.positions, end.tick)
        outcome = runner.run(
            number,
            start,
            end,
            ends,
            after=last.epoch if last else None,
            generation=self._ready.generation,
            outdated=self._outdated(),
            replay=replay,
        )
        reach("after_last_write")
        record = EpochRecord(
            flow=flow,
            segment=segment.name,
            epoch=number,
            at_ms=at_ms,
            started_ms=_ms(started),
            finished_ms=_ms(_now()),
            start={name: dict(p) for name, p in start.positions.items()},
            end={name: dict(p) for name, p in end.positions.items()},
            ends=outcome.ends,
            rows=outcome.rows,
            layer_visible_ms={layer.value: ms for layer, ms in outcome.visible_ms.items()},
            computed=computed(self._ready.definitions, outcome.ran, last),
        )
        state.finish_epoch(lease, record)
        self._last, self._ran, self._may_be_unfinished = record, True, False
        runner.settle(outcome, end)
        for rule, rows in outcome.violations.items():
            state.append_event(flow, EXPECTATION, violation_text(rule, rows, number))
        for text in outcome.bad_rows:
            state.append_event(flow, DEAD_LETTER, text)
        for what, values in outcome.losses.items():
            state.append_event(flow, "loss", f"epoch {number}: {values} values of {what}")
        for text in lacking(self._around.plan, segment, self._ready.inputs, start, end):
            state.append_event(flow, LACKING, text)
        self._tell_recovery()
        reach("before_commit_log")
        self._read_rows += self._rows_of(start, end, outcome)
        self._end = end
        self._around.on_beat(Beat(record, self._read_rows, self._waiting_rows))

    def _rows_of(self, start: Vector, end: Vector, outcome: EpochOutcome) -> int:
        """Rows that an epoch read; of a drain counted as those that wait are: of change events each one."""
        if self._drains:
            with suppress(RowsLostError, KeyError):
                return sum(
                    self._ready.inputs[name].rows_between(start.positions.get(name, {}), position)
                    for name, position in end.positions.items()
                )
        return outcome.read_rows


def _now() -> datetime:
    return datetime.now(UTC)


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)

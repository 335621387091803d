"""A runner carries the segments of one flow: lease, stream, epochs, retries (design D10)."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from streamhouse.engine.checkpoint import Checkpoint
from streamhouse.engine.frames import Frames, first_line
from streamhouse.engine.inputs import open_inputs
from streamhouse.engine.points import reach
from streamhouse.engine.segment import SegmentRunner
from streamhouse.engine.source import epochs_stream
from streamhouse.engine.vector import Vector, covers
from streamhouse.errors import (
    DiskFullError,
    EngineError,
    EpochFailedError,
    LeaseLostError,
    StateConflictError,
    StreamhouseError,
)
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Position, Strategy, Tier
from streamhouse.state.records import EpochRecord, Lease, Owner, RunnerState
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Store
from streamhouse.stores.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LEASE_TTL = timedelta(seconds=15)
_ATTEMPTS = 8  # of an epoch whose failure may pass by itself: about two minutes with the waits
_POLL_S = 0.05


@dataclass(frozen=True)
class Beat:
    """What a runner tells after each epoch.

    Attributes:
        record: The epoch as the state store has it.
        read_rows: Rows read from the inputs since this run began.
        waiting_rows: Rows that waited there when this run began; of a drain the total.
    """

    record: EpochRecord
    read_rows: int
    waiting_rows: int


class _StopAsked(Exception):  # noqa: N818  a signal to Spark's thread, never an error
    """Ends the stream before an epoch begins, so that Spark does not count it as done."""


class Runner:
    """Runs one flow until told to stop, or until what waits is drained. For one call of `run`."""

    def __init__(
        self,
        plan: FlowPlan,
        spark: "SparkSession",
        stores: Mapping[Tier, Store],
        places: Places,
        state: StateStore,
        owner: Owner,
        *,
        alive: Callable[[Owner], bool],
        checkpoints: Path,
        cache: Path,
        on_beat: Callable[[Beat], None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._spark = spark
        self._stores = stores
        self._places = places
        self._state = state
        self._owner = owner
        self._alive = alive
        self._checkpoints = checkpoints
        self._cache = cache
        self._on_beat = on_beat
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._epoch_lock = threading.Lock()  # held while an epoch runs: a stop waits for its end

    def stop(self) -> None:
        """Ask the runner to end after the epoch in hand. Safe from any thread or signal handler."""
        self._stop.set()

    def run(self, *, once: bool) -> None:
        """Carry the flow; return when it was asked to stop or, with `once`, when what waited at the start is done.

        Raises:
            LeaseHeldError: another runner carries the flow.
            LeaseLostError: a newer runner took it over meanwhile.
            StreamhouseError: an epoch failed for good; the flow's state says so too.
        """
        lease = self._state.acquire(self._plan.flow, self._owner, LEASE_TTL, _now(), alive=self._alive)
        heartbeat = threading.Thread(target=self._heartbeat, args=(lease,), daemon=True, name="lease")
        heartbeat.start()
        try:
            for segment in self._plan.segments:
                self._run_segment(segment, lease, once=once)
        except StreamhouseError as error:
            if not isinstance(error, LeaseLostError):
                self._state.set_runner_state(lease, RunnerState.FAILED, str(error))
            raise
        finally:
            self._stop.set()
            heartbeat.join()
            self._state.release(lease)

    def _heartbeat(self, lease: Lease) -> None:
        while not self._stop.wait(LEASE_TTL.total_seconds() / 3):
            try:
                self._state.renew(lease, _now())
            except LeaseLostError as error:
                self._failure = error
                self._stop.set()
            except StreamhouseError:
                continue  # the state store is away; the epoch's own record fails if it stays away

    def _run_segment(self, segment: Segment, lease: Lease, *, once: bool) -> None:
        inputs = open_inputs(self._plan, segment, self._places.root, self._stores)
        frames, cache = Frames(self._spark), self._cache / self._plan.flow
        runner = SegmentRunner(self._plan, segment, inputs, self._stores, frames, self._places, cache)
        try:
            runner.prepare()
            begin = self._last_end(segment)
            flow = self._plan.flow
            if not begin.at_ms and self._state.unfinished(flow, segment.name) is None:
                runner.check_empty()
            available = {name: given.available() for name, given in inputs.items()}
            waiting = sum(g.rows_between(begin.positions.get(n, {}), available[n]) for n, g in inputs.items())
            carried = _Carried(runner, segment, waiting)
            until = available if once else None
            for attempt in Retrying(
                retry=retry_if_exception(lambda e: isinstance(e, StreamhouseError) and e.retryable),
                wait=wait_random_exponential(multiplier=0.5, max=30),
                stop=stop_after_attempt(_ATTEMPTS),
                sleep=self._sleep,
                before_sleep=self._tell_retry,
                reraise=True,
            ):
                with attempt:
                    self._stream(carried, lease, until)
        finally:
            runner.close()

    def _sleep(self, seconds: float) -> None:
        self._stop.wait(seconds)

    def _tell_retry(self, retry: RetryCallState) -> None:
        error = retry.outcome.exception() if retry.outcome else None
        wait = f"{retry.next_action.sleep:.1f} s" if retry.next_action else "a moment"
        text = f"attempt {retry.attempt_number} failed, next in {wait}: {error}"
        self._state.append_event(self._plan.flow, "retry", text)

    def _last_end(self, segment: Segment) -> Vector:
        last = self._state.last_epoch(self._plan.flow, segment.name)
        return Vector(last.at_ms, last.end) if last else Vector()

    def _stream(self, carried: "_Carried", lease: Lease, until: Mapping[str, Position] | None) -> None:
        """One run of the streaming query, from where the last finished epoch ended."""
        segment = carried.segment
        last = self._state.last_epoch(self._plan.flow, segment.name)
        begin = self._last_end(segment)
        if until is not None and covers(begin.positions, until) and not self._needs_tick(segment, last):
            return
        checkpoint = Checkpoint(self._checkpoints, self._plan.flow, segment.name, last.epoch + 1 if last else 0)
        unfinished = self._state.unfinished(self._plan.flow, segment.name)
        if unfinished is not None and not checkpoint.holds(unfinished):
            raise StateConflictError(
                f"epoch {unfinished} of {self._plan.flow} began, but its offset log is gone: {checkpoint.path}",
                hint="bring the folder back: without it nobody knows which rows the epoch had",
            )

        def epoch(_: "DataFrame", batch: int) -> None:
            if self._stop.is_set():
                raise _StopAsked
            with self._epoch_lock:
                try:
                    self._run_epoch(carried, lease, checkpoint, batch)
                except BaseException as error:
                    self._failure = error
                    raise

        stream = epochs_stream(self._spark, self._plan, segment.name, self._places, begin=begin, until=until)
        trigger_ms = 1 if until is not None else max(50, round(self._plan.freshness.total_seconds() * 500))
        query = (
            stream.load()
            .writeStream.foreachBatch(epoch)
            .option("checkpointLocation", str(checkpoint.path))
            .queryName(f"{self._plan.flow}/{segment.name}")
            .trigger(processingTime=f"{trigger_ms} milliseconds")
            .start()
        )
        try:
            self._watch(query, carried, until)
        finally:
            self._end(query)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise _translate(failure)

    def _watch(self, query: "StreamingQuery", carried: "_Carried", until: Mapping[str, Position] | None) -> None:
        """Return when the query should end, or has ended."""
        while not self._stop.is_set() and self._failure is None:
            if not query.isActive:
                if self._failure is None:
                    self._failure = _stream_error(query)
                return
            if until is not None and carried.end is not None and covers(carried.end.positions, until):
                last = self._state.last_epoch(self._plan.flow, carried.segment.name)
                if not self._needs_tick(carried.segment, last):
                    return
            time.sleep(_POLL_S)

    def _needs_tick(self, segment: Segment, last: EpochRecord | None) -> bool:
        """Whether a `full` step with an interval may still lack the last rows."""
        ticks = any(step.strategy is Strategy.FULL and step.interval for step in segment.steps)
        return ticks and last is not None and last.start != last.end

    def _end(self, query: "StreamingQuery") -> None:
        from pyspark.errors import PySparkException

        stopped = self._stop.is_set()
        self._stop.set()  # an epoch that Spark is about to begin must not begin
        with self._epoch_lock:
            try:
                query.stop()
            except PySparkException:
                query.awaitTermination(10)
        if not stopped:
            self._stop.clear()

    def _run_epoch(self, carried: "_Carried", lease: Lease, checkpoint: Checkpoint, batch: int) -> None:
        reach("after_offset_log")
        flow, segment = self._plan.flow, carried.segment.name
        number = checkpoint.epoch(batch)
        end = checkpoint.end_of(batch)
        last = self._state.last_epoch(flow, segment)
        if last is not None and number <= last.epoch:
            carried.end = Vector(last.at_ms, last.end)  # done before a crash that Spark's commit log did not outlive
            return
        if last is not None and number != last.epoch + 1:
            raise StateConflictError(
                f"epoch {number} follows epoch {last.epoch} of {flow}/{segment}",
                hint=f"remove {checkpoint.path}; the flow goes on from the state store's positions",
            )
        replay = self._state.unfinished(flow, segment) is not None
        if replay:
            reach("during_recovery")
        started = _now()
        at_ms = self._state.begin_epoch(lease, segment, number, end.at_ms, started)
        reach("after_begin")
        start = Vector(last.at_ms, last.end) if last else Vector()
        ends = last.ends if last else carried.first_ends()
        end = Vector(at_ms, end.positions, end.tick)
        outcome = carried.runner.run(number, start, end, ends, replay=replay)
        reach("after_last_write")
        record = EpochRecord(
            flow=flow,
            segment=segment,
            epoch=number,
            at_ms=at_ms,
            started_ms=_ms(started),
            finished_ms=_ms(_now()),
            start={name: dict(p) for name, p in start.positions.items()},
            end={name: dict(p) for name, p in end.positions.items()},
            ends=outcome.ends,
            rows=outcome.rows,
            layer_visible_ms={layer.value: ms for layer, ms in outcome.visible_ms.items()},
        )
        self._state.finish_epoch(lease, record)
        carried.runner.settle(outcome, end)
        for rule, rows in outcome.violations.items():
            self._state.append_event(flow, "expectation", f"epoch {number}: {rows} rows violate {rule}")
        reach("before_commit_log")
        carried.read_rows += outcome.read_rows
        carried.end = end
        self._on_beat(Beat(record, carried.read_rows, carried.waiting_rows))


@dataclass
class _Carried:
    """A segment in hand, over the restarts of its query."""

    runner: SegmentRunner
    segment: Segment
    waiting_rows: int
    read_rows: int = 0
    end: Vector | None = None

    def first_ends(self) -> dict[str, Position]:
        """Where the tables ended before the first epoch: at their beginning, which only this flow writes."""
        return {name: {} for name in self.segment.tables}


def _translate(failure: BaseException) -> BaseException:
    if isinstance(failure, StreamhouseError):
        return failure
    if "No space left on device" in str(failure):
        return DiskFullError("the disk is full", hint="free some space; the flow goes on where it stopped")
    return EpochFailedError(
        f"an epoch failed: {type(failure).__name__}: {first_line(failure)}",
        hint="nothing is lost; the epoch runs again at the next start. Spark's log: .streamhouse/logs/spark.log",
    ).with_traceback(failure.__traceback__)


def _stream_error(query: "StreamingQuery") -> EngineError | None:
    """The reason why a query ended by itself, in one line."""
    error = query.exception()
    if error is None:
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("streamhouse.errors.")]
    text = ours[-1].split(": ", 1)[-1] if ours else (lines[0] if lines else "no reason given")
    return EngineError(f"the stream ended: {text}", hint="Spark's log has more: .streamhouse/logs/spark.log")


def _now() -> datetime:
    return datetime.now(UTC)


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)

"""The Spark stream of a segment: it carries offsets, never rows (design D2).

Its offset is the position vector of everything a segment reads. Structured Streaming is clock and
write-ahead log: it stores the vector before the epoch and commits after it. The rows themselves are
read by the epoch, so the stream's one column has no rows.

Spark's JVM asks for offsets here, in the driver, the way it calls `foreachBatch`. A Python data source would
be a process of its own for each query, which takes 0.9 CPU-s to start and some 60 MB as long as it lives.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from streamhouse.engine.clock import EpochClock, Input
from streamhouse.engine.vector import Vector
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Position, Strategy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_IDLE_WAIT_S = 10.0  # how long Spark is left alone while nothing is new
_VECTOR = "vector"
# Soon after an epoch the next row is likely soon: the first rest is a part of the longest, later of the time since.
_FIRST_REST, _REST_OF_QUIET = 0.4, 0.05


class Clock(Protocol):
    """Says where epochs end."""

    def next(self, last: Vector) -> Vector:
        """The end of the epoch after the one that ends at `last`; `last` itself when there is none yet."""


@dataclass(frozen=True)
class EpochsStream:
    """The stream of one query.

    Attributes:
        frame: A streaming frame without rows.
        close: Lets go what the query's thread had here. To be called when the query has ended.
    """

    frame: "DataFrame"
    close: Callable[[], None]


def epochs_stream(
    spark: "SparkSession",
    clock: Clock,
    *,
    begin: Vector,
    poll_s: float,
    ending: threading.Event,
    on_logged: Callable[[], None],
    on_failure: Callable[[Exception], None],
) -> "EpochsStream":
    """A stream whose batches are the epochs of a clock; for one query.

    Args:
        spark: The session of the runner.
        clock: Says where epochs end. Asked by one thread at a time, and let go when the query ends.
        begin: Where a checkpoint without any epoch begins.
        poll_s: How long to rest at most between two questions to the clock while nothing is new: less than half as long
            soon after an epoch. 0: Spark's trigger alone asks.
        ending: Set when the query is to end, which also ends a rest.
        on_logged: Told when the end of a further epoch, for which the clock was asked, is in Spark's log.
        on_failure: Told what the clock raised; of that Spark makes an error of its own, with which the query ends.
    """
    from pyspark.java_gateway import ensure_callback_server_started
    from pyspark.sql import DataFrame

    context = spark.sparkContext
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    jvm: Any = context._jvm
    streaming = jvm.org.apache.spark.sql.execution.streaming.runtime
    frames, option = jvm.org.apache.spark.sql.classic.Dataset, jvm.scala.Option
    source = _EpochSource(
        lambda text: option.apply(streaming.SerializedOffset(text)),
        _CallLine(context._gateway),
        clock,
        begin=begin,
        poll_s=poll_s,
        ending=ending,
        on_logged=on_logged,
        on_failure=on_failure,
    )
    columns = spark.range(0)._jdf.queryExecution().analyzed().output()
    rows = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation(
        columns, jvm.PythonUtils.toSeq([]), True, option.empty()
    )
    source.rows = frames.ofRows(spark._jsparkSession, rows)
    stream = streaming.StreamingExecutionRelation(source, columns, option.empty(), spark._jsparkSession)
    return EpochsStream(DataFrame(frames.ofRows(spark._jsparkSession, stream), spark), source.line.close)


def call_with_epochs(writer: "DataStreamWriter", run: Callable[[int], None]) -> "DataStreamWriter":
    """As `writer.foreachBatch`, of a function that is told the batch's number alone.

    PySpark's own makes a session and a DataFrame for each batch, which takes the JVM milliseconds, before it calls.
    """
    jvm: Any = writer._spark.sparkContext._jvm
    helper = jvm.org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchHelper
    helper.callForeachBatch(writer._jwrite, _EpochSink(run))
    return writer


def offset_of(vector: Vector) -> str:
    """A vector as Spark logs it."""
    return json.dumps({_VECTOR: vector.to_json()})


def vector_of(offset_json: str) -> Vector:
    """The vector inside an offset as Spark logs it."""
    return Vector.from_json(json.loads(offset_json)[_VECTOR])


def segment_clock(
    plan: FlowPlan, segment: Segment, inputs: Mapping[str, Input], until: Mapping[str, Position] | None
) -> EpochClock:
    """The clock of a segment over what it reads.

    Args:
        plan: The flow.
        segment: One of its segments.
        inputs: Everything the segment reads, by name.
        until: Where a drain ends; None: never.
    """
    full = [step for step in segment.steps if step.strategy is Strategy.FULL]
    waits = [step.interval or timedelta(0) for step in full]
    return EpochClock(
        inputs,
        first=segment.loads_first,
        max_rows=plan.max_rows_per_epoch,
        now_ms=lambda: time.time_ns() // 1_000_000,
        until=until,
        tick_after=max(waits) if any(waits) else None,
    )


class _EpochSink:
    """What Spark calls with each batch."""

    class Java:
        """Makes py4j hand an object to the JVM as one of this interface."""

        implements: ClassVar = ["org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction"]

    def __init__(self, run: Callable[[int], None]) -> None:
        self._run = run

    def call(self, _rows: Any, batch: int) -> None:
        self._run(batch)


class _CallLine:
    """The connection on which one thread of the JVM calls this process.

    py4j opens one for each thread that calls and closes none: a socket on either side, and a thread here that listens.
    """

    def __init__(self, gateway: Any) -> None:
        from py4j.java_gateway import JavaObject

        self._server = JavaObject("GATEWAY_SERVER", gateway._gateway_client)
        self._client: Any = None
        self._connection: Any = None

    def note(self) -> None:
        """This call came on it."""
        self._client = self._server.getCallbackClient()
        self._connection = self._client.getPerThreadConnection()

    def close(self) -> None:
        """When that thread has ended."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.shutdown()
            self._client.connectionStopped(connection)  # nor does it keep it any more


class _EpochSource:
    """What Spark sees as a source of streams. Its methods have the names that Spark's thread of the query calls."""

    class Java:
        """Makes py4j hand an object to the JVM as one of this interface."""

        implements: ClassVar = ["org.apache.spark.sql.execution.streaming.Source"]

    def __init__(
        self,
        offset: Callable[[str], Any],
        line: _CallLine,
        clock: Clock,
        *,
        begin: Vector,
        poll_s: float,
        ending: threading.Event,
        on_logged: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self.rows: Any = None  # the JVM's frame that every batch is
        self.line = line
        self._offset = offset
        self._clock: Clock | None = clock
        self._last = begin  # where the newest logged epoch ends
        self._logged: Any = None  # `_last` as the JVM has it, once it was asked for
        self._is_new = False  # it has an epoch that did not begin yet
        self._poll_s = poll_s
        self._quiet_since = time.monotonic()
        self._ending = ending
        self._on_logged = on_logged
        self._on_failure = on_failure

    def getOffset(self) -> Any:  # noqa: N802
        try:
            found = self._next()
        except Exception as error:
            self._on_failure(error)
            raise
        if self._logged is None or found != self._last:
            self._is_new = found != self._last
            self._logged, self._last = self._offset(offset_of(found)), found
        return self._logged

    def getBatch(self, _start: Any, end: Any) -> Any:  # noqa: N802
        if self._logged is None:  # an epoch that was logged before this query began
            self._last = vector_of(end.json())
        if self._is_new:
            self._is_new = False
            self._on_logged()
        return self.rows

    def commit(self, _end: Any) -> None:
        pass

    def stop(self) -> None:
        self._clock = None  # the JVM keeps the source until it collects its garbage
        self.line.note()

    def toString(self) -> str:  # noqa: N802
        return "streamhouse epochs"

    def hashCode(self) -> int:  # noqa: N802
        return id(self) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self

    def _next(self) -> Vector:
        """The next vector. While nothing is new, wait here: to ask a store costs less than Spark's trigger."""
        assert self._clock is not None
        until = time.monotonic() + (_IDLE_WAIT_S if self._poll_s else 0.0)
        while (found := self._clock.next(self._last)) == self._last:
            now = time.monotonic()
            rest = max(self._poll_s * _FIRST_REST, (now - self._quiet_since) * _REST_OF_QUIET)
            if now >= until or self._ending.wait(min(self._poll_s, rest, until - now)):
                return found
        self._quiet_since = time.monotonic()
        return found

"""The offsets of a segment's stream, which carries no rows (design D2).

The offset is the position vector of everything a segment reads. Structured Streaming is clock and
write-ahead log: it stores the vector before the epoch and commits after it. The rows themselves are
read by the epoch, so the stream's one column has no rows.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from streamhouse.engine.clock import EpochClock, Input
from streamhouse.engine.vector import Vector
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Position, Strategy
from streamhouse.spark.streams import Stream, streams_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_IDLE_WAIT_S = 10.0  # how long Spark is left alone while nothing is new
_VECTOR = "vector"
# Soon after an epoch the next row is likely soon: the first rest is a part of the longest, later of the time since.
_FIRST_REST, _REST_OF_QUIET = 0.4, 0.05
_LEAST_REST_S = 0.0005
_TIMES_AS_LONG = 4  # from one epoch to the next as the epoch took, so that a trickle takes a part of one core


class Clock(Protocol):
    """Says where epochs end."""

    def next(self, last: Vector) -> Vector:
        """The end of the epoch after the one that ends at `last`; `last` itself when there is none yet."""

    def due_s(self, last: Vector) -> float | None:
        """Seconds until there are rows after `last`, where that is known of some; None: it is not."""


@dataclass(frozen=True)
class Pace:
    """How often a stream looks for rows, and how long it gathers them.

    Attributes:
        poll_s: How long to rest at most between two questions to the clock while nothing is new: less than half as long
            soon after an epoch. 0: each question is answered at once.
        gather_s: From the beginning of one epoch to that of the next, where rows wait whenever an epoch ends. Rows that
            come later begin one as soon as a few times as long as the one before took is over. 0: nothing is gathered.
        steady: Whether `gather_s` is to pass in any case.
    """

    poll_s: float = 0.0
    gather_s: float = 0.0
    steady: bool = False


def epochs_stream(
    spark: "SparkSession",
    clock: Clock,
    *,
    begin: Vector,
    pace: Pace,
    ending: threading.Event,
    on_logged: Callable[[bool], None],
    on_failure: Callable[[Exception], None],
    on_found: Callable[[], None] = lambda: None,
) -> Stream:
    """A stream whose batches are the epochs of a clock; for one query.

    Args:
        spark: The session of the runner.
        clock: Says where epochs end. Asked by one thread at a time, and let go when the query ends.
        begin: Where a checkpoint without any epoch begins.
        pace: How often it is asked. Spark's own trigger is to ask whenever it may.
        ending: Set when the query is to end, which also ends a rest.
        on_logged: Is called when the end of a further epoch, for which the clock was asked, is in Spark's log, with
            whether its rows came while nothing else was to do.
        on_failure: Is called with the clock's error; Spark wraps that into its own error, with which the query ends.
        on_found: Is called before the end of a further epoch that has rows is given to Spark.
    """
    offsets = EpochOffsets(
        clock, begin=begin, pace=pace, ending=ending, on_logged=on_logged, on_failure=on_failure, on_found=on_found
    )
    return streams_of(spark).stream(spark, offsets)


def offset_of(vector: Vector) -> str:
    """The positions of an epoch's end as the JSON text that Spark writes into its offset log."""
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


class EpochOffsets:
    """Gives Spark the ends of epochs as offsets; see `epochs_stream` for arguments."""

    def __init__(
        self,
        clock: Clock,
        *,
        begin: Vector,
        pace: Pace,
        ending: threading.Event,
        on_logged: Callable[[bool], None],
        on_failure: Callable[[Exception], None],
        on_found: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock: Clock | None = clock
        self._last = begin  # where the newest logged epoch ends
        self._text: str | None = None  # `_last` as Spark has it, once it was asked for
        self._is_new = False  # it has an epoch that did not begin yet
        self._pace = pace
        self._quiet_since = time.monotonic()
        self._began: float | None = None  # when the newest epoch was offered
        self._took: float | None = None  # how long it took until Spark asked for the next
        self._rested = False  # whether there was nothing to do before the newest epoch
        self._may_begin = 0.0  # that next one, when it was asked for
        self._ending = ending
        self._on_logged = on_logged
        self._on_failure = on_failure
        self._on_found = on_found

    def newest(self) -> str:
        """See `Offsets.newest`."""
        try:
            found = self._next()
        except Exception as error:
            self._on_failure(error)
            raise
        if self._text is None or found != self._last:
            self._is_new = found != self._last
            self._text, self._last = offset_of(found), found
        return self._text

    def begins(self, end: str) -> None:
        """See `Offsets.begins`."""
        if self._text is None:  # an epoch that was logged before this query began
            self._last = vector_of(end)
        if self._is_new:
            self._is_new = False
            self._on_logged(self._rested)

    def stop(self) -> None:
        """Let the clock go."""
        self._clock = None

    def _next(self) -> Vector:
        """The next vector. While nothing is new, wait here: to ask a store costs less than Spark's trigger."""
        assert self._clock is not None
        poll_s = self._pace.poll_s
        until = time.monotonic() + (_IDLE_WAIT_S if poll_s else 0.0)
        if not self._gathers(until):
            return self._last
        self._rested = False
        while (found := self._clock.next(self._last)) == self._last:
            self._rested = True
            now = time.monotonic()
            rest = max(poll_s * _FIRST_REST, (now - self._quiet_since) * _REST_OF_QUIET)
            due = self._clock.due_s(self._last)
            if due:  # where there is a row already that the clock does not take, the other inputs are asked
                rest = min(rest, due + _LEAST_REST_S)
            if now >= until or self._ending.wait(min(poll_s, rest, until - now)):
                return found
        if found.positions != self._last.positions:
            self._on_found()
        self._began = self._quiet_since = time.monotonic()
        self._took = None
        return found

    def _gathers(self, until: float) -> bool:
        """Wait until the next epoch may begin; whether it may."""
        if self._began is None or not self._pace.gather_s or self._clock is None:
            return True
        now = time.monotonic()
        if self._took is None:
            self._took = now - self._began
            gather_s = self._pace.gather_s
            if not self._pace.steady and self._took < gather_s and self._clock.next(self._last) == self._last:
                gather_s = min(gather_s, self._took * _TIMES_AS_LONG)
            self._may_begin = self._began + gather_s
        if self._may_begin > now:
            self._ending.wait(min(self._may_begin, until) - now)
        return self._may_begin <= until and not self._ending.is_set()

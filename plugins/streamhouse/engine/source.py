"""The Spark stream source `streamhouse_epochs`: it carries offsets, never rows (design D2).

Its offset is the position vector of everything a segment reads. Structured Streaming is clock and
write-ahead log: it stores the vector before the epoch and commits after it. The rows themselves are
read by the epoch, so the stream's one column has no rows and nothing ever executes it.

Spark runs the reader in a process of its own, one for each query.
"""

import json
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from streamhouse.engine.clock import EpochClock
from streamhouse.engine.inputs import open_inputs
from streamhouse.engine.vector import Vector
from streamhouse.errors import EngineError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position, Strategy
from streamhouse.stores.places import Places, open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

FORMAT = "streamhouse_epochs"
_IDLE_WAIT_S = 10.0  # how long Spark is left alone while nothing is new
_LOOK_S = 0.2  # how soon a wait notices that it is to end
_VECTOR = "vector"
_registering = Lock()  # Spark minds a second thread that registers the same name


def epochs_stream(
    spark: "SparkSession",
    plan: FlowPlan,
    segment: str,
    places: Places,
    *,
    begin: Vector,
    until: Mapping[str, Position] | None,
    quit_file: Path,
) -> "DataStreamReader":
    """A reader of the stream of vectors of one segment.

    Args:
        spark: The session of the runner.
        plan: The flow.
        segment: Which segment of it.
        places: Where the stores are; the reader's own process connects to them.
        begin: Where a checkpoint without any epoch begins.
        until: Where a drain ends; None: never.
        quit_file: Ends a wait for rows once it is there.
    """
    with _registering:
        spark.dataSource.register(_data_source())
    options = {
        "plan": plan.model_dump_json(),
        "segment": segment,
        "places": places.model_dump_json(),
        "begin": begin.to_json(),
        "until": json.dumps(until),
        "quit_file": str(quit_file),
        # A row that comes while nothing else does is seen within a quarter of the freshness.
        "poll_s": str(0.0 if until is not None else plan.freshness.total_seconds() / 4),
    }
    return spark.readStream.format(FORMAT).options(**options)


def vector_of(offset_json: str) -> Vector:
    """The vector inside an offset as Spark logs it."""
    return Vector.from_json(json.loads(offset_json)[_VECTOR])


def _data_source() -> Any:
    # Spark ships the class by value; what it names is imported in the reader's process.
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    class EpochReader(DataSourceStreamReader):
        """Answers Spark's questions about offsets; `last` is where the newest logged epoch ends."""

        def __init__(self, options: Mapping[str, str]) -> None:
            self.options = dict(options)
            self.last: Vector | None = None
            self.clock: EpochClock | None = None

        def initialOffset(self) -> dict[str, str]:  # noqa: N802  Spark's name
            return {_VECTOR: self.options["begin"]}

        def latestOffset(self) -> dict[str, str]:  # noqa: N802  Spark's name
            if self.clock is None:
                self.clock = segment_clock(self.options)
            if self.last is None:  # Spark calls `partitions` first when its log holds an epoch
                self.last = Vector.from_json(self.options["begin"])
            self.last = self._wait_for_rows(self.clock, self.last)
            return {_VECTOR: self.last.to_json()}

        def _wait_for_rows(self, clock: EpochClock, last: Vector) -> Vector:
            """The next vector. While nothing is new, wait here: to ask a store costs less than Spark's trigger."""
            poll_s = float(self.options["poll_s"])
            until = time.monotonic() + (_IDLE_WAIT_S if poll_s else 0.0)
            while (found := clock.next(last)) == last and self._rest(min(poll_s, until - time.monotonic())):
                pass
            return found

        def _rest(self, seconds: float) -> bool:
            """Sleep; False when the wait is over before."""
            until = time.monotonic() + seconds
            while (left := until - time.monotonic()) > 0 and not Path(self.options["quit_file"]).exists():
                time.sleep(min(left, _LOOK_S))
            return seconds > 0 and left <= 0

        def partitions(self, start: dict[str, str], end: dict[str, str]) -> list[Any]:  # noqa: ARG002
            self.last = Vector.from_json(end[_VECTOR])
            return [InputPartition(0)]

        def read(self, partition: Any) -> Any:  # noqa: ARG002
            raise EngineError("the epochs stream has no rows to read")

    class EpochSource(DataSource):
        """The source, as Spark looks it up by name."""

        @classmethod
        def name(cls) -> str:
            return FORMAT

        def schema(self) -> str:
            return "epoch bigint"

        def streamReader(self, schema: Any) -> Any:  # noqa: N802, ARG002  Spark's name
            return EpochReader(self.options)

    return EpochSource


def segment_clock(options: Mapping[str, str]) -> EpochClock:
    """The clock of a segment, connected to what it reads; called in the reader's process."""
    plan = FlowPlan.model_validate_json(options["plan"])
    places = Places.model_validate_json(options["places"])
    segment = next(s for s in plan.segments if s.name == options["segment"])
    read = (table for table in plan.readable if table.name in segment.reads and table.name not in segment.tables)
    tiers = {table.tiers.target for table in read}
    inputs = open_inputs(plan, segment, Path(places.root), {tier: open_store(tier, places) for tier in tiers})
    full = [step for step in segment.steps if step.strategy is Strategy.FULL]
    waits = [step.interval or timedelta(0) for step in full]
    return EpochClock(
        inputs,
        first=segment.loads_first,
        max_rows=plan.max_rows_per_epoch,
        now_ms=lambda: time.time_ns() // 1_000_000,
        until=json.loads(options["until"]),
        tick_after=max(waits) if any(waits) else None,
    )

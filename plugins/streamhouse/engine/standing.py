"""Queries that Spark plans once and runs in each epoch.

Spark takes some ten times as long to plan a query as to run it over the rows of an epoch, and a step asks the same of
each epoch's rows. So its query stands: the plan reads a place, whose rows are others in each epoch. A place is the one
partition of an RDD; a task takes along the rows that are there when it starts, as with any frame of this process' rows.

A query stands only if its plan keeps nothing from one run for the next, as a shuffle, a broadcast and a sub-query do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamhouse.engine.carrier import Carrier, Sent
from streamhouse.engine.driver_task import DriverTask, DriverTasks
from streamhouse.engine.session_copy import once_for_each, session_copy
from streamhouse.sql.words import words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_ROWS = 131_072  # one task reads them
_SETTINGS = {
    # Nothing is left to adapt, and a plan that adapts keeps the result of its run.
    "spark.sql.adaptive.enabled": "false",
    # The rows of a local relation are part of the plan.
    "spark.sql.execution.arrow.localRelationThreshold": "0",
}
# Spark's operators that make their rows of those of their children, anew in each run.
_ANEW = words(
    "Coalesce CollectLimit Expand Filter Generate GlobalLimit HashAggregate InputAdapter LocalLimit "
    "ObjectHashAggregate Project Scan Sort SortAggregate TakeOrderedAndProject Union WholeStageCodegen Window"
)


class Standing:
    """The standing queries of one segment. Safe to call from several threads."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._beside: _Beside | None = None
        self._places: dict[str, _Place] = {}
        self._queries: dict[str, _Query] = {}

    def place(self, name: str, rows: pa.Table) -> "DataFrame | None":
        """A DataFrame over the place `name`, which has `rows` from now on; the same one as long as their schema is.

        None: there is no place for rows of such types, for so many, or for none.
        """
        sent = self._session().carrier.sent(rows) if 0 < rows.num_rows <= MOST_ROWS else None
        if sent is None:
            return None
        batches = sent.batches.toSeq()
        place = self._places.get(name)
        if place is None or place.schema != rows.schema:
            one = Sent(batches.take(1).iterator(), sent.schema)  # each would be a partition
            place = self._places[name] = _Place.made(self._session().carrier.over(one), rows.schema)
        place.put(batches)
        return place.frame

    def query(self, name: str, over: "DataFrame", make: "Callable[[Carrier], DataFrame]") -> "DataFrame | None":
        """The query `name` over a frame of this session; None: it cannot stand.

        Args:
            name: Always of one query.
            over: What the query reads.
            make: Makes it, where it is not made yet over this frame.
        """
        known = self._queries.get(name)
        if known is None or known.over is not over:
            made = make(self._session().carrier)
            stands = _makes_rows_anew(made._jdf.queryExecution().executedPlan())
            task = self._session().tasks.made(made) if stands else None
            known = self._queries[name] = _Query(over, made, task)
        return None if known.task is None else known.frame

    def refuses(self, name: str) -> bool:
        """Whether the query `name` was made, and cannot stand."""
        known = self._queries.get(name)
        return known is not None and known.task is None

    def has(self, frame: "DataFrame") -> bool:
        """Whether a frame is over a place."""
        return self._beside is not None and frame.sparkSession is self._beside.carrier.spark

    def rows(self, frame: "DataFrame") -> pa.Table:
        """What a query gives now that stands; what Spark raises is raised."""
        [task] = (query.task for query in self._queries.values() if query.frame is frame)
        assert task is not None, "it stands"
        return task.rows()

    def clear(self) -> None:
        """Let the rows go; no query runs until others are placed."""
        for place in self._places.values():
            place.clear()

    def _session(self) -> "_Beside":
        if self._beside is None:
            self._beside = _beside(self._spark)
        return self._beside


@dataclass(frozen=True)
class _Beside:
    """What one session has for standing queries."""

    carrier: Carrier
    tasks: DriverTasks


@once_for_each
def _beside(spark: "SparkSession") -> _Beside:
    """The one session for standing queries beside another; to copy one takes as long as to plan a query."""
    session = session_copy(spark, _SETTINGS)
    return _Beside(Carrier(session), DriverTasks(session))


@dataclass(frozen=True)
class _Query:
    over: "DataFrame"
    frame: "DataFrame"
    task: DriverTask | None  # None: it cannot stand


@dataclass(frozen=True)
class _Place:
    frame: "DataFrame"
    schema: pa.Schema
    partition: Any  # of the JVM
    empty: Any

    @classmethod
    def made(cls, frame: "DataFrame", schema: pa.Schema) -> "_Place":
        """Of a frame over one Arrow batch."""
        [partition] = frame._jdf.queryExecution().analyzed().rdd().partitions()
        # What is in one task needs no shuffle to be grouped.
        return cls(frame.coalesce(1), schema, partition, partition.values().take(0))

    def put(self, batches: Any) -> None:
        getattr(self.partition, "values_$eq")(batches)

    def clear(self) -> None:
        self.put(self.empty)


def _makes_rows_anew(plan: Any) -> bool:
    children = plan.children()
    return (
        plan.nodeName().split()[0] in _ANEW
        and plan.subqueries().isEmpty()
        and all(_makes_rows_anew(children.apply(n)) for n in range(children.size()))
    )

"""Queries that Spark plans once and runs in each epoch.

Spark takes some ten times as long to plan a query as to run it over the rows of an epoch, and a step asks the same of
each epoch's rows. So its query stands: the plan reads a place, whose rows are others in each epoch. A place is the one
partition of an RDD; a task takes along the rows that are there when it starts, as with any frame of this process' rows.

A query stands only if its plan keeps nothing from one run for the next, as a shuffle, a broadcast and a sub-query do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from streamhouse.spark.carrier import Carrier, CarriesRows, Sent
from streamhouse.spark.driver_task import MakesTasks, RunsQuery, tasks_of
from streamhouse.spark.one_partition import join_in_one_partition
from streamhouse.spark.placeholder import Place, keeps_nothing
from streamhouse.spark.session_copy import once_for_each, session_copy
from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_ROWS = 131_072  # one task reads them
_SETTINGS = {
    # Nothing is left to adapt, and a plan that adapts keeps the result of its run.
    "spark.sql.adaptive.enabled": "false",
    # The rows of a local relation are part of the plan.
    "spark.sql.execution.arrow.localRelationThreshold": "0",
    # A broadcast keeps its rows. A join of places sorts both in its one task.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Rows of a place are few. Spark joins what is in one partition there only where it takes it for little.
    "spark.sql.defaultSizeInBytes": "1",
}


class StandingQueries(Protocol):
    """The standing queries of one segment. Safe to call from several threads."""

    def place(self, name: str, rows: pa.Table) -> "DataFrame | None":
        """A DataFrame over the place `name`, which has `rows` from now on; the same one as long as their schema is.

        None: there is no place for rows of such types, or for so many.
        """

    def query(
        self,
        name: str,
        over: "DataFrame",
        make: "Callable[[CarriesRows], DataFrame]",
        beside: "Sequence[DataFrame]" = (),
    ) -> "DataFrame | None":
        """The query `name` over frames of this session; None: it cannot stand.

        Args:
            name: Always of one query.
            over: What the query reads.
            make: Makes it, where it is not made yet over these frames.
            beside: What else it reads.
        """

    def refuses(self, name: str) -> bool:
        """Whether the query `name` cannot stand, for all that is known yet."""

    def has(self, frame: "DataFrame") -> bool:
        """Whether a frame is over a place."""

    def rows(self, frame: "DataFrame") -> pa.Table:
        """What a query gives now that stands; what Spark raises is raised."""

    def clear(self) -> None:
        """Let the rows go; no query runs until others are placed."""


def standing_queries(spark: "SparkSession") -> StandingQueries:
    """Those of one segment, by the shortcuts of the session."""
    return Standing(spark) if Shortcut.STANDING_QUERIES in shortcuts_of(spark) else NoneStands()


class NoneStands:
    """See `StandingQueries`; each query is planned in each epoch."""

    def place(self, name: str, rows: pa.Table) -> "DataFrame | None":  # noqa: ARG002
        """See `StandingQueries.place`."""
        return None

    def query(
        self,
        name: str,  # noqa: ARG002
        over: "DataFrame",  # noqa: ARG002
        make: "Callable[[CarriesRows], DataFrame]",  # noqa: ARG002
        beside: "Sequence[DataFrame]" = (),  # noqa: ARG002
    ) -> "DataFrame | None":
        """See `StandingQueries.query`."""
        return None

    def refuses(self, name: str) -> bool:  # noqa: ARG002
        """See `StandingQueries.refuses`."""
        return True

    def has(self, frame: "DataFrame") -> bool:  # noqa: ARG002
        """See `StandingQueries.has`."""
        return False

    def rows(self, frame: "DataFrame") -> pa.Table:
        """See `StandingQueries.rows`."""
        raise AssertionError(f"{frame} does not stand")

    def clear(self) -> None:
        """See `StandingQueries.clear`."""


class Standing:
    """See `StandingQueries`."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._beside: _Beside | None = None
        self._places: dict[str, Place] = {}
        self._queries: dict[str, _Query] = {}

    def place(self, name: str, rows: pa.Table) -> "DataFrame | None":
        """See `StandingQueries.place`."""
        if not rows.num_rows:
            return self._empty(name, rows.schema)
        known = self._places.get(name)
        if known is not None and known.schema == rows.schema and self._session().tasks.placed(known, rows):
            return known.frame
        sent = self._session().carrier.sent(rows) if rows.num_rows <= MOST_ROWS else None
        if sent is None:
            return None
        batches = sent.batches.toSeq()
        place = self._places.get(name)
        if place is None or place.schema != rows.schema:
            one = Sent(batches.take(1).iterator(), sent.schema)  # each would be a partition
            place = self._places[name] = Place.of(self._session().carrier.over(one), rows.schema)
        place.put(batches)
        return place.frame

    def query(
        self,
        name: str,
        over: "DataFrame",
        make: "Callable[[CarriesRows], DataFrame]",
        beside: "Sequence[DataFrame]" = (),
    ) -> "DataFrame | None":
        """See `StandingQueries.query`."""
        known, reads = self._queries.get(name), (over, *beside)
        if known is None or not known.is_over(reads):
            frame = make(self._session().carrier)
            stands = keeps_nothing(frame)
            task = self._session().tasks.make_task(frame) if stands else None
            known = self._queries[name] = _Query(reads, frame, task)
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

    def _empty(self, name: str, schema: pa.Schema) -> "DataFrame | None":
        """A place without rows; it is made of a row, for Spark makes a partition only of rows."""
        known = self._places.get(name)
        if known is None or known.schema != schema:
            self.place(name, pa.table([pa.nulls(1, field.type) for field in schema], schema=schema))
            known = self._places.get(name)
        if known is None or known.schema != schema:
            return None
        known.clear()
        return known.frame

    def _session(self) -> "_Beside":
        if self._beside is None:
            self._beside = _beside(self._spark)
        return self._beside


@dataclass(frozen=True)
class _Beside:
    """What one session has for standing queries."""

    carrier: Carrier
    tasks: MakesTasks


@once_for_each
def _beside(spark: "SparkSession") -> _Beside:
    """The one session for standing queries beside another; to copy one takes as long as to plan a query."""
    session = session_copy(spark, _SETTINGS)
    join_in_one_partition(session)
    return _Beside(Carrier(session), tasks_of(session))


@dataclass(frozen=True)
class _Query:
    over: "tuple[DataFrame, ...]"
    frame: "DataFrame"
    task: RunsQuery | None  # None: it cannot stand

    def is_over(self, frames: "Sequence[DataFrame]") -> bool:
        """Whether it reads these very frames."""
        return len(frames) == len(self.over) and all(one is other for one, other in zip(frames, self.over, strict=True))

"""A place in a plan of Spark whose rows are others in each run, and which plans may be run again over it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamhouse.sql.words import words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Spark's operators that make their rows from those of their children, again in each run.
_STATELESS_NODES = words(
    "Coalesce CollectLimit Expand Filter Generate GlobalLimit HashAggregate InputAdapter LocalLimit "
    "ObjectHashAggregate Project Scan Sort SortAggregate SortMergeJoin TakeOrderedAndProject Union WholeStageCodegen "
    "Window"
)


@dataclass(frozen=True)
class Place:
    """The one partition of an RDD, whose rows are set from here.

    Attributes:
        frame: Reads the place.
        schema: Of its rows.
    """

    frame: "DataFrame"
    schema: pa.Schema
    partition: Any  # of the JVM
    empty: Any

    @classmethod
    def of(cls, frame: "DataFrame", schema: pa.Schema) -> "Place":
        """Of a frame over one Arrow batch."""
        [partition] = frame._jdf.queryExecution().analyzed().rdd().partitions()
        # What is in one task needs no shuffle to be grouped.
        return cls(frame.coalesce(1), schema, partition, partition.values().take(0))

    def put(self, batches: Any) -> None:
        """Let it have the rows of a Scala sequence of Arrow batches."""
        getattr(self.partition, "values_$eq")(batches)

    def clear(self) -> None:
        """Let the rows go."""
        self.put(self.empty)


def keeps_nothing(frame: "DataFrame") -> bool:
    """Whether the plan of a frame makes new rows in each run, and keeps none of the run before."""
    return _makes_new_rows(frame._jdf.queryExecution().executedPlan())


def _makes_new_rows(plan: Any) -> bool:
    children = plan.children()
    return (
        plan.nodeName().split()[0] in _STATELESS_NODES
        and plan.subqueries().isEmpty()
        and all(_makes_new_rows(children.apply(n)) for n in range(children.size()))
    )

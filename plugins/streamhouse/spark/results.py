"""Results of queries in this process, each compared with what the JVM says about its size.

A socket that breaks looks like the end of the rows, and what Spark's serialisers leave out nobody misses. With the
shortcut `carrier` the JVM lists the Arrow batches that it made (`arrow_result`), which costs nothing. Without it, and
for rows that come as objects, the query counts its rows where they are made (`Observation`), and Spark reports that
number through its listeners. A result of another size is an error.
"""

from threading import Thread
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.errors import ResultShortError
from streamhouse.spark.arrow_result import arrow_rows
from streamhouse.spark.frame import spark_arrow_schema
from streamhouse.spark.session_copy import once_for_each
from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, Row, SparkSession

_WITHIN_S = 60.0  # Spark reports the number when the query has ended; a busy listener is late


class CountedRows:
    """A frame whose rows are counted when they are made. For one query.

    Attributes:
        frame: To be collected instead of the frame that it was made of.
    """

    def __init__(self, frame: "DataFrame") -> None:
        from pyspark.sql import Observation

        self._observation = Observation()
        self.frame = frame.observe(self._observation, _count(frame.sparkSession))

    def check(self, came: int, within_s: float = _WITHIN_S, at_most: int | None = None) -> None:
        """After the query: see that all of its rows came.

        Args:
            came: How many there are here.
            at_most: The limit that was put on the frame; None: none.
            within_s: How long to wait for the number.

        Raises:
            ResultShortError: there were others, or Spark did not say in time how many there were.
            Exception: Spark could not be asked.
        """
        row_count = _number(self._observation, within_s)
        if row_count is None:
            raise ResultShortError(f"Spark has not said within {within_s:.0f} s how many rows a result has")
        if at_most is not None:
            row_count = min(row_count, at_most)
        if row_count != came:
            raise ResultShortError(f"{came} of {row_count} rows of a result have arrived")


@once_for_each
def _count(spark: "SparkSession") -> "Column":  # noqa: ARG001  a column is of one JVM
    """Made once: each part of it is a question to the JVM."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    return F.count(F.lit(1)).alias("rows")


def collected_arrow(frame: "DataFrame") -> pa.Table:
    """What `frame.toArrow()` gives, all of it.

    Raises:
        ResultShortError: rows are missing.
        pyspark.errors.PySparkException: the query fails.
    """
    return carried_arrow(frame) if Shortcut.CARRIER in shortcuts_of(frame.sparkSession) else counted_arrow(frame)


def carried_arrow(frame: "DataFrame") -> pa.Table:
    """As `collected_arrow`, with the list of batches that the JVM sends."""
    large = frame.sparkSession._jconf.arrowUseLargeVarTypes()
    schema = spark_arrow_schema(frame.schema, error_on_duplicated_field_names_in_struct=True, prefers_large_types=large)
    return arrow_rows(frame).cast(schema)


def counted_arrow(frame: "DataFrame") -> pa.Table:
    """As `collected_arrow`, by Spark's public API alone."""
    counted = CountedRows(frame)
    rows = counted.frame.toArrow()
    counted.check(rows.num_rows)
    return rows


def collected_rows(frame: "DataFrame", limit: int | None = None) -> "list[Row]":
    """What `frame.collect()` gives, all of it; raises as `collected_arrow`.

    Args:
        frame: Its rows are counted in the same job.
        limit: Take so many rows at most, and read no more partitions than it takes to find them. A limit in the
            frame itself would be below the count, and Spark would read all partitions for it.
    """
    if limit == 0:
        return []  # Spark would run nothing, and count nothing
    counted = CountedRows(frame)
    rows = (counted.frame if limit is None else counted.frame.limit(limit)).collect()
    counted.check(len(rows), at_most=limit)
    return rows


def _number(observation: "Observation", within_s: float) -> int | None:
    """How many rows were made; None: Spark did not say. Its own call can wait forever, so a thread waits.

    Raises:
        Exception: what that call raised, such as an error of a connection whose Java process ended.
    """
    answers: list[int | Exception] = []

    def ask() -> None:
        try:
            answers.append(int(observation.get["rows"]))
        except Exception as error:  # noqa: BLE001  of any kind: it belongs to the caller, not to this thread
            answers.append(error)

    waiting = Thread(target=ask, name="rows of a result", daemon=True)
    waiting.start()
    waiting.join(within_s)
    answer = answers[0] if answers else None
    if isinstance(answer, Exception):
        raise answer
    return answer

"""Rows of this process as a Spark DataFrame; one way for the engine, the cold tier and queries."""

from inspect import signature
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


# What is in one task needs no shuffle to be grouped or joined. Rows of one Arrow batch are in one task as it is.
_ROWS_OF_ONE_TASK = 65_536


def arrow_frame(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    """A DataFrame of rows that this process holds, in their order; of few rows it has one partition."""
    # Spark takes the first batch without rows for the end of a small table, and loses the rows behind it; it also
    # fails on a nested column that is made of no chunks at all, which a filter may leave behind.
    full = [batch for batch in rows.to_batches() if batch.num_rows]
    rows = pa.Table.from_batches(full, rows.schema) if full else rows.schema.empty_table()
    return in_one_task(spark.createDataFrame(rows, frame_schema(rows.schema)), rows.num_rows)


def in_one_task(frame: "DataFrame", rows: int) -> "DataFrame":
    """A DataFrame of so many rows, read by one task when they are few."""
    return frame.coalesce(1) if rows <= _ROWS_OF_ONE_TASK else frame


def spark_arrow_schema(schema: "StructType", **options: bool) -> pa.Schema:
    """The Arrow schema of Spark's rows, times with a zone in UTC; options as `to_arrow_schema` takes them."""
    from pyspark.sql.pandas.types import to_arrow_schema

    # Since 4.2 the caller names the zone.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    found: pa.Schema = to_arrow_schema(schema, **zone, **options)  # type: ignore[arg-type]
    return found


def frame_schema(schema: pa.Schema) -> "StructType":
    """The schema of DataFrames over such rows; Spark by itself takes a time without a zone for an instant."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)

"""Rows of this process as a Spark DataFrame; one way for the engine, the cold tier and queries."""

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def arrow_frame(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    """A DataFrame of rows that this process holds, in their order."""
    # Spark takes the first batch without rows for the end of a small table, and loses the rows behind it; it also
    # fails on a nested column that is made of no chunks at all, which a filter may leave behind.
    full = [batch for batch in rows.to_batches() if batch.num_rows]
    rows = pa.Table.from_batches(full, rows.schema) if full else rows.schema.empty_table()
    return spark.createDataFrame(rows, frame_schema(rows.schema))


def frame_schema(schema: pa.Schema) -> "StructType":
    """The schema of DataFrames over such rows; Spark by itself takes a time without a zone for an instant."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)

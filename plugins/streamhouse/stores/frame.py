"""Rows of this process as a Spark DataFrame; one way for the engine, the cold tier and queries."""

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def arrow_frame(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    """A DataFrame of rows that this process holds, in their order."""
    # Spark fails on a nested column that is made of no chunks at all, which a filter may leave behind.
    return spark.createDataFrame(rows if rows.num_rows else rows.schema.empty_table())

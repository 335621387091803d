"""What Spark keeps of rows that were to be computed once, for all sessions of a JVM."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def has_rows(spark: "SparkSession") -> bool:
    """Whether a query's rows are kept, or are to be kept once they are computed."""
    return not spark._jsparkSession.sharedState().cacheManager().isEmpty()


def forget_rows(spark: "SparkSession") -> None:
    """Keep none any more."""
    spark.catalog.clearCache()

"""A Spark session beside another, for what must not change for all who use that one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_copy(spark: "SparkSession", settings: Mapping[str, str]) -> "SparkSession":
    """A copy of a session as it is now, with some settings of its own."""
    from pyspark.sql import SparkSession

    session = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
    for name, value in settings.items():
        session.conf.set(name, value)
    return session

"""Iceberg's own Java, in the JVM of a Spark session: the only place that names its classes.

Java's collections are read by `each` and `pairs`; those of Python, which stand in for them where no Spark is, are given
as they are. py4j's own iteration ends with an exception of Java's, about which PySpark asks the JVM a hundred times.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from streamhouse.spark.jvm import java_list, java_package, java_session, use_in_this_thread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class IcebergJava:
    """The classes of Iceberg that its stores use."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark

    @cached_property
    def _iceberg(self) -> Any:
        return java_package(self._spark, "org.apache.iceberg")

    @property
    def expressions(self) -> Any:
        """Makes conditions."""
        return self._iceberg.expressions.Expressions

    @property
    def files(self) -> Any:
        """Finds the data files that a file of deletes belongs to."""
        return self._iceberg.util.ContentFileUtil

    @property
    def actions(self) -> Any:
        """Upkeep by jobs of Spark."""
        return self._iceberg.spark.actions.SparkActions.get(java_session(self._spark))

    def catalog(self, name: str) -> Any:
        """The catalog that Spark knows by a name."""
        # Spark finds the settings of a catalog through the thread's own session; a new thread has none.
        use_in_this_thread(self._spark)
        return self._iceberg.spark.Spark3Util.loadIcebergCatalog(java_session(self._spark), name)

    def identifier(self, name: str) -> Any:
        """Of a table `layer.name`."""
        return self._iceberg.catalog.TableIdentifier.parse(name)

    def texts(self, values: Iterable[str]) -> Any:
        """A list of Java."""
        return java_list(self._spark, values)

    def schema_json(self, stored: Any) -> str:
        """The schema of a table as JSON."""
        return str(self._iceberg.SchemaParser.toJson(stored.schema()))

    def data_file(self, stored: Any) -> Any:
        """Describes a new data file of a table."""
        return self._iceberg.DataFiles.builder(stored.spec())

    def position_deletes(self, stored: Any) -> Any:
        """Describes a new file of deleted positions of a table."""
        return self._iceberg.FileMetadata.deleteFileBuilder(stored.spec()).ofPositionDeletes()

    def metrics_of(self, stored: Any) -> Any:
        """Which metrics the data files of a table have."""
        return self._iceberg.MetricsConfig.forTable(stored)

    def metrics_of_deletes(self) -> Any:
        """Which metrics files of deleted positions have."""
        return self._iceberg.MetricsConfig.forPositionDelete()

    def measured(self, file: Any, config: Any) -> Any:
        """The metrics of a Parquet file."""
        return self._iceberg.parquet.ParquetUtil.fileMetrics(file, config)


def each(collection: Any) -> Iterator[Any]:
    """The elements of an `Iterable`, in its order."""
    if isinstance(collection, list | tuple):
        yield from collection
        return
    ahead = collection.iterator()
    while ahead.hasNext():
        yield ahead.next()


def pairs(mapping: Any) -> dict[str, Any]:
    """A `Map` whose keys are texts."""
    if isinstance(mapping, dict):
        return dict(mapping)
    return {str(key): mapping.get(key) for key in each(mapping.keySet())}

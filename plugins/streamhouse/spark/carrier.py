"""Rows between this process and Spark's JVM, with few questions to it.

pyspark asks the JVM some forty things to make a DataFrame of Arrow rows, run a query and get its rows, most of them for
settings that do not change; each takes a tenth of a millisecond here and there. An epoch does it for each step.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from streamhouse.spark.arrow_result import arrow_rows
from streamhouse.spark.frame import arrow_frame, frame_schema, in_one_task, spark_arrow_schema
from streamhouse.spark.results import counted_arrow
from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class CarriesRows(Protocol):
    """Carries rows between this process and one session. Safe for threads."""

    spark: "SparkSession"

    def frame(self, rows: pa.Table) -> "DataFrame":
        """A DataFrame of rows that this process holds, in their order; of few rows it has one partition."""

    def query(self, sql: str) -> "DataFrame":
        """What `spark.sql` gives."""

    def drop_view(self, name: str) -> None:
        """Forget a temporary view; frames over it stay."""

    def rows(self, frame: "DataFrame") -> pa.Table:
        """The rows of a DataFrame in this process; times with a zone are in that of the session.

        Raises:
            ResultShortError: some did not arrive.
        """


def carrier_of(spark: "SparkSession") -> CarriesRows:
    """The carrier of a session, by its shortcuts."""
    return Carrier(spark) if Shortcut.CARRIER in shortcuts_of(spark) else PublicCarrier(spark)


class PublicCarrier:
    """See `CarriesRows`; on public APIs alone."""

    def __init__(self, spark: "SparkSession") -> None:
        self.spark = spark

    def frame(self, rows: pa.Table) -> "DataFrame":
        """See `CarriesRows.frame`."""
        return arrow_frame(self.spark, rows)

    def query(self, sql: str) -> "DataFrame":
        """See `CarriesRows.query`."""
        return self.spark.sql(sql)

    def drop_view(self, name: str) -> None:
        """See `CarriesRows.drop_view`."""
        self.spark.catalog.dropTempView(name)

    def rows(self, frame: "DataFrame") -> pa.Table:
        """See `CarriesRows.rows`."""
        return counted_arrow(frame)


class Carrier:
    """See `CarriesRows`; with few questions to the JVM."""

    def __init__(self, spark: "SparkSession") -> None:
        self.spark = spark
        self._session_calls: _SessionCalls | None = None

    def frame(self, rows: pa.Table) -> "DataFrame":
        """See `CarriesRows.frame`."""
        sent = self.sent(rows) if rows.num_rows else None
        return arrow_frame(self.spark, rows) if sent is None else in_one_task(self.over(sent), rows.num_rows)

    def query(self, sql: str) -> "DataFrame":
        """See `CarriesRows.query`."""
        from pyspark.sql import DataFrame

        return DataFrame(self.spark._jsparkSession.sql(sql), self.spark)

    def drop_view(self, name: str) -> None:
        """See `CarriesRows.drop_view`; rows kept for frames stay too, which Spark's own call lets go."""
        self.spark._jsparkSession.sessionState().catalog().dropTempView(name)

    def rows(self, frame: "DataFrame") -> pa.Table:
        """See `CarriesRows.rows`."""
        return arrow_rows(frame)

    def sent(self, rows: pa.Table) -> "Sent | None":
        """Rows as the JVM takes them, which are at least one; None: they must be converted before."""
        from pyspark.sql.pandas.serializers import ArrowStreamSerializer

        if self._session_calls is None:
            self._session_calls = _SessionCalls(self.spark)
        rows = rows.replace_schema_metadata()  # what Spark gave has some, and with it a schema is no key of a cache
        calls, schema = self._session_calls, _as_spark_takes_it(rows.schema)
        if schema is None or calls.large_types:
            return None
        batches = [batch for batch in rows.to_batches(calls.batch_rows) if batch.num_rows]
        context = self.spark.sparkContext
        return Sent(context._serialize_to_jvm(batches, ArrowStreamSerializer(), calls.read, calls.serve), schema)

    def over(self, sent: "Sent") -> "DataFrame":
        """A DataFrame of rows that were sent."""
        from pyspark.sql import DataFrame

        assert self._session_calls is not None, "the sender has asked"
        return DataFrame(self._session_calls.make(sent.batches, sent.schema, self.spark._jsparkSession), self.spark)


@dataclass(frozen=True)
class Sent:
    """Rows in the JVM.

    Attributes:
        batches: A Scala iterator over Arrow batches as bytes.
        schema: Spark's, as JSON.
    """

    batches: Any
    schema: str


class _SessionCalls:
    """What a session says once: its settings, and the JVM's functions by their names."""

    def __init__(self, spark: "SparkSession") -> None:
        jvm: Any = spark._jvm
        functions, settings = jvm.PythonSQLUtils, spark._jconf
        self.read, self.make = functions.readArrowStreamFromFile, functions.toDataFrame
        self.serve = jvm.ArrowIteratorServer
        self.batch_rows = settings.arrowMaxRecordsPerBatch()
        self.large_types = settings.arrowUseLargeVarTypes()


@lru_cache(maxsize=1024)
def _as_spark_takes_it(schema: pa.Schema) -> str | None:
    """Spark's schema of such rows as JSON; None: they must be converted before."""
    found = frame_schema(schema)
    return found.json() if spark_arrow_schema(found).types == schema.types else None

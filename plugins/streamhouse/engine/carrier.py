"""Rows between this process and Spark's JVM, with few questions to it.

pyspark asks the JVM some forty things to make a DataFrame of Arrow rows, run a query and get its rows, most of them for
settings that do not change; each takes a tenth of a millisecond here and there. An epoch does it for each step.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamhouse.stores.frame import arrow_frame, frame_schema, in_one_task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Carrier:
    """Carries rows for one session. Safe for threads."""

    def __init__(self, spark: "SparkSession") -> None:
        self.spark = spark
        self._asked: _Asked | None = None

    def frame(self, rows: pa.Table) -> "DataFrame":
        """A DataFrame of rows that this process holds, in their order; of few rows it has one partition."""
        sent = self.sent(rows) if rows.num_rows else None
        return arrow_frame(self.spark, rows) if sent is None else in_one_task(self.over(sent), rows.num_rows)

    def query(self, sql: str) -> "DataFrame":
        """What `spark.sql` gives."""
        from pyspark.sql import DataFrame

        return DataFrame(self.spark._jsparkSession.sql(sql), self.spark)

    def drop_view(self, name: str) -> None:
        """Forget a temporary view; frames over it stay, and rows kept for them, which Spark's own call lets go."""
        self.spark._jsparkSession.sessionState().catalog().dropTempView(name)

    def rows(self, frame: "DataFrame") -> pa.Table:
        """The rows of a DataFrame in this process; times with a zone are in that of the session."""
        from pyspark.errors.exceptions.captured import unwrap_spark_exception
        from pyspark.sql.pandas.serializers import ArrowCollectSerializer
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.util import _load_from_socket

        address, secret, server = frame._jdf.collectAsArrowToPython()
        try:
            *batches, order = _load_from_socket((address, secret), ArrowCollectSerializer())  # type: ignore[no-untyped-call]
        finally:
            with unwrap_spark_exception():
                server.getResult()
        if not order:
            return to_arrow_schema(frame.schema).empty_table()
        return pa.Table.from_batches([batches[n] for n in order])

    def sent(self, rows: pa.Table) -> "Sent | None":
        """Rows as the JVM takes them, which are at least one; None: they must be converted before."""
        from pyspark.sql.pandas.serializers import ArrowStreamSerializer

        if self._asked is None:
            self._asked = _Asked(self.spark)
        asked, schema = self._asked, _as_spark_takes_it(rows.schema)
        if schema is None or asked.large_types:
            return None
        batches = [batch for batch in rows.to_batches(asked.batch_rows) if batch.num_rows]
        context = self.spark.sparkContext
        return Sent(context._serialize_to_jvm(batches, ArrowStreamSerializer(), asked.read, asked.serve), schema)

    def over(self, sent: "Sent") -> "DataFrame":
        """A DataFrame of rows that were sent."""
        from pyspark.sql import DataFrame

        assert self._asked is not None, "whoever sends has asked"
        return DataFrame(self._asked.make(sent.batches, sent.schema, self.spark._jsparkSession), self.spark)


@dataclass(frozen=True)
class Sent:
    """Rows in the JVM.

    Attributes:
        batches: A Scala iterator over Arrow batches as bytes.
        schema: Spark's, as JSON.
    """

    batches: Any
    schema: str


class _Asked:
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
    from pyspark.sql.pandas.types import to_arrow_schema

    found = frame_schema(schema)
    return found.json() if to_arrow_schema(found).types == schema.types else None

"""Streams that live in this process, and queries that call back without rows; see `streams.Streams`.

Spark's JVM asks for offsets here, in the driver, the way it calls `foreachBatch`. A Python data source would
be a process of its own for each query, which takes 0.9 CPU-s to start and some 60 MB as long as it lives.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamhouse.spark.streams import Offsets, Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class JavaStreams:
    """See `Streams`."""

    def stream(self, spark: "SparkSession", offsets: Offsets) -> Stream:
        """See `Streams.stream`."""
        from pyspark.java_gateway import ensure_callback_server_started
        from pyspark.sql import DataFrame

        context = spark.sparkContext
        ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
        jvm: Any = context._jvm
        streaming = jvm.org.apache.spark.sql.execution.streaming.runtime
        frames, option = jvm.org.apache.spark.sql.classic.Dataset, jvm.scala.Option
        source = _Source(
            lambda text: option.apply(streaming.SerializedOffset(text)), _CallLine(context._gateway), offsets
        )
        columns = spark.range(0)._jdf.queryExecution().analyzed().output()
        rows = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation(
            columns, jvm.PythonUtils.toSeq([]), True, option.empty()
        )
        source.rows = frames.ofRows(spark._jsparkSession, rows)
        stream = streaming.StreamingExecutionRelation(source, columns, option.empty(), spark._jsparkSession)
        return Stream(DataFrame(frames.ofRows(spark._jsparkSession, stream), spark), source.line.close)

    def calling(self, writer: "DataStreamWriter", run: Callable[[int], None]) -> "DataStreamWriter":
        """See `Streams.calling`.

        PySpark's own makes a session and a DataFrame for each batch, which takes the JVM milliseconds, before it calls.
        """
        jvm: Any = writer._spark.sparkContext._jvm
        helper = jvm.org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchHelper
        helper.callForeachBatch(writer._jwrite, _Batches(run))
        return writer


class _Batches:
    """What Spark calls with each batch."""

    class Java:
        """Makes py4j hand an object to the JVM as one of this interface."""

        implements: ClassVar = ["org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction"]

    def __init__(self, run: Callable[[int], None]) -> None:
        self._run = run

    def call(self, _rows: Any, batch: int) -> None:
        self._run(batch)


class _CallLine:
    """The connection on which one thread of the JVM calls this process.

    py4j opens one for each thread that calls and closes none: a socket on either side, and a thread here that listens.
    """

    def __init__(self, gateway: Any) -> None:
        from py4j.java_gateway import JavaObject

        self._server = JavaObject("GATEWAY_SERVER", gateway._gateway_client)
        self._client: Any = None
        self._connection: Any = None

    def note(self) -> None:
        """This call came on it."""
        self._client = self._server.getCallbackClient()
        self._connection = self._client.getPerThreadConnection()

    def close(self) -> None:
        """When that thread has ended."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.shutdown()
            self._client.connectionStopped(connection)  # nor does it keep it any more


class _Source:
    """What Spark sees as a source of streams. Its methods have the names that Spark's thread of the query calls."""

    class Java:
        """Makes py4j hand an object to the JVM as one of this interface."""

        implements: ClassVar = ["org.apache.spark.sql.execution.streaming.Source"]

    def __init__(self, offset: Callable[[str], Any], line: _CallLine, offsets: Offsets) -> None:
        self.rows: Any = None  # the JVM's frame that every batch is
        self.line = line
        self._offset = offset
        self._offsets: Offsets | None = offsets
        self._text: str | None = None  # the newest offset, and as the JVM has it
        self._newest: Any = None

    def getOffset(self) -> Any:  # noqa: N802
        assert self._offsets is not None, "the query runs"
        found = self._offsets.newest()
        if found is not self._text:
            self._text, self._newest = found, self._offset(found)
        return self._newest

    def getBatch(self, _start: Any, end: Any) -> Any:  # noqa: N802
        assert self._offsets is not None, "the query runs"
        self._offsets.begins(self._text if self._text is not None else str(end.json()))
        return self.rows

    def commit(self, _end: Any) -> None:
        pass

    def stop(self) -> None:
        offsets, self._offsets = self._offsets, None  # the JVM keeps the source until it collects its garbage
        if offsets is not None:
            offsets.stop()
        self.line.note()

    def toString(self) -> str:  # noqa: N802
        return "streamhouse epochs"

    def hashCode(self) -> int:  # noqa: N802
        return id(self) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self

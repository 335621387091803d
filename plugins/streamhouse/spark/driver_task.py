"""The tasks of a query, run in the driver's own thread.

Spark's scheduler takes some 12 ms for a job of one small task: events, a broadcast of the task, its result through the
block manager, listeners of the job. The rows of an epoch are in the driver before and after, so nothing needs a place
to be scheduled to. What runs is what Spark's executor would run: its own serialised RDD, in a task context.
"""

import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from streamhouse.errors import ResultShortError
from streamhouse.spark.carrier import CarriesRows, carrier_of
from streamhouse.spark.failures import ResultTooLargeError
from streamhouse.spark.local_socket import served
from streamhouse.spark.one_task import one_task
from streamhouse.spark.placeholder import Place
from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ATTEMPTS = count(1 << 40)  # Spark's own are counted from 0; memory is kept account of by them

# Bytes that py4j gives sooner than a socket of their own. Of more, what it sends waits 40 ms for word that its
# beginning has arrived.
_LITTLE = 4_500
_BATCHES = 4  # that wait in the JVM


class RunsQuery(Protocol):
    """Runs one plan again and again, over the rows that its partitions have then. Safe for threads."""

    def rows(self) -> pa.Table:
        """What the query gives; what Spark raises is raised.

        Raises:
            ResultTooLargeError: it is more than `spark.driver.maxResultSize`.
            ResultShortError: a part of it did not arrive.
        """


class MakesTasks(Protocol):
    """Makes what runs the queries of one session."""

    def make_task(self, frame: "DataFrame") -> RunsQuery:
        """Runs a frame whose plan has no shuffle, over few partitions."""

    def placed(self, place: Place, rows: pa.Table) -> bool:
        """Let a place, which has had rows of this schema, have a few; whether they are few enough for it."""


def tasks_of(spark: "SparkSession") -> MakesTasks:
    """What runs queries of a session, by its shortcuts; its settings are the current ones."""
    return DriverTasks(spark) if Shortcut.DRIVER_TASKS in shortcuts_of(spark) else ScheduledTasks(spark)


class ScheduledTasks:
    """See `MakesTasks`; Spark schedules them."""

    def __init__(self, spark: "SparkSession") -> None:
        self._carrier = carrier_of(spark)

    def make_task(self, frame: "DataFrame") -> RunsQuery:
        """See `MakesTasks.make_task`."""
        return ScheduledTask(self._carrier, frame)

    def placed(self, place: Place, rows: pa.Table) -> bool:  # noqa: ARG002
        """See `MakesTasks.placed`."""
        return False


@dataclass(frozen=True)
class ScheduledTask:
    """See `RunsQuery`."""

    carrier: CarriesRows
    frame: "DataFrame"

    def rows(self) -> pa.Table:
        """See `RunsQuery.rows`."""
        return self.carrier.rows(self.frame)


class DriverTasks:
    """Makes the tasks of one session, whose settings are the current ones."""

    def __init__(self, spark: "SparkSession") -> None:
        jvm: Any = spark.sparkContext._jvm
        apache = jvm.org.apache.spark
        self.settings = jvm.java.util.Properties()  # where an executor looks for those of the session
        for name, value in spark.conf.getAll.items():
            self.settings.setProperty(name, value)
        self.env = apache.SparkEnv.get()
        self.serializer = self.env.closureSerializer().newInstance()
        self.any = jvm.scala.reflect.ClassTag.Any()
        runner = one_task(spark.sparkContext, self.settings, little=_LITTLE, batches=_BATCHES)
        self.run, self._put = runner.run, runner.put
        self.serve = jvm.PythonRDD.serveIterator
        most = spark.sparkContext.getConf().get("spark.driver.maxResultSize", "1g")
        self._most_bytes = apache.network.util.JavaUtils.byteStringAsBytes(most)  # 0: any
        self._in_words = apache.util.Utils.bytesToString
        self._session, self._sessions = spark._jsparkSession, apache.sql.classic.SparkSession
        self._converters = getattr(getattr(apache.sql.execution.arrow, "ArrowConverters$"), "MODULE$")
        self._zone = spark.conf.get("spark.sql.session.timeZone")

    def make_task(self, frame: "DataFrame") -> "DriverTask":
        """The task of a frame whose plan has no shuffle, over few partitions."""
        return DriverTask(self, frame)

    def placed(self, place: Place, rows: pa.Table) -> bool:
        """See `MakesTasks.placed`; one question to the JVM, and no file."""
        if not rows.num_rows or not 0 < rows.nbytes < _LITTLE:
            return False
        [batch] = rows.combine_chunks().to_batches()
        data = batch.serialize()
        if data.size >= _LITTLE:
            return False
        self._put(place.partition, data.to_pybytes())
        return True

    def check_size(self, size: int) -> None:
        """Refuse more bytes of one result than the session allows.

        Raises:
            ResultTooLargeError: the result has more.
        """
        if 0 < self._most_bytes < size:
            found, most = self._in_words(size), self._in_words(self._most_bytes)
            raise ResultTooLargeError(
                f"Total size of serialized results of a query ({found}) is bigger than maxResultSize ({most})"
            )

    @contextmanager
    def active(self) -> Iterator[None]:
        """Makes the session the one of this thread."""
        before = self._sessions.getActiveSession()
        self._sessions.setActiveSession(self._session)
        try:
            yield
        finally:
            self._sessions.clearActiveSession()
            if before.isDefined():
                self._sessions.setActiveSession(before.get())

    def arrow_schema(self, frame: "DataFrame") -> pa.Schema:
        """What the batches of a frame's rows have and do not tell."""
        none = self._converters.createEmptyArrowBatch(frame._jdf.schema(), self._zone, True, False)
        return pa.ipc.read_schema(pa.py_buffer(none))


class DriverTask:
    """Runs one plan again and again, over the rows that its partitions have then. Safe for threads, one at a time."""

    def __init__(self, tasks: DriverTasks, frame: "DataFrame") -> None:
        self._tasks = tasks
        self._schema = tasks.arrow_schema(frame)
        with tasks.active():  # the code that is generated looks for settings there
            rdd = frame._jdf.toArrowBatchRdd(frame._jdf.queryExecution().executedPlan())
        self._partitions = list(rdd.partitions())
        _find_dependencies(rdd)
        # A copy of its own, as each task has: the expressions of plans have state, and plans share expressions.
        self._rdd = tasks.serializer.deserialize(tasks.serializer.serialize(rdd, tasks.any), tasks.any)
        self._turn = threading.Lock()

    def rows(self) -> pa.Table:
        """See `RunsQuery.rows`."""
        got: list[pa.RecordBatch] = []
        with self._turn:
            for number, partition in enumerate(self._partitions):
                self._run(number, partition, got)
        return pa.Table.from_batches(got, self._schema)

    def _run(self, number: int, partition: Any, got: list[pa.RecordBatch]) -> None:
        """Add the rows of a partition."""
        found = self._tasks.run(self._rdd, partition, next(_ATTEMPTS), number, len(self._partitions))
        if isinstance(found, str):
            got.append(self._batch(b64decode(found)))
        elif found is not None:
            self._go_on(found, got)
        self._tasks.check_size(sum(batch.nbytes for batch in got))

    def _go_on(self, task: Any, got: list[pa.RecordBatch]) -> None:
        """Add the rows of a task that has more than a few."""
        try:
            while (part := task.next()) is not None:
                got += map(self._batch, self._served(part))
                self._tasks.check_size(sum(batch.nbytes for batch in got))
        finally:
            task.end()

    def _batch(self, data: bytes) -> pa.RecordBatch:
        return pa.ipc.read_record_batch(pa.py_buffer(data), self._schema)

    def _served(self, part: Any) -> list[bytes]:
        from pyspark.serializers import NoOpSerializer

        address, secret, _server = self._tasks.serve(part.iterator(), "rows of a step")
        with served(address, secret) as stream:
            batches = list(NoOpSerializer().load_stream(stream))  # type: ignore[no-untyped-call]
        if len(batches) != part.size():  # to the reader, a connection that breaks is the end of the rows
            raise ResultShortError(f"{len(batches)} of {part.size()} batches of a result have arrived")
        return batches


def _find_dependencies(rdd: Any) -> None:
    """Let an RDD find what it depends on, which it does not serialise otherwise."""
    dependencies = rdd.dependencies()
    for n in range(dependencies.size()):
        _find_dependencies(dependencies.apply(n).rdd())

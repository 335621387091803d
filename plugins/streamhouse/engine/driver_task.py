"""The tasks of a query, run in the driver's own thread.

Spark's scheduler takes some 12 ms for a job of one small task: events, a broadcast of the task, its result through the
block manager, listeners of the job. The rows of an epoch are in the driver before and after, so nothing needs a place
to be scheduled to. What runs is what Spark's executor would run: its own serialised RDD, in a task context.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ATTEMPTS = count(1 << 40)  # Spark's own are counted from 0; memory is kept account of by them

# Bytes that py4j gives sooner than a socket of their own. Of more, what it sends waits 40 ms for word that its
# beginning has arrived.
_LITTLE = 5_000
_BATCHES = 4  # that wait in the JVM


class ResultTooLargeError(Exception):
    """A query gives more than this process takes; in the words that Spark has for it."""


class DriverTasks:
    """Makes the tasks of one session, whose settings are those of now."""

    def __init__(self, spark: "SparkSession") -> None:
        jvm: Any = spark.sparkContext._jvm
        apache = jvm.org.apache.spark
        self.settings = jvm.java.util.Properties()  # where an executor looks for those of the session
        for name, value in spark.conf.getAll.items():
            self.settings.setProperty(name, value)
        self.env = apache.SparkEnv.get()
        self.serializer = self.env.closureSerializer().newInstance()
        self.any = jvm.scala.reflect.ClassTag.Any()
        self.context, self.memory = apache.TaskContextImpl, apache.memory.TaskMemoryManager
        self.metrics, self.resources = apache.executor.TaskMetrics.empty, jvm.PythonUtils.toScalaMap({})
        self.running = getattr(getattr(apache, "TaskContext$"), "MODULE$")
        self.no_error = jvm.scala.Option.empty()
        self.serve, self.size_of = jvm.PythonRDD.serveIterator, apache.util.SizeEstimator.estimate
        most = spark.sparkContext.getConf().get("spark.driver.maxResultSize", "1g")
        self._most_bytes = apache.network.util.JavaUtils.byteStringAsBytes(most)  # 0: any
        self._in_words = apache.util.Utils.bytesToString
        self._session, self._sessions = spark._jsparkSession, apache.sql.classic.SparkSession
        self._converters = getattr(getattr(apache.sql.execution.arrow, "ArrowConverters$"), "MODULE$")
        self._zone = spark.conf.get("spark.sql.session.timeZone")

    def made(self, frame: "DataFrame") -> "DriverTask":
        """The task of a frame whose plan has no shuffle, over few partitions."""
        return DriverTask(self, frame)

    def check_size(self, size: int) -> None:
        """Refuse more bytes of one result than the session allows."""
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
        """What the query gives; what Spark raises is raised.

        Raises:
            ResultTooLargeError: it is more than `spark.driver.maxResultSize`.
        """
        got: list[pa.RecordBatch] = []
        with self._turn:
            for number, partition in enumerate(self._partitions):
                self._run(number, partition, got)
        return pa.Table.from_batches(got, self._schema)

    def _run(self, number: int, partition: Any, got: list[pa.RecordBatch]) -> None:
        """Add the rows of a partition."""
        tasks, attempt = self._tasks, next(_ATTEMPTS)
        memory = tasks.memory(tasks.env.memoryManager(), attempt)
        given = (memory, tasks.settings, tasks.env.metricsSystem(), tasks.metrics(), 1, tasks.resources)
        context = tasks.context(0, 0, number, attempt, 0, len(self._partitions), *given)
        with ExitStack() as ended:  # each of these, whatever those before it raise
            tasks.running.setTaskContext(context)
            ended.callback(tasks.running.unset)
            ended.callback(memory.cleanUpAllAllocatedMemory)
            ended.callback(context.markTaskCompleted, tasks.no_error)
            groups = self._rdd.iterator(partition, context).grouped(_BATCHES)
            while groups.hasNext():
                got += self._here(groups.next())
                self._tasks.check_size(sum(batch.nbytes for batch in got))

    def _here(self, part: Any) -> Iterator[pa.RecordBatch]:
        little = self._tasks.size_of(part) < _LITTLE
        for batch in map(part.apply, range(part.size())) if little else self._served(part):
            yield pa.ipc.read_record_batch(pa.py_buffer(batch), self._schema)

    def _served(self, part: Any) -> list[bytes]:
        from pyspark.serializers import NoOpSerializer
        from pyspark.util import _load_from_socket

        address, secret, _server = self._tasks.serve(part.iterator(), "rows of a step")
        batches = list(_load_from_socket((address, secret), NoOpSerializer()))
        if len(batches) != part.size():  # to the reader, a connection that breaks is the end of the rows
            raise EOFError(f"{len(batches)} of {part.size()} batches of a result have arrived")
        return batches


def _find_dependencies(rdd: Any) -> None:
    """Let an RDD find what it depends on, which it does not serialise otherwise."""
    dependencies = rdd.dependencies()
    for n in range(dependencies.size()):
        _find_dependencies(dependencies.apply(n).rdd())

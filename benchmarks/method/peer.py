"""The peers: hand-written Structured Streaming, one query for each layer.

Same SQL, same source, same kind of tables, and what we know to be the fastest way of writing them: `foreachBatch`,
rows as Arrow to the driver, one action for each batch, our own store.
"""

import json
import os
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from method.serve import OPERATIONS, private_stdout, serve, wait_until
from method.workload import BOARD, expected_board
from streamhouse.install.jars import SPARK_JARS, fetch
from streamhouse.install.java import LATE_SECOND_COMPILER, find_java
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.table import Table
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.session import worker_sockets
from streamhouse.spark.log_files import logging_session
from streamhouse.spark.worker_daemon import MODULE as WORKER_DAEMON
from streamhouse.stores.arrow import conform
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.store import FlussStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ALL_AT_ONCE = "each layer after the other, availableNow"
SIDE_BY_SIDE = "all layers side by side, trigger 0 s"
CHUNK_ROWS = 250_000

_STOCK = {
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_STREAMING = "org.apache.spark.sql.execution.streaming.checkpointing"
_TUNED = {
    "spark.python.daemon.module": WORKER_DAEMON,
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.ui.retainedExecutions": "50",
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": f"{_STREAMING}.FileSystemBasedCheckpointFileManager",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.driver.extraJavaOptions": " ".join(["-XX:+UseSerialGC", *LATE_SECOND_COMPILER]),
}


class Peer:
    """Answers for one Spark session."""

    def __init__(self, root: Path, fluss: str, name: str, spark: "SparkSession") -> None:
        self._project = Project.at(root)
        self._fluss = fluss
        self._checkpoints = root / "checkpoints" / name
        self._name = name
        self._spark = spark
        self._store = FlussStore(fluss)
        self._queries: list[StreamingQuery] = []
        self._seen: list[dict[str, Any]] = []
        self._zeros: list[tuple[int, int]] = []
        self._began_ms = 0.0
        self._ends: dict[str, int] = {}  # table → source rows it holds
        self._lock = threading.Lock()
        self._writing: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # step → held while it writes
        self._stopping = threading.Event()
        self._written: dict[str, int] = {}  # step → its last batch in the table

    def begin(self, chain: str, trigger_ms: int) -> None:
        """See `Arm.begin`."""
        plan = self._plan(chain)
        self._seen, self._zeros = [], []
        self._began_ms = time.time() * 1000
        trigger = {"processingTime": f"{trigger_ms} milliseconds"}
        self._queries = [self._start(plan, step, trigger, 0) for step in plan.steps]
        wait_until(lambda: any(s["layer"] == "ads" for s in self._seen) or self._failed() is not None)

    def end(self) -> list[dict[str, Any]]:
        """See `Arm.end`."""
        if error := self._failed():
            raise error
        self._stopping.set()
        for query in self._queries:
            with self._writing[query.name]:
                pass  # the batch in hand is written; the next one will raise
            query.stop()
        return self._seen

    def zero_ms(self, per_second: int) -> float:
        """See `Arm.zero_ms`."""
        # A batch that was logged before the last stop, and run after it, belongs to an earlier pace.
        return min(at_ms - row * 1000 / per_second for at_ms, row in self._zeros if at_ms >= self._began_ms)

    def drain(self, chain: str, way: str) -> float:
        """See `Arm.drain`; `way` is ALL_AT_ONCE or SIDE_BY_SIDE."""
        began = time.monotonic()
        plan = self._plan(chain)
        if way == ALL_AT_ONCE:
            for step in plan.steps:
                self._start(plan, step, {"availableNow": True}, 0).awaitTermination()
            return time.monotonic() - began
        self._queries = [self._start(plan, step, {"processingTime": "0 seconds"}, CHUNK_ROWS) for step in plan.steps]
        rows = int(plan.sources[0].options["limit"])
        lines, _ = expected_board(rows)
        # Of several buckets one may be behind although the last event is there, so the sums decide.
        while self._ends.get(plan.steps[-1].id, 0) < rows or sum(self._board(plan.steps[-1].writes)["lines"]) != lines:
            if error := self._failed():
                raise error
            time.sleep(0.02)
        seconds = time.monotonic() - began
        self.end()
        return seconds

    def ods_rows(self, chain: str) -> int:
        """See `Arm.ods_rows`."""
        table = self._plan(chain).tables[self._mine(f"ods.{chain}")]
        return int(self._store.read_state(table, columns=("event_id",)).num_rows)

    def board(self, chain: str) -> dict[str, list[int]]:
        """See `Arm.board`."""
        return self._board(self._plan(chain).tables[self._mine(f"ads.{chain}")])

    def _board(self, table: Table) -> dict[str, list[int]]:
        found: dict[str, list[int]] = self._store.read_state(table, columns=BOARD).to_pydict()
        return found

    def _failed(self) -> Exception | None:
        return next((error for query in self._queries if (error := query.exception())), None)

    def _mine(self, table: str) -> str:
        return f"{table}_{self._name}"

    def _plan(self, chain: str) -> FlowPlan:
        """The chain's plan with every table renamed, since ours are another arm's."""
        text = plan_of(self._project, chain).model_dump_json()
        for layer in ("ods", "dwd", "dws", "ads"):
            text = text.replace(f'"{layer}.{chain}"', f'"{self._mine(f"{layer}.{chain}")}"')
        return FlowPlan.model_validate_json(text)

    def _start(self, plan: FlowPlan, step: PlannedStep, trigger: dict[str, Any], max_rows: int) -> "StreamingQuery":
        self._stopping.clear()
        read = step.reads[0]
        self._store.create(step.writes)
        checkpoint = self._checkpoints / step.id
        stream = self._spark.readStream.format("layer").options(
            plan=plan.model_dump_json(),
            table=read.table,
            columns=json.dumps(read.columns),
            root=str(self._project.root),
            fluss=self._fluss,
            max_rows=str(max_rows),
        )

        def write(rows: "DataFrame", batch: int) -> None:
            with self._writing[step.id]:
                if self._stopping.is_set():
                    raise InterruptedError("the benchmark stops this query between two batches")
                # Sums added twice would be wrong: a batch that was written before a stop comes again.
                if batch <= self._written.get(step.id, -1):
                    return
                rows.createOrReplaceTempView(read.port)
                found = conform(rows.sparkSession.sql(step.sql).toArrow(), step.writes.columns)
                if found.num_rows:
                    self._store.write(step.writes, Changes(found), WriteContext(f"{self._name}/{step.id}", batch))
                    self._note(step.writes, found, checkpoint / "offsets" / str(batch))
                self._written[step.id] = batch

        writer = stream.load().writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint))
        return writer.queryName(step.id).trigger(**trigger).start()

    def _note(self, table: Table, rows: Any, offsets: Path) -> None:
        now_ms = time.time_ns() / 1e6
        newest = "event_id" if "event_id" in rows.column_names else "last_event_id"
        end = pc.max(rows.column(newest)).as_py() + 1
        with self._lock:
            first = self._ends.get(table.name, 0)
            self._ends[table.name] = max(end, first)
            self._seen.append({"layer": table.layer.value, "first": first, "end": end, "visible_ms": now_ms})
        if table.layer.value == "ods":
            offset = json.loads(offsets.read_text().splitlines()[2])
            self._zeros.append((offset["at_ms"], offset["position"]["row"]))


def session(root: Path, name: str) -> "SparkSession":
    """The Spark session of a peer."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    from method.layer_source import LayerSource

    builder = SparkSession.builder.master("local[*]").appName(name)
    options = _STOCK | {"spark.sql.warehouse.dir": str(root / name)}
    if name == "tuned":
        options |= _TUNED | worker_sockets() | {"spark.jars": ",".join(map(str, fetch(SPARK_JARS)))}
    for key, value in options.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if name == "tuned":
        spark = logging_session(spark)
    spark.dataSource.register(LayerSource)
    return spark


def main() -> None:
    """Serve the project that the command line names."""
    replies = private_stdout()
    root, fluss, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    spark = session(root, name)
    peer = Peer(root, fluss, name, spark)
    serve({name: getattr(peer, name) for name in OPERATIONS}, replies)
    spark.stop()


if __name__ == "__main__":
    main()

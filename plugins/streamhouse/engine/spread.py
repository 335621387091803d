"""The result of a step, written by Spark's tasks instead of by the driver (design D4).

Each task appends or upserts its partition through a store of its own. There is no commit that all tasks share, so
an epoch that fails here has written some rows and not others. Its replay writes in the driver, which knows what a
dead attempt left (`WriteContext.replay_from`); hence a task never writes twice, and none writes any more when
`spread_write` returns or raises, or when the driver is gone (`engine/heartbeat.py`).

Sums must not overflow. Where those that are stored are far from the bounds of their type, as nearly all are, each task
looks at its rows as it writes them, and leaves out what might not fit: the driver completes the epoch then, as after a
task that failed. Only where a stored sum comes near the bounds, all rows are looked at before any task writes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from streamhouse.engine.heartbeat import Address, Heartbeat, heard
from streamhouse.engine.row_order import ROW, numbered
from streamhouse.engine.worker_store import hot_store
from streamhouse.errors import EngineError, StateConflictError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.spark.results import collected_arrow, collected_rows
from streamhouse.spark.running_tasks import no_task_runs
from streamhouse.spark.worker_error import from_worker, telling
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes, GuardedStore, Store, WriteContext
from streamhouse.stores.places import Places
from streamhouse.stores.sums import Added, Admitted, Amounts, SumBounds, largest, summed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_AT_ONCE = 50_000  # of a table, in a worker's memory
# Of a task: how many rows it wrote, whether there were others that might not fit, the largest amount of each sum.
_WRITTEN = "rows bigint, passed boolean, most map<string,string>"
_WRITTEN_SCHEMA = pa.schema([("rows", pa.int64()), ("passed", pa.bool_()), ("most", pa.map_(pa.string(), pa.string()))])
_WAIT_S = 60.0


@dataclass(frozen=True)
class SpreadWritten:
    """What the tasks wrote.

    Attributes:
        rows: How many, over all tasks.
        end: The table's end after them.
    """

    rows: int
    end: Position


def can_spread(table: Table) -> bool:
    """Whether `spread_write` can write it: tables of the hot tier.

    Paimon commits files that one writer made, so its rows are collected. Iceberg's are, too: the epoch's number must
    stand in the snapshot, which the store sees to.
    """
    return table.tiers.target is Tier.HOT


def spread_write(
    frame: "DataFrame",
    table: Table,
    places: Places,
    store: Store,
    context: WriteContext,
    may_write: Callable[[], bool] = lambda: True,
) -> SpreadWritten:
    """Append or upsert the rows of `frame` from the executors.

    What a reader of the table could tell of the order of rows is as if one process had appended them: see `ordered`.

    Args:
        frame: Has the columns of `table`, in any order. A key stands in one row of it at most: two rows of one key
            could be in two tasks, and either may come last.
        table: Of the hot tier.
        places: Where the stores are, as seen from the executors.
        store: The driver's own, which knows the end.
        context: Of an epoch that no earlier attempt can have written to.
        may_write: Whether this process still holds the flow; asked again and again, from another thread.

    Raises:
        StateConflictError: an earlier attempt may have written, or tasks could not be stopped.
        EngineError: `can_spread` denies it.
        StoreError: a task failed on the store, which now holds rows of some tasks.
        pyspark.errors.PySparkException: a task failed otherwise, on a row of `frame` for one; as before.
    """
    if not can_spread(table):
        raise EngineError(f"{table.name} cannot be written by Spark's tasks", hint="write it in the driver")
    if context.replay_from is not None:
        raise StateConflictError(
            f"{table.name}: Spark's tasks cannot tell what an earlier attempt of epoch {context.epoch} wrote",
            hint="write it in the driver",
        )

    def stored(names: tuple[str, ...]) -> pa.Table:
        return store.read_state(table, None, names)

    spark = frame.sparkSession
    tag = f"streamhouse-{uuid4()}"
    spark.sparkContext.addJobTag(tag)
    try:
        rows = ordered(frame.select(*table.column_names), table)
        sums, named = context.sums or SumBounds(), tuple(summed(table))
        room: Amounts | None = sums.room(table, stored) if named else {}
        before = store.end(table) if room else {}
        # Whether a row is of a day that may be dropped now, only the tasks see.
        undropped = store.undropped(table) if isinstance(store, GuardedStore) else nullcontext()
        with _persistent(rows) if room is None else nullcontext(rows) as rows:
            if room is None:
                sums.admit(table, added_by_frame(rows, table), stored)
            with undropped, Heartbeat(spark.sparkContext, may_write) as driver:
                work = _Write(table, places, replace(context, sums=Admitted()), driver.address, room or {})
                written = collected_rows(rows.mapInArrow(work, _WRITTEN))
        if any(row.passed for row in written):
            return _completed(rows, table, store, replace(context, replay_from=before, sums=sums), may_write)
        if room:
            sums.wrote(
                table,
                room,
                {name: max((Decimal(row.most[name]) for row in written), default=Decimal(0)) for name in named},
            )
    except BaseException as error:
        _until_no_task_runs(spark, tag, table.name)
        if failure := from_worker(error):
            raise failure from error
        raise
    finally:
        spark.sparkContext.removeJobTag(tag)
    return SpreadWritten(sum(row.rows for row in written), store.end(table))


@contextmanager
def _persistent(rows: "DataFrame") -> Iterator["DataFrame"]:
    """The rows, computed once for all that asks for them."""
    persistent_rows = rows.persist()
    try:
        yield persistent_rows
    finally:
        persistent_rows.unpersist()


def _completed(
    rows: "DataFrame", table: Table, store: Store, context: WriteContext, may_write: Callable[[], bool]
) -> SpreadWritten:
    """Write from the driver what tasks left out; what they wrote shows it."""
    whole = collected_arrow(rows)
    if not may_write():
        raise StateConflictError(
            f"{table.name}: this process lost the lease of the flow, in the middle of epoch {context.epoch}",
            hint="the process that has the lease now completes the epoch",
        )
    return SpreadWritten(whole.num_rows, store.write(table, Changes(whole), context))


def added_by_frame(frame: "DataFrame", table: Table) -> Added:
    """What the rows add to a table that sums, each key in one row; Spark looks for the largest amounts."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    names = tuple(summed(table))
    if not names:
        return Added({}, lambda _: arrow_schema(()).empty_table())
    lowest, highest = (collected_arrow(frame.agg(*(of(name).alias(name) for name in names))) for of in (F.min, F.max))

    def over(spare: Amounts) -> pa.Table:
        # As doubles, so a little more than asked for.
        large = (F.abs(F.col(name).cast("double")) >= float(spare[name]) * (1 - 1e-9) for name in names)
        found = frame.where(reduce(or_, large)).select(*table.primary_key, *names)
        return conform(collected_arrow(found), [table.column(name) for name in (*table.primary_key, *names)])

    return Added(largest(pa.concat_tables([lowest, highest]), names), over)


def ordered(frame: "DataFrame", table: Table) -> "DataFrame":
    """The rows, cut so that tasks which append them side by side keep the order that the log of `table` keeps.

    That is the order of all rows in a log of one bucket, which one task appends to therefore, else of those with one
    bucket key; without that key there is none. What is left of a task that died is the beginning of its rows, so the
    replay, which appends the others, keeps the order too.
    """
    if not table.keeps_order:
        return frame
    # Not coalesce(1): of rows that are kept in memory Spark may take the parts in another order.
    tasks, by = (
        (1, ()) if table.buckets == 1 else (frame.sparkSession.sparkContext.defaultParallelism, table.bucket_key)
    )
    return numbered(frame).repartition(tasks, *by).sortWithinPartitions(ROW).drop(ROW)


@dataclass(frozen=True)
class _Write:
    """A task's work; travels to the workers."""

    table: Table
    places: Places
    context: WriteContext
    driver: Address
    room: Amounts

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with telling(), heard(self.driver) as check:
            refuse_second_attempt(self.table.name)
            rows, most, passed = 0, dict.fromkeys(self.room, Decimal(0)), False
            for chunk in chunks(batches, _ROWS_AT_ONCE):
                check()
                found = largest(chunk, self.room)
                passed |= any(found[name] > room for name, room in self.room.items())
                if passed:  # what comes is read all the same: Spark would take the end of this for a failure
                    continue
                hot_store(self.places).write(self.table, Changes(chunk), self.context)
                rows += chunk.num_rows
                most = {name: max(amount, found[name]) for name, amount in most.items()}
        summary = [{"rows": rows, "passed": passed, "most": [(name, str(amount)) for name, amount in most.items()]}]
        yield pa.RecordBatch.from_pylist(summary, _WRITTEN_SCHEMA)


def refuse_second_attempt(name: str) -> None:
    """In a task: end it when it ran before, as it may have written then.

    Raises:
        StateConflictError: this is not the first attempt.
    """
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is None or task.attemptNumber() > 0:
        raise StateConflictError(
            f"{name}: Spark ran a task again that may have written rows before",
            hint="set spark.task.maxFailures=1 and spark.speculation=false; the epoch is replayed",
        )


def chunks(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """The batches put together to tables of at least `rows` rows each, but for the last one."""
    buffered_batches: list[pa.RecordBatch] = []
    for batch in batches:
        if batch.num_rows:
            buffered_batches.append(batch)
        if sum(part.num_rows for part in buffered_batches) >= rows:
            yield pa.Table.from_batches(buffered_batches)
            buffered_batches = []
    if buffered_batches:
        yield pa.Table.from_batches(buffered_batches)


def _until_no_task_runs(spark: "SparkSession", tag: str, name: str) -> None:
    """Wait for the tasks of a failed job: Spark asks them to end, but does not wait until they have.

    Raises:
        StateConflictError: they still run, so they may still write.
    """
    if no_task_runs(spark, tag, _WAIT_S):
        return
    raise StateConflictError(
        f"{name}: tasks of a failed epoch do not end, and may still write",
        hint="stop this process; the epoch is replayed at its next start",
    )

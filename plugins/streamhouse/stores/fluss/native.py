"""What goes through Fluss's Python client: writes, and scans of a key-value state."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import pyarrow as pa

from streamhouse.errors import StoreError, StoreUnavailableError, WriteRefusedError
from streamhouse.stores.fluss.loop import EventLoop
from streamhouse.stores.fluss.nagle import send_at_once
from streamhouse.stores.fluss.wire import Address, refusal

T = TypeVar("T")
Write = Any
"""A write on its way: the client's `WriteResultHandle`."""

Columns = tuple[str, ...] | None
"""The columns of a write, the key among them; None: all, so that what a row had before is gone."""

_WHOLE_BUCKET = 2**31 - 1


@dataclass(frozen=True)
class Target:
    """One version of a table, and the servers it lives on."""

    name: str
    table_id: int
    schema_id: int
    servers: frozenset[Address]


class Native:
    """One connection of Fluss's client, made at first use.

    The client repeats what a server did not answer for as long as the process lives, whoever gave
    up waiting. So a write that timed out is remembered, and the next write to its table begins
    with waiting for it: rows never arrive late, between those of a later write.
    """

    def __init__(self, bootstrap: str, timeout_s: float) -> None:
        self._bootstrap = bootstrap
        self._timeout_s = timeout_s
        self._connection: Any = None
        self._tables: dict[Target, Any] = {}
        self._writers: dict[tuple[Target, Columns], Any] = {}
        self._writing: dict[str, Lock] = {}  # table name → held from a write's first row to its flush
        self._unanswered: dict[str, Future[None]] = {}  # table name → its last write, which timed out
        self._quick: set[Target] = set()
        self._lock = Lock()
        self._opening = asyncio.Lock()

    def append(self, target: Target, rows: pa.Table) -> None:
        """Append rows, which have all columns in their order, and wait until they are durable.

        Raises:
            StoreUnavailableError: not confirmed in time; the rows may arrive, but not after the next write.
        """
        writes = self._write(target, lambda writer: [writer.write_arrow_batch(b) for b in rows.to_batches()])
        self.confirm(target.name, writes)

    def upsert(self, target: Target, rows: pa.Table, deletes: pa.Table | None, columns: Columns = None) -> list[Write]:
        """Send deletes of keys (in the order of the primary key), then upserts.

        Args:
            target: Where to.
            rows: With all columns in their order, or with `columns`.
            deletes: With `columns`, Fluss nulls those and drops the row when nothing is left in it.
            columns: Those to change; others keep their values.

        Returns:
            One write for each delete, then for each row, in their order. All have been sent and
            answered, but **not all have succeeded**: hand them to `confirm`.

        Raises:
            StoreUnavailableError: not answered in time; the rows may arrive, but not after the next write.
        """
        return self._write(
            target,
            lambda writer: [
                *(writer.delete(key) for key in _tuples(deletes)),
                *(writer.upsert(row) for row in _tuples(rows)),
            ],
            columns,
        )

    def confirm(self, name: str, writes: Sequence[Write]) -> None:
        """Wait until each write is durable; about 0.2 ms each, so choose which ones need it.

        Raises:
            StoreError: Fluss refused one.
        """

        async def work() -> None:
            for write in writes:
                await write.wait()

        if writes:
            self._run(name, work)

    def scan(self, target: Target, bucket: int, columns: Sequence[str]) -> pa.Table:
        """The state of one bucket of a keyed table: what its newest visible offset says, or a little more."""

        async def work() -> pa.Table:
            import fluss

            table = await self._table(target)
            scan = table.new_scan().project_by_name(list(columns)).limit(_WHOLE_BUCKET)
            return await scan.create_bucket_batch_scanner(fluss.TableBucket(target.table_id, bucket)).to_arrow()

        return self._run(target.name, work)

    def close(self) -> None:
        """Close the connection, after what is on its way when that takes no longer than a moment."""
        connection = self._forget()
        if connection is not None:
            try:
                EventLoop.current().submit(connection.close).result(2.0)
            except TimeoutError:
                return  # a server is away; the process is about to end, or the store will not be used

    def _write(self, target: Target, enqueue: Callable[[Any], list[Write]], columns: Columns = None) -> list[Write]:
        with self._lock:
            writing = self._writing.setdefault(target.name, Lock())
        # The client cannot hold rows with different columns for one bucket: a write begins after the flush of another.
        with writing:
            return self._write_alone(target, enqueue, columns)

    def _write_alone(self, target: Target, enqueue: Callable[[Any], list[Write]], columns: Columns) -> list[Write]:
        if unanswered := self._unanswered.get(target.name):
            self._await_write(target.name, unanswered)
        writer = self._run(target.name, lambda: self._writer(target, columns))
        try:
            # On the caller's thread: it converts rows, and waits while the client's buffer is full.
            writes = enqueue(writer)
        except Exception as error:
            self._unanswered[target.name] = EventLoop.current().submit(writer.flush)  # of the rows before
            raise self._failure(target.name, error) from error
        # The end of a flush does not tell whether its writes succeeded.
        self._await_write(target.name, EventLoop.current().submit(writer.flush))
        if target not in self._quick:
            send_at_once(target.servers)
            self._quick.add(target)
        return writes

    def _await_write(self, name: str, flush: "Future[None]") -> None:
        self._unanswered[name] = flush
        try:
            flush.result(self._timeout_s)
        except TimeoutError as error:
            raise self._failure(name, error) from error
        except Exception as error:
            self._unanswered.pop(name)
            raise self._failure(name, error) from error
        self._unanswered.pop(name)

    async def _writer(self, target: Target, columns: Columns) -> Any:
        table = await self._table(target)
        if (target, columns) not in self._writers:
            builder = table.new_upsert() if table.has_primary_key() else table.new_append()
            if columns is not None:
                builder = builder.partial_update_by_name(list(columns))
            self._writers[target, columns] = builder.create_writer()
        return self._writers[target, columns]

    async def _table(self, target: Target) -> Any:
        async with self._opening:  # threads come at the same time, and one connection is to serve them all
            if target not in self._tables:
                self._tables[target] = await self._open(target)
            return self._tables[target]

    async def _open(self, target: Target) -> Any:
        import fluss

        if self._connection is None:
            config = fluss.Config({"bootstrap.servers": self._bootstrap})
            config.writer_batch_timeout_ms = 2  # every write ends with a flush: rows need not wait for company
            config.writer_buffer_wait_timeout_ms = int(self._timeout_s * 1000)
            config.connect_timeout_ms = 5_000
            self._connection = await fluss.FlussConnection.create(config)
        database, _, table = target.name.partition(".")
        return await self._connection.get_table(fluss.TablePath(database, table))

    def _run(self, name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        future = EventLoop.current().submit(work)
        try:
            return future.result(self._timeout_s)
        except Exception as error:
            future.cancel()
            raise self._failure(name, error) from error

    def _failure(self, name: str, error: Exception) -> StoreError:
        """The error to raise. The connection is renewed, unless rows are on their way that only it knows of."""
        import fluss

        if not self._unanswered:
            self._forget()
        if isinstance(error, TimeoutError):
            return StoreUnavailableError(f"Fluss did not answer for {name} within {self._timeout_s:.0f} s")
        if isinstance(error, fluss.FlussError):
            return refusal(error.error_code, error.message, name)
        if isinstance(error, TypeError | ValueError | OverflowError):
            return WriteRefusedError(f"a value does not fit {name}: {error}")
        return StoreUnavailableError(f"Fluss's client failed for {name}: {error}")

    def _forget(self) -> Any:
        with self._lock:
            connection, self._connection = self._connection, None
            self._tables.clear()
            self._writers.clear()
            self._quick.clear()
        return connection


def _tuples(rows: pa.Table | None) -> Iterable[tuple[object, ...]]:
    return zip(*(_values(column) for column in rows.columns), strict=True) if rows is not None else ()


def _values(column: pa.ChunkedArray) -> list[Any]:
    # Ten times as fast as to_pylist(), but it makes floats of integers and truths beside nulls.
    if not pa.types.is_nested(column.type) and (not column.null_count or pa.types.is_timestamp(column.type)):
        return list(column.to_numpy().tolist())  # an instant comes naive and in UTC, as the client takes it
    return list(column.to_pylist())

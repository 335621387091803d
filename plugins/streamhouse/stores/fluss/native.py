"""What goes through Fluss's Python client: writes, and scans of a key-value state."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, Self, TypeVar

import pyarrow as pa

from streamhouse.errors import StoreError, StoreUnavailableError, TableMissingError, WriteRefusedError
from streamhouse.stores.fluss.catalog import Located
from streamhouse.stores.fluss.client_thread import EventLoop
from streamhouse.stores.fluss.partitions import bucket_of
from streamhouse.stores.fluss.sockets import tune
from streamhouse.stores.fluss.values import tuples
from streamhouse.stores.fluss.wire.link import Address
from streamhouse.stores.fluss.wire.login import Login
from streamhouse.stores.fluss.wire.refusal import STATUS, LeaderMovedError, UnsentError, refusal

T = TypeVar("T")
Write = Any
"""A write on its way: the client's `WriteResultHandle`, which can be waited for once; None: it is durable."""

Columns = tuple[str, ...] | None
"""The columns of a write, the key among them; None: all, so that what a row had before is gone."""

_WHOLE_BUCKET = 2**31 - 1
_REMIND_S = 2.0
_PATIENCE_S = 5.0  # with a question that takes milliseconds: a server that is starting may never answer it
_FEW = 16  # writes that are waited for along with their flush
_NO_WRITER = "Writer ID allocation failed"  # no server is up; it has no code of its own


@dataclass(frozen=True)
class Target:
    """One version of a table, and the servers it lives on."""

    name: str
    table_id: int
    schema_id: int
    servers: frozenset[Address]
    local: frozenset[str] = frozenset()  # columns of times without a zone that are stored as instants
    partitions: Mapping[str, int] = field(default_factory=dict, compare=False)  # name → id, as they are now

    @classmethod
    def of(cls, located: Located) -> Self:
        """The table as the catalog found it."""
        stored, servers = located.stored, frozenset(located.leaders.values())
        return cls(located.name, stored.table_id, stored.schema_id, servers, stored.local, located.partitions)


class _Session:
    """A connection of the client, and what was opened over it. Used on the client's thread."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.quick: set[Target] = set()
        self._partitions: dict[str, dict[str, int]] = {}  # table → its partitions that this session may know
        self._tables: dict[Target, Any] = {}
        self._writers: dict[tuple[Target, Columns], Any] = {}
        self._opening = asyncio.Lock()

    def fits(self, target: Target) -> bool:
        """Whether it cannot take a partition for one that was dropped; for as long as it lives the client would."""
        known = self._partitions.setdefault(target.name, {})
        if any(known.get(name, id_) != id_ for name, id_ in target.partitions.items()):
            return False
        known.update(target.partitions)
        return True

    async def table(self, target: Target) -> Any:
        async with self._opening:  # threads come at the same time
            if target not in self._tables:
                async with asyncio.timeout(_PATIENCE_S):
                    self._tables[target] = await self.connection.get_table(_path(target.name))
            return self._tables[target]

    async def remind(self, name: str) -> None:
        """Let the client look for a table's leaders. What it asked a server that was starting may stay unanswered."""
        with suppress(Exception):  # the thread that waits for rows gets the reason why they did not arrive
            async with asyncio.timeout(_PATIENCE_S):
                await self.connection.get_table(_path(name))

    def opened(self, target: Target, columns: Columns) -> Any | None:
        """The writer, where it was opened before; safe on any thread."""
        return self._writers.get((target, columns))

    async def writer(self, target: Target, columns: Columns) -> Any:
        table = await self.table(target)
        if (target, columns) not in self._writers:
            builder = table.new_upsert() if table.has_primary_key() else table.new_append()
            if columns is not None:
                builder = builder.partial_update_by_name(list(columns))
            self._writers[target, columns] = builder.create_writer()
        return self._writers[target, columns]


@dataclass(frozen=True)
class _Flush:
    """Rows on their way, and the session that knows of them."""

    done: "Future[None]"
    session: _Session


class Native:
    """One connection of Fluss's client, made at first use.

    The client waits for a silent server for as long as the process lives, also if the caller gave up waiting.
    So a write that timed out is remembered, and the next write to its table begins with waiting for
    it: rows never arrive late, between those of a later write. After any failure others use a new
    connection: pyfluss 1.0 never finds a server again that came back at another address
    (apache/fluss#4368), and forgets tables when it looks for their leaders in vain (#4380).
    """

    def __init__(self, bootstrap: str, timeout_s: float, login: Login | None = None) -> None:
        self._bootstrap = bootstrap
        self._login = login
        self._timeout_s = timeout_s
        self._session: _Session | None = None
        self._writing: dict[str, Lock] = {}  # table name → taken from a write's first row to its flush
        self._unanswered: dict[str, _Flush] = {}  # table name → its last write, which timed out
        self._lock = Lock()
        self._opening = asyncio.Lock()

    def append(self, target: Target, parts: Iterable[pa.Table]) -> None:
        """Append rows, which have all columns in their order, and wait until they are durable.

        Args:
            target: Where to.
            parts: The rows of each partition, which exists.

        Raises:
            UnsentError: the server does not know the table yet; no row was sent.
            StoreUnavailableError: not confirmed in time; the rows may arrive, but not after the next write.
        """
        # The client looks for a batch's partition in its first row.
        batches = [batch for rows in parts for batch in rows.to_batches() if batch.num_rows]
        writes = self._write(target, lambda writer: map(writer.write_arrow_batch, batches))
        self.confirm(target.name, writes)

    def upsert(
        self,
        target: Target,
        rows: pa.Table,
        deletes: pa.Table | None,
        columns: Columns = None,
        *,
        first: pa.Table | None = None,
    ) -> list[Write]:
        """Send deletes of keys (in the order of the primary key), then upserts.

        Args:
            target: Where to.
            rows: With all columns in their order, or with `columns`.
            deletes: With `columns`, Fluss nulls those and drops the row when nothing is left in it.
            columns: Those to change; others keep their values.
            first: Rows that are sent before all others, and deleted then; with all columns.

        Returns:
            One write for each delete, then for each row, in their order. All have been sent and
            answered, but **not all have succeeded**: hand them to `confirm`.

        Raises:
            UnsentError: the server does not know the table yet; nothing but rows of `first` was sent.
            StoreUnavailableError: not answered in time; the rows may arrive, but not after the next write.
        """

        def enqueue(writer: Any) -> Iterator[Write]:
            for row in tuples(first, target.local):
                writer.upsert(row)
            yield from map(writer.delete, tuples(deletes, target.local))
            yield from map(writer.upsert, tuples(rows, target.local))

        return self._write(target, enqueue, columns)

    def overwrite(self, target: Target, rows: pa.Table, keys: pa.Table, deletes: pa.Table | None) -> list[Write]:
        """Send deletes of keys, then each row behind a delete of its own key, which a merge then begins with.

        Args:
            target: A table that merges and allows deletes.
            rows: With all columns in their order.
            keys: The key of each row, in the order of the primary key.
            deletes: Further keys, in the same form.

        Returns:
            One write for each of `deletes`, then for each row, as `upsert` does. Both writes of a
            key are together in almost every case; else it is gone for a moment.
        """

        def enqueue(writer: Any) -> Iterator[Write]:
            yield from map(writer.delete, tuples(deletes, target.local))
            for key, row in zip(tuples(keys, target.local), tuples(rows, target.local), strict=True):
                writer.delete(key)
                yield writer.upsert(row)

        return self._write(target, enqueue)

    def settle(self, name: str) -> None:
        """Wait for the last write to a table, when it was not answered in time; its rows are there then.

        Raises:
            StoreUnavailableError: it is still not answered.
        """
        if unanswered := self._unanswered.get(name):
            self._await_write(name, unanswered)

    def confirm(self, name: str, writes: Sequence[Write]) -> None:
        """Wait until each write is durable; about 0.2 ms each, so choose which ones need it.

        Raises:
            StoreError: Fluss refused one.
        """

        async def work() -> None:
            for write in writes:
                if write is not None:
                    await write.wait()

        if any(write is not None for write in writes):
            self._run(name, work, self._session)

    def scan(self, target: Target, bucket: str, columns: Sequence[str]) -> pa.Table:
        """The state of one bucket of a keyed table: what its newest visible offset says, or a little more."""
        session = self._current(target)
        partition_id, number = bucket_of(bucket)

        async def work() -> pa.Table:
            import fluss

            table = await session.table(target)
            scan = table.new_scan().project_by_name(list(columns)).limit(_WHOLE_BUCKET)
            place = (
                fluss.TableBucket(target.table_id, number)
                if partition_id is None
                else fluss.TableBucket.with_partition(target.table_id, partition_id, number)
            )
            return await scan.create_bucket_batch_scanner(place).to_arrow()

        return self._run(target.name, work, session)

    def close(self) -> None:
        """Close the connection, after what is on its way when that takes no longer than a moment."""
        session = self._session
        self._forget(session)
        if session is not None:
            try:
                EventLoop.current().submit(session.connection.close).result(2.0)
            except TimeoutError:
                return  # a server is away; the process is about to end, or the store will not be used

    def _write(self, target: Target, enqueue: Callable[[Any], Iterable[Write]], columns: Columns = None) -> list[Write]:
        EventLoop.current()  # first: in a process that was forked off, threads that are not there may own the locks
        with self._lock:
            writing = self._writing.setdefault(target.name, Lock())
        # The client cannot hold rows with different columns for one bucket: a write begins after the flush of another.
        with writing:
            return self._write_alone(target, enqueue, columns)

    def _write_alone(self, target: Target, enqueue: Callable[[Any], Iterable[Write]], columns: Columns) -> list[Write]:
        self.settle(target.name)
        session, writer = self._writer(target, columns)
        writes: list[Write] = []
        try:
            # On the caller's thread: it converts rows, and waits while the client's buffer is full.
            for write in enqueue(writer):
                writes.append(write)  # noqa: PERF402  what was sent before an error counts
        except Exception as error:
            flush = _Flush(EventLoop.current().submit(writer.flush), session)
            self._unanswered[target.name] = flush  # of the rows before
            failure = self._failure(target.name, error, session)
            if not writes and isinstance(failure, LeaderMovedError):
                raise UnsentError(failure.message, hint=failure.hint) from error
            raise failure from error
        # The end of a flush does not tell whether its writes succeeded. When a server is gone none of the last did.
        first = 0 if len(writes) <= _FEW else len(writes) - 1
        flush = _Flush(Future(), session)
        self._await_write(target.name, flush, EventLoop.current().submit(partial(_sent, writer, flush, writes[first:])))
        writes[first:] = [None] * (len(writes) - first)
        if target not in session.quick:
            tune(target.servers)
            session.quick.add(target)
        return writes

    def _writer(self, target: Target, columns: Columns) -> tuple[_Session, Any]:
        """The session and its writer; of one that is open nothing is asked, as each question is a turn of the loop."""
        session = self._session
        if session is not None and not target.partitions and (known := session.opened(target, columns)) is not None:
            return session, known
        try:
            session = self._current(target)
            return session, self._run(target.name, lambda: session.writer(target, columns), session)
        except LeaderMovedError as error:
            raise UnsentError(error.message, hint=error.hint) from error

    def _await_write(self, name: str, flush: _Flush, confirmed: "Future[None] | None" = None) -> None:
        """Wait for a flush, and for what comes after it; only a flush that is not answered is remembered."""
        self._unanswered[name] = flush
        try:
            self._await(name, flush.session, flush.done if confirmed is None else confirmed)
        except TimeoutError as error:
            if flush.done.done():
                self._unanswered.pop(name)
            raise self._failure(name, error, flush.session) from error
        except Exception as error:
            self._unanswered.pop(name)
            raise self._failure(name, error, flush.session) from error
        self._unanswered.pop(name)

    def _await(self, name: str, session: _Session, done: "Future[None]") -> None:
        """Wait for the rows; meanwhile remind the client of their table, of which it may have lost sight."""
        until = monotonic() + self._timeout_s
        while (left := until - monotonic()) > _REMIND_S:
            with suppress(TimeoutError):
                return done.result(_REMIND_S)
            EventLoop.current().submit(lambda: session.remind(name))
        return done.result(max(left, 0))

    def _current(self, target: Target) -> _Session:
        async def work() -> _Session:
            # Threads come at the same time, and one connection is to serve them all.
            async with self._opening, asyncio.timeout(_PATIENCE_S):
                if self._session is None or not self._session.fits(target):
                    self._session = _Session(await self._connect())
                    self._session.fits(target)
                return self._session

        return self._run(target.name, work, None)

    async def _connect(self) -> Any:
        import fluss

        login = self._login.options if self._login is not None else {}
        config = fluss.Config({"bootstrap.servers": self._bootstrap, **login})
        config.writer_batch_timeout_ms = 2  # every write ends with a flush: rows need not wait for company
        config.writer_buffer_wait_timeout_ms = int(self._timeout_s * 1000)
        # At least one is asked for. The client's further attempts go to the same dead address, forever and
        # without a message: it is better to know at once that a server is gone. The writer tries again.
        config.writer_retries = 1
        config.connect_timeout_ms = 5_000
        return await fluss.FlussConnection.create(config)

    def _run(self, name: str, work: Callable[[], Coroutine[Any, Any, T]], session: _Session | None) -> T:
        future = EventLoop.current().submit(work)
        try:
            return future.result(self._timeout_s)
        except Exception as error:
            future.cancel()
            raise self._failure(name, error, session) from error

    def _failure(self, name: str, error: Exception, session: _Session | None) -> StoreError:
        """The error to raise. The next caller gets a new session."""
        import fluss

        if isinstance(error, WriteRefusedError):
            return error
        self._forget(session)
        if isinstance(error, TimeoutError):
            return StoreUnavailableError(f"Fluss did not answer in time for {name}", hint=STATUS)
        if isinstance(error, fluss.FlussError):
            return _refusal(error.error_code, error.message, name)
        if isinstance(error, TypeError | ValueError | OverflowError):
            return WriteRefusedError(f"a value does not fit {name}: {error}")
        return StoreUnavailableError(f"Fluss's client failed for {name}: {error}")

    def _forget(self, session: _Session | None) -> None:
        with self._lock:
            if self._session is session:
                self._session = None


async def _sent(writer: Any, flush: _Flush, writes: Sequence[Write]) -> None:
    """Send what a writer has, and wait for some of its writes: one turn of the loop for both."""
    try:
        await writer.flush()
    except BaseException as error:
        flush.done.set_exception(error)
        raise
    flush.done.set_result(None)
    for write in writes:
        await write.wait()


def _refusal(code: int, message: str, name: str) -> StoreError:
    error = refusal(code, message, name)
    if isinstance(error, TableMissingError) or _NO_WRITER in message:
        # A server that has just started knows no tables, and its client forgets them. The coordinator, which was
        # asked just before, knows better.
        return LeaderMovedError(f"Fluss has not found {name} yet: {message}")
    return error


def _path(name: str) -> Any:
    import fluss

    database, _, table = name.partition(".")
    return fluss.TablePath(database, table)

"""One door to the database: connections, transactions, the schema, and the translation of its errors."""

import errno
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import TypeVar

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, create_engine, event, func, insert, inspect, make_url, select, update
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random

from streamhouse.errors import (
    DiskFullError,
    EnvironmentProblem,
    FileFormatError,
    MissingPackageError,
    StateConflictError,
    StoreUnavailableError,
    StreamhouseError,
)
from streamhouse.state.damage import check_file, damaged
from streamhouse.state.schema import SCHEMA_VERSION, metadata, schema_version

T = TypeVar("T")

BUSY_TIMEOUT_MS = 30_000
_WRITE_TRIES = 50
_WRITE_WAIT_S = 0.02
_DAMAGE = ("not a database", "malformed", "decode to UTF-8", "no such table", "no such column")
"""What SQLite says of a file that is damaged; its version was looked at before, so every table was there."""
_CROSSED = frozenset({"40001", "40P01"})  # PostgreSQL: not serializable, deadlock
_NO_ROOM = "53100"  # PostgreSQL: disk full
_POSTGRES_SCHEMA_LOCK = 7_305_601  # any number that no other program on the server uses for its advisory locks


class Database:
    """Short transactions on one database, safe from several threads and processes.

    The first transaction creates the file and the tables where they are missing.
    """

    def __init__(self, url: str) -> None:
        """Connect to nothing yet.

        Args:
            url: As SQLAlchemy reads it: `sqlite:////path/state.db`, `postgresql+psycopg://user@host/name`.

        Raises:
            FileFormatError: `url` is no database URL.
            MissingPackageError: the driver that the URL asks for is not installed.
        """
        self._url = _parsed(url)
        self._engine = _engine(self._url)
        self._ready = False
        self._opening = Lock()

    @property
    def location(self) -> str:
        """Where the state is, for messages; a password is hidden."""
        return self._url.database or "memory" if self._is_sqlite else self._url.render_as_string(hide_password=True)

    @property
    def _is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view; writers need not wait."""
        with self._translated():
            self._prepare()
            # SQLite's transactions are so by nature, and it knows no such level.
            level = {} if self._is_sqlite else {"isolation_level": "REPEATABLE READ"}
            with self._engine.connect().execution_options(**level) as connection:
                yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` gives in one transaction, which commits when it returns and rolls back when it raises.

        Transactions that write are as if they ran one after the other. `work` may be called again when another process
        wrote what it read, or inserted the same key, in between; it must read again what it decides by.
        """
        with self._translated():
            self._prepare()
            # SQLite has one writer at a time, and knows no such level.
            level = {} if self._is_sqlite else {"isolation_level": "SERIALIZABLE"}
            engine = self._engine.execution_options(streamhouse_write=True, **level)
            for attempt in Retrying(
                retry=retry_if_exception(_is_crossed),  # each time one of the others got its rows in, so this ends
                stop=stop_after_attempt(_WRITE_TRIES),
                wait=wait_random(0, _WRITE_WAIT_S),
                reraise=True,
            ):
                with attempt, engine.begin() as connection:
                    return work(connection)
            raise AssertionError("tenacity ends with a result or an exception")

    def remove_deleted(self) -> None:
        """Remove from SQLite's files what was deleted: its log keeps earlier pages. PostgreSQL does so by itself."""
        if not self._is_sqlite:
            return
        with self._translated(), self._engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
            connection.exec_driver_sql("BEGIN")

    def close(self) -> None:
        """Release the connections; a later call opens new ones."""
        self._engine.dispose()

    def _prepare(self) -> None:
        with self._opening:
            if self._ready:
                return
            with self._creation_lock():
                if self._is_sqlite:
                    with self._engine.connect() as connection:
                        # Kept in the file: readers and the one writer do not wait for each other.
                        connection.exec_driver_sql("COMMIT")
                        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                        connection.exec_driver_sql("BEGIN")
                with self._engine.connect() as connection:
                    table_names = set(inspect(connection).get_table_names())
                    version = _version(connection) if schema_version.name in table_names else None
                if version is None or version < SCHEMA_VERSION:
                    with self._engine.execution_options(streamhouse_write=True).begin() as connection:
                        (_upgrade if version is not None else _create_tables)(connection)
                with self._engine.connect() as connection:
                    _check_version(connection, self.location)
                    if self._is_sqlite:
                        check_file(connection)
            self._ready = True

    def _creation_lock(self) -> AbstractContextManager[object]:
        # SQLite does not wait its busy timeout while it changes the journal mode.
        if not self._is_sqlite or not self._url.database or self._url.database == ":memory:":
            return nullcontext()
        path = Path(self._url.database)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return FileLock(path.with_name(f"{path.name}.lock"), timeout=BUSY_TIMEOUT_MS / 1000)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise _of_database(error, self.location) from error
        except OSError as error:
            raise _of_files(error, self.location) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:  # of a column that the driver decodes
            raise damaged(f"a record of {self.location}") from error


def _is_crossed(error: BaseException) -> bool:
    """Whether another transaction came in between."""
    sqlstate = getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
    return isinstance(error, IntegrityError) or sqlstate in _CROSSED


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):  # whose text has parts of it
        scheme = url.partition("://")[0]
        shown = f" that begins with '{scheme}://'" if scheme.replace("+", "").isalnum() and "://" in url else ""
        raise FileFormatError(
            f"the text{shown} is no database URL; it may hold a password, and is not shown",
            hint="write it like sqlite:////path/state.db or postgresql+psycopg://host/name, "
            "special characters of a password as %XX",
        ) from None


def _engine(url: URL) -> Engine:
    try:
        engine = create_engine(url, pool_pre_ping=url.get_backend_name() != "sqlite")
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise MissingPackageError(
            f"the driver of the state store is not installed: {error}",
            hint=f"install the Python package that serves {url.drivername}",
        ) from error
    except ArgumentError:
        raise FileFormatError("the URL of the state store is refused by its driver") from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # sqlite3's own; we begin transactions ourselves
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    # An epoch that was begun must stay begun after a power cut, or its replay would not know of the first attempt.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA secure_delete=ON")  # what is deleted may name a person who was forgotten
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that first reads and then writes would fail at once when another one wrote in between.
    writes = connection.get_execution_options().get("streamhouse_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _create_tables(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_POSTGRES_SCHEMA_LOCK)))
    metadata.create_all(connection)  # those that are missing
    if connection.execute(select(schema_version)).first() is None:
        connection.execute(insert(schema_version).values(version=SCHEMA_VERSION))


def _upgrade(connection: Connection) -> None:
    """Add what later versions brought: whole tables only, so far."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_POSTGRES_SCHEMA_LOCK)))
    version = _version(connection)
    if version is not None and version < SCHEMA_VERSION:
        metadata.create_all(connection)
        connection.execute(update(schema_version).values(version=SCHEMA_VERSION))


def _version(connection: Connection) -> int | None:
    return connection.execute(select(func.max(schema_version.c.version))).scalar_one_or_none()


def _check_version(connection: Connection, location: str) -> None:
    version = _version(connection)
    if version != SCHEMA_VERSION:
        raise StateConflictError(
            f"the state store {location} has schema version {version}; this Streamhouse reads version {SCHEMA_VERSION}",
            hint="use the version of Streamhouse that wrote it, or point `state` in streamhouse.yaml elsewhere",
        )


def _of_database(error: SQLAlchemyError, location: str) -> StreamhouseError:
    if not isinstance(error, DBAPIError):
        return StoreUnavailableError(f"the state store {location} does not answer: {str(error).splitlines()[0]}")
    cause = str(error.orig)
    if getattr(error.orig, "sqlstate", None) == _NO_ROOM or "disk is full" in cause or "No space left" in cause:
        return DiskFullError(
            f"no room left to record the state in {location}", hint="free some disk space, then run again"
        )
    if isinstance(error.orig, sqlite3.Error) and any(words in cause for words in _DAMAGE):
        return damaged(f"the file {location} ({cause.splitlines()[0]})")
    return StoreUnavailableError(
        f"the state store {location} does not answer: {cause.splitlines()[0]}", hint=_remedy(cause)
    )


def _of_files(error: OSError, location: str) -> StreamhouseError:
    if isinstance(error, Timeout):  # of the lock; a TimeoutError is an OSError, too
        return StoreUnavailableError(
            f"another process has kept the state store {location} locked for {BUSY_TIMEOUT_MS // 1000} s"
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError(f"no room left for {location}", hint="free some disk space")
    return EnvironmentProblem(
        f"cannot create the state store {location}: {error.strerror or error}",
        hint="check that the folder exists and that you may write to it",
    )


def _remedy(cause: str) -> str | None:
    for words, hint in (
        ("locked", "another process is writing to it; try again"),
        ("readonly", "check that you may write to the file and its folder"),
        ("unable to open", "check that the folder exists and that you may write to it"),
        ("refused", "check that the database server runs and that the URL is right"),
    ):
        if words in cause:
            return hint
    return None

"""Streams by a Python data source; see `streams.Streams`.

Spark runs the reader of such a source in a process of its own for each query. What it is asked, it asks this process.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from socket import create_connection
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from streamhouse.spark.streams import Offsets, Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_FORMAT = "streamhouse_epochs"
_REGISTERING = Lock()  # Spark minds a second thread that registers the same name


class PublicStreams:
    """See `Streams`; on public APIs alone."""

    def stream(self, spark: "SparkSession", offsets: Offsets) -> Stream:
        """See `Streams.stream`."""
        answers = _Answers(offsets)
        with _REGISTERING:
            spark.dataSource.register(_data_source())
        host, port = answers.address
        options = {"host": host, "port": str(port), "key": answers.key.hex()}
        return Stream(spark.readStream.format(_FORMAT).options(**options).load(), answers.close)

    def calling(self, writer: "DataStreamWriter", run: Callable[[int], None]) -> "DataStreamWriter":
        """See `Streams.calling`."""
        return writer.foreachBatch(lambda _rows, batch: run(batch))


class _Answers:
    """Answers the process of the reader: for one query."""

    def __init__(self, offsets: Offsets) -> None:
        self.key = os.urandom(32)
        self._offsets = offsets
        self._listener = Listener(("127.0.0.1", 0), authkey=self.key)
        self.address: tuple[str, int] = self._listener.address
        self._is_over = False
        self._thread = Thread(target=self._serve, name="offsets", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        """One process after the other: Spark may start the reader again."""
        while not self._is_over:
            with suppress(OSError, EOFError, AuthenticationError), self._listener.accept() as connection:
                self._answer(connection)

    def _answer(self, connection: "Connection[Any, Any]") -> None:
        while True:
            what, end = connection.recv()
            try:
                answer = self._said(what, end)
            except Exception as error:  # noqa: BLE001  the side that says offsets has recorded it; the reader fails with it
                connection.send((False, f"{type(error).__name__}: {error}"))
            else:
                connection.send((True, answer))

    def _said(self, what: str, end: str) -> str:
        if what == "newest":
            return self._offsets.newest()
        self._offsets.begins(end)
        return end

    def close(self) -> None:
        """When the query has ended, and its reader with it."""
        self._is_over = True
        self._offsets.stop()
        with suppress(OSError):
            create_connection(self.address).close()  # wakes a thread that waits for a reader
        self._listener.close()
        self._thread.join(5)


def _data_source() -> Any:
    # Spark ships the class by value; what it names is imported in the reader's process.
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    class EpochReader(DataSourceStreamReader):
        """Answers Spark's questions about offsets."""

        def __init__(self, options: dict[str, str]) -> None:
            self.options = dict(options)
            self.line: Any = None  # to the driver, made in the reader's process

        def ask(self, what: str, end: str | None = None) -> Any:
            if self.line is None:
                address = (self.options["host"], int(self.options["port"]))
                self.line = Client(address, authkey=bytes.fromhex(self.options["key"]))
            self.line.send((what, end))
            is_fine, answer = self.line.recv()
            if not is_fine:
                raise RuntimeError(answer)
            return answer

        def initialOffset(self) -> dict[str, str]:  # noqa: N802  Spark's name
            return {}  # before the first batch; nobody asks where that begins

        def latestOffset(self) -> dict[str, str]:  # noqa: N802  Spark's name
            found: dict[str, str] = json.loads(self.ask("newest"))
            return found

        def partitions(self, start: dict[str, str], end: dict[str, str]) -> list[Any]:  # noqa: ARG002
            self.ask("begins", json.dumps(end))
            return [InputPartition(0)]

        def read(self, partition: Any) -> Iterator[tuple[int]]:  # noqa: ARG002
            return iter(())

    class EpochSource(DataSource):
        """The source, as Spark looks it up by name."""

        @classmethod
        def name(cls) -> str:
            return _FORMAT

        def schema(self) -> str:
            return "epoch bigint"

        def streamReader(self, schema: Any) -> Any:  # noqa: N802, ARG002  Spark's name
            return EpochReader(self.options)

    return EpochSource

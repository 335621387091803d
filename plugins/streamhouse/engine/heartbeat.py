"""Spark's tasks write only while the driver that sent them lives and holds its flow.

What a task of a dead attempt went on to write, the repeated epoch would write again, and Fluss takes rows from anyone.
So a task holds a connection to its driver, which says on it every second that rows may be written. The end of the
driver's process closes the connection at once; a driver that hangs, or is cut off, is silent. Either way the task's
process ends, and before a lease that was not renewed meanwhile runs out (Gray and Cheriton, "Leases", SOSP 1989).
"""

import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from streamhouse.errors import StateConflictError

if TYPE_CHECKING:
    from pyspark import SparkContext

BEAT_S = 1.0
SILENT_S = 10.0
"""A task whose driver is silent for so long ends: less than a lease lives, see `lease.LEASE_TTL`."""

PORT = "spark.streamhouse.heartbeat.port"
"""In Spark's settings: where the driver is heard; 0, or absent: any free port."""


@dataclass(frozen=True)
class Address:
    """Where a driver is heard; travels to the tasks."""

    host: str
    port: int


class Heartbeat:
    """A driver, as the tasks of one job hear it. Ends with its block, and no task writes any more after that.

    Args:
        spark: Whose `spark.driver.host` the executors reach.
        may_write: Whether the driver still holds what it writes.
    """

    def __init__(self, spark: "SparkContext", may_write: Callable[[], bool] = lambda: True) -> None:
        conf = spark.getConf()
        host = str(conf.get("spark.driver.host", "127.0.0.1"))
        bind = str(conf.get("spark.driver.bindAddress", host))
        family = socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM)[0][0]
        self._may_write = may_write
        self._listener = socket.create_server((bind, int(str(conf.get(PORT, "0")))), family=family, backlog=128)
        self.address = Address(host, self._listener.getsockname()[1])
        self._bell, self._ear = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bell.close()
        self._thread.join()

    def _serve(self) -> None:
        tasks: set[socket.socket] = set()
        with selectors.DefaultSelector() as events, self._ear:
            with self._listener:
                for waited in (self._listener, self._ear):
                    waited.setblocking(False)
                    events.register(waited, selectors.EVENT_READ)
                self._beat_until_rung(events, tasks)
            for task in tasks:  # those that still run: they end when they read the end
                with suppress(OSError):
                    task.shutdown(socket.SHUT_WR)
            self._until_let_go(events, tasks)
        for task in tasks:
            task.close()

    def _beat_until_rung(self, events: selectors.BaseSelector, tasks: set[socket.socket]) -> None:
        beat_at = time.monotonic()
        while True:
            for key, _ in events.select(max(0.0, beat_at - time.monotonic())):
                if key.fileobj is self._ear:
                    events.unregister(self._ear)
                    events.unregister(self._listener)
                    return
                if key.fileobj is self._listener:
                    with suppress(OSError):
                        task, _ = self._listener.accept()
                        task.setblocking(False)
                        events.register(task, selectors.EVENT_READ)
                        tasks.add(task)
                        self._beat({task})
                else:
                    _drop_if_closed(events, tasks, key.fileobj)
            if time.monotonic() >= beat_at:
                self._beat(tasks)
                beat_at = time.monotonic() + BEAT_S

    def _beat(self, tasks: set[socket.socket]) -> None:
        if self._may_write():
            for task in tasks:
                with suppress(OSError):
                    task.send(b".")

    def _until_let_go(self, events: selectors.BaseSelector, tasks: set[socket.socket]) -> None:
        """Wait for tasks to end. One that cannot hear the driver ends by itself meanwhile."""
        until = time.monotonic() + SILENT_S + BEAT_S
        while tasks and (left := until - time.monotonic()) > 0:
            for key, _ in events.select(left):
                _drop_if_closed(events, tasks, key.fileobj)


def _drop_if_closed(events: selectors.BaseSelector, tasks: set[socket.socket], task: object) -> None:
    assert isinstance(task, socket.socket)
    with suppress(BlockingIOError):
        try:
            is_closed = not task.recv(64)
        except ConnectionError:
            is_closed = True
        if is_closed:
            events.unregister(task)
            tasks.remove(task)
            task.close()


@contextmanager
def heard(driver: Address) -> Iterator[Callable[[], None]]:
    """In a task: end this process, its client's threads included, as soon as the driver is not heard any more.

    Gives what makes sure of it in the thread that is about to write: this machine may have been suspended.

    Raises:
        StateConflictError: the driver is not heard in the first place.
    """
    try:
        connection = socket.create_connection((driver.host, driver.port), timeout=SILENT_S)
        said = connection.recv(1)
    except OSError as error:
        raise _unheard(driver, str(error)) from error
    if not said:
        connection.close()
        raise _unheard(driver, "it says no more")
    listening = _Listening(connection)
    thread = threading.Thread(target=listening.listen, name="driver", daemon=True)
    thread.start()
    try:
        yield listening.check
    finally:
        listening.over = True
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        thread.join()
        connection.close()


class _Listening:
    def __init__(self, connection: socket.socket) -> None:
        self.over = False
        self._connection = connection
        self._heard_s = now_s()

    def listen(self) -> None:
        while True:
            try:
                said = self._connection.recv(64)
            except OSError:  # also silence
                said = b""
            if self.over:
                return
            if not said:
                os.kill(os.getpid(), signal.SIGKILL)
            self._heard_s = now_s()

    def check(self) -> None:
        if now_s() - self._heard_s > SILENT_S:
            os.kill(os.getpid(), signal.SIGKILL)


def outlive_tasks(spark: "SparkContext", since_s: float) -> None:
    """Wait until no task of another driver writes any more, which had the flow until `since_s` seconds ago."""
    on_one_machine = (spark.master or "").startswith("local")  # where a connection cannot be cut unnoticed
    if not on_one_machine and since_s < SILENT_S:
        time.sleep(SILENT_S - since_s)


def now_s() -> float:
    """Seconds that go on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _unheard(driver: Address, why: str) -> StateConflictError:
    return StateConflictError(
        f"a task does not hear its driver at {driver.host}:{driver.port}: {why}; it writes nothing",
        hint=f"executors must reach that port of the driver; {PORT} in spark.conf sets another",
    )

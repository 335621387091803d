"""The one thread of this process on which Fluss's Python client runs."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, ClassVar, Self, TypeVar

from streamhouse.errors import StoreError

T = TypeVar("T")


class EventLoop:
    """An asyncio loop that runs until the process ends."""

    _current: ClassVar["EventLoop | None"] = None
    _lock: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="fluss", daemon=True).start()

    @classmethod
    def current(cls) -> Self:
        """The loop of this process.

        Raises:
            StoreError: the client was used before this process was forked off; it would hang.
        """
        with cls._lock:
            loop = cls._current = cls._current or cls()
        if loop._pid != os.getpid():
            raise StoreError("Fluss's client was used before this process was forked off, so it would hang here")
        return loop  # type: ignore[return-value]

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> "Future[T]":
        """Call `work()` on the loop's thread, where Fluss's client must be called, and run it there."""

        async def call() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(call(), self._loop)

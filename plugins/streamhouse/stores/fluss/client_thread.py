"""The one thread of this process on which Fluss's Python client runs."""

import asyncio
import atexit
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from threading import Condition, Lock, Thread
from typing import Any, ClassVar, Self, TypeVar, TypeVarTuple

from streamhouse.errors import StoreError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_SETTLED_S = 1.0
_LAST_STEPS_S = 0.005


class _SettlingLoop(asyncio.SelectorEventLoop):
    """A loop that can wait for the client's threads to get out of Python.

    The client hands a result over from a thread of its own, and the hand-over lets go of the GIL when it wakes the
    loop. A process that exits in that moment is aborted: Python ends the thread where it asks for the GIL again, and
    the client's native frames cannot be unwound.
    """

    def __init__(self) -> None:
        super().__init__()
        self._inside = 0
        self._changed = Condition()

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        with self._changed:
            self._inside += 1
        try:
            return super().call_soon_threadsafe(callback, *args, context=context)
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def settle(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._inside, timeout=_SETTLED_S)
        time.sleep(_LAST_STEPS_S)  # from the count to the native frames


class EventLoop:
    """An asyncio loop that runs until the process ends."""

    _current: ClassVar["EventLoop | None"] = None
    _lock: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = _SettlingLoop()
        Thread(target=self._loop.run_forever, name="fluss", daemon=True).start()
        atexit.register(self._loop.settle)

    @classmethod
    def current(cls) -> Self:
        """The loop of this process.

        Raises:
            StoreError: the client was used before this process was forked off; it would hang.
        """
        loop = cls._current
        if loop is None:  # without the lock where there is a loop: a process can be forked off while a thread has it
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

"""How much one client may ask of this process at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from streamhouse.errors import BusyError

AT_ONCE = 4
WAITING = 16
MOST_BYTES = 512_000
"""Of an answer, as JSON."""
ARGUMENT_BYTES = 256_000
"""Of the arguments of a call, as JSON."""
CALL_S = 60.0
"""A call that takes longer is given up."""

Result = TypeVar("Result")


class Work:
    """Threads for calls. One that nobody waits for any more keeps its place until it ends, so that they stay few."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="mcp")
        self._most = at_once + waiting
        self._calls = 0

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Count one call.

        Raises:
            BusyError: too many others run or wait.
        """
        if self._calls >= self._most:
            raise BusyError(f"{self._calls} calls run or wait already", hint="wait until one is done, then call again")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    async def run(self, work: Callable[[], Result]) -> Result:
        """What `work` returns, computed in a thread; given up, when the caller is cancelled."""
        return await asyncio.wrap_future(self._pool.submit(work))

    def close(self) -> None:
        """Begin nothing that waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

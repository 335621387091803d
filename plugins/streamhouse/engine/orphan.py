"""Ends a Spark Python worker whose driver is gone: what it went on to write, the repeated epoch would write again."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pyspark import SparkContext

_LOOK_S = 0.1


@dataclass(frozen=True)
class Driver:
    """The driver's process. `started_s` (since the Unix epoch) tells it from a later one with the same pid."""

    pid: int
    started_s: float

    @classmethod
    def of_workers(cls, spark: "SparkContext") -> Self | None:
        """This process, when the workers of the session share its machine; else None: they could not see it."""
        import psutil

        master = spark.master or ""
        if not (master == "local" or master.startswith("local[")):
            return None
        return cls(os.getpid(), psutil.Process().create_time())

    def is_gone(self) -> bool:
        """Whether it has ended, also when nobody has asked for its exit code yet."""
        import psutil

        try:
            process = psutil.Process(self.pid)
            # Two readings of one process may differ by a rounding.
            return abs(process.create_time() - self.started_s) > 1 or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True


@lru_cache(maxsize=1)  # a worker serves one session; made in a task, as threads do not survive a fork
def end_with(driver: Driver) -> None:
    """Kill this process, its client's threads included, within about 0.1 s of the driver's end.

    Spark's JVM ends the workers of a driver that died, too, but in its own time: not while it hangs.
    """
    if driver.is_gone():
        os.kill(os.getpid(), signal.SIGKILL)

    def watch() -> None:
        while not driver.is_gone():
            time.sleep(_LOOK_S)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True, name="driver").start()

"""DataFrames whose rows Spark keeps for several readers, for the time of one epoch."""

from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PersistedFrames:
    """Those of one epoch. Safe for threads.

    A read may go on after another part of its epoch failed. So Spark keeps nothing that comes after `release`.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._unpersist = ExitStack()
        self._is_over = False

    def keep(self, frame: "DataFrame") -> "DataFrame":
        """The frame; Spark keeps its rows, once they are computed, until `release`."""
        with self._lock:
            if self._is_over:
                return frame
            persistent = frame.persist()
            self._unpersist.callback(persistent.unpersist)
            return persistent

    def release(self) -> None:
        """Let Spark forget the rows of every frame, also where that fails for one of them."""
        with self._lock:
            self._is_over = True
            unpersist = self._unpersist.pop_all()
        unpersist.close()

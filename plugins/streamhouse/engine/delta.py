"""What an epoch changed in one source or table: as Arrow in this process, as a DataFrame, or as both."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Delta:
    """Made in one form; the other is made when a step asks for it, once for all steps. Safe for threads.

    On the local route rows are Arrow in the driver; on the executor route they are a DataFrame whose rows
    were only added, and which is computed once.
    """

    def __init__(
        self,
        *,
        changes: Changes | None = None,
        frame: "DataFrame | None" = None,
        make_frame: "Callable[[pa.Table], DataFrame]",
        collect: "Callable[[DataFrame], pa.Table]",
        rows: int | None = None,
    ) -> None:
        self._changes = changes
        self._frame = frame
        self._make_frame = make_frame
        self._collect = collect
        self._rows = rows
        self._lock = Lock()
        self.spread = changes is None  # on the executor route: rows were only added

    @property
    def rows(self) -> int:
        """How many rows were added or replaced, and keys deleted."""
        if self._rows is None:
            self._rows = count(self.changes())
        return self._rows

    def changes(self) -> Changes:
        """The rows in this process."""
        with self._lock:
            if self._changes is None:
                assert self._frame is not None
                self._changes = Changes(self._collect(self._frame))
            return self._changes

    def release(self) -> None:
        """Let Spark forget rows that it kept for several readers."""
        if self.spread and self._frame is not None:
            self._frame.unpersist()

    def frame(self) -> "DataFrame":
        """The rows that were added or replaced."""
        if self._frame is None:
            changes = self.changes()
            with self._lock:
                if self._frame is None:
                    self._frame = self._make_frame(changes.upserts)
        return self._frame


def count(changes: Changes) -> int:
    """Rows added or replaced, and keys deleted."""
    rows: int = changes.upserts.num_rows
    return rows + (changes.deletes.num_rows if changes.deletes is not None else 0)

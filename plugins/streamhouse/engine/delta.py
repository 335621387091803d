"""What an epoch changed in one source or table: as Arrow in this process, as a DataFrame, or as both."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Delta:
    """Made in one form; the other is made when a step asks for it, once for all steps. Safe for threads.

    On the local route rows are Arrow in the driver, now or a little later; on the executor route they are a DataFrame
    of rows that were added or replaced (nothing is deleted there), and which is computed once.
    """

    def __init__(
        self,
        *,
        changes: Changes | None = None,
        later: "Future[Changes] | None" = None,
        frame: "DataFrame | None" = None,
        standing: "DataFrame | None" = None,
        make_frame: "Callable[[pa.Table], DataFrame]",
        place: "Callable[[pa.Table], DataFrame | None]" = lambda _: None,
        collect: "Callable[[DataFrame], pa.Table]",
        rows: int | None = None,
        extend: Callable[[pa.Table], pa.Table] = lambda rows: rows,
    ) -> None:
        self._changes = changes
        self._later = later  # with `frame` or `standing`: the rows that it gives, which are on their way here
        self._frame = frame
        self._standing = standing
        self._make_frame = make_frame
        self._place = place
        self._collect = collect
        self._rows = rows
        self._extend = extend
        self._keyed: Changes | None = None
        self._lock = Lock()
        self.spread = changes is None and later is None  # on the executor route

    @property
    def rows(self) -> int:
        """How many rows were added or replaced, and keys deleted."""
        if self._rows is None:
            self._rows = count(self.changes())
        return self._rows

    def changes(self) -> Changes:
        """The rows in this process."""
        with self._lock:
            if self._changes is None and self._later is not None:
                self._changes = self._later.result()
            if self._changes is None:
                assert self._frame is not None
                self._changes = Changes(self._collect(self._frame))
            return self._changes

    def is_empty(self) -> bool:
        """Whether nothing changed. Waits for rows that are on their way."""
        return not self.spread and not count(self.changes())

    def keyed(self) -> Changes:
        """The rows with the values that are computed to find rows by (`extend`); made once."""
        changes = self.changes()
        with self._lock:
            if self._keyed is None:
                before = None if changes.before is None else self._extend(changes.before)
                self._keyed = replace(changes, upserts=self._extend(changes.upserts), before=before)
            return self._keyed

    def frame(self) -> "DataFrame":
        """The rows that were added or replaced."""
        if self._frame is None:
            changes = self.changes()
            with self._lock:
                if self._frame is None:
                    self._frame = self._make_frame(changes.upserts)
        return self._frame

    def standing(self) -> "DataFrame | None":
        """The rows for a query that is planned once for all epochs; None: there is no place for them, use `frame`."""
        if self._standing is None and self._frame is None:
            changes = self.changes()
            with self._lock:
                if self._standing is None and self._frame is None:
                    self._standing = self._place(changes.upserts)
        return self._standing


def count(changes: Changes) -> int:
    """Rows added or replaced, and keys deleted."""
    rows: int = changes.upserts.num_rows
    return rows + (changes.deletes.num_rows if changes.deletes is not None else 0)

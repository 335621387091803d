"""The states that the steps of one epoch read."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.delta import Delta
from streamhouse.engine.groups import Groups
from streamhouse.engine.segment_states import SegmentStates
from streamhouse.engine.spill import Spilled
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class EpochStates:
    """States as of the end of the epoch in hand; see `strategies.States`. Safe for threads."""

    def __init__(self, segment_states: SegmentStates, deltas: "Mapping[str, Future[Delta | None]]") -> None:
        self._segment_states = segment_states
        self._deltas = deltas
        self._derived: dict[str, Changes | None] = {}
        self._whole: dict[str, DataFrame] = {}
        self._making = threading.Lock()

    def whole(self, name: str) -> "DataFrame":
        """See `States.whole`."""
        changes = self._changes(name)
        with self._making:
            if name not in self._whole:
                self._whole[name] = self._segment_states.whole(name, changes)
            return self._whole[name]

    def with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> "DataFrame":
        """See `States.with_keys`."""
        return self._segment_states.with_keys(name, self._changes(name), wanted, columns)

    def before(self, name: str) -> pa.Table:
        """See `States.before`."""
        changes = self._changes(name)
        assert changes is not None, "asked for only where there are changes"
        return self._segment_states.before(name, changes)

    def own_with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> pa.Table:
        """See `States.own_with_keys`."""
        return self._segment_states.all_with_keys(name, wanted, columns)

    def difference(self, name: str, rows: pa.Table, among: pa.Table | None = None) -> Changes:
        """See `States.difference`."""
        return self._segment_states.difference(name, rows, among)

    def rows(self, name: str, *, old: bool) -> "pa.Table | Spilled":
        """See `States.rows`."""
        return self._segment_states.rows(name, None if old else self._changes(name))

    def met(self, name: str, wanted: pa.Table, columns: Mapping[str, str], *, old: bool) -> "pa.Table | Spilled":
        """See `States.met`."""
        return self._segment_states.met(name, None if old else self._changes(name), wanted, columns)

    def size(self, name: str) -> int:
        """See `States.size`."""
        return self._segment_states.size(name)

    def groups(self, step: str) -> Groups:
        """See `States.groups`."""
        return self._segment_states.groups(step)

    def derive(self, name: str, changes: Changes | None) -> None:
        """See `States.derive`."""
        self._derived[name] = changes

    def _changes(self, name: str) -> Changes | None:
        if name in self._derived:
            return self._derived[name]
        delta = self._deltas[name].result()
        return None if delta is None or not delta.rows else delta.keyed()

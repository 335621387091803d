"""The states a segment holds, as of the epoch in hand: the cache with the epoch's changes laid over it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.delta import Delta
from streamhouse.engine.frames import Frames
from streamhouse.engine.inputs import EpochInput, ranges
from streamhouse.engine.needs import Need
from streamhouse.engine.spill import Spilled
from streamhouse.engine.states import Held, StateCache
from streamhouse.errors import RowsLostError
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class _Whole:
    """All rows of a state, and the file they are in when they are many."""

    frame: "DataFrame"
    spilled: Spilled | None


class HeldStates:
    """Every state that the steps of one segment ask for. Lives over many epochs."""

    def __init__(self, file: Path, needs: Mapping[str, Need], inputs: Mapping[str, EpochInput], frames: Frames) -> None:
        """Open nothing yet: the cache may still be another's, whose plan this one is to replace.

        Args:
            file: Of the cache; made when it is absent.
            needs: Of the segment; those with `state` are held.
            inputs: How to read each of these anew, the tables of the segment among them.
            frames: Makes DataFrames.
        """
        self._computed = {name: need.computed for name, need in needs.items()}
        self._held = {name: _held(name, need, frames.spark.version) for name, need in needs.items() if need.state}
        self._file = file
        self._cache: StateCache | None = None
        self._inputs = inputs
        self._frames = frames
        self._positions: dict[str, Position] = {}
        self._whole: dict[str, _Whole] = {}
        self._of_epoch: list[Spilled] = []
        self._making = Lock()

    @property
    def _states(self) -> StateCache:
        assert self._cache is not None, "asked for states only where some are held"
        return self._cache

    def extending(self, name: str) -> Callable[[pa.Table], pa.Table]:
        """What gives rows of a source or table the values that are held with them."""
        return partial(self._frames.extended, computed=self._computed.get(name, ()))

    def stand_at(self, positions: Mapping[str, Position]) -> None:
        """Bring what is held to where the next epoch starts.

        Changes since the position noted in the cache are read and applied; rows are read as a whole only
        when there is no such position, or it lies beyond.

        Raises:
            StoreError: a store does not answer, or no longer holds the rows.
        """
        if not self._held:
            return
        if self._cache is None:
            self._cache = StateCache(self._file, self._held.values())
        self._end_epoch()  # of one that failed
        for name in self._held:
            at = _moved(positions.get(name, {}))
            if self._positions.get(name) == at:
                continue
            self._forget_whole(name)
            known = self._cache.position(name)
            if known != at and not self._catch_up(name, known, at):
                parts = self._inputs[name].parts(at, self._held[name].column_names)
                self._cache.load(name, map(self.extending(name), parts), at)
            self._positions[name] = at

    def take_over(self, deltas: Mapping[str, Delta | None], positions: Mapping[str, Position]) -> None:
        """Apply what a recorded epoch changed; from now on the states stand at its end."""
        if self._cache is None:
            return
        ends = {name: _moved(positions.get(name, {})) for name in self._held}
        changed = {n: delta.keyed() for n in self._held if (delta := deltas.get(n)) is not None and delta.rows}
        moved = {name: at for name, at in ends.items() if name in changed or at != self._positions.get(name)}
        if moved:
            self._cache.commit(changed, moved)
        self._positions |= ends
        for name in changed:
            self._forget_whole(name)
        self._end_epoch()

    def whole(self, name: str, changes: Changes | None) -> "DataFrame":
        """All rows after `changes` (as `Delta.keyed` gives them), for this epoch.

        Without any changes, one DataFrame for as long as nothing changes.
        """
        if changes is not None:
            return self._for_epoch(self._states.rows(name, changes))
        with self._making:
            if name not in self._whole:
                rows = self._states.rows(name, None)
                self._whole[name] = _Whole(self._frames.frame(rows), rows if isinstance(rows, Spilled) else None)
            return self._whole[name].frame

    def with_keys(
        self, name: str, changes: Changes | None, wanted: pa.Table, columns: Mapping[str, str]
    ) -> "DataFrame":
        """The rows of `StateCache.rows_with_keys`, for this epoch."""
        return self._for_epoch(self._states.rows_with_keys(name, changes, wanted, columns))

    def all_with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> pa.Table:
        """See `StateCache.all_with_keys`."""
        return self._states.all_with_keys(name, wanted, columns)

    def before(self, name: str, changes: Changes) -> pa.Table:
        """The rows, as of the epoch's start, of the keys in `changes`; the store's own word where it tells."""
        if changes.before is not None:
            return changes.before
        return self._states.before(name, changes)

    def difference(self, name: str, rows: pa.Table) -> Changes:
        """See `StateCache.difference`."""
        return self._states.difference(name, rows)

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()

    def _for_epoch(self, rows: pa.Table | Spilled) -> "DataFrame":
        if isinstance(rows, Spilled):
            self._of_epoch.append(rows)
        return self._frames.frame(rows)

    def _end_epoch(self) -> None:
        """Remove what only the steps of one epoch read; none of them runs any more."""
        while self._of_epoch:
            self._of_epoch.pop().remove()

    def _forget_whole(self, name: str) -> None:
        whole = self._whole.pop(name, None)
        if whole is not None and whole.spilled is not None:
            whole.spilled.remove()

    def _catch_up(self, name: str, known: Position | None, at: Position) -> bool:
        """Whether the changes from `known` to `at` could be applied."""
        if known is None or any(at.get(key, 0) < value for key, value in known.items()):
            return False
        given, columns = self._inputs[name], self._held[name].column_names
        try:
            for start, end in ranges(given, known, at):
                changes = given.changes(start, end, columns)
                keyed = replace(changes, upserts=self.extending(name)(changes.upserts), before=None)
                self._states.commit({name: keyed}, {name: _moved(end)})
        except RowsLostError:
            return False
        return self._states.position(name) == at


def _held(name: str, need: Need, spark: str) -> Held:
    identity = spark if need.computed else ""
    if isinstance(need.origin, PlannedSource):
        identity += json.dumps([need.origin.kind, need.origin.options], sort_keys=True, default=str)
    identity += "".join(one.model_dump_json() for one in need.adapted)
    computed = tuple(Column(name=column.name, type=column.type) for column in need.computed)
    return Held(name, need.columns, need.key, identity, computed)


def _moved(position: Position) -> Position:
    """A position without what stands at its beginning, so that equal positions are equal."""
    return {key: value for key, value in position.items() if value}

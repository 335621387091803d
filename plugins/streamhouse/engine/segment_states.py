"""The cached states of a segment, as of the current epoch: the cache, and the changes of the epoch over it."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.delta import Delta
from streamhouse.engine.frames import Frames
from streamhouse.engine.groups import Groups, GroupState
from streamhouse.engine.inputs import EpochInput, ranges
from streamhouse.engine.needs import Need
from streamhouse.engine.spill import Spilled
from streamhouse.engine.states import CachedRows, StateCache
from streamhouse.errors import RowsLostError
from streamhouse.model.plan import PlannedSource, PlannedStep
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class _Whole:
    """All rows of a state, and the file they are in when they are many."""

    frame: "DataFrame"
    rows: pa.Table | Spilled


class SegmentStates:
    """Every state that the steps of one segment ask for. Lives over many epochs."""

    def __init__(
        self,
        file: Path,
        needs: Mapping[str, Need],
        inputs: Mapping[str, EpochInput],
        frames: Frames,
        steps: Iterable[PlannedStep] = (),
    ) -> None:
        """Open nothing yet: the cache may still be another's, whose plan this one is to replace.

        Args:
            file: Of the cache; made when it is absent.
            needs: Of the segment; those with `state` are cached.
            inputs: How to read each of these again, the tables of the segment among them.
            frames: Makes DataFrames.
            steps: Of the segment; the groups of `delta` steps are cached.
        """
        self._computed = {name: need.computed for name, need in needs.items()}
        self._cached_rows = {
            name: _rows_to_cache(name, need, frames.spark.version) for name, need in needs.items() if need.state
        }
        self._file = file
        self._cache: StateCache | None = None
        self._inputs = inputs
        self._frames = frames
        self._positions: dict[str, Position] = {}
        self._groups = {
            step.id: GroupState.of(step, self._cached_rows, frames.spark.version) for step in steps if step.delta
        }
        self._whole: dict[str, _Whole] = {}
        self._of_epoch: list[Spilled] = []
        self._making = Lock()

    @property
    def _states(self) -> StateCache:
        assert self._cache is not None, "states are only used where some are cached"
        return self._cache

    def extending(self, name: str) -> Callable[[pa.Table], pa.Table]:
        """A function that adds the values which are cached with the rows of a source or table."""
        return partial(self._frames.extended, computed=self._computed.get(name, ()))

    def stand_at(self, positions: Mapping[str, Position]) -> None:
        """Bring the cached rows to the start of the next epoch.

        Changes since the position noted in the cache are read and applied; rows are read as a whole only
        when there is no such position, or it lies beyond.

        Raises:
            StoreError: a store does not answer, or no longer has the rows.
        """
        if not self._cached_rows:
            return
        if self._cache is not None and self._cache.is_damaged:
            self._give_up_cache()
        if self._cache is None:
            derived = [part.cached for state in self._groups.values() for part in state.parts]
            self._cache = StateCache(self._file, [*self._cached_rows.values(), *derived])
        self._end_epoch()  # of one that failed
        for name in self._cached_rows:
            at = _moved(positions.get(name, {}))
            if self._positions.get(name) == at:
                continue
            self._forget_whole(name)
            known = self._cache.position(name)
            if known != at and not self._catch_up(name, known, at):
                parts = self._inputs[name].parts(at, self._cached_rows[name].column_names)
                self._cache.load(name, map(self.extending(name), parts), at)
            self._positions[name] = at
        for state in self._groups.values():
            state.stand_at(self._cache, positions)

    def take_over(self, deltas: Mapping[str, Delta | None], positions: Mapping[str, Position]) -> None:
        """Apply what a recorded epoch changed; from now on the states stand at its end."""
        if self._cache is None:
            return
        # A table with several writers is none of `deltas`: what they wrote is read from the store.
        ends = {name: _moved(positions.get(name, {})) for name in self._cached_rows if name in deltas}
        changed = {n: delta.keyed() for n in self._cached_rows if (delta := deltas.get(n)) is not None and delta.rows}
        moved = {name: at for name, at in ends.items() if name in changed or at != self._positions.get(name)}
        for state in self._groups.values():
            for name, after, at in state.take_over(self._cache, positions):
                moved[name] = at
                if after is not None:
                    changed[name] = after
        if moved:
            self._cache.commit(changed, moved)
        self._positions |= ends
        derived = (
            moved.keys() - self._cached_rows.keys()
        )  # all rows of one may be others, though no change of it is known
        for name in changed.keys() | derived:
            self._forget_whole(name)
        self._end_epoch()

    def whole(self, name: str, changes: Changes | None) -> "DataFrame":
        """All rows after `changes` (as `Delta.keyed` gives them), for this epoch.

        Without any changes, one DataFrame for as long as nothing changes.
        """
        if changes is not None:
            return self._for_epoch(self._states.rows(name, changes))
        return self._unchanged(name).frame

    def rows(self, name: str, changes: Changes | None) -> pa.Table | Spilled:
        """As `whole`, as they are, not yet as a DataFrame."""
        return self._unchanged(name).rows if changes is None else self._of(self._states.rows(name, changes))

    def with_keys(
        self, name: str, changes: Changes | None, wanted: pa.Table, columns: Mapping[str, str]
    ) -> "DataFrame":
        """The rows of `StateCache.rows_with_keys`, for this epoch."""
        return self._for_epoch(self._states.rows_with_keys(name, changes, wanted, columns))

    def all_with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> pa.Table:
        """See `StateCache.all_with_keys`."""
        return self._states.all_with_keys(name, wanted, columns)

    def before(self, name: str, changes: Changes) -> pa.Table:
        """The rows, as of the epoch's start, of the keys in `changes`, from the change log where it has them."""
        if changes.before is not None:
            return changes.before
        return self._states.before(name, changes)

    def difference(self, name: str, rows: pa.Table, among: pa.Table | None = None) -> Changes:
        """See `StateCache.difference`."""
        return self._states.difference(name, rows, among)

    def met(
        self, name: str, changes: Changes | None, wanted: pa.Table, columns: Mapping[str, str]
    ) -> pa.Table | Spilled:
        """As `with_keys`, as they are, not yet as a DataFrame."""
        return self._of(self._states.rows_with_keys(name, changes, wanted, columns))

    def size(self, name: str) -> int:
        """See `StateCache.size`."""
        return self._states.size(name)

    def groups(self, step: str) -> "Groups":
        """Of a `delta` step, by its id."""
        return Groups(self._states, self._groups[step])

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()

    def _give_up_cache(self) -> None:
        """Close a cache that is damaged, and forget what is known of it."""
        self._end_epoch()
        for name in tuple(self._whole):
            self._forget_whole(name)
        self._positions.clear()
        for state in self._groups.values():
            state.forget()
        self.close()
        self._cache = None

    def _unchanged(self, name: str) -> _Whole:
        with self._making:
            if name not in self._whole:
                rows = self._states.rows(name, None)
                self._whole[name] = _Whole(self._frames.frame(rows), rows)
            return self._whole[name]

    def _for_epoch(self, rows: pa.Table | Spilled) -> "DataFrame":
        return self._frames.frame(self._of(rows))

    def _of(self, rows: pa.Table | Spilled) -> pa.Table | Spilled:
        """Rows of the epoch in hand."""
        if isinstance(rows, Spilled):
            self._of_epoch.append(rows)
        return rows

    def _end_epoch(self) -> None:
        """Remove what only the steps of one epoch read; none of them runs any more."""
        while self._of_epoch:
            self._of_epoch.pop().remove()

    def _forget_whole(self, name: str) -> None:
        whole = self._whole.pop(name, None)
        if whole is not None and isinstance(whole.rows, Spilled):
            whole.rows.remove()

    def _catch_up(self, name: str, known: Position | None, at: Position) -> bool:
        """Whether the changes from `known` to `at` could be applied."""
        if known is None or any(at.get(key, 0) < value for key, value in known.items()):
            return False
        epoch_input, columns = self._inputs[name], self._cached_rows[name].column_names
        try:
            for start, end in ranges(epoch_input, known, at):
                changes = epoch_input.changes(start, end, columns)
                keyed = replace(changes, upserts=self.extending(name)(changes.upserts), before=None)
                self._states.commit({name: keyed}, {name: _moved(end)})
        except RowsLostError:
            return False
        return self._states.position(name) == at


def _rows_to_cache(name: str, need: Need, spark: str) -> CachedRows:
    identity = spark if need.computed else ""
    if isinstance(need.origin, PlannedSource):
        identity += json.dumps([need.origin.kind, need.origin.options], sort_keys=True, default=str)
    identity += "".join(one.model_dump_json() for one in need.adapted)
    computed = tuple(Column(name=column.name, type=column.type) for column in need.computed)
    return CachedRows(name, need.columns, need.key, identity, computed)


def _moved(position: Position) -> Position:
    """A position without what stands at its beginning, so that equal positions are equal."""
    return {key: value for key, value in position.items() if value}

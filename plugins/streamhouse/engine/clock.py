"""Decides where the next epoch ends. Holds no state: the last vector comes in, the next goes out."""

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Protocol, runtime_checkable

from streamhouse.engine.vector import Vector, cap
from streamhouse.model.types import Position


class Input(Protocol):
    """What the clock asks of a source or table; `ingest.base.RowSource` is one."""

    def available(self) -> Position:
        """The position after the last row that can be read now."""

    def advance(self, start: Position, max_rows: int) -> Position:
        """The furthest position from `start` that spans at most `max_rows` rows."""

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows `[start, end)` has."""


@runtime_checkable
class DueInput(Input, Protocol):
    """An input that knows when its next row comes."""

    def due_s(self, start: Position) -> float | None:
        """Seconds until there is a row after `start`; None: nobody knows."""


class EpochClock:
    """Chooses the end of each epoch of one segment.

    Args:
        inputs: Everything the segment reads, by name.
        first: Inputs that feed lookup tables. While more of their rows wait than one epoch may
            take, the others wait, so that a fact finds its dimension as it would in a batch.
        max_rows: Rows in one epoch, over all inputs; shared equally between those with a backlog, of
            which each gets one row at least.
        until: Where a drain ends; None: never.
        tick_after: How long after the last rows a tick is due; None: no step needs one.
        now_ms: The wall clock, epoch milliseconds.
    """

    def __init__(
        self,
        inputs: Mapping[str, Input],
        *,
        first: Collection[str],
        max_rows: int,
        now_ms: Callable[[], int],
        until: Mapping[str, Position] | None = None,
        tick_after: timedelta | None = None,
    ) -> None:
        self._inputs = inputs
        self._due = {name: one for name, one in inputs.items() if isinstance(one, DueInput)}
        self._groups = ([n for n in inputs if n in first], [n for n in inputs if n not in first])
        self._max_rows = max_rows
        self._until = until
        self._tick_after_ms = None if tick_after is None else round(tick_after.total_seconds() * 1000)
        self._now_ms = now_ms

    def next(self, last: Vector) -> Vector:
        """The end of the next epoch; `last` itself when there is nothing to do."""
        positions = dict(last.positions)
        budget = self._max_rows
        for group in self._groups:
            taken, caught_up = self._advance(group, positions, budget)
            budget -= taken
            if not caught_up or budget <= 0:
                break
        if positions != last.positions:
            return Vector(self._now_ms(), positions)
        if self._tick_after_ms is not None and last.at_ms and not last.tick:
            drained = self._until is not None
            if drained or self._now_ms() - last.at_ms >= self._tick_after_ms:
                return Vector(self._now_ms(), last.positions, tick=True)
        return last

    def due_s(self, last: Vector) -> float | None:
        """Seconds until one of the inputs that know so has a row after `last`; None: none of them knows."""
        known = (one.due_s(last.positions.get(name, {})) for name, one in self._due.items())
        return min((seconds for seconds in known if seconds is not None), default=None)

    def _advance(self, group: Collection[str], positions: dict[str, Position], budget: int) -> tuple[int, bool]:
        """Move the inputs of a group; return the rows taken, and whether none is left behind."""
        waiting: dict[str, int] = {}
        for name in group:
            ends = self._inputs[name].available()
            if self._until is not None:
                ends = cap(ends, self._until.get(name, {}))
            rows = self._inputs[name].rows_between(positions.get(name, {}), ends)
            if rows > 0:
                waiting[name] = rows
        total, caught_up = 0, True
        # The smallest backlog first: what it does not need of its share goes to the others.
        for left, name in zip(range(len(waiting), 0, -1), sorted(waiting, key=lambda n: waiting[n]), strict=True):
            start = positions.get(name, {})
            end = self._inputs[name].advance(start, max(1, (budget - total) // left))
            if self._until is not None:
                end = cap(end, self._until.get(name, {}))
            taken = self._inputs[name].rows_between(start, end)
            total += taken
            caught_up = caught_up and taken >= waiting[name]
            if taken > 0:
                positions[name] = end
        return total, caught_up

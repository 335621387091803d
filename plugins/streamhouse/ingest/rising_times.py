"""Times of changes that never fall along a log in which the database notes when a statement began, not its commit.

A statement may wait for a lock, so its change stands behind one with a later time; and a time in whole seconds may lie
before that of a snapshot. The order of the log is the order of the commits.
"""

import re
from collections.abc import Iterable
from threading import Lock
from typing import Any, Protocol

from streamhouse.ingest.event_readers import Envelopes, Journaled
from streamhouse.ingest.event_run import EventRun, committed_at
from streamhouse.model.types import Position

_AT_ONCE = 100_000
_KEPT = 8
_OF_SOURCE = re.compile(rb'"ts_us":(\d+),"ts_ns":\d+,"table":')
_OF_STATEMENT = b'"ddl":'


class EventLog(Protocol):
    """The events of one table, in their order."""

    def advance(self, start: Position, max_rows: int) -> Position:
        """At most so many lines further; `start`: there are none."""

    def lines_between(self, start: Position, end: Position) -> list[tuple[str, int, list[bytes]]]:
        """File, number of the first line, from 0, and lines of `[start, end)`."""


class RisingTimes:
    """The latest time before a place of a log. May be used from several threads.

    The first question after a start reads the log up to that place; others only what was added since.

    Args:
        log: The events.
        table: As their journal calls their table; None: they are as Kafka has them.
    """

    def __init__(self, log: EventLog, table: str | None) -> None:
        self._log = log
        self._table = table
        self._known: list[tuple[Position, int]] = []
        self._lock = Lock()

    def before(self, place: Position) -> int:
        """The latest time of all events before a place, in microseconds since 1970; 0: there are none."""
        with self._lock:
            behind = [one for one in self._known if _is_behind(one[0], place)]
        at, latest = max(behind, key=lambda one: sum(one[0].values()), default=({}, 0))
        while (further := self._further(at, place)) != at:
            for _, _, lines in self._log.lines_between(at, further):
                latest = max(latest, self._latest(lines))
            at = further
        self.note(place, latest)
        return latest

    def note(self, place: Position, latest: int) -> None:
        """Remember the latest time before a place."""
        with self._lock:
            self._known = [*self._known[1 - _KEPT :], (dict(place), latest)]

    def _further(self, at: Position, place: Position) -> Position:
        there = self._log.advance(at, _AT_ONCE)
        return {name: min(count, place.get(name, 0)) for name, count in there.items() if place.get(name, 0)}

    def _latest(self, lines: Iterable[bytes]) -> int:
        reader = Envelopes() if self._table is None else Journaled(self._table)
        return max((_time_of(line, reader) for line in lines), default=0)


class Rise:
    """Lifts the times of the events from one place on, which must come in their order.

    Args:
        times: Of the log.
        start: The place.
    """

    def __init__(self, times: RisingTimes, start: Position) -> None:
        self._times = times
        self._start = start
        self._latest: int | None = None

    def lift(self, run: EventRun) -> None:
        """Give each event that is of a binlog the latest time up to it."""
        for line, mark in list(run.marks.items()):
            if not mark.of_binlog or mark.committed_at is None:
                continue
            if self._latest is None:
                self._latest = self._times.before(self._start)
            self._latest = max(self._latest, mark.committed_at)
            run.marks[line] = mark.at(self._latest)

    def end(self, place: Position) -> None:
        """All events before this place were lifted."""
        if self._latest is not None:
            self._times.note(place, self._latest)


def _is_behind(one: Position, place: Position) -> bool:
    return all(count <= place.get(name, 0) for name, count in one.items())


def _time_of(line: bytes, reader: Envelopes | Journaled) -> int:
    """When an event says that it was committed; 0: it does not, or it is none of a row."""
    if isinstance(reader, Journaled) and _OF_STATEMENT not in line and (found := _OF_SOURCE.findall(line)):
        return int(found[-1])  # it takes less than half of the time that parsing does
    try:
        event: Any = reader.event(line)
    except ValueError:
        return 0
    is_change = isinstance(event, dict) and isinstance(event.get("op"), str)
    return (committed_at(event.get("source")) or 0) if is_change else 0

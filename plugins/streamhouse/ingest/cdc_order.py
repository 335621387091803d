"""Which change event came later: of events that are read again, those that others have outdone are left out."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import pyarrow as pa

from streamhouse.ingest.bad_rows import Letter
from streamhouse.ingest.event_run import Events
from streamhouse.ingest.listing import in_order
from streamhouse.model.types import Position

Place = tuple[tuple[tuple[str | int, ...], str], int]
"""File, so that it can be compared, and number of the line, from 0."""


class LaterEvents:
    """The last event of each key, and the last removal of all rows, behind some events that are read again.

    Args:
        letters: Those events; their positions are file:line.
        key: Primary key.
    """

    def __init__(self, letters: Sequence[Letter], key: Sequence[str]) -> None:
        self._key = list(key)
        self._first = min(map(_place, letters))
        self._last: dict[Hashable, Place] = {}
        self._cleared: Place | None = None

    def since(self, end: Position) -> Position:
        """Where the events begin that can be later, in the files of `end`."""
        file, line = self._first
        before = {name: taken for name, taken in end.items() if in_order(name) < file}
        return before | {file[1]: line + 1}

    def see(self, name: str, first: int, lines: list[bytes], decoded: Callable[[list[bytes]], list[Events]]) -> None:
        """Take note of some lines.

        Args:
            name: Their file.
            first: Number of the first, from 0.
            lines: In their order.
            decoded: Gives the events of lines.
        """
        for at, line in enumerate(lines):
            for events in decoded([line]):
                place = (in_order(name), first + at)
                if events.cleared:
                    self._cleared = place
                for found in _keys(events, self._key):
                    self._last[found] = place

    def left(self, letter: Letter, events: Events) -> Events:
        """The events of a letter that nothing outdid; the letter then is the last event of their keys."""
        place = _place(letter)
        is_cleared = self._cleared is not None and self._cleared > place
        rows = [not is_cleared and self._last.get(key, place) <= place for key in _rows(events.rows, self._key)]
        keys = [not is_cleared and self._last.get(key, place) <= place for key in _rows(events.deletes, self._key)]
        for key in _keys(events, self._key):
            self._last[key] = max(place, self._last.get(key, place))
        return replace(
            events,
            rows=events.rows.filter(pa.array(rows, pa.bool_())),
            rows_at=events.rows_at[rows],
            deletes=events.deletes.filter(pa.array(keys, pa.bool_())),
            deletes_at=events.deletes_at[keys],
        )


def _place(letter: Letter) -> Place:
    name, _, line = letter.position.rpartition(":")
    return in_order(name), int(line) - 1


def _keys(events: Events, key: list[str]) -> list[Hashable]:
    return [*_rows(events.rows, key), *_rows(events.deletes, key)]


def _rows(rows: pa.Table, key: list[str]) -> list[Hashable]:
    return [tuple(row.values()) for row in rows.select(key).to_pylist()]

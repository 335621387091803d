"""Long values that PostgreSQL did not send, because they did not change: they are in an earlier event of the row."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Protocol

from pydantic_core import to_json

from streamhouse.errors import Location
from streamhouse.ingest.encodings import is_unavailable, may_be_unavailable
from streamhouse.ingest.journal_base import BASE
from streamhouse.ingest.journal_events import KEY_AT, Where, event_in, key_in

_AT_ONCE = 1000
_REMEMBERED = 10_000  # events whose values were looked up


class Earlier(Protocol):
    """The events of one table in a journal."""

    def names(self) -> list[str]:
        """Its segments, in their order."""

    def base(self) -> Any:
        """What is there in place of earlier ones, with `name`, `rows` and `lines`; None: nothing."""

    def lines(self, name: str) -> Any:
        """The events in one, with `count`, `read` and `location`."""


class LongValues:
    """Puts values that were not sent into events, from earlier events of the same row. For several threads."""

    def __init__(self, journal: Earlier) -> None:
        self._journal = journal
        self._found: OrderedDict[tuple[str, int], Mapping[str, Any]] = OrderedDict()
        self._lock = Lock()

    def put_into(self, lines: Sequence[bytes], name: str, first: int) -> list[bytes]:
        """The lines with these values; one whose value is in no earlier event stays as it is.

        Args:
            lines: Consecutive events of a segment.
            name: Of the segment.
            first: The number of the first, counted from 0.

        Raises:
            SourceError: one of them, or an earlier event, was damaged.
        """
        return [
            self._whole(line, name, first + number) if may_be_unavailable(line) else line
            for number, line in enumerate(lines)
        ]

    def _whole(self, line: bytes, name: str, at: int) -> bytes:
        where = self._where(name, at)
        event = event_in(line, where)
        after = event["value"].get("after") or {}
        missing = _missing(after)
        if not missing:
            return line
        with self._lock:
            found = dict(self._found.get((name, at), {}))
        if not found:
            found = self._look_back(event["value"], key_in(line, where), missing, name, at)
            with self._lock:
                self._found[name, at] = found
                while len(self._found) > _REMEMBERED:
                    self._found.popitem(last=False)
        after.update(found)
        # The key stays as it is written: by its text it is found again.
        written = line[: KEY_AT + len(key_in(line, where))]
        rest = {name: value for name, value in event.items() if name != "key"}
        return written + b"," + to_json(rest)[1:]

    def _look_back(self, value: Mapping[str, Any], key: bytes, missing: set[str], name: str, at: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        is_moved = value.get("op") == "c"  # an update of the key: its delete is the event before
        for before, number, line in self._back(name, at):
            where = self._where(before, number)
            if is_moved:
                is_moved, key = False, key_in(line, where)
                continue
            if key_in(line, where) != key:
                continue
            event = event_in(line, where)["value"]
            if event.get("op") == "d":
                break
            with self._lock:
                known = self._found.get((before, number), {})
            row = {**(event.get("after") or {}), **known}
            found |= {c: row[c] for c in missing - found.keys() if c in row and c not in _missing(row)}
            # A base has no earlier event of the key, and the event before may be of any row.
            if found.keys() == missing or before.endswith(BASE):
                break
            is_moved = event.get("op") == "c"
        return found

    def _where(self, name: str, at: int) -> Where:
        """The place of an event of a segment or of the base."""

        def found() -> Location:
            base = self._journal.base()
            lines = base.lines if base is not None and base.name == name else self._journal.lines(name)
            place: Location = lines.location(at)
            return place

        return found

    def _back(self, name: str, at: int) -> Iterator[tuple[str, int, bytes]]:
        """The events before one, the last first."""
        base = self._journal.base()
        names = [one for one in self._journal.names() if one == name or _before(one, name)]
        for one in reversed(names):
            lines = self._journal.lines(one)
            yield from _backwards(one, lines, at if one == name else lines.count())
        if base is not None:
            yield from _backwards(base.name, base.lines, at if base.name == name else base.rows)


def _backwards(name: str, lines: Any, end: int) -> Iterator[tuple[str, int, bytes]]:
    """The events before `end` of a segment or a base, the last first."""
    while end:
        start = max(0, end - _AT_ONCE)
        for number, line in zip(range(end - 1, start - 1, -1), reversed(lines.read(start, end)), strict=True):
            yield name, number, line
        end = start


def _missing(after: Any) -> set[str]:
    if not isinstance(after, dict):
        return set()
    return {name for name, value in after.items() if is_unavailable(value)}


def _before(one: str, other: str) -> bool:
    return _numbers(one) < _numbers(other)


def _numbers(name: str) -> tuple[int, int]:
    group, _, file = name.partition("/")
    return int(group), int(file.partition(".")[0])

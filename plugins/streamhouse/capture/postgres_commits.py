"""Up to which transaction the segments of PostgreSQL's changes are, by what the events say. Pure but for reading them.

PostgreSQL sends a transaction again, as a whole, if it had not confirmed its commit. The journal has transactions in
the order of their commits, and an event names the commit of the transaction before its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from streamhouse.capture.journal import events_of

_OF_SNAPSHOT = ("true", "last", "first", "first_in_data_collection", "last_in_data_collection", "incremental", True)


class Commits:
    """Remembers of segments what does not change any more."""

    def __init__(self) -> None:
        self._before: dict[Path, int] = {}
        self._unknown: set[Path] = set()
        self._last: dict[Path, int | None] = {}

    def settled(self, segments: Sequence[Path], confirmed: int) -> int:
        """How many segments, from the oldest, have only events of transactions that the database has confirmed.

        Args:
            segments: In their order; events are added to the last one.
            confirmed: Place in the database's log; it sends no transaction again that was committed before.
        """
        for at in range(len(segments) - 1, 0, -1):
            commit = self._commit_before(segments, at)
            if commit is not None and commit < confirmed:
                return at
        return 0

    def _commit_before(self, segments: Sequence[Path], at: int) -> int | None:
        """A commit at or after those of all transactions that begin in earlier segments; None: it is not known."""
        file, grows = segments[at], at == len(segments) - 1
        if file in self._before:
            return self._before[file]
        if file in self._unknown:
            return None
        transaction = next((one for one in map(self._last_of, reversed(segments[:at])) if one is not None), None)
        for source in _sources(file):
            if source["txId"] != transaction:
                transaction = source["txId"]
                commit = _commit(source)
                if commit is not None:
                    self._before[file] = commit
                    return commit
        if not grows:
            self._unknown.add(file)
        return None

    def _last_of(self, file: Path) -> int | None:
        """The last transaction of a segment that grows no more; None: it has none."""
        if file not in self._last:
            self._last[file] = None
            for source in _sources(file):
                self._last[file] = source["txId"]
        return self._last[file]


def _sources(file: Path) -> Iterator[Mapping[str, Any]]:
    """What events of a segment say of their place; those of a snapshot have none."""
    for line in events_of(file):
        value = from_json(line).get("value")
        source = value.get("source") if isinstance(value, dict) else None
        if not isinstance(source, dict) or source.get("txId") is None:
            continue
        if source.get("snapshot") not in _OF_SNAPSHOT:
            yield source


def _commit(source: Mapping[str, Any]) -> int | None:
    """The commit of the transaction before; None: the engine had seen none since its start."""
    sequence = source.get("sequence")
    first = from_json(sequence)[0] if isinstance(sequence, str) else None
    return None if first is None else int(first)

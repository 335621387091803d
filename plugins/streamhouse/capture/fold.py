"""The events that make the rows of a table at one place of the journal: of each key the last one, if the row is there.

What cannot be folded exactly is left as it is, and all that follows: from a removal of all rows on that a flow keeps
or was not decided, from an event without a key, and from one whose key has other columns than the keys before.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from streamhouse.ingest.debezium_schema import is_ddl, truncation_id
from streamhouse.ingest.journal import TableBase, TableJournal, TableLines
from streamhouse.ingest.journal_events import Where, event_in, key_in
from streamhouse.ingest.long_values import LongValues

_LINES_AT_ONCE = 5_000
_WRITES = ("c", "u", "r")
_CREATE = """
CREATE TABLE event (
  place INTEGER PRIMARY KEY,  -- rises with the journal
  of INTEGER NOT NULL,        -- the table
  key BLOB,                   -- NULL: what is not folded
  part TEXT NOT NULL,         -- segment or base
  number INTEGER NOT NULL,    -- of the event in it
  line BLOB NOT NULL,
  UNIQUE (of, key)
)
"""
_PUT = "INSERT OR REPLACE INTO event (of, key, part, number, line) VALUES (?, ?, ?, ?, ?)"
_ONE = "SELECT part, number, line FROM event WHERE of = ? AND key = ?"
_DROP = "DELETE FROM event WHERE of = ? AND key = ?"
_CLEAR = "DELETE FROM event WHERE of = ?"
_COUNT = "SELECT COUNT(*) FROM event WHERE of = ?"
_ALL = "SELECT part, number, line FROM event WHERE of = ? ORDER BY place"

IsRemoved = Callable[[str], bool]
"""Whether every flow that reads a table removes its rows with a removal of all rows that has this id."""


class Ending(Exception):  # noqa: N818  it is no error: the process ends, and the next one folds
    """The process is to end."""


class FoldedTables:
    """The folded events of several tables, in a file that is removed with them: they need not fit into memory.

    Args:
        file: Need not exist; one that does is replaced.
        is_over: Whether the process is to end.
    """

    def __init__(self, file: Path, is_over: Callable[[], bool]) -> None:
        self._file = file
        self._is_over = is_over
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        self._database = sqlite3.connect(file, isolation_level=None)
        for setting in ("journal_mode = OFF", "synchronous = OFF"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute(_CREATE)
        self._database.execute("BEGIN")

    def close(self) -> None:
        """Remove all."""
        self._database.close()
        self._file.unlink(missing_ok=True)

    def take(self, number: int, parts: "list[tuple[str, TableLines, int]]", is_removed: IsRemoved) -> None:
        """Fold the events of one table.

        Args:
            number: Of the table; another one for each.
            parts: Name, lines, and how many of them count; in the order of the journal.
            is_removed: See there.

        Raises:
            Ending: the process is to end.
            SourceError: an event was damaged.
        """
        fold = _TableFold(self._database, number, is_removed)
        for name, lines, end in parts:
            for first in range(0, end, _LINES_AT_ONCE):
                self._go_on()
                for at, line in enumerate(lines.read(first, min(end, first + _LINES_AT_ONCE)), first):
                    fold.take(name, at, line, partial(lines.location, at))
        fold.end()

    def count(self, number: int) -> int:
        """How many events of a table are left."""
        return int(self._database.execute(_COUNT, (number,)).fetchone()[0])

    def lines(self, number: int, long: LongValues) -> Iterator[bytes]:
        """The events of a table that are left, in their order, with the long values that they lack.

        Raises:
            Ending: the process is to end.
        """
        with closing(self._database.execute(_ALL, (number,))) as found:
            for part, at, line in found:
                self._go_on()
                yield from long.put_into([line], part, at)

    def _go_on(self) -> None:
        if self._is_over():
            raise Ending


class _TableFold:
    def __init__(self, database: sqlite3.Connection, number: int, is_removed: IsRemoved) -> None:
        self._database = database
        self._number = number
        self._is_removed = is_removed
        self._key_columns: tuple[str, ...] = ()
        self._folds = True
        self._gone: list[tuple[str, int, bytes]] = []  # the row that the last event removed, and that event

    def take(self, part: str, at: int, line: bytes, where: Where) -> None:
        parsed = event_in(line, where)
        event = parsed["value"]
        if is_ddl(event):
            return  # it makes no row
        removed, self._gone = self._gone, []
        if not self._folds:
            self._put(None, part, at, line)
        elif event.get("op") == "t" and self._is_removed(truncation_id(event)):
            self._database.execute(_CLEAR, (self._number,))
        elif not self._is_foldable(parsed["key"], event.get("op")):
            self._folds = False
            for one in removed:  # this event may be the other half of a changed key
                self._put(None, *one)
            self._put(None, part, at, line)
        elif event["op"] == "d":
            key = key_in(line, where)
            row = self._database.execute(_ONE, (self._number, key)).fetchone()
            self._database.execute(_DROP, (self._number, key))
            self._gone = [row, (part, at, line)] if row is not None else []
        else:
            self._put(key_in(line, where), part, at, line)

    def end(self) -> None:
        """If the next event is the other half of a changed key, it may need long values of the row that is gone."""
        for one in self._gone:
            self._put(None, *one)

    def _is_foldable(self, key: Any, op: Any) -> bool:
        if op not in (*_WRITES, "d") or not isinstance(key, dict):
            return False
        columns = tuple(sorted(key))
        self._key_columns = self._key_columns or columns
        return columns == self._key_columns

    def _put(self, key: bytes | None, part: str, at: int, line: bytes) -> None:
        self._database.execute(_PUT, (self._number, key, part, at, line))


def parts_to_fold(journal: TableJournal, names: list[str]) -> "list[tuple[str, TableLines, int]]":
    """The base of a table, if there is one, and segments after it, with how many events of each count."""
    base: TableBase | None = journal.base()
    found = [] if base is None else [(base.name, base.lines, base.rows)]
    return [*found, *((name, lines, lines.count()) for name in names for lines in [journal.lines(name)])]

"""Old segments of a journal are replaced by a base, when nobody needs them any more.

A base is written whole, then gets its name, then what it replaces goes. Readers count nothing that a base replaces, so
the process may die between any two of these: the next one removes what was left.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from streamhouse.capture.fold import FoldedTables, IsRemoved, parts_to_fold
from streamhouse.capture.readers import JournalReader
from streamhouse.ingest.journal import TableJournal
from streamhouse.ingest.journal_base import BASE, BaseHeader, BasePart, files_of, number_of, numbered_files
from streamhouse.ingest.long_values import LongValues
from streamhouse.install.sync import sync_folder

TAIL = 200
"""Events at which the Flow Trigger looks (`ingest/event_files.py`)."""
_FOLDING = "folding.db"
_NEW = ".new"


@dataclass(frozen=True)
class Hold:
    """Why a segment stays.

    Attributes:
        segment: The first that has something left to read, such as `1767000000/00000003.jsonl`.
        by: Who reads it.
    """

    segment: str
    by: str


def hold_of(reader: JournalReader, journal: TableJournal, closed: Sequence[str] | None = None) -> Hold | None:
    """What a reader has yet to read of the segments that no event is added to; None: nothing.

    Args:
        reader: Of the table of the journal.
        journal: Of the table.
        closed: Their names, in their order; None: all but the last.
    """
    for name in journal.names()[:-1] if closed is None else closed:
        count = journal.lines(name).count()
        if count and (reader.position is None or reader.position.get(name, 0) < count):
            return Hold(name, reader.name)
    return None


def remove_replaced(folder: Path) -> None:
    """Remove what a base replaces, and one that was not finished."""
    base = files_of(folder).base
    for file in (*folder.glob(f"*{BASE}{_NEW}"), *folder.glob(f"{_FOLDING}*")):
        file.unlink()
    if base is not None:
        for file in numbered_files(folder):
            if file != base and number_of(file) <= number_of(base):
                file.unlink()
        sync_folder(folder)


class Shortening:
    """Replaces segments of a group's journal.

    Args:
        folder: Of the group.
        journals: Table → its journal, of each table of the group.
        removed: Table → which removals of all rows every reader of it follows.
        is_over: Whether the process is to end.
    """

    def __init__(
        self,
        folder: Path,
        journals: Mapping[str, TableJournal],
        removed: Callable[[str], IsRemoved],
        is_over: Callable[[], bool],
    ) -> None:
        self._folder = folder
        self._journals = journals
        self._removed = removed
        self._is_over = is_over

    def replace(self, segments: Sequence[Path]) -> None:
        """Replace the oldest segments by a base.

        Args:
            segments: At least one; the first of the group, and no event is added to them.

        Raises:
            Ending: the process is to end; nothing was replaced.
        """
        base = self._folder / f"{segments[-1].stem}{BASE}"
        unfinished = base.with_name(f"{base.name}{_NEW}")
        names = [f"{self._folder.name}/{file.name}" for file in segments]
        with closing(FoldedTables(self._folder / _FOLDING, self._is_over)) as folded:
            self._fold(folded, names)
            parts = {table: self._part(folded, number, table, names) for number, table in enumerate(self._journals)}
            self._write(unfinished, folded, parts)
        unfinished.replace(base)
        sync_folder(self._folder)
        remove_replaced(self._folder)

    def _fold(self, folded: FoldedTables, names: list[str]) -> None:
        for number, (table, journal) in enumerate(self._journals.items()):
            folded.take(number, parts_to_fold(journal, names), self._removed(table))

    def _part(self, folded: FoldedTables, number: int, table: str, names: list[str]) -> tuple[BasePart, list[bytes]]:
        journal = self._journals[table]
        before = journal.base()
        counts = {name: count for name in names if (count := journal.lines(name).count())}
        covers = {**(before.covers if before is not None else {}), **counts}
        tail = journal.newest(TAIL, names)
        return BasePart(rows=folded.count(number), tail=len(tail), covers=covers), tail

    def _write(self, file: Path, folded: FoldedTables, parts: Mapping[str, tuple[BasePart, list[bytes]]]) -> None:
        header = BaseHeader(tables={table: part for table, (part, _) in parts.items()})
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as output:
            output.write(header.model_dump_json().encode() + b"\n")
            for number, (table, (_, tail)) in enumerate(parts.items()):
                for line in chain(folded.lines(number, LongValues(self._journals[table])), tail):
                    output.write(line + b"\n")
            output.flush()
            os.fsync(handle)


def droppable(
    segments: Sequence[Path], settled: int, readers: Iterable[JournalReader], journals: Mapping[str, TableJournal]
) -> list[Path]:
    """The oldest segments that nobody needs: neither a reader nor the database, which may send their events again.

    Args:
        segments: Of the group; events are added to the last one.
        settled: How many of them have no event that the database may send again.
        readers: Of its tables.
        journals: Table → its journal.

    Raises:
        RowsLostError: a segment is gone.
    """
    free = list(segments[: min(settled, len(segments) - 1)])
    for reader in readers:
        names = [f"{file.parent.name}/{file.name}" for file in free]
        hold = hold_of(reader, journals[reader.table], names) if reader.table in journals else None
        free = free if hold is None else free[: names.index(hold.segment)]
    return free


def is_worth_it(segments: Sequence[Path], base: Path | None) -> bool:
    """Whether segments are as large as the base, which is written again: so an event is written a few times at most.

    Raises:
        OSError: a file is gone.
    """
    size = sum(file.stat().st_size for file in segments)
    return size > 0 and (base is None or size >= base.stat().st_size)

"""Old segments of a journal are replaced by a base, when nobody needs them any more.

A base is written whole, then gets its name, then what it replaces goes. Readers count nothing that a base replaces, so
the process may die between any two of these: the next one removes what was left.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from streamhouse.capture.fold import FoldedTables, IsRemoved, parts_to_fold
from streamhouse.capture.readers import JournalReader
from streamhouse.ingest.event_files import AnyLines
from streamhouse.ingest.journal import TableJournal
from streamhouse.ingest.journal_base import BaseHeader, BasePart, remove_replaced, write_base
from streamhouse.ingest.long_values import LongValues

TAIL = 200
"""Events at which the Flow Trigger looks (`ingest/event_files.py`)."""
_FOLDING = "folding.db"


@dataclass(frozen=True)
class Hold:
    """Why a segment stays.

    Attributes:
        segment: The first that has something left to read, such as `1767000000/00000003.jsonl`.
        by: Who reads it.
    """

    segment: str
    by: str


class SegmentedJournal(Protocol):
    """The events of a table or of a topic, in segments."""

    def names(self) -> list[str]:
        """Of the segments that no base replaces, in their order."""

    def lines(self, name: str) -> AnyLines:
        """The events in a segment."""


def hold_of(reader: JournalReader, journal: SegmentedJournal, closed: Sequence[str] | None = None) -> Hold | None:
    """What a reader has yet to read of the segments that no event is added to; None: nothing.

    Args:
        reader: Of the journal.
        journal: What it reads.
        closed: Their names, in their order; None: all but the last.
    """
    for name in journal.names()[:-1] if closed is None else closed:
        count = journal.lines(name).count()
        if count and (reader.position is None or reader.position.get(name, 0) < count):
            return Hold(name, reader.name)
    return None


def remove_leftovers(folder: Path) -> None:
    """Remove what a base replaces, and what a process left that died."""
    for file in folder.glob(f"{_FOLDING}*"):
        file.unlink()
    remove_replaced(folder)


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
            SourceError: an event of the journal was damaged; nothing was replaced.
        """
        names = [f"{self._folder.name}/{file.name}" for file in segments]
        with closing(FoldedTables(self._folder / _FOLDING, self._is_over)) as folded:
            self._fold(folded, names)
            parts = {table: self._part(folded, number, table, names) for number, table in enumerate(self._journals)}
            header = BaseHeader(tables={table: part for table, (part, _) in parts.items()})
            write_base(self._folder, names[-1], header, self._lines(folded, parts))
        remove_leftovers(self._folder)

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

    def _lines(self, folded: FoldedTables, parts: Mapping[str, tuple[BasePart, list[bytes]]]) -> Iterator[bytes]:
        for number, (table, (_, tail)) in enumerate(parts.items()):
            yield from folded.lines(number, LongValues(self._journals[table]))
            yield from tail


def past_all(
    names: Sequence[str], readers: Iterable[JournalReader], journals: Mapping[str, SegmentedJournal]
) -> Sequence[str]:
    """The first of some segments, up to the one that a reader needs.

    Args:
        names: The oldest of a group that no event is added to, in their order.
        readers: Of its tables.
        journals: Table → its journal; what reads another one needs nothing.

    Raises:
        RowsLostError: a segment is gone.
    """
    for reader in readers:
        hold = hold_of(reader, journals[reader.table], names) if reader.table in journals else None
        names = names if hold is None else names[: names.index(hold.segment)]
    return names


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
    free = segments[: min(settled, len(segments) - 1)]
    names = [f"{file.parent.name}/{file.name}" for file in free]
    return list(free[: len(past_all(names, readers, journals))])


def is_worth_it(segments: Sequence[Path], base: Path | None) -> bool:
    """Whether segments are as large as the base, which is written again: so an event is written a few times at most.

    Raises:
        OSError: a file is gone.
    """
    size = sum(file.stat().st_size for file in segments)
    return size > 0 and (base is None or size >= base.stat().st_size)

"""What a lake of others answers: one look at a table, whose snapshots have rising numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from streamhouse.model.shape import SeenColumn

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TableCommit:
    """One snapshot after another.

    Attributes:
        number: Its own.
        rows: How many a reader of its changes has to look at.
        added: Whether it only added rows, or left all as they are.
        what: What it did, for a person.
    """

    number: int
    rows: int
    added: bool
    what: str


@dataclass(frozen=True)
class SnapshotPart:
    """A part of the rows of a snapshot, which is read alone.

    Attributes:
        rows: How many a reader of it has to look at; more than 0.
        source: What the look reads it by.
    """

    rows: int
    source: Any


PART_ROWS = 20_000
"""A part of a file or bucket has at most so many rows. Another number is another meaning of positions."""


@dataclass(frozen=True)
class Piece:
    """The rows `[first, end)` of a file or bucket, in the order in which it gives them.

    Attributes:
        whole: What the look reads the file or bucket by.
        first: Number of its first row, from 0.
        end: Number of the row behind its last one.
        rows: How many the file or bucket has at most.
    """

    whole: Any
    first: int
    end: int
    rows: int

    @property
    def is_whole(self) -> bool:
        """Whether it has all rows."""
        return self.first == 0 and self.end >= self.rows


def pieces(whole: Any, rows: int) -> list[SnapshotPart]:
    """A file or bucket as parts, none of which has many rows.

    Example:
        >>> [(part.rows, part.source.first) for part in pieces("a file", 45_000)]
        [(20000, 0), (20000, 20000), (5000, 40000)]
    """
    bounds = [(first, min(rows, first + PART_ROWS)) for first in range(0, rows, PART_ROWS)]
    return [SnapshotPart(end - first, Piece(whole, first, end, rows)) for first, end in bounds]


def joined(parts: Sequence[SnapshotPart]) -> list[Piece]:
    """Parts that `pieces` made, those that follow each other in one file or bucket as one.

    Example:
        >>> [(piece.first, piece.end) for piece in joined(pieces("a file", 90_000)[1:4])]
        [(20000, 80000)]
    """
    found: list[Piece] = []
    for part in parts:
        piece: Piece = part.source
        if found and found[-1].whole is piece.whole and found[-1].end == piece.first:
            found[-1] = replace(found[-1], end=piece.end)
        else:
            found.append(piece)
    return found


class TableLook(Protocol):
    """A table as it is at one moment. Only the reading methods open data files."""

    @property
    def identity(self) -> str:
        """Another one when the table was removed and created again under the same name."""

    @property
    def columns(self) -> tuple[SeenColumn, ...]:
        """Its columns now, with ids that stay when they are renamed.

        Raises:
            SourceError: one is of a type that Spark does not have; the error says which.
        """

    def name_now(self, name: str) -> str | None:
        """The name that a column has now; None: there is no such column any more, or there never was.

        Args:
            name: One that it has or had; of several columns, the one that has it, or else had it last.
        """

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The key that the table itself keeps unique; empty: it has none."""

    @property
    def newest(self) -> int:
        """The number of the newest snapshot; 0: there is none."""

    @property
    def oldest(self) -> int:
        """The lowest number after which each snapshot still exists."""

    def commits(self, start: int, end: int) -> list[TableCommit]:
        """The snapshots after `start` up to `end`, oldest first; from 0 one, which stands for the state at `end`.

        Raises:
            RowsLostError: one of them, or the line between them, no longer exists.
        """

    def has(self, number: int) -> bool:
        """Whether the state at a snapshot can still be read; of 0 it can."""

    def added(self, start: int, end: int, columns: Sequence[str]) -> "pa.Table":
        """The rows that the snapshots after `start` up to `end` added, in the order in which they were added.

        Raises:
            RowsLostError: a snapshot or a file of it no longer exists.
        """

    def state(self, at: int, columns: Sequence[str]) -> "pa.Table":
        """Every row at a snapshot, in no order.

        Raises:
            RowsLostError: the snapshot or a file of it no longer exists.
        """

    def parts(self, at: int) -> list[SnapshotPart]:
        """The rows of a snapshot in parts, the same and in the same order at each call, also of another process.

        The rows of one key are in one part.

        Raises:
            RowsLostError: the snapshot or a file of it no longer exists.
        """

    def rows_of(self, at: int, parts: Sequence[SnapshotPart], columns: Sequence[str]) -> "pa.Table":
        """Every row of some parts of a snapshot, in no order.

        Raises:
            RowsLostError: the snapshot or a file of it no longer exists.
        """

    def apart(self, start: int, end: int, columns: Sequence[str], key: Sequence[str]) -> "TwoStates":
        """Rows of two snapshots; those of neither are the same in both.

        Raises:
            RowsLostError: a snapshot or a file of it no longer exists.
        """


@dataclass(frozen=True)
class TwoStates:
    """What two snapshots may differ in.

    Attributes:
        old: Rows of the first one.
        new: Rows of the second one.
        shared: Keys of rows that both have and that are in neither; None: there are none, or the table itself
            keeps its key unique.
    """

    old: "pa.Table"
    new: "pa.Table"
    shared: "pa.Table | None" = None


class OtherTable(Protocol):
    """A table of others."""

    @property
    def name(self) -> str:
        """`database.table`."""

    def look(self) -> TableLook:
        """The table as it is now.

        Raises:
            SourceError: there is no such table, or it cannot be read.
            StoreUnavailableError: the catalog or the store does not answer.
        """

"""Files that lack columns of their source, which are NULL in their rows: one sentence for each file."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from streamhouse.ingest.listing import in_order
from streamhouse.model.types import Position

LACKING = "missing_column"
"""Kind of the events that say so."""


@runtime_checkable
class LackingSource(Protocol):
    """A source whose files may lack columns."""

    def lacking(self, start: Position, end: Position) -> Iterator[str]:
        """A sentence for each file of which `[start, end)` has the first row, and that lacks a column."""


def begun(start: Position, end: Position) -> list[str]:
    """The files of which `[start, end)` has the first row."""
    names = (name for name, rows in end.items() if isinstance(rows, int) and rows and not start.get(name))
    return sorted(names, key=in_order)


def lacking_text(file: str, lacking: Iterable[str]) -> str:
    """What the event says.

    Example:
        >>> lacking_text("data/2.csv", ["a", "b"])
        'data/2.csv lacks the columns a, b: they are NULL in its rows'
    """
    names = list(lacking)
    what, they = ("column", "it is") if len(names) == 1 else ("columns", "they are")
    return f"{file} lacks the {what} {', '.join(names)}: {they} NULL in its rows"

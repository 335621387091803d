"""What the engine asks of a source."""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    import pyarrow as pa


class RowSource(Protocol):
    """Rows outside Streamhouse that can be read again from any position that still exists.

    A source object lives in one process and is cheap to make; `columns` touches metadata only.
    """

    def columns(self) -> tuple[Column, ...]:
        """The columns it delivers, in order."""

    def available(self) -> Position:
        """The position after the last row that can be read now."""

    def advance(self, start: Position, max_rows: int) -> Position:
        """The furthest position from `start` that spans at most `max_rows` rows; `start` itself when idle."""

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows `[start, end)` has, without reading them."""

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> "pa.Table":
        """The rows of `[start, end)` in order, the same at each call, with the types of `stores/arrow.py`."""


@runtime_checkable
class ForgetfulSource(RowSource, Protocol):
    """A source that removes its oldest rows by itself, whether they were read or not."""

    def oldest(self) -> Position:
        """The position of the first row that still exists, of every part of it."""

    def identity(self) -> str:
        """Another one when it was removed and created again under the same name: positions mean nothing then."""


@runtime_checkable
class TimedSource(RowSource, Protocol):
    """A source that knows when its next row comes."""

    def due_s(self, start: Position) -> float | None:
        """Seconds until there is a row after `start`, 0 where there is one; None: never, or nobody knows."""


@runtime_checkable
class KeyedSource(RowSource, Protocol):
    """A source whose rows are updated and deleted by their key; its positions count changes.

    `read` gives the upserts of `changes`.
    """

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the key; never empty."""

    def changes(
        self, start: Position, end: Position, columns: tuple[str, ...] | None = None, *, before: bool = True
    ) -> Changes:
        """What happened in `[start, end)`, the same at each call.

        Args:
            start: Where the range begins.
            end: Where it ends.
            columns: Those wanted besides the key; None: all.
            before: Whether to tell the rows as of `start`. They come from the state, which a process
                reads from the beginning once and then keeps in memory; without, `before` is None.
        """

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> "pa.Table":
        """All rows at `at`, one for each key, in no order."""

"""A source whose bad rows go to a dead-letter table, seen from both sides: the rows, and the dead letters."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import pyarrow as pa

from streamhouse.ingest.bad_rows import BadRow, LetterSource, SplitSource
from streamhouse.ingest.base import ForgetfulSource
from streamhouse.ingest.lacking import LackingSource
from streamhouse.ingest.replays import Replays, rows_again, without_replays
from streamhouse.model.bad_rows import LETTER_COLUMNS, POSITION
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes

_SCHEMA = arrow_schema(LETTER_COLUMNS)


class _WithReplays:
    """Positions of a source, and of the requests to read dead letters again.

    Args:
        source: Without requests.
        replays: The requests.
    """

    def __init__(self, source: LetterSource, replays: Replays) -> None:
        self._source = source
        self._replays = replays

    def available(self) -> Position:
        """The end of the source and of every request."""
        return {**self._source.available(), **self._replays.available()}

    def advance(self, start: Position, max_rows: int) -> Position:
        """At most `max_rows` further; first in the source."""
        before = without_replays(start)
        end = self._source.advance(before, max_rows)
        taken = self._source.rows_between(before, end) if end != before else 0
        return self._replays.advance(start, {**start, **end}, max_rows - taken)

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows `[start, end)` has, bad ones too."""
        return self._source.rows_between(without_replays(start), without_replays(end)) + rows_again(start, end)


class GoodRows(_WithReplays):
    """The rows that can be read; those that a request has come from the last request that has them, and only there."""

    def __init__(self, source: SplitSource, replays: Replays) -> None:
        super().__init__(source, replays)
        self._split = source

    def columns(self) -> tuple[Column, ...]:
        """Those of the source."""
        return self._split.columns()

    def lacking(self, start: Position, end: Position) -> Iterator[str]:
        """See `LackingSource`."""
        if isinstance(self._split, LackingSource):
            yield from self._split.lacking(without_replays(start), without_replays(end))

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The rows of `[start, end)`: of the source, then of each request."""
        last = self._replays.last()
        first = self._split.read_split(without_replays(start), without_replays(end), columns, last.keys())
        parts = [first.rows]
        for number, letters in self._replays.between(start, end):
            here = [letter for letter in letters if last.get(letter.position) == number]
            parts.append(self._split.read_again(here, columns).rows)
        return pa.concat_tables(parts)


class ForgetfulGoodRows(GoodRows):
    """The same of a source that removes its oldest rows by itself."""

    def oldest(self) -> Position:
        """The position of the first row that still exists, of every part of the source."""
        return cast("ForgetfulSource", self._source).oldest()

    def identity(self) -> str:
        """Of the source."""
        return cast("ForgetfulSource", self._source).identity()


def with_replays(source: SplitSource, replays: Replays) -> GoodRows:
    """The rows of a source that can be read, and those that requests read again."""
    return (ForgetfulGoodRows if isinstance(source, ForgetfulSource) else GoodRows)(source, replays)


class DeadLetters(_WithReplays):
    """The rows that cannot be read, by their position. One that a request reads well is gone."""

    primary_key = (POSITION,)

    def columns(self) -> tuple[Column, ...]:
        """Those of every dead-letter table."""
        return LETTER_COLUMNS

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The rows of `[start, end)` that are still bad at its end."""
        return self.changes(start, end, columns, before=False).upserts

    def changes(
        self, start: Position, end: Position, columns: tuple[str, ...] | None = None, *, before: bool = True
    ) -> Changes:
        """What happened to dead letters in `[start, end)`."""
        found: dict[str, dict[str, Any] | None] = {}
        bad = self._source.bad_rows(without_replays(start), without_replays(end))
        found.update(_rows(bad, 0))
        for number, letters in self._replays.between(start, end):
            split = self._source.read_again(letters, None)
            found.update(dict.fromkeys(split.places))
            found.update(_rows(split.bad, number))
        rows = pa.Table.from_pylist([row for row in found.values() if row is not None], schema=_SCHEMA)
        deletes = pa.table({POSITION: pa.array([p for p, row in found.items() if row is None], pa.string())})
        old = None
        if before:
            there = self.state(start).to_pylist()
            old = pa.Table.from_pylist([row for row in there if row[POSITION] in found], schema=_SCHEMA)
            old = _select(old, columns)
        return Changes(_select(rows, columns), deletes if deletes.num_rows else None, old)

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All dead letters at `at`; reads the source from its beginning."""
        return self.changes({}, at, columns, before=False).upserts


class ForgetfulDeadLetters(DeadLetters):
    """The same of a source that removes its oldest rows by itself."""

    def oldest(self) -> Position:
        """The position of the first row that still exists, of every part of the source."""
        return cast("ForgetfulSource", self._source).oldest()

    def identity(self) -> str:
        """Of the source."""
        return cast("ForgetfulSource", self._source).identity()


def dead_letters(source: LetterSource, replays: Replays) -> DeadLetters:
    """The rows of a source that cannot be read."""
    return (ForgetfulDeadLetters if isinstance(source, ForgetfulSource) else DeadLetters)(source, replays)


def _rows(bad: Iterable[BadRow], replay: int) -> dict[str, dict[str, Any] | None]:
    return {
        one.letter.position: {
            POSITION: one.letter.position,
            "reason": one.reason,
            "message": one.message,
            "raw": one.letter.raw,
            "context": one.letter.context,
            "replays": replay,
        }
        for one in bad
    }


def _select(rows: pa.Table, columns: tuple[str, ...] | None) -> pa.Table:
    return rows if columns is None else rows.select([n for n in rows.column_names if n in columns or n == POSITION])

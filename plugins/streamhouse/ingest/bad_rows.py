"""Takes rows that can be read apart from those that cannot, with the reason of each. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

import pyarrow as pa
from pydantic_core import from_json

from streamhouse.ingest.base import RowSource
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.types import Position

_LONGEST_MESSAGE = 500
_ONE_BY_ONE = 8
"""After so many bad records, one behind the other, the next is likely bad as well."""


@dataclass(frozen=True)
class Letter:
    """A row as its source has it.

    Attributes:
        position: Where it is: file:line, file:row or topic/partition/offset.
        raw: Its bytes: a line, the value of a message, a row of Parquet as an Arrow stream.
        context: What is needed besides to read it again, such as the first line of a CSV file.
    """

    position: str
    raw: bytes
    context: str = ""


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be read.

    Attributes:
        letter: The row.
        reason: `malformed`, `encoding`, `type`, `key` or `event`.
        message: What is wrong, for people.
    """

    letter: Letter
    reason: str
    message: str


@dataclass(frozen=True)
class Split:
    """Rows of a range: those that can be read, and the others.

    Attributes:
        rows: Those that can be read, in order.
        places: Position of each of `rows`, where it was asked for.
        bad: The others, in order.
    """

    rows: pa.Table
    places: tuple[str, ...] = ()
    bad: tuple[BadRow, ...] = ()


@runtime_checkable
class LetterSource(RowSource, Protocol):
    """A source that can go on behind a row that cannot be read."""

    @property
    def on_bad_rows(self) -> OnBadRows:
        """What the flow says of such rows."""

    def bad_rows(self, start: Position, end: Position) -> Sequence[BadRow]:
        """The rows of `[start, end)` that cannot be read, in order; the same at each call."""

    def read_again(self, letters: Sequence[Letter], columns: tuple[str, ...] | None) -> Split:
        """Rows that could not be read before, with the `places` of those that can be now."""


@runtime_checkable
class SplitSource(LetterSource, Protocol):
    """A source whose rows are only added, and of which some can be left out."""

    def read_split(
        self, start: Position, end: Position, columns: tuple[str, ...] | None, without: Collection[str]
    ) -> Split:
        """The rows of `[start, end)`, the same at each call.

        Args:
            start: Where the range begins.
            end: Where it ends.
            columns: Those wanted; None: all.
            without: Positions whose rows are left out of `rows`; bad rows are reported all the same.
        """


@dataclass
class Parted:
    """What `part` found: rows that can be read, the number of each, and what is wrong with the others."""

    tables: list[pa.Table] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    wrong: dict[int, tuple[str, str]] = field(default_factory=dict)


Record = TypeVar("Record")
Reason = tuple[str, str]
"""Code and text of what is wrong with a row."""


Wrong = Callable[[Sequence[Record]], Mapping[int, Exception]]
"""Finds records that cannot be parsed, by one look at all of them: number of each → the error of parsing it alone."""


def part(
    records: Sequence[Record],
    parse: Callable[[Sequence[Record]], pa.Table],
    reason: Callable[[Record, Exception], Reason],
    wrong: Wrong[Record] | None = None,
) -> Parted:
    """Parse records, by halves where some cannot be parsed; one by one where several of them follow each other.

    Args:
        records: One row each.
        parse: Gives the rows of some of them.
        reason: What is wrong with a record, by the error of parsing it alone.
        wrong: Finds some that cannot be parsed, or all; it is called where they cannot be parsed together.

    Returns:
        Of k bad records among n that `wrong` does not find, after about 2k log(n / k) calls of `parse`; at most about n
        where they follow each other.
    """
    found = Parted()
    rows = _parsed(records, parse) if len(records) else None
    if isinstance(rows, pa.Table):
        found.tables.append(rows)
        found.numbers += range(len(records))
    elif rows is not None:
        errors = wrong(records) if wrong is not None else {}
        for number, error in errors.items():
            found.wrong[number] = _shortened(reason(records[number], error))
        rest = [number for number in range(len(records)) if number not in errors]
        some = [records[number] for number in rest] if errors else records
        _part_by_halves(some, rest, parse, reason, found, None if errors else rows)
    return found


def _part_by_halves(
    records: Sequence[Record],
    numbers: Sequence[int],
    parse: Callable[[Sequence[Record]], pa.Table],
    reason: Callable[[Record, Exception], Reason],
    found: Parted,
    why: Exception | None,
) -> None:
    """Parse records of which `numbers` has the numbers; `why` they cannot be parsed together, where that is known."""
    waiting = [(0, len(records))]
    in_a_row = 0  # bad ones, up to the record that is next
    while waiting:
        first, end = waiting.pop()
        if first == end:
            continue
        rows: pa.Table | Exception
        if why is not None:
            rows, why = why, None
        elif in_a_row >= _ONE_BY_ONE and end - first > 1:
            rows = ValueError("one of them is likely bad")
        else:
            rows = _parsed(records[first:end], parse)
        if isinstance(rows, pa.Table):
            in_a_row = 0
            found.tables.append(rows)
            found.numbers += numbers[first:end]
        elif end - first > 1:
            half = (first + end) // 2
            waiting += [(half, end), (first, half)]
        else:
            in_a_row += 1
            found.wrong[numbers[first]] = _shortened(reason(records[first], rows))


def _parsed(records: Sequence[Record], parse: Callable[[Sequence[Record]], pa.Table]) -> pa.Table | Exception:
    """Rows, as many as records; or why there are none."""
    try:
        rows = parse(records)
        if rows.num_rows != len(records):
            raise ValueError(f"{len(records)} records are {rows.num_rows} rows")
    except (pa.ArrowException, ValueError, KeyError) as error:
        return error
    return rows


def _shortened(why: Reason) -> Reason:
    return why[0], why[1][:_LONGEST_MESSAGE]


def split_again(
    letters: Sequence[Letter],
    empty: pa.Table,
    parse: Callable[[Sequence[Letter]], pa.Table],
    reason: Callable[[Letter, Exception], Reason],
    wrong: Wrong[Letter] | None = None,
) -> Split:
    """What `SplitSource.read_again` gives.

    Args:
        letters: To be read.
        empty: A table of no rows, as `parse` gives them.
        parse: Gives the rows of letters; may refuse letters of different contexts.
        reason: What is wrong with one.
        wrong: As of `part`.
    """
    found = part(letters, parse, reason, wrong)
    bad = tuple(BadRow(letters[number], *why) for number, why in sorted(found.wrong.items()))
    places = tuple(letters[number].position for number in found.numbers)
    return Split(pa.concat_tables([empty, *found.tables]), places, bad)


def same_context(letters: Sequence[Letter]) -> str:
    """The context that all letters have.

    Raises:
        ValueError: they have several.
    """
    contexts = {letter.context for letter in letters}
    if len(contexts) != 1:
        raise ValueError("the rows have several contexts")
    return contexts.pop()


def json_reason(record: bytes, error: Exception) -> tuple[str, str]:
    """Why a line or message is no row.

    Example:
        >>> json_reason(b'[1]', ValueError())
        ('malformed', 'it is no JSON object')
    """
    if isinstance(error, UnreadableError):
        return error.reason, str(error)
    try:
        record.decode()
    except UnicodeDecodeError as wrong:
        return "encoding", f"it is no UTF-8: {wrong.reason} at byte {wrong.start}"
    try:
        found: Any = from_json(record.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as wrong:
        return "malformed", f"it is no JSON: {wrong}"
    if not isinstance(found, dict):
        return "malformed", "it is no JSON object"
    text = str(error)
    return ("malformed" if "twice" in text else "type"), _plain(text)


def _plain(text: str) -> str:
    """An error of Arrow without the row that it counted in what was parsed alone."""
    text = text.split(" If these timestamps", maxsplit=1)[0]
    for begin in ("JSON parse error: ", "CSV conversion error ", "In CSV column #"):
        text = text.removeprefix(begin)
    return text.replace(" in row 0", "").replace("Row #1: ", "").replace("Row #2: ", "").replace("row #2: ", "")

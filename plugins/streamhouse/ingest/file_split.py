"""Reads one file whose policy for bad rows is `dead_letter`: the rows that can be read, and the others."""

import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.bad_rows import (
    BadRow,
    Letter,
    Reason,
    Split,
    Wrong,
    json_reason,
    part,
    same_context,
    split_again,
)
from streamhouse.ingest.columnar import ColumnarFormat, columnar_part, columnar_rows, is_columnar
from streamhouse.ingest.csv_file import CsvRows, csv_bytes, csv_records, rows_reader
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_text import NoRowError
from streamhouse.ingest.csv_wrong import wrong_records
from streamhouse.ingest.formats import Format, nothing
from streamhouse.ingest.json_file import json_file
from streamhouse.ingest.json_rows import json_rows, refuse_other_fields, wrong_objects
from streamhouse.ingest.not_null import refuse_nulls
from streamhouse.ingest.other_fields import of_fields
from streamhouse.ingest.parquet_types import file_names, fitted
from streamhouse.ingest.records import Records
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.keyed import padded

Columns = tuple[Column, ...]
_PLACE_IN_FILE = re.compile(r"(?::\d+){1,2}$", re.ASCII)


@dataclass(frozen=True)
class FileSplit:
    """A file, or some rows of it, taken apart.

    Attributes:
        rows: That can be read.
        numbers: Of each of `rows`, which record of the file it is, from 0; rises.
        bad: Number of a record → what is wrong with it.
        records: How many records the file has.
        text: The places of the records, without their bytes; None: the number is the place.
    """

    rows: pa.Table
    numbers: NDArray[np.int64]
    bad: dict[int, BadRow]
    records: int
    text: Records | None = None

    def between(self, first: int, last: int, name: str, without: Collection[str]) -> Split:
        """The records `[first, last)`."""
        begin, end = np.searchsorted(self.numbers, [first, last])
        rows = self.rows.slice(int(begin), int(end - begin))
        if without := {place for place in without if place.startswith(f"{name}:")}:
            keep = [self.place(name, int(number)) not in without for number in self.numbers[begin:end]]
            rows = rows.filter(pa.array(keep, pa.bool_()))
        return Split(rows, (), tuple(bad for number, bad in self.bad.items() if first <= number < last))

    def place(self, name: str, number: int) -> str:
        """The position of a record."""
        return f"{name}:{self.text.place(number) if self.text is not None else number + 1}"


def file_of(position: str) -> str:
    """The file of a record, by the position that a dead letter has.

    Example:
        >>> file_of("data/orders.csv:12"), file_of("data/list.json:1:40")
        ('data/orders.csv', 'data/list.json')
    """
    return _PLACE_IN_FILE.sub("", position)


def split_text(
    path: AnyFile, kind: Format, columns: Columns, optional: tuple[str, ...], name: str, rules: CsvRules
) -> FileSplit:
    """A file of CSV or JSON, taken apart; the last two are kept in memory, until they change.

    Raises:
        SourceError: it cannot be read at all, or lacks a column.
    """
    try:
        stat = path.stat()
        return _split_text(path, kind, columns, optional, name, rules, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name)) from error


@lru_cache(maxsize=2)
def _split_text(
    path: AnyFile, kind: Format, columns: Columns, optional: tuple[str, ...], name: str, rules: CsvRules, *_stamp: int
) -> FileSplit:
    parse: Callable[[Sequence[bytes]], pa.Table] = partial(_json, columns)
    reason: Callable[[bytes, Exception], Reason] = json_reason
    wrong: Wrong[bytes] = partial(wrong_objects, columns)
    if kind == "csv":
        records, multi_line = csv_records(csv_bytes(path, name, rules), name, rules)
        if not records.header and not records.texts:  # no line at all, as in `read_csv`
            return FileSplit(arrow_schema(columns).empty_table(), np.array([], dtype=np.int64), {}, 0)
        reader = _csv_reader(records, columns, optional, name, rules, multi_line=multi_line)
        parse, reason, wrong = reader.of, partial(csv_reason, reader), partial(wrong_records, reader)
    else:
        records = json_file(path, name)
    found = part(records.texts, parse, reason, wrong)
    header = records.header.decode(errors="replace")
    bad = {
        number: BadRow(Letter(f"{name}:{records.place(number)}", records.texts[number], header), *why)
        for number, why in sorted(found.wrong.items())
    }
    rows = pa.concat_tables([arrow_schema(columns).empty_table(), *found.tables])
    if kind == "json":
        refuse_other_fields(records.texts, rows.select([column.name for column in of_fields(columns)]), name)
    return FileSplit(rows, np.array(found.numbers, dtype=np.int64), bad, len(records.texts), replace(records, texts=[]))


def _csv_reader(
    records: Records, columns: Columns, optional: tuple[str, ...], name: str, rules: CsvRules, *, multi_line: bool
) -> CsvRows:
    """A file whose first line cannot be read has no rows at all: nobody knows what their values mean."""
    first = records.header if rules.form.header else next(iter(records.texts), b"")
    try:
        return rows_reader(first, columns, rules, optional, multi_line=multi_line)
    except NoRowError as error:
        raise SourceError(f"the first line cannot be read: {error}", at=Location(name, 1), hint=error.hint) from error


def csv_reason(reader: CsvRows, record: bytes, error: Exception) -> Reason:
    """Why a record of CSV is no row."""
    found = reader.reason(record, error)
    return found.reason, str(found)


def _json(columns: Columns, texts: Sequence[bytes]) -> pa.Table:
    return json_rows(texts, columns)


def split_columnar(
    path: AnyFile, kind: ColumnarFormat, columns: Columns, name: str, span: tuple[int, int]
) -> FileSplit:
    """The rows `[first, last)` of a file of Parquet or Avro, taken apart.

    Raises:
        SourceError: it cannot be read at all.
    """
    first = span[0]
    raw, names = columnar_part(path, kind, columns, Location(name), span)
    there = tuple(column for column in columns if column.name in names)
    try:
        fitted(raw.slice(0, 0), there, names)
    except pa.ArrowException as error:
        hint = "declare the column with the type that the file has, and convert it in the action"
        raise SourceError(f"no row of the file fits: {error}", at=Location(name), hint=hint) from error
    parse = partial(_columnar, raw, names, columns)
    found = part(range(raw.num_rows), parse, _columnar_why)
    bad = {
        first + number: BadRow(Letter(f"{name}:{first + number + 1}", _packed(raw.slice(number, 1))), *why)
        for number, why in sorted(found.wrong.items())
    }
    rows = pa.concat_tables([arrow_schema(columns).empty_table(), *found.tables])
    return FileSplit(rows, np.array(found.numbers, dtype=np.int64) + first, bad, columnar_rows(path, kind).rows)


def _columnar(raw: pa.Table, names: Mapping[str, str], columns: Columns, numbers: Sequence[int]) -> pa.Table:
    if not numbers:
        return arrow_schema(columns).empty_table()
    there = tuple(column for column in columns if column.name in names)
    some = raw.slice(numbers[0], len(numbers))
    rows = padded(fitted(some, there, names), columns) if there else nothing(columns, some.num_rows)
    rows.validate(full=True)
    return refuse_nulls(rows, columns)


def _columnar_why(_: object, error: Exception) -> Reason:
    return (error.reason if isinstance(error, UnreadableError) else "type"), str(error)


def _packed(rows: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return sink.getvalue()


def unpacked_row(raw: bytes) -> pa.Table:
    """A row of Parquet or Avro as a dead letter has it.

    Raises:
        pa.ArrowInvalid: it is none.
    """
    with pa.ipc.open_stream(raw) as reader:
        return reader.read_all()


def files_again(
    letters: Sequence[Letter], kind: Format, columns: Columns, optional: tuple[str, ...], rules: CsvRules
) -> Split:
    """Rows of files that could not be read before."""
    empty = arrow_schema(columns).empty_table()
    if is_columnar(kind):
        return split_again(letters, empty, partial(_columnar_again, columns), _columnar_why)
    if kind == "json":
        return split_again(
            letters,
            empty,
            lambda some: _json(columns, [one.raw for one in some]),
            _json_why,
            lambda some: wrong_objects(columns, [one.raw for one in some]),
        )

    again = _CsvAgain(columns, optional, rules)
    return split_again(letters, empty, again.parse, again.reason, again.wrong)


class _CsvAgain:
    """Reads records of CSV once more, each with the first line of its file."""

    def __init__(self, columns: Columns, optional: tuple[str, ...], rules: CsvRules) -> None:
        self._columns, self._optional, self._rules = columns, optional, rules
        self._readers: dict[str, CsvRows] = {}

    def parse(self, letters: Sequence[Letter]) -> pa.Table:
        same_context(letters)
        return self._reader(letters[0]).of([one.raw for one in letters])

    def reason(self, letter: Letter, error: Exception) -> Reason:
        try:
            return csv_reason(self._reader(letter), letter.raw, error)
        except NoRowError as wrong:
            return wrong.reason, str(wrong)

    def wrong(self, letters: Sequence[Letter]) -> dict[int, Exception]:
        """As `part` has it."""
        found: dict[int, Exception] = {}
        alike: dict[tuple[str, ...], tuple[CsvRows, list[int]]] = {}
        for number, letter in enumerate(letters):
            try:
                reader = self._reader(letter)
            except NoRowError as error:
                found[number] = error
            else:
                alike.setdefault(reader.names, (reader, []))[1].append(number)
        for reader, numbers in alike.values():
            errors = wrong_records(reader, [letters[number].raw for number in numbers])
            found |= {numbers[place]: error for place, error in errors.items()}
        return found

    def _reader(self, letter: Letter) -> CsvRows:
        known = self._readers.get(letter.context)
        if known is not None:
            return known
        has_names = self._rules.form.header
        multi_line = self._rules.form.lines_may_break is not False
        first = letter.context.encode() if has_names else letter.raw
        found = rows_reader(first, self._columns, self._rules, self._optional, multi_line=multi_line)
        if has_names:
            self._readers[letter.context] = found
        return found


def _columnar_again(columns: Columns, letters: Sequence[Letter]) -> pa.Table:
    raw = pa.concat_tables([unpacked_row(letter.raw) for letter in letters])
    names = file_names(raw.column_names, columns, Location(""))
    return _columnar(raw, names, columns, range(raw.num_rows))


def _json_why(letter: Letter, error: Exception) -> Reason:
    return json_reason(letter.raw, error)

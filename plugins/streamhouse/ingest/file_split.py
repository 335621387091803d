"""Reads one file whose policy for bad rows is `dead_letter`: the rows that can be read, and the others."""

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.bad_rows import (
    BadRow,
    Letter,
    Reason,
    Split,
    csv_reason,
    json_reason,
    part,
    same_context,
    split_again,
)
from streamhouse.ingest.formats import Format, csv_rows, nothing
from streamhouse.ingest.json_rows import json_rows
from streamhouse.ingest.parquet import parquet_part, parquet_rows
from streamhouse.ingest.parquet_types import file_names, fitted
from streamhouse.ingest.records import Records, csv_records, is_open, json_records
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.keyed import padded

Columns = tuple[Column, ...]


@dataclass(frozen=True)
class FileSplit:
    """A file, or some rows of it, taken apart.

    Attributes:
        rows: That can be read.
        numbers: Of each of `rows`, which record of the file it is, from 0; rises.
        bad: Number of a record → what is wrong with it.
        records: How many records the file has.
        lines: Of each record, the line where it begins; empty: the number is the place.
    """

    rows: pa.Table
    numbers: NDArray[np.int64]
    bad: dict[int, BadRow]
    records: int
    lines: Sequence[int] = ()

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
        return f"{name}:{self.lines[number] if self.lines else number + 1}"


def split_text(path: Path, kind: Format, columns: Columns, optional: tuple[str, ...], name: str) -> FileSplit:
    """A file of CSV or JSON, taken apart; the last two are kept in memory, until they change.

    Raises:
        SourceError: it cannot be read at all, or lacks a column.
    """
    try:
        stat = path.stat()
        return _split_text(path, kind, columns, optional, name, stat.st_size, stat.st_mtime_ns)
    except KeyError as error:
        raise SourceError(f"a column is absent: {error.args[0]}", at=Location(name)) from error
    except OSError as error:
        raise SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name)) from error


@lru_cache(maxsize=2)
def _split_text(
    path: Path, kind: Format, columns: Columns, optional: tuple[str, ...], name: str, *_stamp: int
) -> FileSplit:
    data = path.read_bytes()
    records = csv_records(data) if kind == "csv" else json_records(data)
    parse: Callable[[Sequence[bytes]], pa.Table]
    reason = csv_reason if kind == "csv" else json_reason
    if kind == "csv":
        parse = partial(_csv, records.header, columns, optional)
        _check_header(records, columns, optional, name)
    else:
        parse = partial(_json, columns)
    found = part(records.texts, parse, reason)
    header = records.header.decode(errors="replace")
    bad = {
        number: BadRow(Letter(f"{name}:{records.lines[number]}", records.texts[number], header), *why)
        for number, why in sorted(found.wrong.items())
    }
    rows = pa.concat_tables([arrow_schema(columns).empty_table(), *found.tables])
    return FileSplit(rows, np.array(found.numbers, dtype=np.int64), bad, len(records.texts), records.lines)


def _check_header(records: Records, columns: Columns, optional: tuple[str, ...], name: str) -> None:
    """A file whose first line cannot be read has no rows at all: nobody knows what their values mean."""
    try:
        csv_rows(records.header + b"\n", columns, optional)
    except pa.ArrowException as error:
        hint = "the first line of CSV has the names of the columns"
        raise SourceError(f"the first line cannot be read: {error}", at=Location(name), hint=hint) from error


def _csv(header: bytes, columns: Columns, optional: tuple[str, ...], texts: Sequence[bytes]) -> pa.Table:
    if any(b'"' in text and _unclosed(text) for text in texts):
        raise ValueError("parse error: a quote is not closed")
    return csv_rows(b"\n".join([header, *texts]) + b"\n", columns, optional)


def _unclosed(text: bytes) -> bool:
    within = False
    for line in text.replace(b"\r", b"\n").split(b"\n"):
        within = is_open(line, within=within)
    return within


def _json(columns: Columns, texts: Sequence[bytes]) -> pa.Table:
    return json_rows(texts, columns)


def split_parquet(
    path: Path, columns: Columns, optional: Collection[str], name: str, span: tuple[int, int]
) -> FileSplit:
    """The rows `[first, last)` of a Parquet file, taken apart.

    Raises:
        SourceError: it cannot be read at all, or lacks a column.
    """
    first = span[0]
    raw, names = parquet_part(path, columns, optional, Location(name), span)
    there = tuple(column for column in columns if column.name in names)
    try:
        fitted(raw.slice(0, 0), there, names)
    except pa.ArrowException as error:
        hint = "declare the column with the type that the file has, and convert it in the action"
        raise SourceError(f"no row of the file fits: {error}", at=Location(name), hint=hint) from error
    parse = partial(_parquet, raw, names, columns)
    found = part(range(raw.num_rows), parse, lambda _, error: ("type", str(error)))
    bad = {
        first + number: BadRow(Letter(f"{name}:{first + number + 1}", _packed(raw.slice(number, 1))), *why)
        for number, why in sorted(found.wrong.items())
    }
    rows = pa.concat_tables([arrow_schema(columns).empty_table(), *found.tables])
    return FileSplit(rows, np.array(found.numbers, dtype=np.int64) + first, bad, parquet_rows(path).rows)


def _parquet(raw: pa.Table, names: Mapping[str, str], columns: Columns, numbers: Sequence[int]) -> pa.Table:
    if not numbers:
        return arrow_schema(columns).empty_table()
    there = tuple(column for column in columns if column.name in names)
    some = raw.slice(numbers[0], len(numbers))
    rows = padded(fitted(some, there, names), columns) if there else nothing(columns, some.num_rows)
    rows.validate(full=True)
    return rows


def _packed(rows: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return sink.getvalue()


def unpacked_row(raw: bytes) -> pa.Table:
    """A row of Parquet as a dead letter has it.

    Raises:
        pa.ArrowInvalid: it is none.
    """
    with pa.ipc.open_stream(raw) as reader:
        return reader.read_all()


def files_again(letters: Sequence[Letter], kind: Format, columns: Columns, optional: tuple[str, ...]) -> Split:
    """Rows of files that could not be read before."""
    empty = arrow_schema(columns).empty_table()
    if kind == "parquet":
        return split_again(letters, empty, partial(_parquet_again, columns, optional), _of_type)
    if kind == "json":
        return split_again(letters, empty, lambda some: _json(columns, [one.raw for one in some]), json_reason)

    def parse(some: Sequence[Letter]) -> pa.Table:
        return _csv(same_context(some).encode(), columns, optional, [one.raw for one in some])

    return split_again(letters, empty, parse, csv_reason)


def _parquet_again(columns: Columns, optional: Collection[str], letters: Sequence[Letter]) -> pa.Table:
    raw = pa.concat_tables([unpacked_row(letter.raw) for letter in letters])
    names = file_names(raw.column_names, columns, Location(""))
    if lacking := [c.name for c in columns if c.name not in names and c.name not in optional]:
        raise KeyError(lacking[0])
    return _parquet(raw, names, columns, range(raw.num_rows))


def _of_type(_: bytes, error: Exception) -> Reason:
    return "type", str(error)

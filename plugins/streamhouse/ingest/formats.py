"""Reads one CSV, JSON, Parquet or Avro file as Arrow rows of given types."""

import io
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.json as pa_json

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.columnar import columnar_part, columnar_rows, is_columnar
from streamhouse.ingest.csv_file import csv_columns, read_csv
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_options import PLAIN
from streamhouse.ingest.json_file import json_file, wrong_line
from streamhouse.ingest.json_rows import UnreadableRecordError, first_wrong, json_rows, refuse_other_fields
from streamhouse.ingest.not_null import HINT, first_null
from streamhouse.ingest.other_fields import of_fields
from streamhouse.ingest.packed_file import without_packing
from streamhouse.ingest.parquet import column_types
from streamhouse.ingest.parquet_types import fitted
from streamhouse.ingest.records import one_line
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.ingest.wrong_row import first_wrong_row
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.keyed import padded

Format = Literal["csv", "json", "parquet", "avro"]

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".avro": "avro",
}
_OF_ROW = re.compile(r"Row #(\d+): ", re.ASCII)
_IN_ROW = re.compile(r" in row (\d+)$", re.ASCII)
_INFERRED_BYTES = 1 << 20
_OTHER_TYPE = (
    "declare the column with a type that holds the value, mend the file, or let such rows go to a table of their own: "
    "on_bad_rows: dead_letter"
)
AS_SPARK = CsvRules(PLAIN)
"""CSV that a source says nothing of."""


def format_of(path: str) -> Format | None:
    """The format that the name of files says, also of compressed ones; None: it says none.

    Example:
        >>> format_of("data/*.csv"), format_of("data/2026.jsonl.gz"), format_of("data/*")
        ('csv', 'json', None)
    """
    return SUFFIXES.get(Path(without_packing(path)).suffix.lower())


def infer_columns(path: AnyFile, kind: Format, name: str, rules: CsvRules = AS_SPARK) -> tuple[Column, ...]:
    """The columns of a file by its content.

    They are of CSV those of its first MiB, of JSON of all of it, of Parquet of its footer, of Avro of its schema.

    Raises:
        SourceError: the file cannot be read; `name` is what the message calls it.
    """
    if is_columnar(kind):
        file = columnar_rows(path, kind, Location(name))
        for error in file.refused.values():
            raise SourceError(error.message, at=Location(name), hint="declare the other columns under 'columns'")
        return file.columns
    if kind == "csv":
        return csv_columns(path, name, rules)
    try:
        return _json_columns(path, name)
    except (pa.ArrowException, OSError) as error:
        raise _malformed(name, error) from error


def read_file(
    path: AnyFile,
    kind: Format,
    columns: tuple[Column, ...],
    name: str,
    rows: tuple[int, int] | None = None,
    *,
    optional: Collection[str] = (),
    rules: CsvRules = AS_SPARK,
) -> pa.Table:
    """The rows `[first, last)` of a file, or all, with exactly these columns; others that it has are left out.

    An absent column is null. CSV is read as Spark's reader reads it (`csv_file`).
    JSON is an object in each line, or a list of objects; an absent field is null. A time without a zone is UTC where
    the column is a `timestamp`.

    Args:
        path: The file.
        kind: Its format.
        columns: Those to read.
        name: What messages call the file.
        rows: The range; None: all.
        optional: Of CSV, columns that may be absent beside a similar name.
        rules: How CSV is written.

    Raises:
        SourceError: a row is malformed, a value does not fit its type, or a row lacks a value that every row has. Of
            Parquet and Avro its place has the number of the row.
    """
    try:
        if is_columnar(kind):
            raw, names = columnar_part(path, kind, columns, Location(name), rows)
            first = rows[0] if rows else 0
            found = _fitted(raw, columns, names, name, first)
            if lacks := first_null(found, columns):
                raise SourceError(lacks[1], at=Location(name, first + lacks[0] + 1), hint=HINT)
            return found
        is_csv = kind == "csv"
        found = read_csv(path, columns, name, rules, optional) if is_csv else read_json(path, columns, name)
        return found.slice(rows[0], rows[1] - rows[0]) if rows else found
    except (pa.ArrowException, OSError) as error:
        raise _malformed(name, error) from error


def _fitted(raw: pa.Table, columns: tuple[Column, ...], names: Mapping[str, str], name: str, first: int) -> pa.Table:
    there = [column for column in columns if column.name in names]
    if not there:
        return nothing(columns, raw.num_rows)
    fitted(raw.slice(0, 0), there, names)  # a type that never fits is no matter of a row
    try:
        return padded(fitted(raw, there, names), columns)
    except pa.ArrowException as error:

        def read(begin: int, end: int) -> pa.Table:
            return fitted(raw.slice(begin, end - begin), there, names)

        number, why = first_wrong_row(raw.num_rows, read, error)
        row = first + number + 1
        raise SourceError(f"row {row} does not fit: {why}", at=Location(name, row), hint=_OTHER_TYPE) from error


def nothing(columns: tuple[Column, ...], rows: int) -> pa.Table:
    """So many rows without any value."""
    schema = arrow_schema(columns)
    return pa.table([pa.nulls(rows, field.type) for field in schema], schema=schema)


def read_json(path: AnyFile, columns: tuple[Column, ...], name: str) -> pa.Table:
    """The rows of a file of JSON objects, in lines or in a list, with exactly these columns; an absent field is null.

    Raises:
        SourceError: a line is no object, or a value does not fit; with its line.
        OSError: the file cannot be read.
    """
    records = json_file(path, name)
    try:
        rows = json_rows(records.texts, columns)
    except UnreadableRecordError as error:
        raise wrong_line(error, error.number, records, name) from error
    refuse_other_fields(records.texts, rows.select([column.name for column in of_fields(columns)]), name)
    return rows


def _json_columns(path: AnyFile, name: str) -> tuple[Column, ...]:
    records = json_file(path, name)
    if wrong := first_wrong(records.texts):
        raise wrong_line(wrong, wrong.number, records, name)
    text = b"\n".join(one_line(record.removeprefix(b"\xef\xbb\xbf")) for record in records.texts)
    options = pa_json.ReadOptions(block_size=max(_INFERRED_BYTES, len(text) + 1))
    try:
        schema = pa_json.read_json(io.BytesIO(text), options).schema
    except pa.ArrowInvalid as error:
        found = _IN_ROW.search(str(error))
        line = records.lines[min(int(found[1]), len(records.lines) - 1)] if found else 1
        hint = f"declare the columns; these are found by: streamhouse source infer {name}"
        raise SourceError(f"no columns fit all rows: {error}", at=Location(name, line), hint=hint) from error
    names: dict[str, str] = {}
    for one in schema.names:
        if (known := names.setdefault(one.lower(), one)) != one:
            what = f"'{known}' and '{one}' are one column to Spark: case makes no difference"
            raise SourceError(what, at=Location(name, 1), hint="declare one of them under 'columns'")
    return column_types(schema, name, Location(name))


def _malformed(name: str, error: Exception) -> SourceError:
    if isinstance(error, OSError) and not isinstance(error, pa.ArrowException):
        return SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name))
    cause = str(error).split(" If these timestamps", maxsplit=1)[0]
    line = 1
    if of_row := _OF_ROW.match(cause):
        cause, line = cause[of_row.end() :], int(of_row[1])
    return SourceError(
        f"the file is malformed: {cause}",
        at=Location(name, line),
        hint="mend the file, or declare the column with a wider type under 'columns'",
    )

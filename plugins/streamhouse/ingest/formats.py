"""Reads one CSV, JSON or Parquet file as Arrow rows of given types."""

import io
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.json as pa_json

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.csv_file import csv_columns, read_csv
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_options import PLAIN
from streamhouse.ingest.parquet import column_types, parquet_rows
from streamhouse.ingest.times import text_type, untold
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type, conform
from streamhouse.stores.keyed import padded

Format = Literal["csv", "json", "parquet"]

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
_OF_ROW = re.compile(r"Row #(\d+): ")
AS_SPARK = CsvRules(PLAIN)
"""CSV that a source says nothing of."""
_NULL_LINE = re.compile(rb"^[ \t\r]*null[ \t\r]*$", re.MULTILINE)


def infer_columns(path: Path, kind: Format, name: str, rules: CsvRules = AS_SPARK) -> tuple[Column, ...]:
    """The columns of a file by its content: CSV by its first MiB, JSON by all of it, Parquet by its footer.

    Raises:
        SourceError: the file cannot be read; `name` is what the message calls it.
    """
    if kind == "parquet":
        return parquet_rows(path, Location(name)).columns
    if kind == "csv":
        return csv_columns(path, name, rules)
    try:
        return column_types(pa_json.read_json(_objects(path)).schema, name, Location(name))
    except (pa.ArrowException, OSError) as error:
        raise _malformed(path, kind, name, error) from error


def read_file(
    path: Path,
    kind: Format,
    columns: tuple[Column, ...],
    name: str,
    rows: tuple[int, int] | None = None,
    *,
    optional: Collection[str] = (),
    rules: CsvRules = AS_SPARK,
) -> pa.Table:
    """The rows `[first, last)` of a file, or all, with exactly these columns; others that it has are left out.

    A column that is `optional` and absent is null. CSV is read as Spark's reader reads it (`csv_file`).
    JSON is one object per line; an absent field is null. A time without a zone is UTC where the column is a
    `timestamp`.

    Args:
        path: The file.
        kind: Its format.
        columns: Those to read.
        name: What messages call the file.
        rows: The range; None: all.
        optional: Columns that the file may lack; of JSON it may lack any.
        rules: How CSV is written.

    Raises:
        SourceError: a row is malformed, a value does not fit its type, or a column is absent.
    """
    try:
        if kind == "parquet":
            parquet_file = parquet_rows(path, Location(name))
            first, last = rows or (0, parquet_file.rows)
            there = _there(columns, parquet_file.columns, optional)
            return padded(conform(parquet_file.slice(first, last, tuple(c.name for c in there)), there), columns)
        if kind == "csv":
            found = read_csv(path, columns, name, rules, optional)
        else:
            found = conform(json_rows(path, columns), columns)
        return found.slice(rows[0], rows[1] - rows[0]) if rows else found
    except KeyError as error:
        raise SourceError(f"a column is absent: {error.args[0]}", at=Location(name)) from error
    except (pa.ArrowException, OSError) as error:
        raise _malformed(path, kind, name, error) from error


def _there(columns: tuple[Column, ...], present: tuple[Column, ...], optional: Collection[str]) -> tuple[Column, ...]:
    """Without those that are optional and absent; never none, so that rows can be counted."""
    names = {column.name for column in present}
    return tuple(c for c in columns if c.name in names or c.name not in optional) or present[:1]


def json_rows(source: Path | BinaryIO, columns: tuple[Column, ...]) -> pa.Table:
    """The rows of a file of JSON objects, one per line, with exactly these columns; an absent field is null.

    Raises:
        pa.ArrowInvalid: it is malformed.
    """
    schema = pa.schema([(c.name, arrow_type(c.type)) for c in columns])
    text_schema = pa.schema([(field.name, text_type(field.type)) for field in schema])
    objects = _objects(source)
    if text_schema == schema:
        return _json(objects, schema)
    try:
        found = _json(objects, text_schema)
    except pa.ArrowInvalid:
        objects.seek(0)
        return _json(objects, schema)  # days may be numbers
    arrays = [untold(column.combine_chunks(), field.type) for column, field in zip(found.columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _objects(source: Path | BinaryIO) -> BinaryIO:
    """The text of a source.

    Raises:
        pa.ArrowInvalid: a line is `null`: Arrow's reader makes a row of it, or ends the process where it stands alone.
    """
    text = source.read_bytes() if isinstance(source, Path) else source.read()
    if found := _NULL_LINE.search(text):
        line = text.count(b"\n", 0, found.start()) + 1
        raise pa.ArrowInvalid(f"Row #{line}: JSON parse error: it is null and no object")
    return io.BytesIO(text)


def _json(source: BinaryIO, schema: pa.Schema) -> pa.Table:
    options = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    return pa_json.read_json(source, parse_options=options)


def _malformed(path: Path, kind: Format, name: str, error: Exception) -> SourceError:
    if isinstance(error, OSError) and not isinstance(error, pa.ArrowException):
        return SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name))
    cause = str(error).split(" If these timestamps", maxsplit=1)[0]
    line = 1
    if of_row := _OF_ROW.match(cause):
        cause, line = cause[of_row.end() :], int(of_row[1])
    if kind == "json":
        line = _broken_line(path) or line
    return SourceError(
        f"the file is malformed: {cause}",
        at=Location(name, line),
        hint="mend the file, or declare the column with a wider type under 'columns'",
    )


def _broken_line(path: Path) -> int | None:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    json.loads(line)
            except ValueError:
                return number
    return None

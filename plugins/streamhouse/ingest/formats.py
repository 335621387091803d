"""Reads one CSV, JSON or Parquet file as Arrow rows of given types."""

import io
import re
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.json_rows import UnreadableRecordError, first_wrong, json_rows
from streamhouse.ingest.parquet import column_types, parquet_part, parquet_rows
from streamhouse.ingest.parquet_types import fitted
from streamhouse.ingest.records import Records, json_records
from streamhouse.ingest.times import text_type, untold
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema, arrow_type, conform
from streamhouse.stores.keyed import padded

Format = Literal["csv", "json", "parquet"]

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
_ROW = re.compile(r"[Rr]ow #?(\d+)")
_OF_ROW = re.compile(r"Row #(\d+): ")
_INFERRED_BYTES = 1 << 20


def infer_columns(path: Path, kind: Format, name: str) -> tuple[Column, ...]:
    """The columns of a file by its content: CSV by its first MiB, JSON by all of it, Parquet by its footer.

    Raises:
        SourceError: the file cannot be read; `name` is what the message calls it.
    """
    if kind == "parquet":
        parquet_file = parquet_rows(path, Location(name))
        for error in parquet_file.refused.values():
            raise SourceError(error.message, at=Location(name), hint="declare the other columns under 'columns'")
        return parquet_file.columns
    try:
        if kind == "csv":
            with pa_csv.open_csv(path, read_options=pa_csv.ReadOptions(block_size=_INFERRED_BYTES)) as reader:
                return column_types(reader.schema, name, Location(name))
        return _json_columns(path, name)
    except (pa.ArrowException, OSError) as error:
        raise _malformed(kind, name, error) from error


def read_file(
    path: Path,
    kind: Format,
    columns: tuple[Column, ...],
    name: str,
    rows: tuple[int, int] | None = None,
    *,
    optional: Collection[str] = (),
) -> pa.Table:
    """The rows `[first, last)` of a file, or all, with exactly these columns; others that it has are left out.

    A column that is `optional` and absent is null. CSV needs a header line with the names; an empty field is null.
    JSON is one object per line; an absent field is null. A time without a zone is UTC where the column is a
    `timestamp`.

    Args:
        path: The file.
        kind: Its format.
        columns: Those to read.
        name: What messages call the file.
        rows: The range; None: all.
        optional: Columns that the file may lack; of JSON it may lack any.

    Raises:
        SourceError: a row is malformed, a value does not fit its type, or a column is absent.
    """
    try:
        if kind == "parquet":
            raw, names = parquet_part(path, columns, optional, Location(name), rows)
            there = [column for column in columns if column.name in names]
            return padded(fitted(raw, there, names), columns) if there else nothing(columns, raw.num_rows)
        if kind == "csv" and optional:
            columns, wanted = _there(columns, _csv_texts(path), optional), columns
            return padded(read_file(path, kind, columns, name, rows), wanted)
        found = conform(_read_csv(path, columns), columns) if kind == "csv" else read_json(path, columns, name)
        return found.slice(rows[0], rows[1] - rows[0]) if rows else found
    except KeyError as error:
        raise SourceError(f"a column is absent: {error.args[0]}", at=Location(name)) from error
    except (pa.ArrowException, OSError) as error:
        raise _malformed(kind, name, error) from error


def nothing(columns: tuple[Column, ...], rows: int) -> pa.Table:
    """So many rows without any value."""
    schema = arrow_schema(columns)
    return pa.table([pa.nulls(rows, field.type) for field in schema], schema=schema)


def _there(columns: tuple[Column, ...], present: tuple[Column, ...], optional: Collection[str]) -> tuple[Column, ...]:
    """Without those that are optional and absent; never none, so that rows can be counted."""
    names = {column.name for column in present}
    return tuple(c for c in columns if c.name in names or c.name not in optional) or present[:1]


def csv_rows(text: bytes, columns: tuple[Column, ...], optional: Collection[str] = ()) -> pa.Table:
    """The rows of a text of CSV with exactly these columns; one that is `optional` and absent is null.

    Raises:
        pa.ArrowInvalid: it is malformed, or a value does not fit its type.
        KeyError: a column is absent.
    """
    there = _there(columns, _csv_texts(io.BytesIO(text)), optional) if optional else columns
    return padded(conform(_read_csv(io.BytesIO(text), there), there), columns)


def csv_names(path: Path, name: str) -> tuple[str, ...]:
    """The names in the first line of a CSV file.

    Raises:
        SourceError: it has none, or has one twice; `name` is what the message calls the file.
    """
    try:
        found = tuple(column.name for column in _csv_texts(path))
    except (pa.ArrowException, OSError) as error:
        raise _malformed("csv", name, error) from error
    if twice := sorted({one for one in found if found.count(one) > 1}):
        raise SourceError(f"the first line names '{twice[0]}' twice", at=Location(name, 1), hint="rename one")
    return found


def _csv_texts(path: Path | BinaryIO) -> tuple[Column, ...]:
    with pa_csv.open_csv(path, read_options=pa_csv.ReadOptions(block_size=_INFERRED_BYTES)) as reader:
        return tuple(Column(name=name, type="string") for name in reader.schema.names)


def _read_csv(path: Path | BinaryIO, columns: tuple[Column, ...]) -> pa.Table:
    # Arrow refuses times without a zone for an instant, and takes no mixture: they are read as text first.
    types = {c.name: text_type(arrow_type(c.type)) for c in columns}
    rows = pa_csv.read_csv(
        path,
        # One thread, because only then does Arrow tell the row of a value it cannot read.
        read_options=pa_csv.ReadOptions(use_threads=False),
        convert_options=pa_csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    for n, column in enumerate(columns):
        texts = rows.column(n).combine_chunks()
        rows = rows.set_column(n, column.name, untold(texts, arrow_type(column.type)))
    return rows


def read_json(path: Path, columns: tuple[Column, ...], name: str) -> pa.Table:
    """The rows of a file of JSON objects, one in each line, with exactly these columns; an absent field is null.

    Raises:
        SourceError: a line is no object, or a value does not fit; with its line.
        OSError: the file cannot be read.
    """
    records = json_records(path.read_bytes())
    try:
        return json_rows(records.texts, columns)
    except UnreadableRecordError as error:
        raise _wrong_line(error, records, name) from error


def _json_columns(path: Path, name: str) -> tuple[Column, ...]:
    records = json_records(path.read_bytes())
    if wrong := first_wrong(records.texts):
        raise _wrong_line(wrong, records, name)
    text = b"\n".join(record.removeprefix(b"\xef\xbb\xbf") for record in records.texts)
    options = pa_json.ReadOptions(block_size=max(_INFERRED_BYTES, len(text) + 1))
    return column_types(pa_json.read_json(io.BytesIO(text), options).schema, name, Location(name))


def _wrong_line(error: UnreadableRecordError, records: Records, name: str) -> SourceError:
    if error.reason == "type":
        hint = "mend the value, or declare the column with a type that it fits: a string takes every value"
    else:
        hint = "mend the line, or let such lines go to a table of their own: on_bad_rows: dead_letter"
    what = str(error) if error.reason == "type" else f"the line cannot be read: {error}"
    return SourceError(what, at=Location(name, records.lines[error.number]), hint=hint)


def _malformed(kind: Format, name: str, error: Exception) -> SourceError:
    if isinstance(error, OSError) and not isinstance(error, pa.ArrowException):
        return SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name))
    cause = str(error).split(" If these timestamps", maxsplit=1)[0]
    found = _ROW.search(cause)
    line = int(found[1]) if found and kind == "csv" else 1
    if of_row := _OF_ROW.match(cause):
        cause, line = cause[of_row.end() :], int(of_row[1]) + (kind == "csv")  # the names stand in its first line
    return SourceError(
        f"the file is malformed: {cause}",
        at=Location(name, line),
        hint="mend the file, or declare the column with a wider type under 'columns'",
    )

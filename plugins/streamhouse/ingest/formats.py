"""Reads one CSV, JSON or Parquet file as Arrow rows of given types."""

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.parquet import column_types, parquet_rows
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
_ROW = re.compile(r"[Rr]ow #?(\d+)")
_ZONE = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"
_INFERRED_BYTES = 1 << 20


def infer_columns(path: Path, kind: Format, name: str) -> tuple[Column, ...]:
    """The columns of a file by its content: CSV by its first MiB, JSON by all of it, Parquet by its footer.

    Raises:
        SourceError: the file cannot be read; `name` is what the message calls it.
    """
    if kind == "parquet":
        return parquet_rows(path, Location(name)).columns
    try:
        if kind == "csv":
            with pa_csv.open_csv(path, read_options=pa_csv.ReadOptions(block_size=_INFERRED_BYTES)) as reader:
                return column_types(reader.schema, name, Location(name))
        return column_types(pa_json.read_json(path).schema, name, Location(name))
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
            held = parquet_rows(path, Location(name))
            first, last = rows or (0, held.rows)
            there = _there(columns, held.columns, optional)
            return padded(conform(held.slice(first, last, tuple(c.name for c in there)), there), columns)
        if kind == "csv" and optional:
            columns, wanted = _there(columns, _csv_texts(path), optional), columns
            return padded(read_file(path, kind, columns, name, rows), wanted)
        found = conform(_read_csv(path, columns) if kind == "csv" else json_rows(path, columns), columns)
        return found.slice(rows[0], rows[1] - rows[0]) if rows else found
    except KeyError as error:
        raise SourceError(f"a column is absent: {error.args[0]}", at=Location(name)) from error
    except (pa.ArrowException, OSError) as error:
        raise _malformed(path, kind, name, error) from error


def _there(columns: tuple[Column, ...], present: tuple[Column, ...], optional: Collection[str]) -> tuple[Column, ...]:
    """Without those that are optional and absent; never none, so that rows can be counted."""
    names = {column.name for column in present}
    return tuple(c for c in columns if c.name in names or c.name not in optional) or present[:1]


def _csv_texts(path: Path) -> tuple[Column, ...]:
    with pa_csv.open_csv(path, read_options=pa_csv.ReadOptions(block_size=_INFERRED_BYTES)) as reader:
        return tuple(Column(name=name, type="string") for name in reader.schema.names)


def _read_csv(path: Path, columns: tuple[Column, ...]) -> pa.Table:
    # Arrow refuses times without a zone for an instant, and takes no mixture: they are read as text first.
    instants = [c.name for c in columns if c.type == "timestamp"]
    types = {c.name: pa.string() if c.name in instants else arrow_type(c.type) for c in columns}
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
    for name in instants:
        rows = rows.set_column(rows.schema.get_field_index(name), name, as_instants(rows[name]))
    return rows


def as_instants(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts, some of them with a zone, as instants; one without a zone is UTC."""
    zoned = pc.match_substring_regex(texts, _ZONE)
    utc = pa.timestamp("us", tz="UTC")
    with_zone = pc.if_else(zoned, texts, None).cast(utc)
    without = pc.assume_timezone(pc.if_else(zoned, None, texts).cast(pa.timestamp("us")), "UTC")
    return pc.coalesce(with_zone, without)


def json_rows(source: Path | BinaryIO, columns: tuple[Column, ...]) -> pa.Table:
    """The rows of a file of JSON objects, one per line, with exactly these columns; an absent field is null.

    Raises:
        pa.ArrowInvalid: it is malformed.
    """
    schema = pa.schema([(c.name, arrow_type(c.type)) for c in columns])
    return pa_json.read_json(
        source,
        parse_options=pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def _malformed(path: Path, kind: Format, name: str, error: Exception) -> SourceError:
    if isinstance(error, OSError) and not isinstance(error, pa.ArrowException):
        return SourceError(f"the file cannot be read: {error.strerror or error}", at=Location(name))
    cause = str(error).split(" If these timestamps", maxsplit=1)[0]
    found = _ROW.search(cause)
    line = int(found[1]) if found and kind == "csv" else 1
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

"""A Parquet file, served as slices; what was decoded last is kept for the next slice."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, count
from pathlib import Path
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.foreign import ForeignError, refuse_foreign
from streamhouse.ingest.parquet_size import TooLargeRowsError, read_group
from streamhouse.ingest.stored_object import AnyFile, on_disk
from streamhouse.ingest.wrong_row import first_wrong_row
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema, arrow_type, conform, spark_type

_CACHE_BYTES = 32 << 20
_MOST_BEGINNING = 200
_numbers = count()  # of the files opened by this process


class ParquetRows:
    """The rows of one file, in the order of the file.

    Opening reads the footer only. Columns of a type that Spark lacks are in `refused`, with their error. A read decodes
    the row groups it touches, and of them the columns it wants; they are kept for the next read: of all files together
    `_CACHE_BYTES`, or one row group that is larger. May be used from several threads.
    """

    def __init__(self, path: AnyFile, at: Location | None = None) -> None:
        self._path = path
        self.name = path.name
        self._at = at
        try:
            is_local = isinstance(path, Path)
            # Of an object the ranges of wanted columns are asked for, those that lie together at once.
            self._file = pq.ParquetFile(
                path if is_local else path.open(),
                memory_map=is_local,
                pre_buffer=not is_local,
                coerce_int96_timestamp_unit="us",
            )
        except (pa.ArrowException, OSError) as error:
            what, hint = _begins_as(path, error)
            raise SourceError(f"{path.name} is no readable Parquet file: {what}", at=at, hint=hint) from error
        self.rows: int = self._file.metadata.num_rows
        self.columns, self.refused = _readable(self._file.schema_arrow, path.name)
        self.metadata: dict[bytes, bytes] | None = self._file.metadata.metadata
        groups = range(self._file.metadata.num_row_groups)
        self._ends = list(accumulate(self._file.metadata.row_group(group).num_rows for group in groups))
        schema = self._file.schema
        columns = (schema.column(at) for at in range(len(schema)))
        self._old_times = {c.path.split(".", 1)[0] for c in columns if c.physical_type == "INT96"}
        self._lock = Lock()
        self._number = next(_numbers)

    def slice(self, start: int, end: int, columns: tuple[str, ...] | None = None) -> pa.Table:
        """Rows `[start, end)`, counted from 0, with the types of `stores/arrow.py`."""
        wanted = [c for c in self.columns if columns is None or c.name in columns]
        parts = [arrow_schema(wanted).empty_table()]
        for group in range(bisect_right(self._ends, start), len(self._ends)):
            first = self._ends[group - 1] if group else 0
            if first >= end:
                break
            begin = max(start - first, 0)
            parts.append(self._group(group, wanted).slice(begin, end - first - begin))
        return pa.concat_tables(parts)

    def _group(self, group: int, wanted: list[Column]) -> pa.Table:
        with self._lock:
            found = {c.name: _decoded.get((self._number, group, c.name)) for c in wanted}
            missing = [c for c in wanted if found[c.name] is None]
            if missing:
                rows = self._decode(group, missing)
                for name, column in zip(rows.column_names, rows.columns, strict=True):
                    found[name] = column
                    _decoded.put((self._number, group, name), column)
        return pa.table(list(found.values()), names=list(found))

    def _decode(self, group: int, wanted: list[Column]) -> pa.Table:
        """Columns of a row group."""
        old = [c for c in wanted if c.name in self._old_times]
        plain = [c for c in wanted if c.name not in self._old_times]
        first = self._ends[group - 1] if group else 0
        try:
            found = read_group(self._file, self._path, group, [c.name for c in plain])
            rows = self._conformed(found, plain, first)
            if not old:
                return rows
            times = _old_times(self._path, [c.name for c in old], first, self._ends[group] - first)
        except (pa.ArrowException, OSError) as error:
            message = f"{self._path.name} cannot be read: {error}"
            raise SourceError(message, at=self._at, hint="the file is damaged: put it there again") from error
        except TooLargeRowsError as error:
            at = Location(self._path.name, first + 1)
            hint = "write it with smaller row groups, or leave the column out of 'columns'"
            raise SourceError(f"{self._path.name} cannot be read: {error}", at=at, hint=hint) from error
        times = self._conformed(times, old, first)
        return pa.table([*rows.columns, *times.columns], names=[*rows.column_names, *times.column_names])

    def _conformed(self, rows: pa.Table, columns: list[Column], first: int) -> pa.Table:
        try:
            return conform(rows, columns)
        except pa.ArrowException as error:

            def read(begin: int, end: int) -> pa.Table:
                return conform(rows.slice(begin, end - begin), columns)

            number, why = first_wrong_row(rows.num_rows, read, error)
            row = first + number + 1
            message = f"{self._path.name} cannot be read: row {row} does not fit: {why}"
            raise SourceError(message, at=Location(self._path.name, row), hint=_hint(error)) from error


def _old_times(path: AnyFile, names: list[str], first: int, count: int) -> pa.Table:
    """Columns with times of twelve bytes, which Arrow decodes wrongly before 1970 where Arrow itself wrote them."""
    import duckdb

    with on_disk(path) as file, duckdb.connect(config={"threads": 1}) as connection:
        rows = connection.read_parquet(str(file)).select(*(duckdb.ColumnExpression(name) for name in names))
        return rows.limit(count, first).to_arrow_table()


def _begins_as(path: AnyFile, error: Exception) -> tuple[str, str]:
    """What a file is that is no Parquet file, and what to do."""
    with path.open("rb") as file:
        begins = file.read(_MOST_BEGINNING)
    try:
        refuse_foreign(begins, form="parquet")
    except ForeignError as foreign:
        return str(foreign), foreign.hint
    if begins and begins.decode(errors="replace").replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
        return "it looks like text", "format: csv, or format: json"
    return str(error), _hint(error)


def _hint(error: Exception) -> str:
    if "would lose data" in str(error):
        return "a time has microseconds at most: write the file with them, or leave the column out of 'columns'"
    return "the file is damaged: put it there again"


class _Decoded:
    """The columns used last, up to a number of bytes; at least those of one row group. Safe for threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._columns: OrderedDict[tuple[int, int, str], pa.ChunkedArray] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple[int, int, str]) -> pa.ChunkedArray | None:
        with self._lock:
            if key in self._columns:
                self._columns.move_to_end(key)
            return self._columns.get(key)

    def put(self, key: tuple[int, int, str], column: pa.ChunkedArray) -> None:
        with self._lock:
            self._columns[key] = column
            self._bytes += column.nbytes
            while self._bytes > self._most_bytes and next(iter(self._columns))[:2] != key[:2]:
                self._bytes -= self._columns.popitem(last=False)[1].nbytes


_decoded = _Decoded(_CACHE_BYTES)


@lru_cache(maxsize=16)
def _cached(path: AnyFile, *_stamp: int) -> ParquetRows:
    return ParquetRows(path)


def parquet_rows(path: AnyFile, at: Location | None = None) -> ParquetRows:
    """The rows of a file; one object in a process for as long as the file does not change.

    Raises:
        SourceError: there is no such file, or it is no Parquet file.
    """
    try:
        stat = path.stat()
        return _cached(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror}", at=at) from error
    except UnicodeDecodeError as error:
        message = f"{path.name} is no readable Parquet file: a name in it is no UTF-8"
        raise SourceError(message, at=at, hint=_hint(error)) from error
    except SourceError as error:
        raise SourceError(error.message, at=at, hint=error.hint) from error


def _readable(schema: pa.Schema, name: str) -> tuple[tuple[Column, ...], dict[str, SourceError]]:
    """The columns that can be read, and the error of each of the others."""
    found: list[Column] = []
    refused: dict[str, SourceError] = {}
    for field in schema:
        try:
            found += column_types([field], name, None)
        except SourceError as error:
            refused[field.name] = error
    return tuple(found), refused


def column_types(schema: Iterable[pa.Field], name: str, at: Location | None) -> tuple[Column, ...]:
    """The columns of an Arrow schema as Spark SQL types.

    A timestamp without a zone is taken for UTC, so that it is an instant like every other one;
    a column without any value is a string.

    Raises:
        SourceError: Spark SQL has no type for a column.
    """
    return tuple(Column(name=field.name, type=_source_type(field, name, at)) for field in schema)


def _source_type(field: pa.Field, name: str, at: Location | None) -> str:
    if pa.types.is_timestamp(field.type):
        return "timestamp"
    if pa.types.is_null(field.type) or pa.types.is_time(field.type):
        return "string"
    if pa.types.is_uint64(field.type):
        return "decimal(20,0)"
    try:
        found = spark_type(field.type)
        arrow_type(found)
    except ValueError as error:
        raise SourceError(f"column '{field.name}' of {name}: {error}", at=at) from error
    return found

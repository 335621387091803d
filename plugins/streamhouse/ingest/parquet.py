"""A Parquet file whose columns are read once in a process and then served as slices."""

from functools import lru_cache
from pathlib import Path
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq

from streamhouse.errors import Location, SourceError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type, conform, spark_type


class ParquetRows:
    """The rows of one file, in the order of the file.

    Opening reads the footer only. A column is decoded, and held in memory, from the first read
    that asks for it; slices share that memory. May be used from several threads.
    """

    def __init__(self, path: Path, at: Location | None = None) -> None:
        self._path = path
        self._at = at
        try:
            self._file = pq.ParquetFile(path, memory_map=True)
        except (pa.ArrowException, OSError) as error:
            raise SourceError(f"{path.name} is no readable Parquet file: {error}", at=at) from error
        self.rows: int = self._file.metadata.num_rows
        self.columns = column_types(self._file.schema_arrow, path.name, at)
        self._loaded: dict[str, pa.ChunkedArray] = {}
        self._lock = Lock()

    def slice(self, start: int, end: int, columns: tuple[str, ...] | None = None) -> pa.Table:
        """Rows `[start, end)`, counted from 0, with the types of `stores/arrow.py`."""
        wanted = [c for c in self.columns if columns is None or c.name in columns]
        loaded = self._load(wanted)
        names = [c.name for c in wanted]
        return pa.table([loaded[name].slice(start, end - start) for name in names], names=names)

    def _load(self, wanted: list[Column]) -> dict[str, pa.ChunkedArray]:
        with self._lock:
            missing = [c for c in wanted if c.name not in self._loaded]
            if missing:
                try:
                    rows = conform(self._file.read(columns=[c.name for c in missing]), missing)
                except (pa.ArrowException, OSError) as error:
                    raise SourceError(f"{self._path.name} cannot be read: {error}", at=self._at) from error
                self._loaded.update(zip(rows.column_names, rows.columns, strict=True))
            return self._loaded


@lru_cache(maxsize=16)
def _cached(path: Path, *_stamp: int) -> ParquetRows:
    return ParquetRows(path)


def parquet_rows(path: Path, at: Location | None = None) -> ParquetRows:
    """The rows of a file; one object in a process for as long as the file does not change.

    Raises:
        SourceError: there is no such file, or it is no Parquet file, or has a type Spark lacks.
    """
    try:
        stat = path.stat()
        return _cached(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror}", at=at) from error
    except SourceError as error:
        raise SourceError(error.message, at=at, hint=error.hint) from error


def column_types(schema: pa.Schema, name: str, at: Location | None) -> tuple[Column, ...]:
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
    try:
        found = spark_type(field.type)
        arrow_type(found)
    except ValueError as error:
        raise SourceError(f"column '{field.name}' of {name}: {error}", at=at) from error
    return found

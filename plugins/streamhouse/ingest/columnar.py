"""Files that have columns of types of their own: Parquet and Avro."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Literal, Protocol, TypeGuard

import pyarrow as pa

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.parquet import parquet_rows
from streamhouse.ingest.parquet_types import file_names, refuse_old_days
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.model.table import Column

ColumnarFormat = Literal["parquet", "avro"]

_SHOWN = 8  # names of columns


class ColumnarRows(Protocol):
    """The rows of one file, in the order of the file."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those that can be read, with the types that the file says."""

    @property
    def refused(self) -> dict[str, SourceError]:
        """Column → the error of one that cannot be read."""

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        """What else its writer says of it; None: nothing."""

    def slice(self, start: int, end: int, columns: tuple[str, ...] | None = None) -> pa.Table:
        """Rows `[start, end)`, counted from 0; of the named columns, or of all."""


def is_columnar(kind: str) -> TypeGuard[ColumnarFormat]:
    """Whether files of a format have columns of types of their own."""
    return kind in ("parquet", "avro")


def columnar_rows(path: AnyFile, kind: ColumnarFormat, at: Location | None = None) -> ColumnarRows:
    """The rows of a file; one object in a process for as long as the file does not change.

    Raises:
        SourceError: there is no such file, or it is none of this format.
    """
    if kind == "parquet":
        return parquet_rows(path, at)
    from streamhouse.ingest.avro_file import avro_file  # its library is read where a file needs it

    return avro_file(path, at)


def columnar_names(path: AnyFile, kind: ColumnarFormat, columns: Sequence[Column], at: Location) -> dict[str, str]:
    """Column → its name in a file; those that the file lacks are left out.

    Raises:
        SourceError: the file cannot be read, or has a column several times.
    """
    file = columnar_rows(path, kind, at)
    return file_names([*(c.name for c in file.columns), *file.refused], columns, at)


def refuse_other_columns(
    path: AnyFile, kind: ColumnarFormat, columns: Sequence[Column], optional: Collection[str], at: Location
) -> None:
    """Check that a file is one of a source, as that of CSV is (`csv_header.places_of`).

    Args:
        path: The file.
        kind: Its format.
        columns: All of the source.
        optional: Those that are not declared.
        at: The file, for messages.

    Raises:
        SourceError: it has none of the columns, or a similar name in place of one that is not optional.
    """
    names = columnar_names(path, kind, columns, at)
    file = columnar_rows(path, kind, at)
    there = [*(c.name for c in file.columns), *file.refused]
    if not names:
        shown = ", ".join(there[:_SHOWN]) + ", …" * (len(there) > _SHOWN)
        hint = did_you_mean(columns[0].name, there, "declare the columns that it has")
        raise SourceError(f"the file has none of the columns: it has {shown}", at=at, hint=hint)
    others = {name.lower(): name for name in there if name not in names.values()}
    for column in columns:
        close = get_close_matches(column.name.lower(), others, n=1)
        if column.name not in names and column.name not in optional and close:
            hint = f"did you mean '{others[close[0]]}'?"
            raise SourceError(f"a column is absent: the file has no '{column.name}'", at=at, hint=hint)


def columnar_part(
    path: AnyFile,
    kind: ColumnarFormat,
    columns: tuple[Column, ...],
    at: Location,
    span: tuple[int, int] | None = None,
) -> tuple[pa.Table, dict[str, str]]:
    """The rows `[first, last)` of a file, or all, with its own types and names; and column → its name in the file.

    An absent column is left out. There is at least one column, so that rows can be counted.

    Raises:
        SourceError: the file cannot be read.
    """
    file, names = columnar_rows(path, kind, at), columnar_names(path, kind, columns, at)
    for name in names.values():
        if name in file.refused:
            error = file.refused[name]
            raise SourceError(error.message, at=at, hint="leave it out of 'columns', or write it with another type")
    first, last = span or (0, file.rows)
    wanted = tuple(names.values()) or tuple(c.name for c in file.columns[:1])
    try:
        rows = file.slice(first, last, wanted)
    except SourceError as error:
        place = Location(at.file, error.at.line if error.at else 1)
        raise SourceError(error.message, at=place, hint=error.hint) from error
    refuse_old_days(rows, file.metadata, at)
    return rows, names

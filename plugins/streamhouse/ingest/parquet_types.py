"""Columns of a Parquet file as columns of the types that are declared: as Spark reads them, or refused.

Beyond Spark, whose reader of Parquet takes few other types, a value is read as another type where this loses nothing:
a text that is a number, a number without a fraction as a whole one. What would lose something is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.texts import texts_as
from streamhouse.ingest.years import parts, within_years
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema, shown_type

_VERSION = b"org.apache.spark.version"
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_NEW_CALENDAR = (3, 1)
_FIRST_DAY = date(1582, 10, 15)
_FIRST_TIME = datetime(1900, 1, 1)  # before, zones of the writer were moved as well
_KINDS = pa.types


def file_names(present: Sequence[str], columns: Sequence[Column], at: Location) -> dict[str, str]:
    """Column → its name in a file, where case does not count; without those that the file lacks.

    Raises:
        SourceError: the file has a column several times, but for the case.
    """
    found: dict[str, list[str]] = {}
    for name in present:
        found.setdefault(name.lower(), []).append(name)
    for column in columns:
        if len(same := found.get(column.name.lower(), [])) > 1:
            hint = "write the file with names that differ not by their case alone"
            raise SourceError(f"the file has column '{column.name}' several times: {', '.join(same)}", at=at, hint=hint)
    return {column.name: found[column.name.lower()][0] for column in columns if column.name.lower() in found}


def fitted(rows: pa.Table, columns: Sequence[Column], names: Mapping[str, str]) -> pa.Table:
    """Rows with the types of columns.

    Args:
        rows: As the file has them.
        columns: Of the result; each has a name in the file.
        names: Column → name in the file.

    Raises:
        pa.ArrowException: a type or a value does not fit.
        KeyError: the file lacks a column.
    """
    schema = arrow_schema(columns)
    arrays = [_column(rows.column(names[field.name]), field) for field in schema]
    return pa.table(arrays, schema=schema)


def refuse_old_days(rows: pa.Table, metadata: Mapping[bytes, bytes] | None, at: Location) -> None:
    """Check that no day or time is counted by the calendar that Spark had before version 3.

    Raises:
        SourceError: the file was written by such a Spark and has days before 1582-10-15, or times before 1900.
    """
    if not _has_old_calendar(metadata or {}):
        return
    for name in rows.column_names:
        if _has_old(rows.column(name).combine_chunks()):
            raise SourceError(
                f"column '{name}' has days before 1582 or times before 1900, which the writer counted by the Julian "
                "calendar",
                at=at,
                hint="write the file again with Spark 3 or later: spark.read.parquet(...).write.parquet(...)",
            )


def _has_old_calendar(metadata: Mapping[bytes, bytes]) -> bool:
    version = metadata.get(_VERSION)
    if version is None:
        return False
    parts = tuple(int(part) for part in version.decode(errors="replace").split(".")[:2] if part.isdigit())
    return parts < _NEW_CALENDAR or any(key in metadata for key in _LEGACY)


def _has_old(values: pa.Array) -> bool:
    kind = values.type
    if _KINDS.is_nested(kind):
        return any(map(_has_old, parts(values)))
    if _KINDS.is_date(kind):
        return pc.any(pc.less(values, pa.scalar(_FIRST_DAY, kind))).as_py() is True
    if _KINDS.is_timestamp(kind):
        return (
            pc.any(pc.less(values.cast(pa.timestamp("us")), pa.scalar(_FIRST_TIME, pa.timestamp("us")))).as_py() is True
        )
    return False


def _column(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    try:
        return pa.chunked_array([within_years(_as(chunk, field.type)) for chunk in values.chunks], field.type)
    except pa.ArrowException as error:
        found, wanted = shown_type(values.type), shown_type(field.type)
        what = f"column '{field.name}'" if found == wanted else f"column '{field.name}' is {found} and no {wanted}"
        raise pa.ArrowInvalid(f"{what}: {error}") from error


def _as(values: pa.Array, target: pa.DataType) -> pa.Array:
    source = values.type
    if source == target:
        return values
    if _KINDS.is_nested(target) and values.offset:
        values = pa.concat_arrays([values.slice(0, 0), values])
    nulls = pc.is_null(values) if values.null_count else None
    if _KINDS.is_struct(source) and _KINDS.is_struct(target):
        return _struct(values, target, nulls)
    if _KINDS.is_map(source) and _KINDS.is_map(target):
        keys, items = _as(values.keys, target.key_type), _as(values.items, target.item_type)
        return pa.MapArray.from_arrays(values.offsets, keys, items, target, mask=nulls)
    if _KINDS.is_list(source) and _KINDS.is_list(target):
        return pa.ListArray.from_arrays(values.offsets, _as(values.values, target.value_type), target, mask=nulls)
    if _KINDS.is_null(source):
        return pa.nulls(len(values), target)
    if not any(of(source) and to(target) for of, to in _EXACT):
        raise pa.ArrowTypeError("such a column is not read as this type")
    return texts_as(values, target) if _KINDS.is_string(source) else values.cast(target)


def _struct(values: pa.Array, target: pa.DataType, nulls: pa.Array | None) -> pa.Array:
    there: dict[str, list[int]] = {}
    for number, field in enumerate(values.type):
        there.setdefault(field.name.lower(), []).append(number)
    if twice := [field.name for field in target if len(there.get(field.name.lower(), ())) > 1]:
        raise pa.ArrowTypeError(f"it has the field '{twice[0]}' several times, but for the case")
    if not any(field.name.lower() in there for field in target):
        raise pa.ArrowTypeError("it has none of the fields")
    fields = [
        _as(values.field(there[field.name.lower()][0]), field.type)
        if field.name.lower() in there
        else pa.nulls(len(values), field.type)
        for field in target
    ]
    return pa.StructArray.from_arrays(fields, fields=list(target), mask=nulls)


def _is_scalar(kind: pa.DataType) -> bool:
    return not _KINDS.is_nested(kind)


def _is_whole_decimal(kind: pa.DataType) -> bool:  # of others Spark gives the digits without the point
    return bool(_KINDS.is_decimal(kind) and kind.scale == 0)


def _is_small_integer(kind: pa.DataType) -> bool:
    return bool(_KINDS.is_integer(kind) and kind.bit_width <= 32)


Test = Callable[[pa.DataType], bool]
_EXACT: tuple[tuple[Test, Test], ...] = (
    (_KINDS.is_integer, _KINDS.is_integer),
    (_KINDS.is_integer, _KINDS.is_decimal),
    (_is_small_integer, _KINDS.is_float64),
    (_KINDS.is_floating, _KINDS.is_float64),
    (_KINDS.is_floating, _KINDS.is_integer),
    (_KINDS.is_decimal, _KINDS.is_decimal),
    (_is_whole_decimal, _KINDS.is_integer),
    (_KINDS.is_string, _is_scalar),
    (_KINDS.is_binary, _KINDS.is_string),
    (_KINDS.is_timestamp, _KINDS.is_timestamp),
    (_KINDS.is_date, lambda kind: _KINDS.is_timestamp(kind) and kind.tz is None),
)
"""Types that are read as others: Arrow checks that no value changes."""

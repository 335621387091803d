"""JSON objects as rows of given columns: by Arrow where it surely reads as Spark does, else object by object."""

import io
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.floats import has_infinity
from streamhouse.ingest.json_text import Cursor, decoded, is_json
from streamhouse.ingest.json_values import JsonRow
from streamhouse.ingest.not_null import NoValueError, first_null, no_value
from streamhouse.ingest.other_fields import OtherFields, joined, json_other_fields, of_fields
from streamhouse.ingest.records import one_line
from streamhouse.ingest.spark_times import day_number, instant_number, local_number
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.ingest.years import within_years
from streamhouse.model.table import Column
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.stores.arrow import arrow_schema

_ARROW_DIFFERS = re.compile(rb"-0(?![.eE0-9])|[:\[,][ \t\r\n]*[+-]?[NI]")
"""Numbers that Arrow reads in another way: an integer -0, and the words for what is no number."""
_PLAIN_DAY = r"^\d{4}-\d\d-\d\d$"
_PLAIN_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?"
_ZONE = r"(Z|[+-](0\d|1[0-7]):[0-5]\d)$"
_BLANKS = b" \t\r\n"
_LEAST_BLOCK = 1 << 20
_MOST_BLOCK = 1 << 30
_LEVELS = 200
_SHOWN = 20
_MOST_DIGITS = 1000
_TOO_LONG = re.compile(rb"[0-9.]{%d}" % (_MOST_DIGITS + 1))


class UnreadableRecordError(UnreadableError):
    """A record is no row.

    Attributes:
        number: Which one, from 0.
    """

    def __init__(self, number: int, error: UnreadableError) -> None:
        super().__init__(error.reason, str(error))
        self.number = number


def json_rows(records: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
    """One row for each record, with exactly these columns, as Spark's reader of JSON gives them.

    A field that a record lacks is null, and one that no column names is left out. Everything but null has a text, so
    it can be a string: as it is written. Of a field that is there twice, the last counts.

    Args:
        records: One object each; none is blank.
        columns: Of the rows.

    Raises:
        UnreadableRecordError: one is no object, has a value that does not fit or would lose digits, or lacks a value
            that every row has.
    """
    if not records:
        return arrow_schema(columns).empty_table()
    if others := [column for column in columns if isinstance(column, OtherFields)]:
        rows = json_rows(records, of_fields(columns))
        return joined(rows, columns, [json_other_fields(records, column.named) for column in others])
    try:
        found = _by_arrow(records, columns)
    except (pa.ArrowException, ValueError, OverflowError):
        found = None  # object by object it shows what is wrong, and where
    rows = found if found is not None else _one_by_one(records, columns)
    if lacks := first_null(rows, columns):
        raise UnreadableRecordError(lacks[0], NoValueError(*lacks))
    return rows


def wrong_objects(columns: tuple[Column, ...], records: Sequence[bytes]) -> dict[int, Exception]:
    """Number of a record that is no row → why, as `json_rows` says of it alone; by one look at each.

    Args:
        columns: Of the rows.
        records: One object each.

    Returns:
        Each of them is no row. One that is absent is a row as a rule, and `json_rows` says so.
    """
    fields = of_fields(columns)
    found: dict[int, Exception] = {}
    with suppress(UnreadableError):  # of a column: each record says so
        reader = JsonRow(fields)
        for number, record in enumerate(records):
            try:
                row = _row(record, reader)
            except UnreadableError as error:
                found[number] = error
            except (ValueError, OverflowError):
                continue
            else:
                lacks = next((one for one in fields if not one.nullable and row.get(one.name) is None), None)
                if lacks is not None:
                    found[number] = NoValueError(number, no_value(lacks))
    return found


def json_names(records: Iterable[bytes]) -> set[str]:
    """The names of all fields of records, without those within others; what is no object is passed over."""
    found: set[str] = set()
    for record in records:
        with suppress(UnreadableError):
            cursor = Cursor(decoded(record))
            for name in cursor.names():
                found.add(name)
                cursor.skip()
    return found


def json_lacking(records: Sequence[bytes], rows: pa.Table) -> tuple[str, ...]:
    """Columns that no record has, not even as null.

    Args:
        records: Of all rows.
        rows: Those that can be read, without other fields.
    """
    empty = [name for name in rows.column_names if rows.column(name).null_count == rows.num_rows]
    names = json_names(records) if empty else set()
    return tuple(name for name in empty if name not in names)


def refuse_other_fields(records: Sequence[bytes], rows: pa.Table, name: str) -> None:
    """Check that the records of a file have a column.

    Args:
        records: All of the file.
        rows: Those that can be read, without other fields.
        name: What the message calls the file.

    Raises:
        SourceError: they have fields, and none of them is a column.
    """
    if rows.num_rows and len(json_lacking(records, rows)) == rows.num_columns and (found := json_names(records)):
        shown = ", ".join(sorted(found)[:_SHOWN])
        hint = f"names count as they are written: declare some of these under 'columns': {shown}"
        raise SourceError("the file has none of the columns", at=Location(name, 1), hint=hint)


def first_wrong(records: Sequence[bytes]) -> UnreadableRecordError | None:
    """The first record that is no JSON object; None: all are."""
    reader = JsonRow(())
    for number, record in enumerate(records):
        try:
            reader.row(record)
        except UnreadableError as error:
            return UnreadableRecordError(number, error)
    return None


def _one_by_one(records: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
    try:
        reader = JsonRow(columns)
    except UnreadableError as error:
        raise UnreadableRecordError(0, error) from error
    values = []
    for number, record in enumerate(records):
        try:
            values.append(_row(record, reader))
        except UnreadableError as error:
            raise UnreadableRecordError(number, error) from error
    schema = arrow_schema(columns)
    return pa.table([pa.array([row.get(f.name) for row in values], f.type) for f in schema], schema=schema)


def _row(record: bytes, reader: JsonRow) -> dict[str, Any]:
    row = reader.row(record)
    if row is None:
        raise UnreadableError("malformed", "it has no JSON object, but blanks alone")
    return row


def _by_arrow(records: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table | None:
    """The rows; None where Arrow reads in another way than Spark."""
    schema = arrow_schema(columns)
    if not all(_is_readable(field.type) for field in schema):
        return None
    lines = [record.strip(_BLANKS) for record in records]
    if not all(line[:1] == b"{" and line[-1:] == b"}" for line in lines):
        return None
    broken = [line for line in lines if b"\n" in line or b"\r" in line]
    if not all(map(is_json, broken)):
        return None  # a text may have a line end, which Spark refuses
    if broken:
        lines = [one_line(line) for line in lines]
    text = b"\n".join(lines)
    text.decode()  # Arrow takes bytes that are no UTF-8 as they are
    if _ARROW_DIFFERS.search(text) or _is_deep(lines, text) or _has_long_numbers(text, lines, schema):
        return None
    block = max(_LEAST_BLOCK, max(map(len, lines)) + 2)
    if block > _MOST_BLOCK:
        return None
    written = pa.schema([(field.name, _written(field.type)) for field in schema])
    options = pa_json.ParseOptions(explicit_schema=written, unexpected_field_behavior="ignore")
    rows = pa_json.read_json(io.BytesIO(text), pa_json.ReadOptions(block_size=block), options)
    if rows.num_rows != len(records):
        return None
    arrays = [within_years(_as(rows.column(f.name).combine_chunks(), f.type)) for f in schema]
    if any(map(has_infinity, arrays)):
        return None  # a number is too large: no line has the words for what is no number
    found = pa.table(arrays, schema=schema)
    found.validate(full=True)  # Arrow takes decimals with more digits than the type has
    return found


def _is_deep(lines: Collection[bytes], text: bytes) -> bool:
    """Whether a line may have more levels than Spark takes."""
    if text.count(b"{") + text.count(b"[") < len(lines) + _LEVELS:
        return False
    return any(line.count(b"{") + line.count(b"[") > _LEVELS for line in lines)


def _has_long_numbers(text: bytes, lines: Collection[bytes], schema: pa.Schema) -> bool:
    """Whether there may be a number with more digits than Spark takes, or one that Arrow's decimals cannot bear."""
    if max(map(len, lines)) > _MOST_DIGITS and _TOO_LONG.search(text):
        return True
    scale = max((_scale(field.type) for field in schema), default=-1)
    if scale < 0:
        return False
    number = rb'[:\[,][ \t\r]*"?[+-]?(?:[0-9.]+[eE]|[0-9]{%d}|[0-9]*\.[0-9]{%d})'
    number %= (DECIMAL_DIGITS - scale + 1, DECIMAL_DIGITS + 1)
    return re.search(number, text) is not None


def _scale(data_type: pa.DataType) -> int:
    """The largest scale of a decimal in a type; -1: it has none."""
    if pa.types.is_decimal(data_type):
        return int(data_type.scale)
    return max((_scale(data_type.field(n).type) for n in range(data_type.num_fields)), default=-1)


def _is_readable(data_type: pa.DataType) -> bool:
    """Whether Arrow's reader has the same form of the type: of maps and bytes it has another one."""
    kind = pa.types
    if kind.is_list(data_type):
        return _is_readable(data_type.value_type)
    if kind.is_struct(data_type):
        return all(_is_readable(field.type) for field in data_type)
    return not kind.is_map(data_type) and not kind.is_binary(data_type)


def _written(data_type: pa.DataType) -> pa.DataType:
    """The type in JSON: days and times are texts."""
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        return pa.string()
    if pa.types.is_list(data_type):
        return pa.list_(_written(data_type.value_type))
    if pa.types.is_struct(data_type):
        return pa.struct([(field.name, _written(field.type)) for field in data_type])
    return data_type


def _as(values: pa.Array, data_type: pa.DataType) -> pa.Array:
    if values.type == data_type:
        return values
    nulls = pc.is_null(values) if values.null_count else None
    if pa.types.is_list(data_type):
        return pa.ListArray.from_arrays(values.offsets, _as(values.values, data_type.value_type), data_type, mask=nulls)
    if pa.types.is_struct(data_type):
        fields = [_as(values.field(n), field.type) for n, field in enumerate(data_type)]
        return pa.StructArray.from_arrays(fields, fields=list(data_type), mask=nulls)
    if pa.types.is_date(data_type):
        if _all(values, _PLAIN_DAY):
            return values.cast(data_type)
        return _converted(values, day_number, data_type)
    if not data_type.tz:
        return (
            values.cast(data_type) if _all(values, f"{_PLAIN_TIME}$") else _converted(values, local_number, data_type)
        )
    if _all(values, f"{_PLAIN_TIME}{_ZONE}"):
        return values.cast(data_type)
    if _all(values, f"{_PLAIN_TIME}$"):
        return pc.assume_timezone(values.cast(pa.timestamp("us")), "UTC")
    return _converted(values, instant_number, data_type)


def _all(texts: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(texts, pattern)).as_py() is not False


def _converted(texts: pa.Array, convert: Callable[[str], int], data_type: pa.DataType) -> pa.Array:
    numbers = [None if text is None else convert(text) for text in texts.to_pylist()]
    return pa.array(numbers, data_type)

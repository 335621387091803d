"""One JSON object as the values of a row, as Spark's reader takes it; what would lose something is refused. Pure."""

import math
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, DecimalException
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from streamhouse.ingest.floats import TOO_LARGE, TOO_LARGE_FOR_FLOAT
from streamhouse.ingest.json_text import FRACTION, TEXT, WHOLE, Cursor, decoded
from streamhouse.ingest.spark_times import day_number, instant_number, local_number
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type, spark_type

Reader = Callable[[Cursor], Any]
_SECOND = 1_000_000
_TIES = 0x1FFFFFFF
"""The bits of a double that a float has not."""
_FLOATS = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "+Infinity": math.inf,
    "+INF": math.inf,
    "-Infinity": -math.inf,
    "-INF": -math.inf,
}
_DECIMAL_TEXT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?", re.ASCII)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_EXACT = Context(prec=2000, Emax=10**9, Emin=-(10**9))
_SHOWN = 60


class JsonRow:
    """Reads objects as rows of given columns.

    Args:
        columns: Of the rows.
    """

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self._readers = {column.name: _named(column.name, arrow_type(column.type)) for column in columns}
        self._types = {column.name: column.type for column in columns}
        self.seen: set[str] = set()
        """The columns that some object had."""
        self.others: dict[str, None] = {}
        """Names of other fields."""

    def row(self, record: bytes) -> dict[str, Any] | None:
        """Column → value, as `pa.array` takes it with the type of the column; None: the record is blank.

        Raises:
            UnreadableError: it is no object, or a value does not fit.
        """
        cursor = Cursor(decoded(record))
        first = cursor.peek()
        if not first:
            return None
        if first != "{":
            text = cursor.skip()
            found = "an array; each row is one object" if first == "[" else text[:_SHOWN]
            raise UnreadableError("malformed", f"it is no JSON object, but {found}")
        values: dict[str, Any] = {}
        for name in cursor.names():
            reader = self._readers.get(name)
            if reader is None:
                self.others.setdefault(name)
                cursor.skip()
            else:
                self.seen.add(name)
                values[name] = reader(cursor)  # of a name that comes twice, the last counts
        cursor.end()
        return values


def _named(name: str, data_type: pa.DataType) -> Reader:
    reader = _reader(data_type)

    def read(cursor: Cursor) -> Any:
        try:
            return reader(cursor)
        except _DoesNotFitError as error:
            raise UnreadableError("type", f"column '{name}' is no {error.wanted}: {error.text}") from error

    return read


class _DoesNotFitError(Exception):
    def __init__(self, wanted: str, found: str, why: str = "") -> None:
        super().__init__(wanted, found, why)
        self.wanted = wanted
        shown = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}…"
        self.text = f"{shown} ({why})" if why else shown


@lru_cache(maxsize=4096)
def _reader(data_type: pa.DataType) -> Reader:
    kind = pa.types
    if kind.is_string(data_type):
        return _string
    if kind.is_map(data_type):
        return _map(data_type)
    if kind.is_list(data_type):
        return _list(data_type)
    if kind.is_struct(data_type):
        return _struct(data_type)
    if kind.is_integer(data_type):
        return _scalar(spark_type(data_type), _integer(data_type))
    if kind.is_decimal(data_type):
        return _scalar(spark_type(data_type), _decimal(data_type))
    if kind.is_timestamp(data_type):
        return _scalar(spark_type(data_type), _instant if data_type.tz else _local)
    return _scalar(spark_type(data_type), _SIMPLE[data_type])


def _scalar(wanted: str, convert: Callable[[str, str], Any]) -> Reader:
    """Reads one value; `convert` takes what it is and its text, and raises ValueError where it does not fit."""

    def read(cursor: Cursor) -> Any:
        if cursor.peek() in ("{", "["):
            raise _DoesNotFitError(wanted, cursor.skip())
        kind, text = cursor.scalar()
        if kind == "null":
            return None
        try:
            return convert(kind, text)
        except ValueError as error:
            raise _DoesNotFitError(wanted, repr(text) if kind == TEXT else text, str(error)) from error

    return read


def _string(cursor: Cursor) -> str | None:
    if cursor.peek() in ("{", "["):
        return cursor.skip()
    kind, text = cursor.scalar()
    return None if kind == "null" else text


def _opens(cursor: Cursor, bracket: str, wanted: str) -> bool:
    """Whether what begins here is such a value; False: it is null.

    Raises:
        _DoesNotFitError: it is something else.
    """
    if cursor.peek() == bracket:
        return True
    if (text := cursor.skip()) != "null":
        raise _DoesNotFitError(wanted, text)
    return False


def _list(data_type: pa.DataType) -> Reader:
    item = _reader(data_type.value_type)
    return lambda cursor: [item(cursor) for _ in cursor.items()] if _opens(cursor, "[", "array") else None


def _struct(data_type: pa.DataType) -> Reader:
    readers: Mapping[str, Reader] = {field.name: _reader(field.type) for field in data_type}

    def read(cursor: Cursor) -> Any:
        if not _opens(cursor, "{", "struct"):
            return None
        values = dict.fromkeys(readers)
        for name in cursor.names():
            if name in readers:
                values[name] = readers[name](cursor)
            else:
                cursor.skip()
        return values

    return read


def _map(data_type: pa.DataType) -> Reader:
    if not pa.types.is_string(data_type.key_type):
        raise UnreadableError("type", "the keys of a map in JSON are texts: declare map<string, …>")
    item = _reader(data_type.item_type)

    def read(cursor: Cursor) -> Any:
        if not _opens(cursor, "{", "map"):
            return None
        entries: dict[str, Any] = {}
        for name in cursor.names():
            if name in entries:
                raise _DoesNotFitError("map", repr(name), "the key is there twice")
            entries[name] = item(cursor)
        return list(entries.items())

    return read


def _integer(data_type: pa.DataType) -> Callable[[str, str], int]:
    most = 1 << (data_type.bit_width - 1)

    def convert(kind: str, text: str) -> int:
        if kind != WHOLE:
            raise ValueError("it is no whole number" if kind == FRACTION else "")
        number = int(text)
        if not -most <= number < most:
            raise ValueError("it is out of range; declare a wider type")
        return number

    return convert


def _decimal(data_type: pa.DataType) -> Callable[[str, str], Decimal]:
    step = Decimal(1).scaleb(-data_type.scale)
    most = Decimal(10) ** (data_type.precision - data_type.scale)

    def convert(kind: str, text: str) -> Decimal:
        plain = text.replace(",", "") if kind == TEXT else text  # Spark takes 1,234.5 in quotes
        if kind not in (TEXT, WHOLE, FRACTION) or not _DECIMAL_TEXT.fullmatch(plain):
            raise ValueError
        number = Decimal(plain)
        if abs(number.adjusted()) > 1000 and number:
            raise ValueError("it is out of range")
        if abs(number) >= most:
            raise ValueError("it has too many digits; declare a wider decimal")
        try:
            exact = number.quantize(step, context=_EXACT)
        except DecimalException as error:
            raise ValueError("it has too many digits") from error
        if exact != number:
            raise ValueError("digits behind the point would be lost; declare a decimal with a larger scale")
        return exact

    return convert


def _double(kind: str, text: str) -> float:
    if kind in (WHOLE, FRACTION):
        number = float(text) if kind == FRACTION or len(text) >= 300 else float(int(text))
        if math.isinf(number):
            raise ValueError(TOO_LARGE)
        return number
    if text in _FLOATS:
        return _FLOATS[text]
    raise ValueError


def _float(kind: str, text: str) -> float:
    number = _double(kind, text)
    with np.errstate(over="ignore"):
        nearest = np.float32(number)
    if np.isinf(nearest) and not math.isinf(number):
        raise ValueError(TOO_LARGE_FOR_FLOAT)
    if np.isfinite(nearest) and np.float64(number).view(np.uint64) & _TIES == (_TIES + 1) >> 1:
        # A double half way between two floats: only the digits that follow say which of them is nearer.
        further = np.nextafter(nearest, np.float32(math.copysign(math.inf, float(number) - float(nearest))))
        beyond = Decimal(text) - Decimal(number)
        if beyond and (beyond > 0) == (further > nearest):
            return float(further)
    return float(nearest)


def _boolean(kind: str, text: str) -> bool:
    if kind not in ("true", "false"):
        raise ValueError
    return text == "true"


def _day(kind: str, text: str) -> int:
    if kind != TEXT:
        raise ValueError('write it as a text: "2026-01-31"')
    return day_number(text)


def _instant(kind: str, text: str) -> int:
    if kind == WHOLE:  # seconds
        return _in_years(int(text) * _SECOND)
    if kind != TEXT:
        raise ValueError
    return _in_years(instant_number(text))


def _local(kind: str, text: str) -> int:
    if kind != TEXT:
        raise ValueError('write it as a text: "2026-01-31T10:30:00"')
    return local_number(text)


def _in_years(microseconds: int) -> int:
    if not -62_135_596_800 <= microseconds // _SECOND < 253_402_300_800:
        raise ValueError("it is outside of the years 1 to 9999; a number counts seconds since 1970")
    return microseconds


def _bytes(kind: str, text: str) -> bytes:
    if kind != TEXT or not _BASE64.fullmatch(text):
        raise ValueError("bytes are written as a text in base64")
    return b64decode(text)


_SIMPLE: dict[pa.DataType, Callable[[str, str], Any]] = {
    pa.bool_(): _boolean,
    pa.float64(): _double,
    pa.float32(): _float,
    pa.date32(): _day,
    pa.binary(): _bytes,
}

"""Values of Arrow columns as Python has them, or as text where it has none: what people and other programs see."""

from datetime import MAXYEAR, date, timedelta
from typing import Any

import pyarrow as pa

_FAILS = (UnicodeDecodeError, OverflowError, ValueError)
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_DAY_S = 86_400
_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400


def python_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """As `to_pylist`, which fails on years outside 1 to 9999 and on text that is not UTF-8.

    Such a date or instant becomes text as Spark writes it; bytes that are no text become U+FFFD.
    """
    try:
        found: list[Any] = column.to_pylist()
    except _FAILS:
        found = [_value(scalar) for scalar in column]
    return found


def python_rows(rows: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table, by `python_values`."""
    return list(zip(*(python_values(column) for column in rows.columns), strict=True))


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except _FAILS:
        kind = scalar.type
    if pa.types.is_struct(kind):
        return {field.name: _value(scalar[at]) for at, field in enumerate(kind)}
    if pa.types.is_map(kind):
        return [(_value(pair[0]), _value(pair[1])) for pair in scalar.values]
    if pa.types.is_nested(kind):
        return [_value(part) for part in scalar.values]
    if pa.types.is_date(kind):
        return _date(scalar.value)
    if pa.types.is_timestamp(kind):
        return _instant(scalar.value, _PER_SECOND[kind.unit])
    if pa.types.is_duration(kind):
        return f"{scalar.value} {kind.unit}"
    return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")


def _instant(value: int, per_second: int) -> str:
    seconds, part = divmod(value, per_second)
    days, seconds = divmod(seconds, _DAY_S)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    fraction = f"{part / per_second:.9f}"[1:].rstrip("0").rstrip(".")
    return f"{_date(days)} {clock}{fraction}"


def _date(days: int) -> str:
    """Days since 1970-01-01 as a date of the Gregorian calendar, which repeats itself every 400 years."""
    cycle, day = divmod(days, _CYCLE_DAYS)
    inside = date(1970, 1, 1) + timedelta(days=day)
    year = inside.year + cycle * _CYCLE_YEARS
    sign = "-" if year < 0 else "+" if year > MAXYEAR else ""
    return f"{sign}{abs(year):04}-{inside:%m-%d}"

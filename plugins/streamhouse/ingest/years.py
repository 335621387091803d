"""Days and times outside the years 1 to 9999: Spark has them, and Python, which shows rows, has none."""

from datetime import date, datetime

import pyarrow as pa
import pyarrow.compute as pc

_KINDS = pa.types
_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)
_FIRST_TIME, _LAST_TIME = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)


def within_years(values: pa.Array) -> pa.Array:
    """The values.

    Raises:
        pa.ArrowInvalid: a day or a time, at any depth, is outside of the years 1 to 9999.

    Example:
        >>> within_years(pa.array([5_000_000], pa.date32()))
        Traceback (most recent call last):
        ...
        pyarrow.lib.ArrowInvalid: a day or time is outside of the years 1 to 9999: 5000000
    """
    kind = values.type
    if _KINDS.is_nested(kind):
        for part in parts(values):
            within_years(part)
    elif _KINDS.is_date32(kind):
        _check(values, _FIRST_DAY, _LAST_DAY, pa.int32())
    elif _KINDS.is_timestamp(kind):
        _check(values.cast(pa.timestamp("us")), _FIRST_TIME, _LAST_TIME, pa.int64())
    return values


def parts(values: pa.Array) -> list[pa.Array]:
    """What arrays, maps and structs have: of a slice, and not of what it was cut from."""
    if _KINDS.is_map(values.type):
        offsets = values.offsets
        first = offsets[0].as_py()
        count = offsets[-1].as_py() - first
        return [values.keys.slice(first, count), values.items.slice(first, count)]
    return list(values.flatten()) if _KINDS.is_struct(values.type) else [values.flatten()]


def _check(values: pa.Array, first: date, last: date, number: pa.DataType) -> None:
    bounds = pc.min_max(values.cast(number))
    least, most = (pa.scalar(bound, values.type).cast(number).as_py() for bound in (first, last))
    for found in (bounds["min"].as_py(), bounds["max"].as_py()):
        if found is not None and not least <= found <= most:
            raise pa.ArrowInvalid(f"a day or time is outside of the years 1 to 9999: {found}")

"""Checksums of the entries of the journal of `apply`.

A database does not see a flipped bit in a value. A change with another letter would be carried out as another change.
The checksum is in the column `marks`, under a name that no table has.
"""

import json
from collections.abc import Mapping
from zlib import crc32

from sqlalchemy import Row

_SUM = "sum"
_SAID = ("flow", "outcome", "body", "versions", "moves", "followers", "copies", "environment", "base", "asked_by")
Marks = Mapping[str, list[str]]


def with_sum(values: Mapping[str, object], marks: Marks) -> dict[str, object]:
    """The column `marks` of a change.

    Args:
        values: Column → value, of all that says what the change is.
        marks: See `Change`.
    """
    return {**marks, _SUM: [_sum_of(values, marks)]}


def marks_of(row: Row[tuple[object, ...]]) -> dict[str, tuple[str, ...]]:
    """See `Change.marks`.

    Raises:
        AttributeError, TypeError: the column is damaged.
    """
    return {table: tuple(columns) for table, columns in row.marks.items() if table != _SUM}


def with_environment(row: Row[tuple[object, ...]], environment: str | None) -> dict[str, object]:
    """Column → value of a change that is in another environment from now on."""
    values = {name: getattr(row, name) for name in _SAID} | {"environment": environment}
    marks = {table: columns for table, columns in row.marks.items() if table != _SUM}
    return {"environment": environment, "marks": with_sum(values, marks)}


def is_whole(row: Row[tuple[object, ...]]) -> bool:
    """Whether a change is as it was recorded; those of earlier versions have no checksum."""
    if not isinstance(row.marks, dict):
        return False
    marks = dict(row.marks)
    recorded = marks.pop(_SUM, None)
    return recorded is None or recorded == [_sum_of({name: getattr(row, name) for name in _SAID}, marks)]


def _sum_of(values: Mapping[str, object], marks: Marks) -> int:
    said = [*(values[name] for name in _SAID), marks]
    return crc32(json.dumps(said, sort_keys=True).encode())

"""Aware datetimes as epoch milliseconds and back, and the stamp of a column of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, func, select

from streamhouse.state.damage import parsing

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(instant: datetime) -> int:
    """Epoch milliseconds, cut off below. The datetime must be aware."""
    return (instant - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """The aware UTC datetime of epoch milliseconds.

    Raises:
        StateConflictError: it is no number of milliseconds of a year up to 9999: the record that has it is damaged.
    """
    with parsing("a time"):
        return _EPOCH + milliseconds * _MILLISECOND


def stamp_of(connection: Connection, times: Column[Any]) -> tuple[int, int, int]:
    """Another one whenever a time was recorded: how many rows a table has, how many have a time, and the sum of these.

    The latest time would be as before after a clock went back.

    Args:
        connection: To the state store.
        times: The column, in epoch milliseconds; NULL where nothing happened yet.
    """
    query = select(func.count(), func.count(times), func.coalesce(func.sum(times), 0)).select_from(times.table)
    rows, noted, sum_ms = connection.execute(query).one()
    return int(rows), int(noted), int(sum_ms)

"""Aware datetimes as epoch milliseconds and back."""

from datetime import UTC, datetime, timedelta

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

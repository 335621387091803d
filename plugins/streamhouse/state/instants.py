"""Aware datetimes as epoch milliseconds and back."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(instant: datetime) -> int:
    """Epoch milliseconds, cut off below. The datetime must be aware."""
    return (instant - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """The aware UTC datetime of epoch milliseconds."""
    return _EPOCH + milliseconds * _MILLISECOND

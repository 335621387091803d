"""Which offsets of a log a reader takes, when a lake holds the older ones. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamhouse.errors import RowsLostError, StateConflictError
from streamhouse.model.types import Position
from streamhouse.stores.mark import SNAPSHOT

_PARTITION = "/"  # in the key of a bucket that is one of a partition


@dataclass(frozen=True)
class OffsetRange:
    """Offsets `[start, end)` of one bucket."""

    bucket: str
    start: int
    end: int

    @property
    def rows(self) -> int:
        """How many offsets the range spans; a log may keep fewer rows, never more."""
        return self.end - self.start


def cut(lake_end: Position, log_start: Position, log_end: Position) -> list[OffsetRange]:
    """Choose what a union read takes from the log, so that no row is read twice or missed.

    Args:
        lake_end: bucket → first offset the lake snapshot does NOT hold; absent: never tiered. The bucket of a
            partition, `2026-11-21#17/0`, may be one that was dropped since: then nothing is left to be read there.
        log_start: bucket → oldest offset the log still retains; absent: 0, nothing was dropped.
        log_end: bucket → next offset to be written. An entry for each bucket.

    Returns:
        One range per bucket, ordered by bucket; `len(result) == len(log_end)`.

    Raises:
        RowsLostError: the log dropped rows that no lake holds.
        StateConflictError: the lake holds offsets that the log has not reached, so it is the copy
            of another table than this one.

    Example:
        >>> cut({"0": 5}, {"0": 3, "1": 0}, {"0": 9, "1": 2})
        [OffsetRange(bucket='0', start=5, end=9), OffsetRange(bucket='1', start=0, end=2)]
    """
    missing_buckets = [bucket for bucket in _ordered(lake_end) if bucket not in log_end and lake_end[bucket] > 0]
    if stray := [bucket for bucket in missing_buckets if _PARTITION not in bucket]:
        raise _foreign_copy(f"bucket {stray[0]} is tiered, and the table has no such bucket")
    ranges: list[OffsetRange] = []
    for bucket in _ordered(log_end):
        start, end = lake_end.get(bucket, 0), log_end[bucket]
        if start > end:
            raise _foreign_copy(f"bucket {bucket}: tiered up to offset {start}, and the log ends at {end}")
        oldest = log_start.get(bucket, 0)
        if start < oldest:
            raise RowsLostError(
                f"bucket {bucket}: offsets {start}..{oldest - 1} are in no tier",
                hint="raise the table's log TTL above the tiering interval, then backfill",
            )
        ranges.append(OffsetRange(bucket, start, end))
    return ranges


def within(start: Position, end: Position, max_rows: int) -> Position:
    """The furthest position from `start` towards `end` that spans at most `max_rows` rows.

    Buckets are filled up one after the other. A position that counts commits cannot be cut
    between rows: it goes to `end` at once.

    Example:
        >>> within({"0": 5}, {"0": 9, "1": 20}, 10)
        {'0': 9, '1': 6}
    """
    if SNAPSHOT in end:
        return dict(end)
    reached: Position = {}
    left = max_rows
    for bucket in _ordered(end):
        first = start.get(bucket, 0)
        step = max(0, min(left, end[bucket] - first))
        reached[bucket] = first + step
        left -= step
    return reached


def behind(start: Position, end: Position) -> bool:
    """Whether `[start, end)` may hold rows."""
    return any(offset > start.get(bucket, 0) for bucket, offset in end.items())


def counts_rows(position: Position) -> bool:
    """Whether its numbers are offsets of rows, so that ranges can be cut and counted."""
    return SNAPSHOT not in position


def _foreign_copy(message: str) -> StateConflictError:
    return StateConflictError(
        message, hint="the table is an older one, or was made again: see what comes back: streamhouse restore --dry-run"
    )


def _ordered(buckets: Iterable[str]) -> list[str]:
    return sorted(buckets, key=lambda bucket: (len(bucket), bucket))

"""How far a reader may go at once; pure."""

from collections.abc import Iterable

from streamhouse.model.types import Position


def offsets_between(start: Position, end: Position) -> int:
    """Offsets of all buckets from `start` to `end`; an absent bucket is at 0."""
    return sum(max(0, value - start.get(bucket, 0)) for bucket, value in end.items())


def by_offsets(start: Position, end: Position, max_rows: int) -> Position:
    """At most `max_rows` (but at least one offset) behind `start`, the same share of each bucket's backlog.

    Example:
        >>> by_offsets({"0": 10}, {"0": 40, "1": 10}, 20)
        {'0': 25, '1': 5}
    """
    waiting = {bucket: value - start.get(bucket, 0) for bucket, value in end.items() if value > start.get(bucket, 0)}
    total = sum(waiting.values())
    if total <= max_rows:
        return {**start, **end}
    share = {bucket: start.get(bucket, 0) + rows * max_rows // total for bucket, rows in waiting.items()}
    if all(share[bucket] == start.get(bucket, 0) for bucket in share):  # fewer rows allowed than buckets
        share[max(waiting, key=lambda bucket: waiting[bucket])] += 1
    return {**start, **share}


def by_snapshots(snapshots: Iterable[tuple[int, int]], start: int, max_rows: int) -> int:
    """The last snapshot to read, so that no more than `max_rows` are, but at least one snapshot that has any.

    Args:
        snapshots: Id and rows of each snapshot after `start`, in their order; as few are taken as are needed.
        start: What is read already: the answer when nothing follows.
        max_rows: Rows allowed.

    Example:
        >>> by_snapshots([(2, 0), (3, 500), (4, 50), (5, 0), (6, 50)], 1, 100), by_snapshots([], 1, 100)
        (3, 1)
        >>> by_snapshots([(3, 30), (4, 50), (5, 0), (6, 50)], 2, 100)
        5
    """
    taken, last = 0, start
    for number, rows in snapshots:
        if taken and taken + rows > max_rows:
            break
        taken, last = taken + rows, number
    return last

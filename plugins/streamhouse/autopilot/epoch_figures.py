"""Numbers of a flow's epochs: how many rows they read, how long rows took, how rows spread over buckets. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median, quantiles

from streamhouse.model.types import Layer, Position
from streamhouse.model.version import table_name
from streamhouse.state.records import EpochRecord

_NO_ROWS = frozenset({"snapshot", "part"})  # keys of positions that count something else


def rows_read(record: EpochRecord) -> int:
    """Rows that an epoch took from what it reads; inputs whose positions count no rows give none."""
    return sum(_between(record.start.get(name, {}), end) for name, end in record.end.items())


def last_lag_ms(record: EpochRecord) -> int | None:
    """How long the epoch's rows took to the last layer that it wrote; None: it wrote none."""
    for layer in reversed(Layer):
        if layer.value in record.layer_visible_ms:
            return record.layer_visible_ms[layer.value] - record.at_ms
    return None


def lag_p95_ms(records: Iterable[EpochRecord]) -> int | None:
    """Of the last layer, over epochs that wrote one."""
    lags = [lag for record in records if (lag := last_lag_ms(record)) is not None]
    return percentile(lags, 95) if lags else None


def late_percent(records: Iterable[EpochRecord], promised: timedelta) -> float | None:
    """How many of a hundred epochs that wrote something took longer than promised; None: none wrote anything."""
    lags = [lag for record in records if (lag := last_lag_ms(record)) is not None]
    promised_ms = promised.total_seconds() * 1000
    return 100 * sum(lag > promised_ms for lag in lags) / len(lags) if lags else None


def full(records: Iterable[EpochRecord], most: float) -> list[EpochRecord]:
    """Epochs that read about as many rows as one may, or more."""
    return [record for record in records if rows_read(record) >= _FULL * most]


def rows_per_second(records: Iterable[EpochRecord]) -> float | None:
    """Rows read in a second of work, pauses between epochs left out; None: no epoch read rows."""
    worked = [(rows_read(record), record.finished_ms - record.started_ms) for record in records]
    rows, ms = sum(rows for rows, _ in worked), sum(ms for rows, ms in worked if rows)
    return 1000 * rows / max(1, ms) if rows else None


def by_segment(records: Iterable[EpochRecord]) -> dict[str, list[EpochRecord]]:
    """Segment → its epochs, in their order."""
    found: dict[str, list[EpochRecord]] = {}
    for record in records:
        found.setdefault(record.segment, []).append(record)
    return found


def gaps_ms(records: Sequence[EpochRecord]) -> list[int]:
    """Times between epochs, which read rows."""
    return [later.at_ms - earlier.at_ms for earlier, later in pairwise(records)]


def bucket_rows(records: Iterable[EpochRecord]) -> dict[str, Counter[str]]:
    """Table or source → bucket → rows read from it, where positions are given by bucket."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        for stored, end in record.end.items():
            start, is_table = record.start.get(stored, {}), "." in stored
            for bucket, offset in end.items():
                # A table begins at 0; where a source begins, only earlier reads show it.
                if bucket.isdigit() and (is_table or bucket in start):
                    name = table_name(stored)
                    found.setdefault(name, Counter())[bucket] += max(0, offset - start.get(bucket, 0))
    return found


def percentile(values: Sequence[int], percent: int) -> int:
    """Of at least one value."""
    return values[0] if len(values) == 1 else round(quantiles(values, n=100, method="inclusive")[percent - 1])


def typical(values: Sequence[int]) -> int:
    """The median of at least one value."""
    return round(median(values))


_FULL = 0.95  # of the most rows that an epoch may read


def _between(start: Position, end: Position) -> int:
    return sum(max(0, offset - start.get(key, 0)) for key, offset in end.items() if key not in _NO_ROWS)

"""Rows per second, computed from the records of runners; pure."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from streamhouse.model.version import table_name
from streamhouse.state.records import EpochRecord

WINDOW = timedelta(minutes=1)
_LEAST_S = 1.0  # a shorter look back says nothing


def rates(epochs: Iterable[EpochRecord], now: datetime) -> dict[str, float]:
    """Table → rows written per second over the last minute; a table that got none is absent.

    Args:
        epochs: Finished ones, in any order.
        now: An aware instant; what began later than a minute before it is averaged since it began.
    """
    now_ms = now.timestamp() * 1000
    first_ms = now_ms - WINDOW.total_seconds() * 1000
    recent = [one for one in epochs if one.finished_ms > first_ms]
    if not recent:
        return {}
    since = max(first_ms, min(one.started_ms for one in recent))
    seconds = max((now_ms - since) / 1000, _LEAST_S)
    rows: Counter[str] = Counter()
    for one in recent:
        for table, written in one.rows.items():
            rows[table_name(table)] += written
    return {table: written / seconds for table, written in rows.items() if written}

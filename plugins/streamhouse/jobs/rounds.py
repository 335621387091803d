"""When jobs that come again and again begin."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Event


def rounds(every: timedelta | None, stop: Event) -> Iterator[datetime]:
    """The time at which each round begins: so long after the one before began, or at its end if that is later.

    Args:
        every: None: one round.
        stop: No round begins after it is set; one that is due is not waited for.
    """
    while True:
        yield (began := datetime.now(UTC))
        if every is None or stop.wait(max(0.0, (began + every - datetime.now(UTC)).total_seconds())):
            return

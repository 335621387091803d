"""Which snapshots of a lake table stay."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.stores.upkeep import millis, spared

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def held(*files: int, every: timedelta = MINUTE):
    return [(millis(NOW - every * number), lambda count=count: count) for number, count in enumerate(files)]


@pytest.mark.parametrize(
    ("files", "by", "number"),
    [
        ([], (NOW - DAY,), 0),
        ([3], (NOW + DAY,), 1),
        ([1] * 9, (NOW + DAY,), 2),  # a reader may have begun with the one before the newest
        ([1] * 99, (NOW - 30 * MINUTE,), 31),
        ([1] * 99, (NOW - DAY, NOW + DAY), 10),
        ([1] * 99, (NOW - DAY, NOW - 20 * MINUTE), 21),  # they may be read just now
        ([2, 40, 39, 38], (NOW - DAY, NOW + DAY), 2),  # each keeps what was compacted
        ([900, 910, 905, 930, 920], (NOW - DAY, NOW + DAY), 3),
        ([1] * 5, (NOW - 2 * MINUTE, NOW + DAY), 3),
    ],
)
def test_how_many_of_the_newest_stay(files, by, number) -> None:
    assert spared(held(*files), *by) == number


def test_files_are_not_counted_where_they_do_not_matter() -> None:
    def never() -> int:
        raise AssertionError

    assert spared([(millis(NOW - MINUTE * n), never) for n in range(9)], NOW - DAY) == 9

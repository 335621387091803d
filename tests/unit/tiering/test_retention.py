"""Which partitions are past their time, and up to where colder tiers hold a tier's rows. Pure."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.tiering.retention import earliest, outlived, retention_of, upcoming
from streamhouse.tiering.union import tiers_read

COLUMNS = (
    Column(name="k", type="bigint"),
    Column(name="shop", type="string"),
    Column(name="day", type="date"),
    Column(name="made_on", type="date"),
)
DAYS = [(date(2024, 3, day),) for day in range(1, 6)]


def table(by=("day",), key=(), **tiers):
    return Table(name="dwd.t", columns=COLUMNS, primary_key=key, partition_by=by, tiers=Tiers(**tiers))


@pytest.mark.parametrize(
    ("now", "gone"),
    [
        (datetime(2024, 3, 3, 0, 0, 0, tzinfo=UTC), 0),  # the last row of the 1st may be just a day old
        (datetime(2024, 3, 3, 0, 0, 1, tzinfo=UTC), 1),
        (datetime(2024, 3, 3, 23, 59, 59, tzinfo=UTC), 1),
        (datetime(2024, 3, 4, 0, 0, 1, tzinfo=UTC), 2),
        (datetime(2024, 3, 3, 5, 0, 0, tzinfo=timezone(timedelta(hours=6))), 0),  # the 2nd still, in UTC
        (datetime(2034, 1, 1, tzinfo=UTC), 5),
        (datetime(2014, 1, 1, tzinfo=UTC), 0),
    ],
)
def test_a_day_goes_when_its_last_row_is_too_old(now, gone) -> None:
    assert outlived(table(hot="1d", cold="forever"), Tier.HOT, DAYS, now) == DAYS[:gone]


def test_less_than_a_day() -> None:
    at = datetime(2024, 3, 2, 6, 0, 1, tzinfo=UTC)
    assert outlived(table(hot="6h"), Tier.HOT, DAYS, at) == DAYS[:1]
    assert outlived(table(hot="6h"), Tier.HOT, DAYS, at - timedelta(seconds=1)) == []


def test_the_first_date_counts_whatever_its_place() -> None:
    parts = [("b", date(2024, 3, 9), date(2024, 3, 1)), ("a", date(2024, 3, 1), date(2024, 3, 9))]
    found = outlived(table(("shop", "day", "made_on"), warm="1d"), Tier.WARM, parts, datetime(2024, 3, 4, tzinfo=UTC))
    assert found == [parts[1]]


def test_what_has_no_date_or_is_kept_for_ever_stays() -> None:
    far = datetime(2100, 1, 1, tzinfo=UTC)
    assert outlived(table(("shop",), warm="1d"), Tier.WARM, [("a",)], far) == []
    assert outlived(table(warm="1d", cold="forever"), Tier.COLD, DAYS, far) == []
    assert outlived(table((), warm="1d"), Tier.WARM, [], far) == []


def test_a_colder_tier_holds_no_less_than_a_hotter_one() -> None:
    one = table(hot="30d", warm="7d", cold="forever")
    assert [retention_of(one, tier) for tier in one.tiers.present[:2]] == [timedelta(days=30)] * 2
    assert outlived(one, Tier.WARM, DAYS, datetime(2024, 3, 20, tzinfo=UTC)) == []


def test_who_has_today_gets_tomorrow() -> None:
    now = datetime(2024, 3, 4, 23, 59, tzinfo=UTC)
    assert upcoming(table(hot="1d"), DAYS[:4], now) == [DAYS[4]]
    assert upcoming(table(hot="1d"), DAYS, now) == []
    assert upcoming(table(hot="1d"), DAYS[:3], now) == [], "nobody writes rows of today"
    east = now.astimezone(timezone(timedelta(hours=6)))
    assert upcoming(table(hot="1d"), DAYS[:4], east) == [DAYS[4]], "days are those of UTC"
    assert upcoming(table(("shop",), hot="1d"), [("a",)], now) == []
    today, tomorrow = date(2024, 3, 4), date(2024, 3, 5)
    parts = [("a", today), ("b", today), ("b", tomorrow), ("c", date(2024, 3, 3))]
    assert upcoming(table(("shop", "day"), hot="1d"), parts, now) == [("a", tomorrow)]


def test_the_earliest_of_positions() -> None:
    assert earliest([{"snapshot": 4}]) == {"snapshot": 4}
    assert earliest([{"snapshot": 4}, {"snapshot": 2}]) == {"snapshot": 2}
    assert earliest([{"0": 3, "1": 5}, {"0": 4, "1": 1}, {"0": 9, "1": 9, "2": 9}]) == {"0": 3, "1": 1}
    assert earliest([{"0": 3}, {}]) == {}


@pytest.mark.parametrize(
    ("tiers", "read"),
    [
        ({"hot": "7d", "warm": "30d", "cold": "forever"}, (Tier.HOT, Tier.COLD)),
        ({"warm": "30d", "cold": "forever"}, (Tier.WARM, Tier.COLD)),
        ({"hot": "forever", "cold": "forever"}, (Tier.HOT,)),
        ({"hot": "7d"}, (Tier.HOT,)),
    ],
)
def test_a_keyed_table_that_drops_days_is_read_through_its_coldest_tier(tiers, read) -> None:
    assert tiers_read(table(key=("k", "day"), **tiers)) == read
    assert tiers_read(table((), key=("k", "day"), **tiers)) == read[:1]

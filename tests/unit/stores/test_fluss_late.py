"""Which rows of a hot table upkeep may be dropping. Pure but for the lock."""

from datetime import UTC, date, datetime, timedelta, timezone

import pyarrow as pa
import pytest

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.stores.fluss.late import Guard, forgotten, late
from streamhouse.stores.lock import TableLocks
from streamhouse.tiering.retention import outlived

DAYS = [date(2024, 3, day) for day in range(1, 6)]
OLD, FAR = date(2024, 1, 1), date(2999, 1, 1)


def table(by=("d",), **tiers):
    columns = (Column(name="d", type="date"), Column(name="k", type="bigint"))
    return Table(name="dwd.t", columns=columns, primary_key=(*by, "k"), partition_by=by, tiers=tiers)


def rows(*days):
    return pa.table({"d": pa.array(days, pa.date32()), "k": pa.array(range(len(days)), pa.int64())})


@pytest.mark.parametrize("held", ["6h", "1d", "30d"])
@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=-8))])
def test_what_upkeep_drops_is_late_from_an_hour_before(held, zone) -> None:
    made = table(hot=held, cold="forever")
    for minutes in range(0, 60 * 24 * 5, 7):
        now = datetime(2024, 3, 2, tzinfo=zone) + made.tiers.hot + timedelta(minutes=minutes)
        found = {day for day, is_late in zip(DAYS, late(made, rows(*DAYS), now).to_pylist(), strict=True) if is_late}
        sooner, later = (
            {day for (day,) in outlived(made, Tier.HOT, [(day,) for day in DAYS], now + timedelta(minutes=n))}
            for n in (60, 61)
        )
        assert sooner <= found <= later


def test_nothing_is_late_where_nothing_is_dropped() -> None:
    now = datetime(2100, 1, 1, tzinfo=UTC)
    for made in (table(hot="forever"), table((), hot="1d")):
        assert late(made, rows(*DAYS), now).to_pylist() == [False] * len(DAYS)


def test_only_keys_that_a_colder_tier_may_hold_are_forgotten() -> None:
    keys = rows(OLD, FAR)
    assert forgotten(table(hot="1d", cold="forever"), keys).column("d").to_pylist() == [OLD]
    assert forgotten(table(hot="1d"), keys).num_rows == 0
    assert forgotten(table(hot="1d", cold="forever"), None).num_rows == 0


def test_only_late_rows_wait_for_the_lock(tmp_path) -> None:
    made = table(hot="1d", cold="forever")
    ours, other = Guard(TableLocks(tmp_path, timeout_s=0.05)), Guard(TableLocks(tmp_path))
    with other.hold(made):
        with ours.hold_if_late(made, rows(FAR), None):
            pass
        with pytest.raises(StoreUnavailableError), ours.hold_if_late(made, rows(FAR), rows(FAR, OLD)):
            pass
        with Guard(None).hold_if_late(made, rows(OLD)), ours.hold(table(hot="forever")):
            pass
    with ours.hold_if_late(made, rows(OLD)):
        pass

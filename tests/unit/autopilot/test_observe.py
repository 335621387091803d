"""What is seen of lakes, by snapshots that tiering and compaction made."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.autopilot.finding import LakeFiles
from streamhouse.autopilot.observe import _filled_ms, _Lakes, _of_this_plan
from streamhouse.errors import StoreUnavailableError, TableMissingError
from streamhouse.model.types import Tier
from streamhouse.state.records import AppliedChange
from streamhouse.stores.base import DataFile, NeedsSparkError, Snapshot
from tests.unit.autopilot.conftest import NOW, epochs

PLACE = ("ods.orders", Tier.WARM)


def ms(ago):
    return round((NOW - ago).timestamp() * 1000)


def snapshot(number, ago, round_=None):
    told = {} if round_ is None else {"streamhouse.round": str(round_)}
    return Snapshot(number, ms(ago), "append", 1, 1, told)


class Lake:
    def __init__(self, *snapshots, files=(), error=None):
        self.snapshots, self.files, self.error = list(snapshots), list(files), error

    def list_files(self, table):
        if self.error:
            raise self.error
        return self.files

    def list_snapshots(self, table):
        return self.snapshots


def looked(plan, lake, past=(), age=None):
    found = _Lakes(lambda _: lake, lambda *_: age, list(past), NOW)
    found.look(plan.tables["ods.orders"])
    return found


def test_files_by_place(plan):
    files = [DataFile(f"{n}", 1, 100, bucket=n % 2, partition=("a",)) for n in range(6)]
    assert looked(plan, Lake(files=files)).files[PLACE] == LakeFiles(6, 600, 2)


def test_a_copy_was_filled_when_its_newest_round_was_committed_not_when_it_was_compacted():
    minute = timedelta(minutes=1)
    assert _filled_ms([snapshot(1, 9 * minute, 0), snapshot(2, 5 * minute, 1), snapshot(3, minute, 1)]) == ms(
        5 * minute
    )
    assert _filled_ms([snapshot(1, minute)]) == 0
    assert _filled_ms([]) == 0


def test_rows_wait_since_the_first_epoch_that_wrote_some_after_that(plan):
    past = epochs(count=10, every_s=60)
    found = looked(plan, Lake(snapshot(1, timedelta(seconds=150), 3)), past)
    assert timedelta(seconds=100) < found.behind[PLACE] < timedelta(seconds=150)
    assert looked(plan, Lake(snapshot(1, timedelta(0), 3)), past).behind == {}
    idle = [replace(one, rows={}) for one in past]
    assert looked(plan, Lake(snapshot(1, timedelta(hours=9), 3)), idle).behind == {}


def test_where_older_epochs_are_forgotten_the_copy_tells(plan):
    past = [replace(one, epoch=5_000 + one.epoch) for one in epochs()]
    assert looked(plan, Lake(snapshot(1, timedelta(hours=2), 3)), past).behind[PLACE] == timedelta(hours=2)
    never = looked(plan, Lake(error=TableMissingError("no")), past, age=timedelta(hours=3))
    assert never.behind[PLACE] == timedelta(hours=3)
    assert looked(plan, Lake(error=TableMissingError("no")), past).behind[PLACE] < timedelta(minutes=2)


@pytest.mark.parametrize(
    "error", [StoreUnavailableError("it is away"), NeedsSparkError("it is away"), OSError("it is away")]
)
def test_what_cannot_be_looked_at_is_told_and_absent(plan, error):
    found = looked(plan, Lake(error=error), epochs())
    assert (found.files, found.behind, found.unseen) == ({}, {}, {"ods.orders (warm)": "it is away"})


def test_only_epochs_that_began_after_the_last_change_are_evidence():
    past, window = list(epochs(count=10, every_s=60)), NOW - timedelta(minutes=5)
    assert [one.epoch for one in _of_this_plan(past, window, None)] == [5, 6, 7, 8, 9]
    within_one = AppliedChange(3, "ada", NOW - timedelta(seconds=121))  # while epoch 7 is at work
    assert [one.epoch for one in _of_this_plan(past, window, within_one)] == [8, 9]
    assert _of_this_plan(past, window, AppliedChange(3, "ada", NOW)) == ()

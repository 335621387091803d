from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.errors import StateConflictError
from streamhouse.state import epochs
from streamhouse.state.records import EpochRecord


def record(epoch, at_ms=1_000, **parts):
    return EpochRecord("retail", "main", epoch, at_ms, at_ms + 5, at_ms + 90, **parts)


def run(store, lease, now, **parts):
    finished = record(**parts)
    store.begin_epoch(lease, "main", finished.epoch, finished.at_ms, now)
    store.finish_epoch(lease, finished)
    return finished


def test_an_epoch_comes_back_as_it_was(store, lease, now):
    whole = run(
        store,
        lease,
        now,
        epoch=0,
        start={"orders": {"row": 0}, "dwd.sales": {}},
        end={"orders": {"row": 7}, "dwd.sales": {"0": 3, "1": 4}},
        ends={"ods.orders": {"0": 9}},
        rows={"ods.orders": 7},
        layer_visible_ms={"ods": 1_050},
    )
    assert store.last_epoch("retail", "main") == whole
    assert store.unfinished("retail", "main") is None


def test_nothing_recorded(store):
    assert store.last_epoch("retail", "main") is None
    assert store.unfinished("retail", "main") is None


def test_the_newest_of_each_segment_are_those_that_ended_last(store, lease, now):
    for number in range(3):
        newest = run(store, lease, now, epoch=number)
    store.begin_epoch(lease, "main", 3, 2_000, now)
    store.begin_epoch(lease, "slow", 0, 2_000, now)  # which has none yet
    at = EpochRecord("retail", "other", 41, 1, 1, 1)
    store.begin_at([at])
    assert sorted(store.newest_epochs(), key=lambda epoch: epoch.segment) == [newest, at]


def test_a_begun_epoch_is_unfinished_and_not_the_last(store, lease, now):
    done = run(store, lease, now, epoch=0)
    store.begin_epoch(lease, "main", 1, 2_000, now)
    assert store.unfinished("retail", "main") == 1
    assert store.last_epoch("retail", "main") == done


def test_a_replay_keeps_the_clock_of_the_first_attempt(store, lease, now):
    assert store.begin_epoch(lease, "main", 0, 1_000, now) == 1_000
    assert store.begin_epoch(lease, "main", 0, 9_999, now + timedelta(seconds=9)) == 1_000


def test_segments_do_not_mix(store, lease, now):
    store.begin_epoch(lease, "main", 0, 1_000, now)
    assert store.begin_epoch(lease, "slow", 5, 2_000, now) == 2_000
    assert store.unfinished("retail", "slow") == 5
    assert store.unfinished("retail", "main") == 0


def test_finishing_twice_counts_once(store, lease, now):
    done = run(store, lease, now, epoch=0, rows={"ods.orders": 7})
    store.finish_epoch(lease, done)
    progress = store.progress("retail", now)
    assert (progress.epochs, progress.rows) == (1, {"ods.orders": 7})


def test_finishing_again_with_another_result_is_a_conflict(store, lease, now):
    done = run(store, lease, now, epoch=0, rows={"ods.orders": 7})
    with pytest.raises(StateConflictError, match="already finished"):
        store.finish_epoch(lease, replace(done, rows={"ods.orders": 8}))
    assert store.last_epoch("retail", "main") == done


@pytest.mark.parametrize("epoch", [3, 4])
def test_a_finished_epoch_cannot_begin_again(store, lease, now, epoch):
    run(store, lease, now, epoch=4)
    with pytest.raises(StateConflictError, match=f"epoch {epoch} cannot begin, epoch 4 was recorded"):
        store.begin_epoch(lease, "main", epoch, 1_000, now)


def test_an_epoch_cannot_begin_over_an_unfinished_one(store, lease, now):
    store.begin_epoch(lease, "main", 0, 1_000, now)
    with pytest.raises(StateConflictError, match="epoch 0 is not finished"):
        store.begin_epoch(lease, "main", 1, 1_000, now)


def test_an_epoch_that_never_began_cannot_finish(store, lease):
    with pytest.raises(StateConflictError, match="never begun"):
        store.finish_epoch(lease, record(0))


def test_old_epochs_are_pruned_and_totals_are_not(store, lease, now, monkeypatch):
    monkeypatch.setattr(epochs, "RETAINED_EPOCHS", 10)
    for number in range(25):
        run(store, lease, now, epoch=number, rows={"ods.orders": 2}, at_ms=number * 100)
    kept = store.recent_epochs("retail", "main", limit=1_000)
    assert [r.epoch for r in kept] == list(range(24, 14, -1))
    progress = store.progress("retail", now)
    assert (progress.epochs, progress.rows) == (25, {"ods.orders": 50})


def test_a_record_of_another_flow_is_a_mistake_of_the_caller(store, lease):
    with pytest.raises(ValueError, match="'other'"):
        store.finish_epoch(lease, replace(record(0), flow="other"))


def test_where_tables_end_can_be_said_again(store, lease, now):
    run(store, lease, now, epoch=0, ends={"a": {"0": 1}, "b": {"0": 2}}, rows={"a": 1})
    store.note_ends(lease, "main", {"a": None, "b": {"0": 5}})
    last = store.last_epoch("retail", "main")
    assert (last.ends, last.rows) == ({"b": {"0": 5}}, {"a": 1})
    store.note_ends(lease, "nothing", {"a": {"0": 1}})


def test_the_newest_epoch_counts_when_it_is_not_done(store, lease, now):
    assert store.newest_known("retail", "main") is None
    run(store, lease, now, epoch=4)
    assert store.newest_known("retail", "main") == 4
    store.begin_epoch(lease, "main", 5, 1_000, now)
    assert store.newest_known("retail", "main") == 5


def test_what_tables_tell_takes_the_place_of_what_is_recorded(store, lease, now, flow_plan):
    run(store, lease, now, epoch=0)
    store.begin_epoch(lease, "main", 1, 1_000, now)
    done = record(epoch=6, end={"orders": {"row": 9}})
    plan = flow_plan()
    [table] = plan.tables
    store.restore(lease, plan, {table: 3}, {"main": (done, (8, 2_000))})
    assert (store.last_epoch("retail", "main"), store.unfinished("retail", "main")) == (done, 8)
    assert store.versions()[table] == 3
    assert store.plan(plan.flow) is not None
    store.restore(lease, None, {}, {"main": (None, None)})
    assert (store.last_epoch("retail", "main"), store.newest_known("retail", "main")) == (None, None)


def test_a_candidate_may_begin_a_second_time(store):
    """An attempt to fill its tables that was cut off behind this record is repeated."""
    first = replace(record(0), flow="retail-change-1", end={"ods.orders": {"0": 5}})
    second = replace(record(0), flow="retail-change-1", end={"ods.orders": {"0": 7}})
    store.begin_at([first])
    store.begin_at([second])
    assert [one.end for one in store.recent_epochs("retail-change-1", "main", limit=9)] == [second.end]

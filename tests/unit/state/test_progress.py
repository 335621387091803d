from datetime import timedelta

import pytest

from streamhouse.state.records import EpochRecord, RunnerState

TTL = timedelta(seconds=30)


def test_a_flow_that_never_ran(store, now):
    progress = store.progress("retail", now)
    assert progress.state is RunnerState.STOPPED
    assert (progress.epochs, progress.rows, progress.freshness, progress.owner) == (0, {}, {}, None)


def test_a_running_flow(store, lease, owner, now):
    progress = store.progress("retail", now + timedelta(seconds=5))
    assert (progress.state, progress.owner, progress.since) == (RunnerState.RUNNING, owner, now)


def test_a_released_flow_is_stopped(store, lease, now):
    store.release(lease, now + timedelta(seconds=5))
    progress = store.progress("retail", now + TTL)
    assert (progress.state, progress.since) == (RunnerState.STOPPED, now + timedelta(seconds=5))


def test_a_failure_outlives_the_release_until_the_next_run(store, lease, owner, now):
    store.set_runner_state(lease, RunnerState.FAILED, "SH405 a null key", now)
    store.release(lease, now)
    failed = store.progress("retail", now)
    assert (failed.state, failed.error) == (RunnerState.FAILED, "SH405 a null key")
    store.acquire("retail", owner, TTL, now)
    running = store.progress("retail", now)
    assert (running.state, running.error) == (RunnerState.RUNNING, None)


@pytest.mark.parametrize(("after", "alive"), [(TTL, None), (timedelta(0), lambda _: False)])
def test_a_runner_that_went_silent_is_lost(store, lease, now, after, alive):
    assert store.progress("retail", now + after, alive=alive).state is RunnerState.LOST


def test_freshness_is_told_per_layer_upstream_first(store, lease, now):
    for epoch in range(101):
        at_ms = epoch * 1_000
        visible = {"ads": at_ms + 300 + epoch, "ods": at_ms + 50}
        record = EpochRecord("retail", "main", epoch, at_ms, at_ms, at_ms + 500, layer_visible_ms=visible)
        store.begin_epoch(lease, "main", epoch, at_ms, now)
        store.finish_epoch(lease, record)
    freshness = store.progress("retail", now).freshness
    assert list(freshness) == ["ods", "ads"]
    ads = freshness["ads"]
    # The last hundred epochs: lags 301..400.
    assert (ads.last_ms, ads.p50_ms, ads.p95_ms, ads.epochs) == (400, 350, 395, 100)
    assert freshness["ods"].p95_ms == 50


def test_tables_are_told_upstream_first(store, lease, now):
    rows = {"ads.top": 1, "dwd.sales": 2, "ods.a": 3, "dws.b": 4, "ods.z": 5}
    store.begin_epoch(lease, "main", 0, 0, now)
    store.finish_epoch(lease, EpochRecord("retail", "main", 0, 0, 0, 0, rows=rows))
    assert list(store.progress("retail", now).rows) == ["ods.a", "ods.z", "dwd.sales", "dws.b", "ads.top"]


def test_events_come_oldest_first_and_by_flow(store, now):
    for number in range(5):
        store.append_event("a", "schema", f"event {number}", now + timedelta(seconds=number))
    store.append_event("b", "run", "other", now)
    assert [e.text for e in store.events("a", limit=3)] == ["event 2", "event 3", "event 4"]
    assert [e.flow for e in store.events()] == ["a"] * 5 + ["b"]
    assert store.events("a")[0].at == now

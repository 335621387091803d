from datetime import timedelta

from streamhouse.state.flow_state import FlowState, see, see_every
from streamhouse.state.records import EpochRecord, RunnerState

TTL = timedelta(seconds=30)


def test_every_flow_is_seen_as_it_is_alone(store, owner, now, flow_plan):
    for number, flow in enumerate(("retail", "shop", "web")):
        lease = store.acquire(flow, owner, TTL, now)
        for epoch in range(number):
            at_ms = epoch * 1_000
            store.begin_epoch(lease, "main", epoch, at_ms, now)
            visible = {"ods": at_ms + 50, "ads": at_ms + 300 + epoch}
            record = EpochRecord(
                flow, "main", epoch, at_ms, at_ms, at_ms + 500, rows={"ods.a": 3, "ads.b": 1}, layer_visible_ms=visible
            )
            store.finish_epoch(lease, record)
        if flow == "web":
            store.set_runner_state(lease, RunnerState.FAILED, "SH405 a null key", now)
    store.save_plan(flow_plan(flow="only_applied"))
    every = see_every(store, 100, now)
    assert list(every) == ["only_applied", "retail", "shop", "web"]
    assert {flow: report for flow, (report, _) in every.items()} == {flow: see(store, flow, now) for flow in every}
    assert [one.epoch for one in every["web"][1]] == [1, 0]
    assert every["web"][0].state is FlowState.FAILED


def test_few_epochs_of_each_flow_are_read(store, lease, now):
    for epoch in range(5):
        store.begin_epoch(lease, "main", epoch, epoch, now)
        store.finish_epoch(lease, EpochRecord("retail", "main", epoch, epoch, epoch, epoch + 500))
    (report, recent) = see_every(store, 2, now)["retail"]
    assert [one.epoch for one in recent] == [4, 3]
    assert report.progress.epochs == 5

from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.errors import LeaseHeldError, LeaseLostError
from streamhouse.state.records import EpochRecord, RunnerState

TTL = timedelta(seconds=30)
SECOND = timedelta(seconds=1)


@pytest.fixture
def rival(owner):
    return replace(owner, pid=owner.pid + 1)


def test_a_living_holder_keeps_the_flow(store, lease, rival, now):
    with pytest.raises(LeaseHeldError) as refused:
        store.acquire("retail", rival, TTL, now + SECOND, alive=lambda _: True)
    assert "process 100 on alpha since 2026-03-01 12:00:00 UTC" in refused.value.message
    assert "12:00:30 UTC" in refused.value.hint


def test_other_flows_are_free(store, lease, rival, now):
    assert store.acquire("attribution", rival, TTL, now).fencing == 1


def test_a_dead_process_of_this_host_is_replaced_at_once(store, lease, rival, owner, now):
    asked = []
    taken = store.acquire("retail", rival, TTL, now + SECOND, alive=lambda o: bool(asked.append(o)))
    assert taken.fencing == lease.fencing + 1
    assert asked == [owner]


def test_a_flow_that_was_not_released_has_an_event(store, lease, rival, owner, now):
    taken = store.acquire("retail", rival, TTL, now + SECOND, alive=lambda _: False)
    (event,) = store.events("retail")
    assert event.kind == "takeover"
    assert event.text == f"{owner} ended without releasing the flow; {rival} goes on from the same positions"
    store.release(taken, now + SECOND)
    store.acquire("retail", owner, TTL, now + 2 * SECOND)
    assert len(store.events("retail")) == 1, "a flow that was released is nobody's loss"


def test_a_process_of_another_host_is_waited_for(store, lease, rival, now):
    elsewhere = replace(rival, host="beta")
    with pytest.raises(LeaseHeldError):
        store.acquire("retail", elsewhere, TTL, now + SECOND, alive=lambda _: False)
    assert store.acquire("retail", elsewhere, TTL, now + TTL, alive=lambda _: False).fencing == 2


def test_the_owner_itself_may_acquire_again_and_voids_its_older_lease(store, lease, owner, now):
    again = store.acquire("retail", owner, TTL, now + SECOND)
    assert again.fencing == 2
    with pytest.raises(LeaseLostError):
        store.renew(lease, now + 2 * SECOND)


def test_a_later_process_with_the_same_pid_is_another_owner(store, lease, owner, now):
    reborn = replace(owner, started_at=now)
    with pytest.raises(LeaseHeldError):
        store.acquire("retail", reborn, TTL, now + SECOND)
    assert store.acquire("retail", reborn, TTL, now + SECOND, alive=lambda o: o == reborn).fencing == 2


def test_renewing_holds_the_flow_longer(store, lease, rival, now):
    renewed = store.renew(lease, now + 20 * SECOND)
    assert renewed.expires_at == now + 50 * SECOND
    with pytest.raises(LeaseHeldError):
        store.acquire("retail", rival, TTL, now + 49 * SECOND)


def test_a_late_renewal_counts_when_nobody_took_the_flow(store, lease, now):
    assert store.renew(lease, now + 2 * TTL).expires_at == now + 3 * TTL


def test_every_call_of_a_loser_is_refused(store, lease, rival, now):
    store.acquire("retail", rival, TTL, now + TTL)
    later = now + TTL + SECOND
    record = EpochRecord("retail", "main", 0, 0, 0, 0)
    for call in (
        lambda: store.renew(lease, later),
        lambda: store.set_runner_state(lease, RunnerState.FAILED, "late", later),
        lambda: store.begin_epoch(lease, "main", 0, 0, later),
        lambda: store.finish_epoch(lease, record),
    ):
        with pytest.raises(LeaseLostError, match="taken over by process 101 on alpha"):
            call()
    assert store.unfinished("retail", "main") is None
    assert store.progress("retail", later).state is RunnerState.RUNNING


def test_release_frees_the_flow_and_voids_the_lease(store, lease, rival, now):
    store.release(lease, now + SECOND)
    with pytest.raises(LeaseLostError, match="released"):
        store.begin_epoch(lease, "main", 0, 0, now + SECOND)
    assert store.acquire("retail", rival, TTL, now + 2 * SECOND).fencing == 2


def test_releasing_a_lost_lease_leaves_the_new_holder_alone(store, lease, rival, owner, now):
    store.acquire("retail", rival, TTL, now + TTL)
    store.release(lease, now + TTL)
    with pytest.raises(LeaseHeldError):
        store.acquire("retail", owner, TTL, now + TTL + SECOND)


def test_fencing_never_starts_again(store, owner, now):
    numbers = []
    for _ in range(3):
        lease = store.acquire("retail", owner, TTL, now)
        numbers.append(lease.fencing)
        store.release(lease, now)
    assert numbers == [1, 2, 3]

"""How long a lease keeps others out, as its holder knows."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.engine.lease import LeaseGuard, leased
from streamhouse.errors import LeaseExpiredError, LeaseHeldError, StoreUnavailableError
from streamhouse.state.records import Lease, Owner, RunnerState
from streamhouse.state.store import StateStore
from tests.patience import until

OWNER = Owner("here", 1, datetime(2026, 1, 1, tzinfo=UTC))
LEASE = Lease("sales", OWNER, 1, timedelta(seconds=15), datetime(2026, 1, 1, tzinfo=UTC))


def test_it_stands_until_it_was_not_renewed_for_its_time():
    clock = [100.0]
    held = LeaseGuard(LEASE, 100.0, lambda: clock[0])
    clock[0] = 114.9
    held.check()
    held.renewed(110.0)
    clock[0] = 124.9
    assert held.stands()
    held.check()
    clock[0] = 125.0
    assert not held.stands()
    with pytest.raises(LeaseExpiredError, match="'sales' was not renewed for 15 s") as told:
        held.check()
    assert told.value.retryable, "the state store may say that nobody took it"
    assert held.age_s == 25


class AwayStore:
    """A state store that gives a lease, and then does not answer until it is back."""

    def __init__(self, ttl):
        self.ttl = ttl
        self.back = False
        self.asked = 0
        self.location = "away"

    def acquire(self, flow, owner, ttl, now, *, alive):
        return Lease(flow, owner, 1, self.ttl, now + self.ttl)

    def renew(self, lease, now):
        self.asked += 1
        if not self.back:
            raise StoreUnavailableError("no answer")

    def release(self, lease):
        pass


def test_while_the_state_store_is_away_it_runs_out_and_comes_back_with_it(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("streamhouse.engine.lease.now_s", lambda: clock[0])
    monkeypatch.setattr("streamhouse.engine.lease.LEASE_TTL", timedelta(seconds=0.03))  # how often it is renewed
    store = AwayStore(timedelta(seconds=15))
    with leased(store, "sales", OWNER, alive=lambda _: True) as held:
        until(lambda: store.asked >= 2)
        assert held.stands()
        clock[0] = 115.0
        assert not held.stands()
        store.back = True
        until(held.stands)
        held.check()


@pytest.fixture
def store(tmp_path):
    with StateStore(f"sqlite:///{tmp_path}/state.db") as opened:
        yield opened


@pytest.fixture
def same_store(tmp_path):
    with StateStore(f"sqlite:///{tmp_path}/state.db") as opened:
        yield opened


def test_a_process_does_not_take_a_flow_over_from_itself(store, same_store):
    with leased(store, "sales", OWNER, alive=lambda _: True) as first:
        with (
            pytest.raises(LeaseHeldError, match="'sales' is run by process 1 on here already"),
            leased(same_store, "sales", OWNER, alive=lambda _: True),
        ):
            pass
        with leased(same_store, "costs", OWNER, alive=lambda _: True):
            pass
        store.set_runner_state(first.lease, RunnerState.RUNNING)
    with leased(same_store, "sales", OWNER, alive=lambda _: True) as second:
        same_store.set_runner_state(second.lease, RunnerState.RUNNING)


def test_nor_when_its_renewals_came_too_late(store, same_store, monkeypatch):
    monkeypatch.setattr("streamhouse.engine.lease.LEASE_TTL", timedelta(0))
    with leased(store, "sales", OWNER, alive=lambda _: True) as first:
        assert not first.stands()
        with pytest.raises(LeaseHeldError), leased(same_store, "sales", OWNER, alive=lambda _: True):
            pass
        store.set_runner_state(first.lease, RunnerState.RUNNING)


def test_a_flow_that_could_not_be_given_back_is_free_for_the_same_process(store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "release", lambda _: _raise(StoreUnavailableError("no answer")))
        with pytest.raises(StoreUnavailableError), leased(store, "sales", OWNER, alive=lambda _: True):
            pass
    with leased(store, "sales", OWNER, alive=lambda _: True) as again:
        store.set_runner_state(again.lease, RunnerState.RUNNING)


def _raise(error):
    raise error

"""How long a lease keeps others out, as its holder knows."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.engine.lease import LeaseGuard, leased
from streamhouse.errors import LeaseExpiredError, StoreUnavailableError
from streamhouse.state.records import Lease, Owner
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

    def acquire(self, flow, owner, ttl, now, *, alive):
        return Lease(flow, owner, 1, self.ttl, now + self.ttl)

    def renew(self, lease, now):
        self.asked += 1
        if not self.back:
            raise StoreUnavailableError("no answer")

    def release(self, lease):
        pass


def test_while_the_state_store_is_away_it_runs_out_and_comes_back_with_it(monkeypatch):
    ttl = timedelta(seconds=0.3)
    monkeypatch.setattr("streamhouse.engine.lease.LEASE_TTL", ttl)
    store = AwayStore(ttl)
    with leased(store, "sales", OWNER, alive=lambda _: True) as held:
        assert held.stands()
        until(lambda: not held.stands())
        assert store.asked >= 2
        store.back = True
        until(held.stands)
        held.check()

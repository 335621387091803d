"""Holds the lease of a flow for as long as it is carried."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from streamhouse.engine.heartbeat import now_s
from streamhouse.errors import LeaseExpiredError, LeaseLostError, StreamhouseError
from streamhouse.state.records import Lease, Owner
from streamhouse.state.store import StateStore

LEASE_TTL = timedelta(seconds=15)


class LeaseGuard:
    """A lease, and how long nobody else can have it.

    Args:
        lease: As the state store gave it.
        since_s: When it was asked for, by `clock_s`.
        clock_s: Seconds that go on while the machine sleeps.
    """

    def __init__(self, lease: Lease, since_s: float, clock_s: Callable[[], float]) -> None:
        self.lease = lease
        self._taken_s = self._since_s = since_s
        self._clock_s = clock_s

    @property
    def age_s(self) -> float:
        """Seconds since this process took it."""
        return self._clock_s() - self._taken_s

    def renewed(self, since_s: float) -> None:
        """It lives on from when its renewal was asked for."""
        self._since_s = since_s

    def stands(self) -> bool:
        """Whether no other runner can have the flow yet."""
        return self._clock_s() - self._since_s < self.lease.ttl.total_seconds()

    def check(self) -> None:
        """Before a write: stores take rows from anyone.

        Raises:
            LeaseExpiredError: this process was suspended, or the state store was away, for longer than the lease lives.
        """
        if not self.stands():
            raise LeaseExpiredError(
                f"the lease of flow '{self.lease.flow}' was not renewed for {self._clock_s() - self._since_s:.0f} s",
                hint="another runner may carry it by now; this one goes on when the state store says that none does",
            )


@contextmanager
def leased(
    state: StateStore,
    flow: str,
    owner: Owner,
    *,
    alive: Callable[[Owner], bool],
    on_lost: Callable[[LeaseLostError], None] = lambda _: None,
) -> Iterator[LeaseGuard]:
    """Hold the lease of a flow, renewed in the background; freed on leaving.

    Args:
        state: Where leases are.
        flow: Whose.
        owner: This process.
        alive: Whether a holder's process still lives.
        on_lost: Called, from another thread, when a newer owner took the flow over.

    Raises:
        LeaseHeldError: another process has it.
    """
    since_s = now_s()
    lease = state.acquire(flow, owner, LEASE_TTL, _now(), alive=alive)
    guard = LeaseGuard(lease, since_s, now_s)
    over = threading.Event()

    def renew() -> None:
        while not over.wait(LEASE_TTL.total_seconds() / 3):
            since_s = now_s()
            try:
                state.renew(lease, _now())
            except LeaseLostError as error:
                on_lost(error)
                return
            except StreamhouseError:
                continue  # the state store is away; until it is back nothing is written once the lease ran out
            guard.renewed(since_s)

    renewer = threading.Thread(target=renew, daemon=True, name="lease")
    renewer.start()
    try:
        yield guard
    finally:
        over.set()
        renewer.join()
        state.release(lease)


def _now() -> datetime:
    return datetime.now(UTC)

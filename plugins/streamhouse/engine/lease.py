"""Holds the lease of a flow for as long as it is carried."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from streamhouse.engine.heartbeat import now_s
from streamhouse.errors import LeaseExpiredError, LeaseHeldError, LeaseLostError, StreamhouseError
from streamhouse.state.records import Lease, Owner
from streamhouse.state.store import StateStore

LEASE_TTL = timedelta(seconds=15)

_held_here: set[tuple[str, str, Owner]] = set()  # state store, flow and owner of each `leased` that is not left
_held_guard = threading.Lock()


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

    One thread of a process at a time has it, also when it ran out: the state store knows processes only, and gives
    the lease of a process to the same process again.

    Args:
        state: Where leases are.
        flow: Whose.
        owner: This process.
        alive: Whether a holder's process still lives.
        on_lost: Called, from another thread, when a newer owner took the flow over.

    Raises:
        LeaseHeldError: another process has it, or another thread of this one.
    """
    with _only_one(state, flow, owner):
        yield from _leased(state, flow, owner, alive, on_lost)


def _leased(
    state: StateStore,
    flow: str,
    owner: Owner,
    alive: Callable[[Owner], bool],
    on_lost: Callable[[LeaseLostError], None],
) -> Iterator[LeaseGuard]:
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


@contextmanager
def _only_one(state: StateStore, flow: str, owner: Owner) -> Iterator[None]:
    held = (state.location, flow, owner)
    with _held_guard:
        if held in _held_here:
            raise LeaseHeldError(
                f"flow '{flow}' is run by {owner} already, in another thread of it",
                hint="wait until that ends, or stop it",
            )
        _held_here.add(held)
    try:
        yield
    finally:
        with _held_guard:
            _held_here.discard(held)


def _now() -> datetime:
    return datetime.now(UTC)

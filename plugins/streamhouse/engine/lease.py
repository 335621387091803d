"""Holds the lease of a flow for as long as it is carried."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from streamhouse.errors import LeaseLostError, StreamhouseError
from streamhouse.state.records import Lease, Owner
from streamhouse.state.store import StateStore

LEASE_TTL = timedelta(seconds=15)


@contextmanager
def leased(
    state: StateStore,
    flow: str,
    owner: Owner,
    *,
    alive: Callable[[Owner], bool],
    on_lost: Callable[[LeaseLostError], None] = lambda _: None,
) -> Iterator[Lease]:
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
    lease = state.acquire(flow, owner, LEASE_TTL, _now(), alive=alive)
    over = threading.Event()

    def renew() -> None:
        while not over.wait(LEASE_TTL.total_seconds() / 3):
            try:
                state.renew(lease, _now())
            except LeaseLostError as error:
                on_lost(error)
                return
            except StreamhouseError:
                continue  # the state store is away; an epoch's own record fails if it stays away

    renewer = threading.Thread(target=renew, daemon=True, name="lease")
    renewer.start()
    try:
        yield lease
    finally:
        over.set()
        renewer.join()
        state.release(lease)


def _now() -> datetime:
    return datetime.now(UTC)

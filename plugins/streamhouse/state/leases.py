"""Leases: at most one living runner carries a flow, and one that lost it can no longer record anything."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from streamhouse.errors import LeaseHeldError, LeaseLostError
from streamhouse.state.damage import parsing
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.put import owner_values, put
from streamhouse.state.records import Lease, Owner, RunnerState
from streamhouse.state.schema import event as events
from streamhouse.state.schema import lease as leases

TAKEOVER = "takeover"
"""Kind of the event of a flow whose last process ended without releasing it."""

_LEASE = select(leases).where(leases.c.flow == bindparam("of_flow")).with_for_update()  # put together once: asked often


def acquire(
    connection: Connection, flow: str, owner: Owner, ttl: timedelta, now: datetime, alive: Callable[[Owner], bool]
) -> Lease:
    """Give `owner` the flow when it is free, expired, its own, or has a dead owner on the same host.

    Raises:
        LeaseHeldError: another runner holds it, and nothing says that it is dead.
    """
    row = connection.execute(select(leases).where(leases.c.flow == flow).with_for_update()).one_or_none()
    if row is not None:
        _refuse_other_owner(row, owner, now, alive)
        if row.held and owner_of(row) != owner:  # it ended without giving the flow back: killed, or cut off
            text = f"{owner_of(row)} ended without releasing the flow; {owner} goes on from the same positions"
            connection.execute(insert(events).values(flow=flow, kind=TAKEOVER, text=text, at_ms=to_ms(now)))
    fencing = row.fencing + 1 if row is not None else 1
    values = {
        "fencing": fencing,
        **owner_values(owner),
        "acquired_ms": to_ms(now),
        "expires_ms": to_ms(now + ttl),
        "held": 1,
        "state": RunnerState.RUNNING.value,
        "state_ms": to_ms(now),
        "error": None,
    }
    put(connection, leases, {"flow": flow}, values, there=row is not None)
    return Lease(flow, owner, fencing, ttl, now + ttl)


def _refuse_other_owner(
    row: Row[tuple[object, ...]], owner: Owner, now: datetime, alive: Callable[[Owner], bool]
) -> None:
    holder = owner_of(row)
    if _stands(row, now) and holder != owner and not _is_dead(holder, owner.host, alive):
        since = from_ms(row.acquired_ms).strftime("%Y-%m-%d %H:%M:%S UTC")
        raise LeaseHeldError(
            f"flow '{row.flow}' is run by {holder} since {since}",
            hint=f"stop that process, or wait until {from_ms(row.expires_ms):%H:%M:%S} UTC if it is gone",
        )


def free_all(connection: Connection) -> None:
    """Free every flow, whatever its owner. Fencing numbers stay, so a former owner can record nothing more."""
    connection.execute(
        update(leases).values(held=0, fencing=leases.c.fencing + 1, state=RunnerState.STOPPED.value, error=None)
    )


def check(connection: Connection, lease: Lease) -> None:
    """Make sure that `lease` is still the newest of its flow, until the transaction ends.

    Raises:
        LeaseLostError: another runner took the flow over, or the lease was released.
    """
    row = connection.execute(_LEASE, {"of_flow": lease.flow}).one_or_none()
    if row is None or row.fencing != lease.fencing:
        by = f" by {owner_of(row)}" if row is not None else ""
        raise LeaseLostError(
            f"flow '{lease.flow}' was taken over{by}; this runner ({lease.owner}) must stop",
            hint="see: streamhouse status",
        )
    if not row.held:
        raise LeaseLostError(f"the lease of flow '{lease.flow}' was released; acquire it again first")


def renew(connection: Connection, lease: Lease, now: datetime) -> Lease:
    """Hold `lease` for its time to live from `now`, also when it ran out and nobody took it."""
    check(connection, lease)
    expires = now + lease.ttl
    connection.execute(update(leases).where(leases.c.flow == lease.flow).values(expires_ms=to_ms(expires)))
    return replace(lease, expires_at=expires)


def release(connection: Connection, lease: Lease, now: datetime) -> None:
    """Free the flow; do nothing when another runner has it. A failure stays recorded as such."""
    mine = (leases.c.flow == lease.flow) & (leases.c.fencing == lease.fencing)
    connection.execute(update(leases).where(mine).values(held=0))
    connection.execute(
        update(leases)
        .where(mine & (leases.c.state == RunnerState.RUNNING.value))
        .values(state=RunnerState.STOPPED.value, state_ms=to_ms(now))
    )


def set_state(connection: Connection, lease: Lease, state: RunnerState, error: str | None, now: datetime) -> None:
    """Record what the runner says of itself."""
    check(connection, lease)
    connection.execute(
        update(leases).where(leases.c.flow == lease.flow).values(state=state.value, error=error, state_ms=to_ms(now))
    )


def observed_state(row: Row[tuple[object, ...]], now: datetime, alive: Callable[[Owner], bool] | None) -> RunnerState:
    """The recorded state, or `lost` when a runner says `running` that cannot be any more."""
    with parsing(f"who runs flow '{row.flow}'"):
        state = RunnerState(row.state)
        if state is not RunnerState.RUNNING:
            return state
        owner = owner_of(row)
        dead = alive is not None and not alive(owner)
        return RunnerState.RUNNING if _stands(row, now) and not dead else RunnerState.LOST


def owner_of(row: Row[tuple[object, ...]]) -> Owner:
    """The last runner of a flow."""
    return Owner(row.host, row.pid, from_ms(row.process_started_ms))


def _stands(row: Row[tuple[object, ...]], now: datetime) -> bool:
    return bool(row.held) and row.expires_ms > to_ms(now)


def _is_dead(holder: Owner, host: str, alive: Callable[[Owner], bool]) -> bool:
    # Only the own host can tell; a process elsewhere counts as living until its lease runs out.
    return holder.host == host and not alive(holder)

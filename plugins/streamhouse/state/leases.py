"""Leases: at most one living runner carries a flow, and one that lost it can no longer record anything."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, Row, insert, select, update

from streamhouse.errors import LeaseHeldError, LeaseLostError
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.records import Lease, Owner, RunnerState
from streamhouse.state.schema import lease as leases


def acquire(
    connection: Connection, flow: str, owner: Owner, ttl: timedelta, now: datetime, alive: Callable[[Owner], bool]
) -> Lease:
    """Give `owner` the flow when it is free, expired, its own, or held by a dead process of the same host.

    Raises:
        LeaseHeldError: another runner holds it, and nothing says that it is dead.
    """
    held = connection.execute(select(leases).where(leases.c.flow == flow).with_for_update()).one_or_none()
    if held is not None:
        holder = owner_of(held)
        if _stands(held, now) and holder != owner and not _is_dead(holder, owner.host, alive):
            since = from_ms(held.acquired_ms).strftime("%Y-%m-%d %H:%M:%S UTC")
            raise LeaseHeldError(
                f"flow '{flow}' is run by {holder} since {since}",
                hint=f"stop that process, or wait until {from_ms(held.expires_ms):%H:%M:%S} UTC if it is gone",
            )
    fencing = held.fencing + 1 if held is not None else 1
    values = {
        "fencing": fencing,
        "host": owner.host,
        "pid": owner.pid,
        "process_started_ms": to_ms(owner.started_at),
        "acquired_ms": to_ms(now),
        "expires_ms": to_ms(now + ttl),
        "held": 1,
        "state": RunnerState.RUNNING.value,
        "state_ms": to_ms(now),
        "error": None,
    }
    if held is None:
        connection.execute(insert(leases).values(flow=flow, **values))
    else:
        connection.execute(update(leases).where(leases.c.flow == flow).values(**values))
    return Lease(flow, owner, fencing, ttl, now + ttl)


def free_all(connection: Connection) -> None:
    """Free every flow, whoever holds it. Fencing numbers stay, so whoever did can record nothing more."""
    connection.execute(
        update(leases).values(held=0, fencing=leases.c.fencing + 1, state=RunnerState.STOPPED.value, error=None)
    )


def check(connection: Connection, lease: Lease) -> None:
    """Make sure that `lease` is still the newest of its flow, until the transaction ends.

    Raises:
        LeaseLostError: another runner took the flow over, or the lease was released.
    """
    held = connection.execute(select(leases).where(leases.c.flow == lease.flow).with_for_update()).one_or_none()
    if held is None or held.fencing != lease.fencing:
        by = f" by {owner_of(held)}" if held is not None else ""
        raise LeaseLostError(
            f"flow '{lease.flow}' was taken over{by}; this runner ({lease.owner}) must stop",
            hint="see: streamhouse status",
        )
    if not held.held:
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


def observed_state(held: Row[tuple[object, ...]], now: datetime, alive: Callable[[Owner], bool] | None) -> RunnerState:
    """The recorded state, or `lost` when a runner says `running` that cannot be any more."""
    state = RunnerState(held.state)
    if state is not RunnerState.RUNNING:
        return state
    owner = owner_of(held)
    dead = alive is not None and not alive(owner)
    return RunnerState.RUNNING if _stands(held, now) and not dead else RunnerState.LOST


def owner_of(held: Row[tuple[object, ...]]) -> Owner:
    """The last runner of a flow."""
    return Owner(held.host, held.pid, from_ms(held.process_started_ms))


def _stands(held: Row[tuple[object, ...]], now: datetime) -> bool:
    return bool(held.held) and held.expires_ms > to_ms(now)


def _is_dead(holder: Owner, host: str, alive: Callable[[Owner], bool]) -> bool:
    # Only the own host can tell; a process elsewhere counts as living until its lease runs out.
    return holder.host == host and not alive(holder)

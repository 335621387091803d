"""What changed upstream of the flows: each change once, with what was decided and what became of it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing, unreadable
from streamhouse.state.instants import from_ms, stamp_of, to_ms
from streamhouse.state.schema import pin as pins
from streamhouse.state.schema import upstream_event as table


class EventStatus(StrEnum):
    """What became of a change."""

    SEEN = "seen"  # nothing decided yet
    NOTED = "noted"  # nothing to do
    WAITING = "waiting"  # for a person; its readers may wait
    APPLIED = "applied"
    REFUSED = "refused"  # a person said no: the flow goes on without it
    FAILED = "failed"  # decided, and not carried out; tried again
    OUTDATED = "outdated"  # something else is there by now


T = TypeVar("T")

OPEN = (EventStatus.SEEN, EventStatus.WAITING, EventStatus.FAILED)


_PAUSING = (EventStatus.WAITING, EventStatus.REFUSED, EventStatus.FAILED)


def _is_one_of(statuses: Collection[EventStatus]) -> ColumnElement[bool]:
    """Whether a change has one of some statuses, or none that there is: a damaged one is read, and named."""
    return table.c.status.not_in([status.value for status in EventStatus if status not in statuses])


@dataclass(frozen=True)
class UpstreamRecord:
    """One change as a flow sees it.

    Attributes:
        plan: Fingerprint of the plan that carries it; None: none does.
        note: Why it is where it is, in words for a person.
    """

    flow: str
    event: UpstreamEvent
    status: EventStatus
    observed_at: datetime
    since: datetime  # when `status` began
    decision: Decision | None = None
    plan: str | None = None
    note: str | None = None


class Upstream:
    """Changes and pins of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def record(
        self,
        flow: str,
        events: Iterable[UpstreamEvent],
        now: datetime | None = None,
        *,
        unseen: Collection[str] = (),
    ) -> list[UpstreamRecord]:
        """Note changes of what a flow reads; one that is known stays as it is.

        Open ones that are not among `events` are outdated from now on: what they tell is not so any more. Those of
        `unseen` objects, which could not be looked at, stay.

        Returns:
            One for each of `events`, in their order.
        """
        at, observed_events = to_ms(now or datetime.now(UTC)), list(events)

        def work(connection: Connection) -> list[UpstreamRecord]:
            rows_by_id = _of_flow(connection, flow)
            for event in observed_events:
                _see(connection, flow, event, rows_by_id.get(event.id), at)
            ids = {event.id for event in observed_events}
            for row in rows_by_id.values():
                if row.id not in ids and (not unseen or _record(row).event.object not in unseen):
                    _outdate(connection, row, at)
            updated_rows = _of_flow(connection, flow)
            return [_record(updated_rows[event.id]) for event in observed_events]

        return self._database.write(work)

    def settle(
        self,
        flow: str,
        event: str,
        status: EventStatus,
        *,
        decision: Decision | None = None,
        plan: str | None = None,
        note: str | None = None,
        now: datetime | None = None,
    ) -> None:
        """Note what became of a change; nothing is written when that is known already."""
        at = to_ms(now or datetime.now(UTC))
        values = {"status": status.value, "decision": None, "plan": plan, "note": note}
        values["decision"] = decision.model_dump_json() if decision is not None else None

        def work(connection: Connection) -> None:
            this = (table.c.flow == flow) & (table.c.id == event)
            row = connection.execute(select(table).where(this)).one_or_none()
            if row is not None and any(getattr(row, name) != value for name, value in values.items()):
                _set(connection, flow, event, row.status_ms if row.status == status else at, **values)

        self._database.write(work)

    def events(self, flow: str | None = None, limit: int = 100) -> list[UpstreamRecord]:
        """The newest changes of a flow (None: of all), oldest first."""
        query = select(table).order_by(table.c.seen_ms.desc(), table.c.id).limit(limit)
        if flow is not None:
            query = query.where(table.c.flow == flow)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [_record(row) for row in reversed(rows)]

    def open(self, flow: str) -> list[UpstreamRecord]:
        """Changes of a flow that are not settled, oldest first."""
        mine = (table.c.flow == flow) & _is_one_of(OPEN)
        with self._database.read() as connection:
            rows = connection.execute(select(table).where(mine).order_by(table.c.seen_ms, table.c.id)).all()
        return [_record(row) for row in rows]

    def unsettled(self, flow: str) -> list[UpstreamRecord]:
        """Changes of a flow that are not settled, and those that a person refused, oldest first."""
        mine = (table.c.flow == flow) & _is_one_of((*OPEN, EventStatus.REFUSED))
        with self._database.read() as connection:
            rows = connection.execute(select(table).where(mine).order_by(table.c.seen_ms, table.c.id)).all()
        return [_record(row) for row in rows]

    def flows_unsettled(self) -> set[str]:
        """The flows of which `unsettled` gives something, or finds something damaged."""
        with self._database.read() as connection:
            query = select(table.c.flow).distinct().where(_is_one_of((*OPEN, EventStatus.REFUSED)))
            return set(connection.execute(query).scalars())

    def stamp(self) -> tuple[int, int]:
        """Another one whenever a change was noted or settled: how many there are, and the sum of when each was."""
        with self._database.read() as connection:
            rows, _, sum_ms = stamp_of(connection, table.c.status_ms)
        return rows, sum_ms

    def paused(self, flow: str) -> frozenset[str]:
        """The steps of a flow that must not read on, because of a change of what they read.

        It waits for a person, was refused and cannot be ignored, or was granted and is not carried out.
        """
        return frozenset(step for d in self._pausing() for owner, step in d.paused if owner == flow)

    def waiting(self, flow: str, but: Collection[str] = ()) -> frozenset[str]:
        """The steps that are `paused`, and those that would become others if what pauses them is followed.

        Args:
            flow: Its name.
            but: Ids of changes that hold nobody any more.
        """
        return frozenset().union(*(one.waiting(flow) for one in self._pausing() if one.event.id not in but))

    def _pausing(self) -> list[Decision]:
        query = select(table).where(_is_one_of(_PAUSING))
        with self._database.read() as connection:
            rows = connection.execute(query.where(table.c.decision.is_not(None))).all()
        return [decision for row in rows if (decision := _record(row).decision) is not None]

    # --- pins ----------------------------------------------------------------------------------

    def pins(self, flow: str) -> dict[str, str]:
        """Object → what the flow last took for its schema, as `save_pins` was given it."""
        with self._database.read() as connection:
            rows = connection.execute(select(pins).where(pins.c.flow == flow)).all()
        return {row.object: row.body for row in rows}

    def save_pins(self, flow: str, bodies: Mapping[str, str], keep: Collection[str] = ()) -> None:
        """Make `bodies` the pins of a flow; of others only those in `keep` stay."""

        def work(connection: Connection) -> None:
            stored_bodies = {
                row.object: row.body for row in connection.execute(select(pins).where(pins.c.flow == flow))
            }
            for name in stored_bodies.keys() - bodies.keys() - set(keep):
                connection.execute(delete(pins).where((pins.c.flow == flow) & (pins.c.object == name)))
            for name, body in bodies.items():
                if stored_bodies.get(name) == body:
                    continue
                connection.execute(delete(pins).where((pins.c.flow == flow) & (pins.c.object == name)))
                connection.execute(insert(pins).values(flow=flow, object=name, body=body))

        self._database.write(work)


def _set(connection: Connection, flow: str, event: str, at_ms: int, **values: str | None) -> None:
    this = (table.c.flow == flow) & (table.c.id == event)
    connection.execute(update(table).where(this).values(status_ms=at_ms, **values))


def _record(row: Row[tuple[object, ...]]) -> UpstreamRecord:
    with parsing(f"a change upstream of flow '{row.flow}'"):
        return UpstreamRecord(
            flow=row.flow,
            event=_parsed(UpstreamEvent.model_validate_json, row.event, row.flow),
            status=EventStatus(row.status),
            observed_at=from_ms(row.seen_ms),
            since=from_ms(row.status_ms),
            decision=_parsed(Decision.model_validate_json, row.decision, row.flow) if row.decision else None,
            plan=row.plan,
            note=row.note,
        )


def _parsed(parse: Callable[[str], T], body: str, flow: str) -> T:
    try:
        return parse(body)
    except ValidationError as error:
        hint = "use the version that wrote it, or move the state store away"
        raise unreadable(f"a change upstream of flow '{flow}'", error, hint=hint) from error


def _outdate(connection: Connection, row: Row[tuple[Any, ...]], at_ms: int) -> None:
    if row.status in OPEN:
        _set(connection, row.flow, row.id, at_ms, status=EventStatus.OUTDATED.value)


def _of_flow(connection: Connection, flow: str) -> dict[str, Row[tuple[Any, ...]]]:
    return {row.id: row for row in connection.execute(select(table).where(table.c.flow == flow))}


def _see(
    connection: Connection, flow: str, event: UpstreamEvent, known: Row[tuple[Any, ...]] | None, at_ms: int
) -> None:
    if known is None:
        row = {"flow": flow, "id": event.id, "event": event.model_dump_json(), "status": EventStatus.SEEN.value}
        connection.execute(insert(table).values(**row, seen_ms=at_ms, status_ms=at_ms))
    elif known.status == EventStatus.OUTDATED:  # it came back
        _set(connection, flow, event.id, at_ms, status=EventStatus.SEEN.value)

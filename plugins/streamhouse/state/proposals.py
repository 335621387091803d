"""What the planner proposed, what became of it, and what was sent to models for it: shared by all machines."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, insert, select, update

from streamhouse.state.connect import Database
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.put import put
from streamhouse.state.schema import proposal as proposals
from streamhouse.state.schema import proposal_event as events
from streamhouse.state.schema import sent as sent_rows

RETAINED = 500
"""So many proposals stay that were written into files, and as many others: the newest of each."""
_EVENTS = 100  # of one proposal
_SENT = 20  # of one proposal: times that a model was asked
_UNFINISHED = 100  # wishes that a model was asked and that have no proposal

ASKED = "asked"
"""What happens to a proposal first; the same again is the same proposal."""
WRITTEN = "written"
"""What happens to a proposal whose files were written."""


@dataclass(frozen=True)
class RecordedEvent:
    """One thing that happened to a proposal."""

    at: datetime
    what: str
    detail: str = ""


@dataclass(frozen=True)
class RecordedProposal:
    """One proposal.

    Attributes:
        flow: That it is of; empty: of none.
        body: The Proposal as JSON.
        asked: How it was asked for, as JSON.
        events: What happened to it, the oldest first.
    """

    id: str
    flow: str
    body: str
    asked: str
    events: tuple[RecordedEvent, ...] = ()


@dataclass(frozen=True)
class RecordedSent:
    """What was sent to a model for one wish.

    Attributes:
        unfinished: There is no proposal.
        requests: JSON.
    """

    at: datetime
    requests: str
    unfinished: bool = False


class ProposalRecords:
    """Those of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def add(self, record: RecordedProposal, *, keeps_asked: bool = False) -> None:
        """Record a proposal as it is now, and add its events to those that it has.

        An event `asked` is recorded once. Then what exceeds the retention is removed.

        Args:
            record: Of which `events` are new.
            keeps_asked: How it was asked for stays as it was, if that is known.
        """

        def work(connection: Connection) -> None:
            _put(connection, record, keeps_asked=keeps_asked)
            _add_events(connection, record.id, record.events)
            _prune(connection)

        self._database.write(work)

    def note(self, name: str, event: RecordedEvent) -> bool:
        """Add an event to a proposal, which stays as it is; False: there is none of that id."""

        def work(connection: Connection) -> bool:
            is_there = connection.execute(select(proposals.c.id).where(proposals.c.id == name)).first() is not None
            if is_there:
                _add_events(connection, name, [event])
                _prune(connection)
            return is_there

        return self._database.write(work)

    def take_over(self, records: Iterable[RecordedProposal], sent: Iterable[tuple[str, RecordedSent]]) -> None:
        """Record proposals that were recorded elsewhere before, with all their events.

        Of a proposal that is there already, the newer one stays. What is taken over again changes nothing.
        """

        def work(connection: Connection) -> None:
            for record in records:
                known = {(to_ms(one.at), one.what, one.detail) for one in _events(connection, record.id)}
                new = [one for one in record.events if (to_ms(one.at), one.what, one.detail) not in known]
                if not known:
                    _put(connection, record, keeps_asked=False)
                _add_events(connection, record.id, new)
            for name, one in sent:
                same = (sent_rows.c.name == name) & (sent_rows.c.at_ms == to_ms(one.at))
                if connection.execute(select(sent_rows.c.id).where(same)).first() is None:
                    connection.execute(insert(sent_rows).values(_sent_values(name, one)))
            _prune(connection)

        self._database.write(work)

    def get(self, name: str) -> RecordedProposal | None:
        """One proposal; None: there is none of that id."""
        found = self._found(select(proposals).where(proposals.c.id == name))
        return found[0] if found else None

    def all(self, flow: str | None = None) -> list[RecordedProposal]:
        """The proposals of a flow (None: all), the one to which something happened last first."""
        query = select(proposals)
        return self._found(query if flow is None else query.where(proposals.c.flow == flow))

    def ids(self) -> list[str]:
        """Of all proposals."""
        with self._database.read() as connection:
            return list(connection.execute(select(proposals.c.id).order_by(proposals.c.id)).scalars())

    def remove(self, name: str) -> bool:
        """Remove a proposal, what happened to it and what was sent for it; False: there was nothing of that name."""

        def work(connection: Connection) -> bool:
            return _remove(connection, [name]) > 0

        return self._database.write(work)

    def remove_deleted(self) -> None:
        """Remove from the files of the state store what was deleted; see `Database.remove_deleted`."""
        self._database.remove_deleted()

    def send(self, name: str, requests: str, at: datetime) -> None:
        """Record all that was sent so far for a wish that has no proposal.

        Args:
            name: Of the wish, of its own.
            requests: JSON.
            at: When the wish was asked.
        """
        mine = sent_rows.c.name == name
        new = RecordedSent(at, requests, unfinished=True)

        def work(connection: Connection) -> None:
            if not connection.execute(update(sent_rows).where(mine).values(requests=requests)).rowcount:
                connection.execute(insert(sent_rows).values(_sent_values(name, new)))
                stale = select(sent_rows.c.id).where(sent_rows.c.unfinished == 1).order_by(sent_rows.c.id.desc())
                _delete(connection, sent_rows, stale.offset(_UNFINISHED))

        self._database.write(work)

    def belongs_to(self, name: str, proposal: str) -> None:
        """Record that what was sent under a name of its own was sent for a proposal."""

        def work(connection: Connection) -> None:
            this = update(sent_rows).where(sent_rows.c.name == name)
            connection.execute(this.values(name=proposal, unfinished=0))
            stale = select(sent_rows.c.id).where(sent_rows.c.name == proposal).order_by(sent_rows.c.id.desc())
            _delete(connection, sent_rows, stale.offset(_SENT))

        self._database.write(work)

    def sent_for(self, name: str) -> list[RecordedSent]:
        """Each time that something was sent for a proposal, or under a name of its own; the oldest first."""
        query = select(sent_rows).where(sent_rows.c.name == name).order_by(sent_rows.c.id)
        with self._database.read() as connection:
            return [
                RecordedSent(from_ms(row.at_ms), row.requests, bool(row.unfinished))
                for row in connection.execute(query)
            ]

    def sent_last(self) -> str | None:
        """The proposal, or the name of a wish without one, for which something was sent last; None: there is none."""
        query = select(sent_rows.c.name).order_by(sent_rows.c.id.desc()).limit(1)
        with self._database.read() as connection:
            return connection.execute(query).scalar_one_or_none()

    def all_sent(self) -> list[tuple[str, RecordedSent]]:
        """Everything that was sent, with the proposal or the name that it was sent for."""
        with self._database.read() as connection:
            return [
                (row.name, RecordedSent(from_ms(row.at_ms), row.requests, bool(row.unfinished)))
                for row in connection.execute(select(sent_rows).order_by(sent_rows.c.id))
            ]

    def _found(self, query: Select[Any]) -> list[RecordedProposal]:
        with self._database.read() as connection:
            rows = connection.execute(query).all()
            happened: dict[str, list[RecordedEvent]] = {}
            newest: dict[str, tuple[int, int]] = {}
            mine = select(events).where(events.c.proposal.in_([row.id for row in rows]))
            for row in connection.execute(mine.order_by(events.c.at_ms, events.c.id)):
                happened.setdefault(row.proposal, []).append(RecordedEvent(from_ms(row.at_ms), row.what, row.detail))
                newest[row.proposal] = row.at_ms, row.id
        found = [
            RecordedProposal(row.id, row.flow, row.body, row.asked, tuple(happened.get(row.id, ()))) for row in rows
        ]
        return sorted(found, key=lambda one: newest.get(one.id, (0, 0)), reverse=True)


def _put(connection: Connection, record: RecordedProposal, *, keeps_asked: bool) -> None:
    this = select(proposals.c.id).where(proposals.c.id == record.id).with_for_update()
    is_there = connection.execute(this).first() is not None
    values: dict[str, object] = {"flow": record.flow, "body": record.body}
    if not (is_there and keeps_asked):
        values["asked"] = record.asked
    put(connection, proposals, {"id": record.id}, values, there=is_there)


def _add_events(connection: Connection, name: str, new: Iterable[RecordedEvent]) -> None:
    asked = (events.c.proposal == name) & (events.c.what == ASKED)
    for one in new:
        if one.what == ASKED and connection.execute(select(events.c.id).where(asked)).first() is not None:
            continue
        row = {"proposal": name, "what": one.what, "detail": one.detail, "at_ms": to_ms(one.at)}
        connection.execute(insert(events).values(row))
    # What says that files were written stays longest: an open question shows the proposal by that.
    last = case((events.c.what == WRITTEN, 1), else_=0)
    mine = select(events.c.id).where(events.c.proposal == name)
    newest = mine.order_by(last.desc(), events.c.at_ms.desc(), events.c.id.desc())
    _delete(connection, events, newest.offset(_EVENTS))


def _events(connection: Connection, name: str) -> list[RecordedEvent]:
    query = select(events).where(events.c.proposal == name).order_by(events.c.id)
    return [RecordedEvent(from_ms(row.at_ms), row.what, row.detail) for row in connection.execute(query)]


def _prune(connection: Connection) -> None:
    """Remove the oldest proposals beyond those that are retained."""
    writes = func.max(case((events.c.what == WRITTEN, 1), else_=0))
    every = connection.execute(
        select(events.c.proposal, writes.label("is_written"))
        .group_by(events.c.proposal)
        .order_by(func.max(events.c.at_ms).desc(), func.max(events.c.id).desc())
    ).all()
    for is_written in (0, 1):
        _remove(connection, [row.proposal for row in every if row.is_written == is_written][RETAINED:])


def _remove(connection: Connection, names: list[str]) -> int:
    if not names:
        return 0
    connection.execute(delete(events).where(events.c.proposal.in_(names)))
    sent = connection.execute(delete(sent_rows).where(sent_rows.c.name.in_(names)))
    return connection.execute(delete(proposals).where(proposals.c.id.in_(names))).rowcount + sent.rowcount


def _delete(connection: Connection, table: Any, stale: Select[Any]) -> None:
    """Delete rows by their ids."""
    if found := connection.execute(stale).scalars().all():
        connection.execute(delete(table).where(table.c.id.in_(found)))


def _sent_values(name: str, one: RecordedSent) -> dict[str, object]:
    return {"name": name, "unfinished": int(one.unfinished), "requests": one.requests, "at_ms": to_ms(one.at)}

"""What people are asked before a change is carried out, and what they said."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from streamhouse.errors import ApprovalClosedError, UnknownApprovalError
from streamhouse.model.schema_change import QUESTION_LIFETIME
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.identifiers import begin_so
from streamhouse.state.instants import from_ms, stamp_of, to_ms
from streamhouse.state.schema import approval as table
from streamhouse.state.schema import plan as plans
from streamhouse.state.schema import upstream_event


class ApprovalState(StrEnum):
    """Where a question stands."""

    OPEN = "open"
    GRANTED = "granted"
    REFUSED = "refused"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Approval:
    """One question to a person.

    Attributes:
        id: Eight hex digits.
        subject: What it is about: the id of a change upstream, or the fingerprint of a plan.
        asks: What would be done if it is granted.
        evidence: What speaks for and against it, as text.
        document: The same for programs.
        decided_by: Who said so; None while it is open, and when it expired.
    """

    id: str
    flow: str
    subject: str
    asks: str
    evidence: str
    document: dict[str, Any]
    state: ApprovalState
    requested_at: datetime
    expires_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = None


class Approvals:
    """Questions of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def ask(
        self,
        flow: str,
        subject: str,
        asks: str,
        evidence: str,
        document: Mapping[str, Any] | None = None,
        *,
        lifetime: timedelta = QUESTION_LIFETIME,
        now: datetime | None = None,
    ) -> Approval:
        """The question about `subject`: asked now, or as it is since it was asked.

        What was decided stays decided. A question that nobody answered in time is asked again, under another id.
        """
        at = now or datetime.now(UTC)
        question = {"flow": flow, "subject": subject, "asks": asks, "evidence": evidence}
        row = {**question, "document": dict(document or {}), "expires_ms": to_ms(at + lifetime)}
        return self._database.write(lambda connection: _ask(connection, row, at))

    def withdraw(self, flow: str, subjects: Collection[str], now: datetime | None = None) -> None:
        """Let the questions of a flow about some subjects expire, where they wait: it is not so any more."""
        at = to_ms(now or datetime.now(UTC))
        waits = (table.c.flow == flow) & (table.c.state == ApprovalState.OPEN.value) & (table.c.expires_ms > at)
        query = update(table).where(waits & table.c.subject.in_(subjects)).values(expires_ms=at)
        self._database.write(lambda connection: connection.execute(query))

    def about(self, flow: str, subject: str, now: datetime | None = None) -> Approval | None:
        """The newest question about a subject; None: nobody was asked."""
        with self._database.read() as connection:
            rows = connection.execute(_about(flow, subject)).all()
        return _read(rows[-1], now or datetime.now(UTC)) if rows else None

    def list(self, flow: str | None = None, *, every: bool = False, now: datetime | None = None) -> list[Approval]:
        """Questions of a flow (None: of all) that wait, or `every` one; oldest first."""
        query = select(table).order_by(table.c.asked_ms, table.c.id)
        if flow is not None:
            query = query.where(table.c.flow == flow)
        at = now or datetime.now(UTC)
        with self._database.read() as connection:
            found = [_read(row, at) for row in connection.execute(query)]
        return [one for one in found if every or one.state is ApprovalState.OPEN]

    def failed(self, flow: str | None = None, now: datetime | None = None) -> Sequence[Approval]:
        """Questions of a flow (None: of all) that were granted, and what was granted failed; oldest first."""
        granted = select(table).where(table.c.state == ApprovalState.GRANTED.value)
        if flow is not None:
            granted = granted.where(table.c.flow == flow)
        at = now or datetime.now(UTC)
        with self._database.read() as connection:
            rows = connection.execute(granted.order_by(table.c.asked_ms, table.c.id)).all()
            return [_read(row, at) for row in rows if _has_failed(connection, row)]

    def stamp(self) -> tuple[int, int, int]:
        """Another one whenever a person was asked or answered: how many were, and the sum of when."""
        with self._database.read() as connection:
            return stamp_of(connection, table.c.decided_ms)

    def get(self, name: str, now: datetime | None = None) -> Approval:
        """The question with this id, or with an id that alone begins so.

        Raises:
            UnknownApprovalError: there is none.
        """
        at = now or datetime.now(UTC)
        with self._database.read() as connection:
            return _read(_find(connection, name), at)

    def decide(
        self, name: str, *, grant: bool, by: str, reason: str | None = None, now: datetime | None = None
    ) -> Approval:
        """Grant or refuse a question; a grant may be taken back when what was granted failed.

        Raises:
            UnknownApprovalError: nobody was asked so.
            ApprovalClosedError: it was decided already, or is too old.
        """
        at = now or datetime.now(UTC)

        def work(connection: Connection) -> Approval:
            row = _find(connection, name)
            approval, has_failed = _read(row, at), _has_failed(connection, row)
            if grant or not has_failed:
                _refuse_closed(approval, has_failed=has_failed)
            state = ApprovalState.GRANTED if grant else ApprovalState.REFUSED
            values = {"state": state.value, "decided_ms": to_ms(at), "decided_by": by, "reason": reason}
            connection.execute(update(table).where(table.c.id == approval.id).values(**values))
            return _read(connection.execute(select(table).where(table.c.id == approval.id)).one(), at)

        return self._database.write(work)


def _about(flow: str, subject: str) -> Any:
    mine = (table.c.flow == flow) & (table.c.subject == subject)
    return select(table).where(mine).order_by(table.c.asked_ms, table.c.id).with_for_update()


def _find(connection: Connection, name: str) -> Row[tuple[object, ...]]:
    rows = {row.id: row for row in connection.execute(select(table))}
    found = begin_so(name, rows, {row.flow for row in rows.values()})
    if len(found) != 1:
        raise UnknownApprovalError(name, found or rows)
    return rows[found[0]]


def _read(row: Row[tuple[object, ...]], now: datetime) -> Approval:
    with parsing(f"approval {row.id}"):
        state = ApprovalState(row.state)
        expires = from_ms(row.expires_ms)
        if state is ApprovalState.OPEN and expires <= now:
            state = ApprovalState.EXPIRED
        return Approval(
            id=row.id,
            flow=row.flow,
            subject=row.subject,
            asks=row.asks,
            evidence=row.evidence,
            document=row.document,
            state=state,
            requested_at=from_ms(row.asked_ms),
            expires_at=expires,
            decided_at=from_ms(row.decided_ms) if row.decided_ms is not None else None,
            decided_by=row.decided_by,
            reason=row.reason,
        )


def _ask(connection: Connection, row: Mapping[str, Any], at: datetime) -> Approval:
    rows = connection.execute(_about(row["flow"], row["subject"])).all()
    last = _read(rows[-1], at) if rows else None
    if last is not None and last.state is not ApprovalState.EXPIRED:
        return last
    known = f"{row['flow']}\n{row['subject']}\n{len(rows)}"
    name = sha256(known.encode()).hexdigest()[:8]
    # After a clock went back, too, a question is newer than those before it.
    asked_ms = max([to_ms(at), *(before.asked_ms + 1 for before in rows[-1:])])
    state = {"state": ApprovalState.OPEN.value, "asked_ms": asked_ms}
    connection.execute(insert(table).values(**row, **state, id=name))
    return _read(connection.execute(select(table).where(table.c.id == name)).one(), at)


def _has_failed(connection: Connection, row: Row[tuple[object, ...]]) -> bool:
    """Whether a question was granted, and what was granted could not be carried out."""
    if row.state != ApprovalState.GRANTED.value:
        return False
    has_failed = (upstream_event.c.flow == row.flow) & (upstream_event.c.status == "failed")  # `EventStatus.FAILED`
    failed = set(connection.execute(select(upstream_event.c.id).where(has_failed)).scalars())
    if row.subject in failed:
        return True
    document: dict[str, Any] = row.document
    if not failed or document.get("plan") != row.subject:
        return False
    carried = (plans.c.flow == row.flow) & (plans.c.fingerprint == row.subject)
    return connection.execute(select(plans.c.revision).where(carried)).first() is None


def _refuse_closed(approval: Approval, *, has_failed: bool) -> None:
    if has_failed:
        raise ApprovalClosedError(
            f"approval {approval.id} was granted by {approval.decided_by}, and what was granted failed",
            hint=f"correct the cause, and it is tried again; or give it up: streamhouse refuse {approval.id}",
        )
    if approval.state is ApprovalState.EXPIRED:
        raise ApprovalClosedError(
            f"approval {approval.id} expired at {approval.expires_at:%Y-%m-%d %H:%M:%S} UTC",
            hint="streamhouse trigger --once asks again, with what is known now",
        )
    if approval.state is not ApprovalState.OPEN:
        raise ApprovalClosedError(
            f"approval {approval.id} was {approval.state} by {approval.decided_by}"
            f" at {approval.decided_at:%Y-%m-%d %H:%M:%S} UTC",
            hint=f"see: streamhouse approvals {approval.id}",
        )

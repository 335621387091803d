"""What the autopilot proposed, did and measured. Each decision is an event of its flow, too, with its reason."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.schema import autopilot as table
from streamhouse.state.schema import event as events

EVENT = "autopilot"
"""Kind of the events."""


class DecisionState(StrEnum):
    """What became of a proposal."""

    SUGGESTED = "suggested"  # the fault is there, and nothing was done
    OVER = "over"  # nothing was done, and the fault is gone
    APPLYING = "applying"  # begun and not finished: the next round goes on
    APPLIED = "applied"  # and not measured yet
    KEPT = "kept"  # it was measured and stays
    TAKING_BACK = "taking back"  # begun and not finished: the next round goes on
    ROLLED_BACK = "rolled back"
    REFUSED = "refused"  # it could not be applied; what was there stays
    LEFT = "left"  # somebody else edited the file meanwhile: it stays as that person wrote it

    @property
    def is_open(self) -> bool:
        """Whether something of it is still to be done."""
        return self in OPEN


OPEN = (DecisionState.SUGGESTED, DecisionState.APPLYING, DecisionState.APPLIED, DecisionState.TAKING_BACK)
"""States in which something is still to be done."""

_IS_OPEN = table.c.state.not_in([state.value for state in DecisionState if state not in OPEN])
"""A letter of a state may be damaged: then the decision is read, and named."""

_ON_THE_WAY = frozenset({DecisionState.APPLYING, DecisionState.TAKING_BACK})


_NOT_YET = "; not done yet: "


def reason_of(text: str) -> str:
    """The reason of a decision without what was in its way for a time."""
    return text.partition(_NOT_YET)[0]


@dataclass(frozen=True)
class NewDecision:
    """What is proposed.

    Attributes:
        finding: The same for the same fault seen again.
        means: How it would be done, as `autopilot.finding.Means` names it.
        numbers: What was compared.
        edits: Key of the flow's file → new value.
        goal: The number that is measured before and after.
        outcome: Of the plan; None: there is none.
        window: How long to measure.
        since: When the fault began; where that is not known, when it was seen first.
        reason: Why it is not applied.
    """

    flow: str
    finding: str
    kind: str
    means: str
    text: str
    remedy: str
    goal: str
    window: timedelta
    since: datetime
    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    edits: Mapping[str, Any] = field(default_factory=dict)
    outcome: str | None = None


@dataclass(frozen=True)
class AutopilotDecision(NewDecision):
    """One proposal and what became of it.

    Attributes:
        reason: Why it is where it is.
        found_at: When the fault was seen first.
        state_at: When `state` began.
        before: The number of its goal before it was applied; None: unknown.
        after: The same afterwards.
        file: That was edited, from the project's folder.
        old_text: What stood there.
        new_hash: Of what was written.
    """

    id: int = 0
    state: DecisionState = DecisionState.SUGGESTED
    found_at: datetime = datetime.min
    state_at: datetime = datetime.min
    applied_at: datetime | None = None
    before: float | None = None
    after: float | None = None
    file: str | None = None
    old_text: str | None = None
    new_hash: str | None = None


class Decisions:
    """Those of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def suggest(self, new: NewDecision, now: datetime) -> tuple[AutopilotDecision, bool]:
        """Record a proposal, and whether it is new: while one of the same fault stands, that one gets what is new.

        One that is being applied or measured stays as it is. Another reason why it is not applied is an event, too.
        """
        at = to_ms(now)
        values = _column_values(new)
        this = (table.c.flow == new.flow) & (table.c.finding == new.finding)

        def work(connection: Connection) -> tuple[AutopilotDecision, bool]:
            stands = this & _IS_OPEN
            current = connection.execute(select(table).where(stands).with_for_update()).first()
            if current is None:
                row = {"flow": new.flow, "finding": new.finding, "kind": new.kind, **values}
                row |= {"state": DecisionState.SUGGESTED.value, "since_ms": to_ms(new.since)}
                key = connection.execute(insert(table).values(**row, found_ms=at, state_ms=at)).inserted_primary_key
                assert key is not None
                _tell(connection, new.flow, f"suggested ({key[0]}, {new.remedy}): {new.text}; {new.reason}", at)
                return _one(connection, key[0]), True
            if current.state == DecisionState.SUGGESTED:
                if current.reason != new.reason:
                    _tell(connection, new.flow, f"still suggested ({current.id}, {new.remedy}): {new.reason}", at)
                connection.execute(update(table).where(table.c.id == current.id).values(**values))
            return _one(connection, current.id), False

        return self._database.write(work)

    def move(
        self, decision: AutopilotDecision, state: DecisionState, reason: str, now: datetime, **more: str | float | None
    ) -> AutopilotDecision:
        """Record what becomes of a decision, with its reason, as an event of its flow, too, unless it goes on at once.

        Args:
            decision: Which.
            state: From now on; `APPLIED` begins the time in which it is measured.
            reason: In words for a person.
            now: The time.
            more: `before`, `after`, `file`, `old_text` or `new_hash`.
        """
        at = to_ms(now)
        values: dict[str, Any] = {"state": state.value, "reason": reason, "state_ms": at, **more}
        if state is DecisionState.APPLIED:
            values["applied_ms"] = at

        def work(connection: Connection) -> AutopilotDecision:
            connection.execute(update(table).where(table.c.id == decision.id).values(**values))
            if state not in _ON_THE_WAY:
                _tell(connection, decision.flow, f"{state} ({decision.id}, {decision.remedy}): {reason}", at)
            return _one(connection, decision.id)

        return self._database.write(work)

    def stuck(self, number: int, error: str, now: datetime) -> None:
        """Record why a decision that is on its way cannot go on yet: behind its reason, and once as an event.

        Args:
            number: Of the decision; one that is not on its way, or of which the same is known, stays as it is.
            error: What is in the way, in words for a person.
            now: The time.
        """

        def work(connection: Connection) -> None:
            row = connection.execute(select(table).where(table.c.id == number).with_for_update()).one()
            reason = f"{reason_of(row.reason)}{_NOT_YET}{error}"
            if row.state not in {one.value for one in _ON_THE_WAY} or reason == row.reason:
                return
            connection.execute(update(table).where(table.c.id == number).values(reason=reason))
            _tell(connection, row.flow, f"{row.state} ({row.id}, {row.remedy}): {reason}", to_ms(now))

        self._database.write(work)

    def over(self, flows: Collection[str], found: Collection[str], now: datetime) -> list[AutopilotDecision]:
        """End the suggestions of flows whose faults are not among those found now."""
        obsolete_decisions = [
            one
            for one in self.open()
            if one.state is DecisionState.SUGGESTED and one.flow in flows and one.finding not in found
        ]
        return [self.move(one, DecisionState.OVER, "the fault is gone", now) for one in obsolete_decisions]

    def open(self, flow: str | None = None) -> list[AutopilotDecision]:
        """Of which something is still to be done, the oldest first."""
        query = select(table).where(_IS_OPEN).order_by(table.c.id)
        return self._found(query if flow is None else query.where(table.c.flow == flow))

    def log(self, flow: str | None = None, limit: int = 50) -> list[AutopilotDecision]:
        """The newest decisions of a flow (None: of all), oldest first."""
        query = select(table).order_by(table.c.id.desc()).limit(limit)
        return self._found(query if flow is None else query.where(table.c.flow == flow))[::-1]

    def moved_since(self, at: datetime) -> list[AutopilotDecision]:
        """Decisions whose state began since then, or that were applied since then."""
        ms = to_ms(at)
        return self._found(
            select(table).where((table.c.state_ms >= ms) | (table.c.applied_ms >= ms)).order_by(table.c.id)
        )

    def _found(self, query: Any) -> list[AutopilotDecision]:
        with self._database.read() as connection:
            return [_read(row) for row in connection.execute(query)]


def _tell(connection: Connection, flow: str, text: str, at_ms: int) -> None:
    connection.execute(insert(events).values(flow=flow, kind=EVENT, text=text, at_ms=at_ms))


def _one(connection: Connection, number: int) -> AutopilotDecision:
    return _read(connection.execute(select(table).where(table.c.id == number)).one())


def _column_values(new: NewDecision) -> dict[str, object]:
    return {
        "means": new.means,
        "text": new.text,
        "remedy": new.remedy,
        "numbers": dict(new.numbers),
        "edits": dict(new.edits),
        "goal": new.goal,
        "outcome": new.outcome,
        "window_ms": round(new.window.total_seconds() * 1000),
        "reason": new.reason,
    }


def _read(row: Row[Any]) -> AutopilotDecision:
    with parsing(f"decision {row.id} of the autopilot"):
        return AutopilotDecision(
            flow=row.flow,
            finding=row.finding,
            kind=row.kind,
            means=row.means,
            text=row.text,
            remedy=row.remedy,
            goal=row.goal,
            window=timedelta(milliseconds=row.window_ms),
            since=from_ms(row.since_ms),
            reason=row.reason,
            numbers=row.numbers,
            edits=row.edits,
            outcome=row.outcome,
            id=row.id,
            state=DecisionState(row.state),
            found_at=from_ms(row.found_ms),
            state_at=from_ms(row.state_ms),
            applied_at=None if row.applied_ms is None else from_ms(row.applied_ms),
            before=row.before,
            after=row.after,
            file=row.file,
            old_text=row.old_text,
            new_hash=row.new_hash,
        )

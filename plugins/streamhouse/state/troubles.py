"""What goes wrong with tables while their flows run on: recorded by the job that meets it, gone when it goes well."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from streamhouse.errors import StreamhouseError
from streamhouse.model.types import Tier
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.schema import event as events
from streamhouse.state.schema import trouble as troubles

RESTORE = "restore"
_WORDS = {
    "tiering": ("to", "is filled again"),
    "upkeep": ("in", "is kept again"),
    RESTORE: ("in", "has all of its rows again"),
}
"""Job → how it serves a tier, and what is said of a table that it serves again."""


@dataclass(frozen=True)
class TableTrouble:
    """A table that a job cannot serve.

    Attributes:
        table: That people know.
        job: `tiering` or `upkeep`; `restore`: what a table lacks since a loss.
        since: When the job first failed without a success since.
        last: When it failed last.
        times: How often.
    """

    flow: str
    table: str
    tier: Tier
    job: str
    code: str
    text: str
    hint: str | None
    since: datetime
    last: datetime
    times: int

    def __str__(self) -> str:
        """One sentence for people."""
        if self.job == RESTORE:  # nothing fails: it says what a restore could not bring back
            return self.text
        return f"{self.job} of {_place(self.table, self.tier, self.job)} fails: {self.code} {self.text}"


class Troubles:
    """Those of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def failed(self, flow: str, table: str, tier: Tier, job: str, error: StreamhouseError) -> bool:
        """Record a failure, a new one as an event of the flow, too; whether it is new.

        It is where none, or one of another code, was recorded before.
        """
        this, now_ms = _this(flow, table, tier, job), to_ms(datetime.now(UTC))
        details = {"code": error.code, "text": error.message, "hint": error.hint, "last_ms": now_ms}

        def work(connection: Connection) -> bool:
            row = connection.execute(select(troubles).where(*this).with_for_update()).one_or_none()
            if row is None:
                key = {"flow": flow, "table_name": table, "tier": tier.value, "job": job}
                connection.execute(insert(troubles).values({**key, **details, "since_ms": now_ms, "times": 1}))
            else:
                connection.execute(update(troubles).where(*this).values({**details, "times": row.times + 1}))
            is_new = row is None or row.code != error.code
            if is_new:
                text = f"{_place(table, tier, job)}: {error.code} {error.message}"
                connection.execute(insert(events).values(flow=flow, kind=job, text=text, at_ms=now_ms))
            return is_new

        return self._database.write(work)

    def mended(self, flow: str, table: str, tier: Tier, job: str) -> bool:
        """Record a success, as an event of the flow where the job failed before; whether it did."""
        return self._forget(flow, table, tier, job, f"{_place(table, tier, job)}: {_WORDS[job][1]}")

    def forget_others(self, flow: str, job: str, still: Iterable[tuple[str, Tier]]) -> None:
        """Remove what a job recorded of tables and tiers that the flow has no more."""
        current_places = set(still)
        for one in self.current(flow):
            if one.job == job and (one.table, one.tier) not in current_places:
                self._forget(flow, one.table, one.tier, job)

    def current(self, flow: str | None = None) -> list[TableTrouble]:
        """What is wrong now with a flow's tables (None: of all flows), the oldest first."""
        query = select(troubles).order_by(troubles.c.since_ms, troubles.c.table_name, troubles.c.tier)
        if flow is not None:
            query = query.where(troubles.c.flow == flow)
        with self._database.read() as connection:
            return [_read(row) for row in connection.execute(query)]

    def _forget(self, flow: str, table: str, tier: Tier, job: str, event_text: str = "") -> bool:
        this = _this(flow, table, tier, job)
        with self._database.read() as connection:
            if connection.execute(select(troubles.c.flow).where(*this)).one_or_none() is None:
                return False  # most often: nothing to write

        def work(connection: Connection) -> bool:
            existed = bool(connection.execute(delete(troubles).where(*this)).rowcount)
            if existed and event_text:
                at_ms = to_ms(datetime.now(UTC))
                connection.execute(insert(events).values(flow=flow, kind=job, text=event_text, at_ms=at_ms))
            return existed

        return self._database.write(work)


def _place(table: str, tier: Tier, job: str) -> str:
    return f"{table} {_WORDS[job][0]} {tier}"


def _this(flow: str, table: str, tier: Tier, job: str) -> tuple[ColumnElement[bool], ...]:
    c = troubles.c
    return c.flow == flow, c.table_name == table, c.tier == tier.value, c.job == job


def _read(row: Row[tuple[object, ...]]) -> TableTrouble:
    with parsing(f"what is wrong with {row.table_name}"):
        since, last, tier = from_ms(row.since_ms), from_ms(row.last_ms), Tier(row.tier)
        return TableTrouble(
            row.flow, row.table_name, tier, row.job, row.code, row.text, row.hint, since, last, row.times
        )

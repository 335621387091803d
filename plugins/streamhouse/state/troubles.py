"""What goes wrong with tables while their flows run on: recorded by the job that meets it, gone when it goes well."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from streamhouse.errors import StreamhouseError
from streamhouse.model.types import Tier
from streamhouse.state.connect import Database
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.schema import trouble as troubles


@dataclass(frozen=True)
class Trouble:
    """A table that a job cannot serve.

    Attributes:
        table: That people know.
        job: `tiering` or `upkeep`.
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
        place = "to" if self.job == "tiering" else "in"
        return f"{self.job} of {self.table} {place} {self.tier} fails: {self.code} {self.text}"


class Troubles:
    """Those of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def failed(self, flow: str, table: str, tier: Tier, job: str, error: StreamhouseError) -> bool:
        """Record a failure; whether it is a new one: none, or one of another code, was recorded before."""
        this, now_ms = _this(flow, table, tier, job), to_ms(datetime.now(UTC))
        told = {"code": error.code, "text": error.message, "hint": error.hint, "last_ms": now_ms}

        def work(connection: Connection) -> bool:
            row = connection.execute(select(troubles).where(*this).with_for_update()).one_or_none()
            if row is None:
                key = {"flow": flow, "table_name": table, "tier": tier.value, "job": job}
                connection.execute(insert(troubles).values({**key, **told, "since_ms": now_ms, "times": 1}))
                return True
            connection.execute(update(troubles).where(*this).values({**told, "times": row.times + 1}))
            return bool(row.code != error.code)

        return self._database.write(work)

    def mended(self, flow: str, table: str, tier: Tier, job: str) -> bool:
        """Record a success; whether the job failed before."""
        this = _this(flow, table, tier, job)
        with self._database.read() as connection:
            if connection.execute(select(troubles.c.flow).where(*this)).one_or_none() is None:
                return False  # most often: nothing to write
        return bool(self._database.write(lambda connection: connection.execute(delete(troubles).where(*this)).rowcount))

    def forget_others(self, flow: str, job: str, still: Iterable[tuple[str, Tier]]) -> None:
        """Remove what a job recorded of tables and tiers that the flow has no more."""
        kept = set(still)
        for one in self.standing(flow):
            if one.job == job and (one.table, one.tier) not in kept:
                self.mended(flow, one.table, one.tier, job)

    def standing(self, flow: str | None = None) -> list[Trouble]:
        """What is wrong now with a flow's tables (None: of all flows), the oldest first."""
        query = select(troubles).order_by(troubles.c.since_ms, troubles.c.table_name, troubles.c.tier)
        if flow is not None:
            query = query.where(troubles.c.flow == flow)
        with self._database.read() as connection:
            return [
                Trouble(
                    row.flow,
                    row.table_name,
                    Tier(row.tier),
                    row.job,
                    row.code,
                    row.text,
                    row.hint,
                    from_ms(row.since_ms),
                    from_ms(row.last_ms),
                    row.times,
                )
                for row in connection.execute(query)
            ]


def _this(flow: str, table: str, tier: Tier, job: str) -> tuple[ColumnElement[bool], ...]:
    c = troubles.c
    return c.flow == flow, c.table_name == table, c.tier == tier.value, c.job == job

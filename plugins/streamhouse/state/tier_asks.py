"""Rounds of tiering that somebody asked of the runner which carries a flow, and what became of them."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from streamhouse.state.connect import Database
from streamhouse.state.schema import tier_ask as asks
from streamhouse.state.schema import wanted_flow as wishes


@dataclass(frozen=True)
class TierAsk:
    """One round of one flow.

    Attributes:
        is_check: Nothing is to be moved, only to be looked what is overdue.
        number: Counts the rounds that were asked of the flow, from 1; those of `is_check` by themselves.
    """

    flow: str
    is_check: bool
    number: int


class TierAsks:
    """Rounds of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def ask(self, flow: str, *, is_check: bool) -> TierAsk:
        """Ask for a round that begins after this call."""
        mine = (asks.c.flow == flow) & (asks.c.is_check == int(is_check))

        def work(connection: Connection) -> TierAsk:
            row = connection.execute(select(asks).where(mine).with_for_update()).one_or_none()
            if row is None:
                connection.execute(insert(asks).values(flow=flow, is_check=int(is_check), asked=1, done=0))
                return TierAsk(flow, is_check, 1)
            connection.execute(update(asks).where(mine).values(asked=row.asked + 1))
            return TierAsk(flow, is_check, row.asked + 1)

        return self._database.write(work)

    def due(self, runner: str) -> list[TierAsk]:
        """Rounds that wait for a runner, by flow: those of flows that were asked of it."""
        query = (
            select(asks)
            .join(wishes, wishes.c.flow == asks.c.flow)
            .where((wishes.c.runner == runner) & (asks.c.asked > asks.c.done))
            .order_by(asks.c.flow, asks.c.is_check)
        )
        with self._database.read() as connection:
            return [TierAsk(row.flow, bool(row.is_check), row.asked) for row in connection.execute(query)]

    def answer(self, ask: TierAsk, answer: str) -> None:
        """Record what a round did; it answers those that were asked before it, too."""
        mine = (asks.c.flow == ask.flow) & (asks.c.is_check == int(ask.is_check)) & (asks.c.done < ask.number)
        values = {"done": ask.number, "answer": answer}
        self._database.write(lambda connection: connection.execute(update(asks).where(mine).values(**values)))

    def answered(self, ask: TierAsk) -> str | None:
        """What the round did, or a later one; None: it is not done."""
        mine = (asks.c.flow == ask.flow) & (asks.c.is_check == int(ask.is_check)) & (asks.c.done >= ask.number)
        with self._database.read() as connection:
            return connection.execute(select(asks.c.answer).where(mine)).scalar_one_or_none()

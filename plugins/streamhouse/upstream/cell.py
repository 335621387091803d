"""One cell of the matrix in docs/trigger.md: the facts it rests on, and the few answers there are; pure."""

from collections.abc import Callable
from functools import wraps

from streamhouse.model.outcome import Outcome, TierChange, worst
from streamhouse.model.schema_change import Policy
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.model.upstream import UpstreamEvent, Values, Verdict
from streamhouse.upstream.reading_step import ColumnUse, ReadingStep

REST_ON_VALUES = (ColumnUse.AGGREGATE, ColumnUse.ROWS, ColumnUse.CONTRACT, ColumnUse.KEY)


class Cell:
    """One event, one reader, one policy."""

    def __init__(self, event: UpstreamEvent, reader: ReadingStep, policy: Policy, said: str) -> None:
        self.event = event
        self.reader = reader
        self.policy = policy
        self.said = said
        self.table: Table = reader.table

    # --- answers -------------------------------------------------------------------------------

    def verdict(
        self,
        outcome: Outcome,
        values: Values,
        *notes: str,
        tiers: tuple[TierChange, ...] = (),
        spreads: bool = False,
        pauses: bool = False,
        asks: str = "",
    ) -> Verdict:
        """An answer of any kind."""
        worst_tier = worst(outcome, *(tier.outcome for tier in tiers))
        return Verdict(
            flow=self.reader.flow,
            step=self.reader.step,
            table=self.table.name,
            policy=self.policy,
            said=self.said,
            outcome=worst_tier,
            values=values,
            tiers=tiers,
            spreads=spreads,
            pauses=pauses,
            asks=asks,
            notes=notes,
        )

    def nothing(self, *notes: str, values: Values = Values.AS_BEFORE) -> Verdict:
        """Nothing is done to tables."""
        return self.verdict(Outcome.NO_OP, values, *notes)

    def block(self, asks: str, *notes: str) -> Verdict:
        """A person is asked, and the reader waits."""
        return self.verdict(Outcome.BLOCK, Values.WAIT, *notes, pauses=True, asks=asks)

    def frozen(self) -> Verdict:
        """Follow it or not: a person says."""
        return self.block(f"follow {self.event}")

    def swap(self, values: Values, *notes: str, tiers: tuple[TierChange, ...] = (), spreads: bool = False) -> Verdict:
        """The next epoch does it."""
        return self.verdict(Outcome.SWAP, values, *notes, tiers=tiers, spreads=spreads)

    # --- facts ---------------------------------------------------------------------------------

    @property
    def unread(self) -> bool:
        """The step does not see the column: nothing of it changes."""
        return self.reader.uses is ColumnUse.NOTHING

    @property
    def is_key(self) -> bool:
        """Whether rows are told apart by it."""
        return self.reader.uses is ColumnUse.KEY

    @property
    def own(self) -> tuple[str, ...]:
        """Columns of the reader's table under which the value is stored as it is."""
        named = [name for name in self.reader.outputs if name in self.table.column_names]
        return tuple(named) or ((self.event.column,) if self.event.column in self.table.column_names else ())

    def tier_changes(self, change_of: Callable[[Tier], TierChange | None]) -> tuple[TierChange, ...]:
        """What it takes in each tier that the table has."""
        return tuple(change for tier in self.table.tiers.present if (change := change_of(tier)) is not None)


def role(use: ColumnUse) -> str:
    """What a column is to a step, for a person."""
    return {
        ColumnUse.KEY: "part of a key",
        ColumnUse.ROWS: "what rows are joined, grouped or chosen by",
        ColumnUse.AGGREGATE: "the input of an aggregate",
        ColumnUse.CONTRACT: "what an expectation rests on",
    }.get(use, "used")


def of_a_column(row: Callable[[Cell, Column, Column], Verdict]) -> Callable[[Cell], Verdict]:
    """A row of the matrix about a column as it was and is: `freeze` asks, and who does not read it goes on."""

    @wraps(row)
    def decided(c: Cell) -> Verdict:
        was, now = c.event.was, c.event.now
        assert was is not None
        assert now is not None
        if c.policy is Policy.FREEZE:
            return c.frozen()
        return c.nothing() if c.unread else row(c, was, now)

    return decided

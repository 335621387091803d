"""A step that reads what changed, as a decision needs to know it."""

from dataclasses import dataclass
from enum import StrEnum

from streamhouse.model.table import Table


class ColumnUse(StrEnum):
    """What a step does with a column, and those that read it on from its table; most binding last."""

    NOTHING = "nothing"
    PASSED = "passed on"  # under its own name, and used by nobody behind
    VALUE = "value"  # makes the value of another column
    AGGREGATE = "aggregate"
    ROWS = "rows"  # decides which rows there are: a filter, a join, a group
    CONTRACT = "contract"  # an expectation that fails the flow
    KEY = "key"

    @property
    def weight(self) -> int:
        """From 0, the least binding."""
        return list(ColumnUse).index(self)


@dataclass(frozen=True)
class ReadingStep:
    """One step that reads what changed, directly or from a table that changes with it.

    Attributes:
        flow: Whose step it is.
        step: Its id.
        table: What it writes.
        uses: What it does with the column, or what steps behind it do with what it passes on.
        open: It passes on columns that it does not name.
        outputs: Columns of `table` made of the changed one.
        starved: `table.column` of all that is made of it, here and behind.
        derived: What changed is a table of ours, which follows a change further up.
    """

    flow: str
    step: str
    table: Table
    uses: ColumnUse = ColumnUse.NOTHING
    open: bool = False
    outputs: tuple[str, ...] = ()
    starved: tuple[str, ...] = ()
    derived: bool = False

"""Reports rows that the hot tier may drop before a lake has them, long before it does (design D9)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from streamhouse.model.table import Table
from streamhouse.model.types import Tier, format_duration
from streamhouse.stores.base import LakeStore, LogStore, Store
from streamhouse.stores.mark import read_mark

_PATIENCE = 0.5
"""How much of the time that a log keeps a row may pass until a lake must have it."""


@dataclass(frozen=True)
class Overdue:
    """Rows that no lake has yet, and that their log will drop.

    Attributes:
        target: The lake that lacks them.
        rows: How many are older than `age`.
        age: Half of `kept`.
        kept: How long the log keeps a row.
    """

    table: str
    target: Tier
    rows: int
    age: timedelta
    kept: timedelta

    def __str__(self) -> str:
        """One sentence for people."""
        lacking = f"{self.rows:,} rows older than {format_duration(self.age)} are not in the {self.target} tier"
        return f"{self.table}: {lacking}, and the log drops rows after {format_duration(self.kept)}"


def overdue(table: Table, source: Store, lake: LakeStore, now: datetime) -> Overdue | None:
    """What of a table is overdue in a lake; None: nothing, or the tier that the flow writes drops no rows.

    Args:
        table: As the flow writes it.
        source: The tier the flow writes.
        lake: A tier that tiering fills.
        now: The time; half of what the log keeps may lie between it and the oldest row that the lake lacks.

    Raises:
        StateConflictError: the copy was filled from another tier.
        TableMissingError: the table is not there.
    """
    if not isinstance(source, LogStore):
        return None
    mark = read_mark(lake, table.replica, source.tier)
    if mark is None and table.primary_key:
        return None  # the first copy is made of the state, which outlives its log
    retention = source.retention(table)
    age = retention * _PATIENCE
    tiered = mark.offsets if mark else {}
    due = source.position_before(table, now - age)
    rows = sum(max(0, offset - tiered.get(bucket, 0)) for bucket, offset in due.items())
    return Overdue(table.name, lake.tier, rows, age, retention) if rows else None

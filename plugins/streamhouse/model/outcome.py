"""What a change does to a running flow: one of five outcomes for each step and table, with its proof."""

from enum import StrEnum
from typing import Literal

from pydantic import ByteSize

from streamhouse.model.types import Frozen, Tier


class Outcome(StrEnum):
    """What happens, mildest first."""

    NO_OP = "no-op"  # nothing restarts
    SWAP = "swap"  # the next epoch runs the new code on the same positions and tables
    FORWARD = "forward"  # as SWAP, but rows already written keep the old meaning
    REBUILD = "rebuild"  # a new version of the table is filled, then served instead
    BLOCK = "block"  # nothing, until a person chooses one of the others

    @property
    def weight(self) -> int:
        """From 0, the mildest, to 4."""
        return _WEIGHTS[self]


_WEIGHTS = {outcome: weight for weight, outcome in enumerate(Outcome)}


def worst(*outcomes: Outcome) -> Outcome:
    """The one that demands most; NO_OP of none."""
    return max(outcomes, key=lambda outcome: outcome.weight, default=Outcome.NO_OP)


class Finding(Frozen):
    """One thing that changed and what follows from it."""

    rule: int  # of the table in docs/outcomes.md; 0: a guard or a consequence of none of them
    outcome: Outcome
    proof: str  # why, in words for a person
    columns: tuple[str, ...] = ()  # of the table, whose meaning changes
    rows: bool = False  # whether it changes which rows there are, and so every column
    keeps_values: bool = False  # rows already written hold what the new code would have written
    final: bool = False  # of BLOCK: no choice of a person helps
    restate: bool = False  # older rows get the new meaning only by a backfill, which this change asks for


class Ddl(Frozen):
    """One change of a stored table."""

    kind: Literal[
        "create",
        "new version",
        "add column",
        "widen column",  # this and the next two: only in records of versions that said so; see `compiler/diff/tiers`
        "add field",
        "rename column",
        "drop later",
        "fill both",
        "stop filling",
    ]
    column: str = ""
    type: str = ""
    old: str = ""  # the name or type before

    def __str__(self) -> str:
        """For a person: `add column tax decimal(12,2)`."""
        was = f" from {self.old}" if self.kind in ("widen column", "add field", "rename column") else ""
        return " ".join(part for part in (self.kind, self.column, self.type) if part) + was


class TierChange(Frozen):
    """What happens to a table in one tier."""

    tier: Tier
    outcome: Outcome
    ddl: tuple[Ddl, ...] = ()


class Consumer(Frozen):
    """A step of another flow that reads a table whose meaning changes, or a table that rests on one."""

    flow: str
    step: str
    outcome: Outcome
    reads: tuple[str, ...]  # changed columns it reads
    columns: tuple[str, ...] = ()  # of its own table, that change with them
    rows: bool = False  # whether the rows of its own table do
    proof: str = ""
    table: str = ""
    marks: tuple[str, ...] = ()  # of its own table: columns whose older rows rest on an older meaning


class StepChange(Frozen):
    """One step: what changed, and what it does to the table it writes."""

    step: str
    table: str
    action: str = ""
    change: Literal["new", "changed", "removed", "same"]
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    marks: tuple[str, ...] = ()  # columns whose older rows are NULL or of an older meaning: `effective_from`
    consumers: tuple[Consumer, ...] = ()  # in other flows, of this table; those in this flow have findings of their own

    @property
    def main(self) -> Finding | None:
        """The finding that decides the outcome."""
        return next((f for f in self.findings if f.outcome is self.outcome), None)


class ReadEstimate(Frozen):
    """About how much is read to rebuild a table."""

    rows: int = 0
    bytes: int = 0

    def __add__(self, other: "ReadEstimate") -> "ReadEstimate":
        return ReadEstimate(rows=self.rows + other.rows, bytes=self.bytes + other.bytes)

    def __str__(self) -> str:
        """For a person: `1,469,307 rows, about 41.1 MB`."""
        return f"{self.rows:,} rows, about {ByteSize(self.bytes).human_readable(decimal=True, separator=' ')}"


class TableChange(Frozen):
    """One table with what its steps do to it, and what that takes in each tier."""

    table: str
    outcome: Outcome
    tiers: tuple[TierChange, ...] = ()
    reading: ReadEstimate | None = None  # to rebuild it; None: it is not


class VersionAdvice(Frozen):
    """An action was edited, and its version says less than the edit does."""

    action: str
    was: str
    now: str
    least: str  # that its version should be
    why: str


class FlowDiff(Frozen):
    """Desired against applied, for one flow."""

    flow: str
    outcome: Outcome
    settings: tuple[Finding, ...] = ()
    steps: tuple[StepChange, ...] = ()  # upstream first; removed ones last
    tables: tuple[TableChange, ...] = ()
    versions: tuple[VersionAdvice, ...] = ()

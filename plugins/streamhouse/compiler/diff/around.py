"""A plan looked up by table: what its steps read, and who reads what."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep
from streamhouse.model.table import Column, Table
from streamhouse.model.types import ReadMode

if TYPE_CHECKING:
    from streamhouse.sql.canonical import Canonical

Reading = tuple[str, tuple[Column, ...], str]
"""What a port reads: table, its columns, `changes` or `lookup`."""


@dataclass(frozen=True, eq=False)
class Around:
    """One flow's tables and sources, found once.

    Attributes:
        columns: Table or source → its columns.
        keys: Table or source → its primary key.
        reads: What any step reads.
        readers: Table or source → the steps that read it.
    """

    plan: FlowPlan
    columns: Mapping[str, tuple[Column, ...]]
    keys: Mapping[str, tuple[str, ...]]
    reads: frozenset[str]
    readers: Mapping[str, tuple[PlannedStep, ...]] = field(default_factory=dict)

    @property
    def known(self) -> frozenset[str]:
        """Tables and sources of which the flow has passed older rows by: what it reads, and what it writes."""
        return self.reads | frozenset(self.plan.tables)

    @staticmethod
    def of(plan: FlowPlan) -> "Around":
        """What is around the steps of a plan."""
        inputs: list[PlannedSource | Table] = [*plan.sources, *plan.readable]
        readers: dict[str, list[PlannedStep]] = {}
        for step in plan.steps:
            for table in dict.fromkeys(read.table for read in step.reads):
                readers.setdefault(table, []).append(step)
        return Around(
            plan,
            {one.name: one.columns for one in inputs},
            {one.name: one.primary_key for one in inputs},
            frozenset(readers),
            {table: tuple(steps) for table, steps in readers.items()},
        )

    def own_readers(self, table: str) -> Iterator[tuple[str, "Around", PlannedStep]]:
        """The steps of the flow that read a table or source."""
        return ((self.plan.flow, self, step) for step in self.readers.get(table, ()))

    def inputs(self, step: PlannedStep) -> dict[str, Reading]:
        """Port of a step → what it reads."""
        return {
            read.port: (read.table, self.columns[read.table], "lookup" if read.mode is ReadMode.LOOKUP else "changes")
            for read in step.reads
        }

    def meaning(self, step: PlannedStep) -> "Canonical":
        """The canonical form of a step's SQL."""
        from streamhouse.sql.canonical import (  # loads sqlglot; a plan without edits needs none
            CanonicalInput,
            canonical,
        )

        return canonical(step.sql, {port: CanonicalInput(*reading) for port, reading in self.inputs(step).items()})

"""A plan looked up by table: what its steps read, and who reads what."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamhouse.compiler.older_nulls import query_of
from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep
from streamhouse.model.table import Column, Table
from streamhouse.model.types import ReadMode

if TYPE_CHECKING:
    from streamhouse.sql.canonical import Canonical
    from streamhouse.sql.made_of import MadeOfMemory
    from streamhouse.sql.origins import Traced

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
        writers: Table → the steps that write it, by id.
        memory: Of what columns are made of; None: that of this process.
    """

    plan: FlowPlan
    columns: Mapping[str, tuple[Column, ...]]
    keys: Mapping[str, tuple[str, ...]]
    reads: frozenset[str]
    readers: Mapping[str, tuple[PlannedStep, ...]] = field(default_factory=dict)
    writers: Mapping[str, Mapping[str, PlannedStep]] = field(default_factory=dict)
    memory: "MadeOfMemory | None" = None

    @property
    def known(self) -> frozenset[str]:
        """Tables and sources of which the flow has passed older rows by: what it reads, and what it writes."""
        return self.reads | frozenset(self.plan.tables)

    @staticmethod
    def of(plan: FlowPlan, memory: "MadeOfMemory | None" = None) -> "Around":
        """What is around the steps of a plan; `memory` as the attribute."""
        inputs: list[PlannedSource | Table] = [*plan.sources, *plan.readable]
        readers: dict[str, list[PlannedStep]] = {}
        writers: dict[str, dict[str, PlannedStep]] = {}
        for step in plan.steps:
            writers.setdefault(step.writes.name, {})[step.id] = step
            for table in dict.fromkeys(read.table for read in step.reads):
                readers.setdefault(table, []).append(step)
        return Around(
            plan,
            {one.name: one.columns for one in inputs},
            {one.name: one.primary_key for one in inputs},
            frozenset(readers),
            {table: tuple(steps) for table, steps in readers.items()},
            writers,
            memory,
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

    def made_of(self, step: PlannedStep) -> "Traced":
        """Which columns the values of a step's columns are made of, and which decide its rows."""
        from streamhouse.sql.canonical import CanonicalInput
        from streamhouse.sql.made_of import made_of

        inputs = {port: CanonicalInput(*reading) for port, reading in self.inputs(step).items()}
        return made_of(step.sql, inputs) if self.memory is None else made_of(step.sql, inputs, self.memory)


def computes_the_same(old: PlannedStep, new: PlannedStep, before: Around, after: Around) -> bool:
    """Whether a step and all steps of the flow behind it have the SQL and the inputs that they had.

    Then the rows are what they were, whatever is said of their columns: a later version of Streamhouse may prove more
    of the same SQL.

    Args:
        old: As applied, among `before`.
        new: Of the same id, among `after`.
        before: What is around `old`.
        after: What is around `new`.
    """
    pending, seen = [(old, new)], set()
    while pending:
        was, now = pending.pop()
        if was.id in seen:
            continue
        seen.add(was.id)
        if query_of(was) != query_of(now):
            return False
        for read in was.reads:
            wrote, writes = before.writers.get(read.table, {}), after.writers.get(read.table, {})
            if wrote.keys() != writes.keys():
                return False
            if not wrote and before.columns[read.table] != after.columns.get(read.table):
                return False
            pending += [(wrote[id_], writes[id_]) for id_ in wrote]
    return True

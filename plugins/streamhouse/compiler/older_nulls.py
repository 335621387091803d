"""Columns that an edit keeps free of NULL from now on, while rows already written may have NULL there; pure.

To add `WHERE cents > 10` proves of the rows to come that `cents` is not NULL. What reads the table sees the older rows,
too, so the column stays one that may be NULL, and the edit needs no decision. A column of the key is another matter:
how its rows are stored follows from it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep
from streamhouse.model.table import Column, Table

Columns = Mapping[str, tuple[Column, ...]]
"""Source or table → its columns."""


@dataclass
class OlderNulls:
    """What the rows already written say of a plan that is compiled, step by step, each after those that it reads.

    Attributes:
        applied: The flow as it runs.
        found: Table → columns that no new row has NULL in, and that stay nullable for the older ones.
    """

    applied: FlowPlan
    found: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _other: set[str] = field(default_factory=set)  # tables that a step computes in another way than before

    @cached_property
    def _was(self) -> dict[str, PlannedStep]:
        return {step.id: step for step in self.applied.steps}

    @cached_property
    def _inputs(self) -> dict[str, tuple[Column, ...]]:
        """What the flow reads and does not write, and its columns."""
        inputs: tuple[PlannedSource | Table, ...] = (*self.applied.sources, *self.applied.external)
        return {one.name: one.columns for one in inputs}

    @cached_property
    def _own(self) -> frozenset[str]:
        return frozenset(self.applied.tables)

    def keeps(self, step: PlannedStep, inputs: Columns) -> PlannedStep:
        """A step as it was compiled, its columns nullable where a row already written may have NULL.

        Args:
            step: The next one.
            inputs: What it reads.
        """
        was = self._was.get(step.id)
        known = self.applied.older_nulls.get(step.writes.name, ())
        same = was is not None and self._is_same(was, step, inputs)
        if not same:
            self._other.add(step.writes.name)
        if was is None or step.strategy.sees_all:
            return step
        names = _beside_layout(was, step)
        names = tuple(name for name in names if name in known) if same else names
        if not names:
            return step
        self.found[step.writes.name] = tuple(sorted({*self.found.get(step.writes.name, ()), *names}))
        return _nullable(step, names)

    def _is_same(self, was: PlannedStep, step: PlannedStep, inputs: Columns) -> bool:
        """Whether a step has the SQL and the inputs that it had, and so have the steps behind it."""
        if query_of(was) != query_of(step):
            return False
        return all(
            read.table not in self._other
            if read.table in self._own
            else self._inputs.get(read.table) == inputs.get(read.table)
            for read in step.reads
        )


def query_of(step: PlannedStep) -> tuple[object, ...]:
    """What the rows of a step follow from, beside the rows that it reads."""
    reads = tuple((read.port, read.table, read.mode, read.hidden) for read in step.reads)
    return step.sql, reads, step.part, step.expect, step.writes.merge_engine


def is_tightened(applied: FlowPlan, plan: FlowPlan) -> bool:
    """Whether a column is never NULL by a plan, and may be NULL by the applied one.

    Args:
        applied: The flow as it runs.
        plan: Of the same flow, compiled of its files alone.
    """
    before = {step.id: step for step in applied.steps}
    return any(_beside_layout(before[step.id], step) for step in plan.steps if step.id in before)


def tightened_columns(was: PlannedStep, step: PlannedStep) -> Iterator[Column]:
    """Columns outside of the primary key that are never NULL any more, whatever they were called before.

    Args:
        was: The step before an edit.
        step: The step after it.
    """
    before = {column.name: column for column in was.columns}
    for column in step.columns:
        old = before.get(column.name) or before.get(step.renamed.get(column.name, ""))
        if not column.nullable and column.name not in step.writes.primary_key and old is not None and old.nullable:
            yield column


def _beside_layout(was: PlannedStep, step: PlannedStep) -> tuple[str, ...]:
    """The columns that can stay nullable: how rows are stored does not follow from them."""
    return tuple(column.name for column in tightened_columns(was, step) if column.name not in step.writes.partition_by)


def _nullable(step: PlannedStep, names: Iterable[str]) -> PlannedStep:
    columns = tuple(
        column.model_copy(update={"nullable": True}) if column.name in names else column
        for column in step.writes.columns
    )
    return step.model_copy(update={"writes": step.writes.model_copy(update={"columns": columns})})

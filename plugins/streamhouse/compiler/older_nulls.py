"""Columns that an edit keeps free of NULL from now on, while rows already written may have NULL there; pure.

To add `WHERE cents > 10` proves of the rows to come that `cents` is not NULL. What reads the table sees the older rows,
too, so the column stays one that may be NULL, and the edit needs no decision. A column of the key is another matter:
how its rows are stored follows from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.table import Column

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

    def keeps(self, step: PlannedStep, inputs: Columns) -> PlannedStep:
        """A step as it was compiled, its columns nullable where a row already written may have NULL.

        Args:
            step: The next one.
            inputs: What it reads.
        """
        was = next((one for one in self.applied.steps if one.id == step.id), None)
        known = self.applied.older_nulls.get(step.writes.name, ())
        same = was is not None and self._is_same(was, step, inputs)
        if not same:
            self._other.add(step.writes.name)
        if was is None or step.strategy.sees_all:
            return step
        names = _tightened(was, step)
        names = tuple(name for name in names if name in known) if same else names
        if not names:
            return step
        self.found[step.writes.name] = tuple(sorted({*self.found.get(step.writes.name, ()), *names}))
        return _nullable(step, names)

    def _is_same(self, was: PlannedStep, step: PlannedStep, inputs: Columns) -> bool:
        """Whether a step has the SQL and the inputs that it had, and so have the steps behind it."""
        if query_of(was) != query_of(step):
            return False
        before = {source.name: source.columns for source in self.applied.sources}
        before |= {table.name: table.columns for table in self.applied.external}
        own = self.applied.tables
        return all(
            read.table not in self._other if read.table in own else before.get(read.table) == inputs.get(read.table)
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
    return any(_tightened(before[step.id], step) for step in plan.steps if step.id in before)


def _tightened(was: PlannedStep, step: PlannedStep) -> tuple[str, ...]:
    before = {column.name: column for column in was.columns}
    fixed = {*step.writes.primary_key, *step.writes.partition_by}
    return tuple(
        column.name
        for column in step.columns
        if not column.nullable
        and column.name not in fixed
        and (old := before.get(column.name) or before.get(step.renamed.get(column.name, ""))) is not None
        and old.nullable
    )


def _nullable(step: PlannedStep, names: Iterable[str]) -> PlannedStep:
    columns = tuple(
        column.model_copy(update={"nullable": True}) if column.name in names else column
        for column in step.writes.columns
    )
    return step.model_copy(update={"writes": step.writes.model_copy(update={"columns": columns})})

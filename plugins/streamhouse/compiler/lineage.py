"""Columns through steps and flows: what each is made of, and what decides the rows they stand in; pure."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from streamhouse.compiler.diff.around import Around
from streamhouse.errors import UnknownColumnError, UnknownTableError, did_you_mean
from streamhouse.model.plan import FlowPlan, PlannedStep

Role = Literal["value", "rows"]


@dataclass(frozen=True)
class ColumnLink:
    """One step's use of a column.

    Attributes:
        table: What is read; a source or a table.
        column: Of it.
        role: `value`: it makes the value of a column. `rows`: it decides which rows there are.
        into: The table written.
        into_column: Of that; None: every column.
        flow: Whose step it is.
        step: Its id.
        distance: Steps between it and what was asked for, from 1.
    """

    table: str
    column: str
    role: Role
    into: str
    into_column: str | None
    flow: str
    step: str
    distance: int = 0


class Lineage:
    """The links of some plans; those of a step are found when somebody asks for a table that it reads or writes.

    Args:
        plans: As compiled together. Sources of two flows with one name are told apart: `flow:source`.
    """

    def __init__(self, plans: Iterable[FlowPlan]) -> None:
        self._columns: dict[str, tuple[str, ...]] = {}
        self._writers: dict[str, list[_Linked]] = {}
        self._readers: dict[str, list[_Linked]] = {}
        plans = list(plans)
        times = Counter(source.name for plan in plans for source in plan.sources)
        for plan in plans:
            sources = {s.name: f"{plan.flow}:{s.name}" if times[s.name] > 1 else s.name for s in plan.sources}
            self._columns |= {sources[s.name]: tuple(c.name for c in s.columns) for s in plan.sources}
            self._columns |= {table.name: table.column_names for table in plan.readable}
            around = Around.of(plan)
            for step in plan.steps:
                linked = _Linked(around, step, sources)
                self._writers.setdefault(step.writes.name, []).append(linked)
                for table in dict.fromkeys(sources.get(read.table, read.table) for read in step.reads):
                    self._readers.setdefault(table, []).append(linked)

    def resolve(self, name: str) -> tuple[str, str | None]:
        """The table and column that `name` means.

        Raises:
            UnknownTableError: nothing is called so.
            UnknownColumnError: the table has no such column.
        """
        if name in self._columns:
            return name, None
        table, _, column = name.rpartition(".")
        if table not in self._columns:
            hint = did_you_mean(name, self._columns, f"tables and sources: {', '.join(sorted(self._columns))}")
            raise UnknownTableError(f"unknown table '{name}'", hint=hint)
        own = {c.lower(): c for c in self._columns[table]}
        if column.lower() not in own:
            hint = did_you_mean(column, own, f"its columns are: {', '.join(own)}")
            raise UnknownColumnError(f"{table} has no column '{column}'", hint=hint)
        return table, own[column.lower()]

    def up(self, table: str, column: str | None = None) -> list[ColumnLink]:
        """What a column, or with None any column of a table, comes from; nearest first, each link once."""
        return self._walk(table, column, self._into, lambda link: (link.table, link.column))

    def down(self, table: str, column: str | None = None) -> list[ColumnLink]:
        """What is made of a column, or of any column of a table; nearest first, each link once."""
        return self._walk(table, column, self._from, lambda link: (link.into, link.into_column))

    def _walk(
        self,
        table: str,
        column: str | None,
        near: Callable[[str, str | None], list[ColumnLink]],
        beyond: Callable[[ColumnLink], tuple[str, str | None]],
    ) -> list[ColumnLink]:
        found: dict[ColumnLink, ColumnLink] = {}
        visited: set[tuple[str, str | None]] = {(table, column)}
        pending: deque[tuple[str, str | None, int]] = deque([(table, column, 1)])
        while pending:
            name, part, distance = pending.popleft()
            for link in near(name, part):
                found.setdefault(link, replace(link, distance=distance))
                following = beyond(link)
                if following not in visited:
                    visited.add(following)
                    pending.append((*following, distance + 1))
        return list(found.values())

    def _into(self, table: str, column: str | None) -> list[ColumnLink]:
        links = [link for step in self._writers.get(table, ()) for link in step.links]
        return [x for x in links if column is None or x.into_column in (None, column)]

    def _from(self, table: str, column: str | None) -> list[ColumnLink]:
        links = [link for step in self._readers.get(table, ()) for link in step.links if link.table == table]
        return [x for x in links if column is None or x.column.lower() == column.lower()]


@dataclass(frozen=True, eq=False)
class _Linked:
    """One step, with the names that sources of its flow have among those of all flows."""

    around: Around
    step: PlannedStep
    sources: Mapping[str, str]

    @cached_property
    def links(self) -> tuple[ColumnLink, ...]:
        """Its use of each column."""
        found, step = self.around.made_of(self.step), self.step
        target, flow = step.writes.name, self.around.plan.flow
        values = [
            ColumnLink(self.sources.get(t, t), c, "value", target, name, flow, step.id)
            for name, origins in found.values.items()
            for t, c in sorted(origins)
        ]
        rows = [
            ColumnLink(self.sources.get(t, t), c, "rows", target, None, flow, step.id) for t, c in sorted(found.decides)
        ]
        return (*values, *rows)

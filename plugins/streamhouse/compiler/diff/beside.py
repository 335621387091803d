"""The flows beside one: who reads and who writes each of their tables, found once for all flows of a project."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from streamhouse.compiler.diff.around import Around
from streamhouse.model.plan import FlowPlan, PlannedStep

if TYPE_CHECKING:
    from streamhouse.sql.made_of import MadeOfMemory

Reader = tuple[str, Around, PlannedStep]
"""A step that reads a table, its flow, and what is around it."""


class FlowIndex:
    """Plans, with what is found of them when it is first asked for.

    Each flow of a project is compared beside all others: without an index, the work would grow with the square of
    the number of flows.
    """

    def __init__(self, plans: Mapping[str, FlowPlan], memory: "MadeOfMemory | None" = None) -> None:
        """Look at nothing yet.

        Args:
            plans: Flow → its plan; not to be changed.
            memory: As of `Around`.
        """
        self.plans = plans
        self.memory = memory
        self._arounds: dict[str, Around] = {}

    def around(self, flow: str) -> Around:
        """What is around the steps of a flow."""
        known = self._arounds.get(flow)
        if known is None:
            known = self._arounds[flow] = Around.of(self.plans[flow], self.memory)
        return known

    @cached_property
    def readers(self) -> Mapping[str, Sequence[tuple[str, PlannedStep]]]:
        """Table or source → the steps that read it, each with its flow."""
        found: dict[str, list[tuple[str, PlannedStep]]] = {}
        for flow, plan in self.plans.items():
            for step in plan.steps:
                for table in dict.fromkeys(read.table for read in step.reads):
                    found.setdefault(table, []).append((flow, step))
        return found

    @cached_property
    def writers(self) -> Mapping[str, Sequence[str]]:
        """Table → the flows that write it."""
        found: dict[str, list[str]] = {}
        for flow, plan in self.plans.items():
            for table in plan.tables:
                found.setdefault(table, []).append(flow)
        return found


class Beside(Mapping[str, FlowPlan]):
    """All flows of an index but one."""

    def __init__(self, index: FlowIndex, without: str) -> None:
        """Look at nothing yet.

        Args:
            index: Of all flows.
            without: The flow that is left out; the index need not have it.
        """
        self._index, self._without = index, without

    @staticmethod
    def of(others: Mapping[str, FlowPlan]) -> "Beside":
        """Plans with an index of their own, where they have none yet."""
        return others if isinstance(others, Beside) else Beside(FlowIndex(others), "")

    def __getitem__(self, flow: str) -> FlowPlan:
        if flow == self._without:
            raise KeyError(flow)
        return self._index.plans[flow]

    def __iter__(self) -> Iterator[str]:
        return (flow for flow in self._index.plans if flow != self._without)

    def __len__(self) -> int:
        return len(self._index.plans) - (self._without in self._index.plans)

    @property
    def memory(self) -> "MadeOfMemory | None":
        """Of the index."""
        return self._index.memory

    def readers(self, table: str) -> Iterator[Reader]:
        """The steps that read a table."""
        for flow, step in self._index.readers.get(table, ()):
            if flow != self._without:
                yield flow, self._index.around(flow), step

    def writers(self, table: str) -> tuple[str, ...]:
        """The flows that write a table."""
        return tuple(flow for flow in self._index.writers.get(table, ()) if flow != self._without)

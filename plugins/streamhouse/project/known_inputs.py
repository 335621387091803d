"""What flows know of their inputs: what they run with, until the trigger adds more."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from streamhouse.compiler import View
from streamhouse.model.flow import Flow, Source
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Column
from streamhouse.state.store import StateStore
from streamhouse.upstream.known_input import KnownInput
from streamhouse.upstream.view import FlowView, came_in, pinned_columns

Columns = Mapping[str, tuple[Column, ...]]


@dataclass(frozen=True)
class KnownInputs:
    """The applied plans, and what the trigger let in since.

    Attributes:
        applied: Flow → its plan as it runs.
        let_in: Flow → source or table of another flow → as it knows that from now on.
        granted: Flow → what a person let in: source or table, and column.
    """

    applied: Mapping[str, FlowPlan]
    let_in: Mapping[str, Mapping[str, KnownInput]] = field(default_factory=dict)
    granted: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, state: StateStore | None) -> "KnownInputs":
        """What was applied last; None: nothing ever was."""
        return cls({flow: plan for flow, (_, plan) in state.plans().items()} if state is not None else {})

    def source_columns(
        self, flow: str, sources: Mapping[str, Source], discovered: Columns
    ) -> dict[str, tuple[Column, ...]]:
        """Source → the columns that a flow knows."""
        pinned = pinned_columns(sources, self.applied.get(flow), discovered)
        return {**pinned, **{n: known.columns for n, known in self.let_in.get(flow, {}).items() if n in pinned}}

    def views(self, flows: Iterable[Flow]) -> dict[str, View]:
        """Flow → what its steps do not see; flows that never ran see everything."""
        came: set[str] = set()
        for name, plan in self.applied.items():
            came |= came_in(plan, {n: known.columns for n, known in self.let_in.get(name, {}).items()})
        return {
            flow.flow: FlowView.of(
                flow,
                self.applied[flow.flow],
                came,
                self.granted.get(flow.flow, ()),
                self.let_in.get(flow.flow, {}),
            )
            for flow in flows
            if flow.flow in self.applied
        }

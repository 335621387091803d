"""A segment of a plan, as a stream runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from streamhouse.engine.inputs import EpochInput
from streamhouse.engine.outdated_steps import Definitions, alone, definitions
from streamhouse.engine.segment import SegmentExecution
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.state.store import StateStore


@dataclass(frozen=True)
class Ready:
    """A segment of a plan, connected to what it reads and writes."""

    plan: FlowPlan
    segment: Segment
    inputs: Mapping[str, EpochInput]
    runner: SegmentExecution
    state: StateStore

    @cached_property
    def generation(self) -> int:
        """See `Note.generation`. Not before the plan is applied."""
        return self.state.tables.generation(self.plan.flow)

    @cached_property
    def definitions(self) -> Definitions:
        """Of its steps that compute their whole table."""
        return definitions(self.segment)

    @cached_property
    def alone(self) -> frozenset[str]:
        """As `outdated_steps.alone`."""
        return alone(self.segment)

"""What all decisions of one look rest on: the same state of everything, from its beginning to its end."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from streamhouse.errors import StreamhouseError
from streamhouse.model.definition import Definition
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedStep
from streamhouse.project.project import Project
from streamhouse.project.running import Defined
from streamhouse.registry import Registry
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.upstream.impact import Impact, is_open
from streamhouse.upstream.observe import UpstreamLook


@dataclass(frozen=True)
class Basis:
    """What one look knows before it decides.

    Attributes:
        project: Has the flows.
        defined: What flows are compiled from.
        applied: Flow → its plan as it runs.
        looks: Flow → what was observed of what it reads; other flows are not decided on.
        now: As the state store records it, in whole milliseconds.
        impact: How far a change reaches.
        unreadable: Flows that run, and whose plans cannot be read: how far a change reaches into them is not known.
    """

    project: Project
    defined: Defined
    applied: Mapping[str, FlowPlan]
    looks: Mapping[str, UpstreamLook]
    now: datetime
    impact: Impact
    unreadable: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        project: Project,
        defined: Defined,
        applied: Mapping[str, FlowPlan],
        looks: Mapping[str, UpstreamLook],
        now: datetime,
        unreadable: tuple[str, ...] = (),
    ) -> "Basis":
        """The basis of a look; see the attributes."""
        registry = defined.registry
        rules = {name: flow.schema_change for name, flow in registry.flows.items()}

        def opens(flow: str, step: PlannedStep, read: PlannedRead) -> bool:
            return _opens(registry, flow, step, read)

        return cls(
            project, defined, dict(applied), looks, from_ms(to_ms(now)), Impact(applied, rules, opens), unreadable
        )

    @property
    def registry(self) -> Registry:
        """What flows are compiled from."""
        return self.defined.registry

    def runs_by_record(self, flow: str) -> bool:
        """Whether a flow runs with recorded definitions: what its files say waits for a person."""
        return flow in self.defined.by_record

    def definition(self, flow: str) -> Definition | None:
        """The files that a flow's plan follows from; None: they are not known."""
        try:
            return self.registry.definition(flow)
        except StreamhouseError:
            return None


def _opens(registry: Registry, flow: str, step: PlannedStep, read: PlannedRead) -> bool:
    try:
        return is_open(registry.of_flow(flow).action(f"{step.action}@{step.version}"), read.port)
    except StreamhouseError:  # not known: the flow does not compile, and what comes waits until it does
        return True

"""What one flow follows of all that one look saw, and what persons said about it; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.model.read_as import RESCUED
from streamhouse.model.schema_change import EventType
from streamhouse.model.table import Table
from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.state.approvals import Approval
from streamhouse.upstream.ability import follows, is_able
from streamhouse.upstream.impact import in_question, source_object
from streamhouse.upstream.known_input import KnownInput, direct, followed


def thing_of(event: UpstreamEvent) -> str:
    """The source or table that an event is about, by the name that the flow has for it."""
    return event.object.partition(":")[2] or event.object


@dataclass(frozen=True)
class Following:
    """One flow in one look; each decision that it follows makes another value.

    Attributes:
        flow: Its name.
        plan: As it runs.
        decisions: What it follows, in the order in which it was decided.
        known: Source or table → as its steps know it from now on.
        granted: Columns that a person let in: source or table, and name.
        forced: Events that a person said to follow.
        refused: Event → the person who refused it.
        beyond: Event → what was decided before a person granted it, where no plan carries what was granted.
        questions: Those that wait for a person.
    """

    flow: str
    plan: FlowPlan
    decisions: tuple[Decision, ...] = ()
    known: Mapping[str, KnownInput] = field(default_factory=dict)
    granted: frozenset[tuple[str, str]] = frozenset()
    forced: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)
    beyond: Mapping[str, Decision] = field(default_factory=dict)
    questions: tuple[Approval, ...] = ()

    @property
    def is_approved(self) -> bool:
        """Whether a person granted some of what it follows."""
        return any(decision.event.id in self.forced for decision in self.decisions)

    @property
    def beyond_plan(self) -> tuple[Decision, ...]:
        """Decisions that it follows and that no plan carries."""
        return tuple(decision for decision in self.decisions if decision.event.id in self.beyond)

    @property
    def things(self) -> dict[str, tuple[Decision, ...]]:
        """What it follows, by the thing that changed: the columns of one thing are followed together."""
        found: dict[str, tuple[Decision, ...]] = {}
        for decision in self.decisions:
            found[decision.event.object] = (*found.get(decision.event.object, ()), decision)
        return found

    def known_after(self, decision: Decision) -> KnownInput | None:
        """What the flow knows of a thing once a decision is followed; None: nothing carries it out."""
        event, plan = decision.event, self.plan
        origins: dict[str, PlannedSource | Table] = {source_object(self.flow, s.name): s for s in plan.sources}
        tables = plan.readable if event.type is EventType.POSITIONS_LOST else plan.external
        origins |= {table.name: table for table in tables}
        if event.object not in origins:
            return None
        origin = origins[event.object]
        known = self.known.get(origin.name) or KnownInput.of(plan, origin)
        steps = {step.id for step in plan.steps if any(read.table == origin.name for read in step.reads)}
        return followed(known, event, direct(decision.verdicts, self.flow, steps))

    def able(self, decision: Decision) -> Decision:
        """The decision with a question in place of what is not done by itself."""
        event = decision.event
        if decision.outcome is Outcome.BLOCK or self.known_after(decision) is not None:
            return decision
        verdicts = tuple(
            v
            if not event.column and is_able(v)
            else in_question(v, event, f"Streamhouse cannot do this by itself yet: {v.values}")
            for v in decision.verdicts
        )
        return decision.model_copy(update={"verdicts": verdicts})

    def changes_with(self, decision: Decision) -> bool:
        """Whether the flow becomes another one by a decision."""
        known = self.known_after(decision)
        return follows(decision) or (known is not None and known != KnownInput.of(self.plan, known.origin))

    def with_decision(self, decision: Decision) -> "Following":
        """The flow that follows one decision more."""
        decisions, known = (*self.decisions, decision), self.known_after(decision)
        if known is None:
            return replace(self, decisions=decisions)
        name = known.origin.name
        rescued = {(name, RESCUED.name)} if any(one.rescues for one in known.adapted) else set()
        granted = self.granted | rescued  # whatever is said of added columns
        return replace(self, decisions=decisions, known={**self.known, name: known}, granted=granted)

    def with_thing(self, decisions: tuple[Decision, ...], granted: frozenset[tuple[str, str]]) -> "Following":
        """The flow that also follows all decisions about one thing, with the columns of it that a person let in."""
        found, name = self, thing_of(decisions[0].event)
        for decision in decisions:
            found = found.with_decision(decision)
        return replace(found, granted=found.granted | {one for one in granted if one[0] == name})

    def with_grant(self, decision: Decision, before: Decision) -> "Following":
        """The flow after a person granted an event.

        Args:
            decision: What is done about it now.
            before: What was decided before.
        """
        event = decision.event
        found = replace(self, forced=self.forced | {event.id})
        if self.known_after(decision) is None:
            found = replace(found, beyond={**found.beyond, event.id: before})
        if event.now is not None:
            found = replace(found, granted=found.granted | {(thing_of(event), event.now.name)})
        return found

    def with_refusal(self, event: UpstreamEvent, person: str) -> "Following":
        """The flow that goes on without an event, as a person said."""
        return replace(self, refused={**self.refused, event.id: person})

    def with_question(self, question: Approval) -> "Following":
        """The flow with one question more."""
        return replace(self, questions=(*self.questions, question))

    def without_decisions(self) -> "Following":
        """The flow that follows nothing."""
        return replace(self, decisions=(), known={}, granted=frozenset())

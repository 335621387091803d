"""Asks a person about an event or a plan, with what the flow would become as evidence."""

from dataclasses import dataclass
from typing import Any

from streamhouse.compiler.diff import diff
from streamhouse.errors import StreamhouseError
from streamhouse.model.outcome import FlowDiff
from streamhouse.model.plan import FlowPlan
from streamhouse.model.upstream import Decision
from streamhouse.project.check import compile_with_upstream
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.state.approvals import Approval, Approvals, ApprovalState
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.decide import yes
from streamhouse.trigger.following import Following
from streamhouse.upstream.evidence import decision_text, diff_text, way_out


@dataclass(frozen=True)
class Questions:
    """The questions of one look.

    Attributes:
        basis: What is known.
        approvals: Where they are asked and answered.
    """

    basis: Basis
    approvals: Approvals

    def about_event(self, following: Following, decision: Decision) -> Approval:
        """The question whether a flow follows an event; one that expired is asked again.

        Raises:
            StoreUnavailableError: the state store does not answer.
        """
        flow, event, now = following.flow, decision.event, self.basis.now
        question = self.approvals.about(flow, event.id, now)
        if question is not None and question.state is not ApprovalState.EXPIRED:
            return question
        document = {"event": event.model_dump(mode="json"), "decision": decision.model_dump(mode="json")}
        text, shown = _if_granted(self.basis, following, decision)
        evidence = decision_text(decision) + text + self._unknown_readers()
        return self.approvals.ask(flow, event.id, "; ".join(decision.asks), evidence, document | shown, now=now)

    def about_plan(self, plan: FlowPlan, found: FlowDiff) -> Approval:
        """The question whether a plan is applied that blocks or rebuilds.

        Raises:
            StoreUnavailableError: the state store does not answer.
        """
        document = {"diff": found.model_dump(mode="json"), "plan": plan.fingerprint}
        evidence, now = diff_text(found) + self._unknown_readers(), self.basis.now
        return self.approvals.ask(plan.flow, plan.fingerprint, asks_for(found), evidence, document, now=now)

    def _unknown_readers(self) -> str:
        """Flows whose plans cannot be read: what the change does to them is not known."""
        flows = ", ".join(self.basis.unreadable)
        return f"\n\nnot known: what this does to {flows}, whose plan cannot be read" if flows else ""


def asks_for(found: FlowDiff) -> str:
    """What a person is asked about a plan."""
    return f"apply a plan that would {found.outcome}"


def _if_granted(basis: Basis, following: Following, decision: Decision) -> tuple[str, dict[str, Any]]:
    """What the flow would become if a person granted an event, as text and as JSON."""
    event, flow, applied = decision.event, following.flow, basis.applied
    known = following.known_after(yes(basis, flow, decision))
    if known is None:
        way = way_out(event)
        return f"\n\nif it is granted, readers go on waiting: nothing carries it out by itself. {way}", {}
    name = known.origin.name
    came = frozenset({(name, event.now.name)}) if event.now is not None else frozenset()
    inputs = KnownInputs(applied, {flow: {name: known}}, {flow: came})
    try:
        plan = compile_with_upstream(basis.project, basis.registry, flow, inputs)
    except StreamhouseError as error:
        text = f"\n\nif it is granted, the flow does not compile until its actions are changed:\n{error}"
        return text, {"error": str(error)}
    found = diff(applied[flow], plan, {other: running for other, running in applied.items() if other != flow})
    shown = {"diff": found.model_dump(mode="json"), "plan": plan.fingerprint}
    return f"\n\nif it is granted, the plan becomes\n{diff_text(found)}", shown

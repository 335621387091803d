"""The last stage of a look: has the decided plan of one flow applied, or asks about it, and records which."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.project.check import Checked
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.upstream import EventStatus
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.following import Following
from streamhouse.trigger.questions import Questions, asks_for
from streamhouse.trigger.recorder import Recorder
from streamhouse.trigger.result import ApplyChange, DecidedChange, FlowLook
from streamhouse.trigger.settlement import Settlement, does_not_compile, followed_with, not_done
from streamhouse.trigger.target import TargetPlan, broken_edit, is_left_to_a_person, target_of
from streamhouse.upstream.lost import loss_text


@dataclass(frozen=True)
class Concluded:
    """The end of a look at one flow.

    Attributes:
        look: What the look gives.
        plan: What the flow runs with from now on; None: as before.
    """

    look: FlowLook
    plan: FlowPlan | None = None


@dataclass(frozen=True)
class Conclusion:
    """Ends a look, flow by flow.

    Attributes:
        basis: What is known.
        desired: The plans with all that is followed.
        as_files: The plans with nothing followed.
        recorder: Records what happened.
        questions: Asks persons.
        apply_change: Carries changes out; None: the runner of the flow does so later.
    """

    basis: Basis
    desired: Checked
    as_files: Checked
    recorder: Recorder
    questions: Questions
    apply_change: ApplyChange | None

    def of(self, following: Following, applied: Mapping[str, FlowPlan]) -> Concluded:
        """End the look at one flow.

        Args:
            following: What it follows.
            applied: Flow → its plan as it runs by now, with what this look applied.

        Raises:
            StoreUnavailableError: the state store does not answer.
        """
        flow = following.flow
        if self.basis.runs_by_record(flow):
            self.recorder.waiting_edit(flow, applied[flow])
        if flow not in self.desired.plans:
            return self._broken(following, applied[flow])
        target = target_of(self.basis, following, self.desired, self.as_files, applied)
        if target is None:
            return self._ended(following)
        if target.reads_files:
            self.recorder.record_look(flow, *([target.edit] if target.edit is not None else []))
        if target.diff is None:
            plan = target.plan.fingerprint
            self.recorder.settle(flow, (followed_with(following, d, d.event, plan) for d in following.decisions))
            return self._ended(following)
        if is_left_to_a_person(self.basis, following, target.diff):
            return self._ended(following)
        return self._changed(following, target)

    def _ended(self, following: Following) -> Concluded:
        return Concluded(self.recorder.result(following.flow, following.questions))

    def _broken(self, following: Following, old: FlowPlan) -> Concluded:
        """The files are wrong, or do not fit what came from upstream: the flow goes on as it runs."""
        flow = following.flow
        by_upstream = bool(following.decisions) and flow in self.as_files.plans
        errors = (self.desired if by_upstream else self.as_files).errors
        text = "\n".join(str(error) for error in errors) or "it does not compile"
        self.recorder.settle(flow, (does_not_compile(decision, text) for decision in following.decisions))
        event = broken_edit(self.basis, old, text) if not by_upstream else None
        if event is not None:
            self.recorder.record_look(flow, event)
            self.recorder.settle(flow, [Settlement(event, EventStatus.FAILED, Decision(event=event), note=text)])
        return self._ended(following)

    def _changed(self, following: Following, target: TargetPlan) -> Concluded:
        assert target.diff is not None
        approved = following.is_approved
        if target.must_ask(approved=approved):
            question = self.questions.about_plan(target.plan, target.diff)
            if question.state is not ApprovalState.GRANTED:
                return self._not_granted(following, target, question)
            approved = True
        change = DecidedChange(
            following.flow,
            target.plan,
            target.diff,
            following.decisions,
            approved,
            following.beyond_plan,
            self.basis.definition(following.flow),
        )
        plan = self._apply(change, following, _events(following, target))
        return Concluded(self.recorder.result(following.flow, following.questions, change), plan)

    def _not_granted(self, following: Following, target: TargetPlan, question: Approval) -> Concluded:
        """The plan waits for a person, or one refused it."""
        assert target.diff is not None
        refused = question.state is ApprovalState.REFUSED
        status = EventStatus.REFUSED if refused else EventStatus.WAITING
        waits = f"approval {question.id}: {asks_for(target.diff)}"
        note = f"refused by {question.decided_by}" if refused else waits
        for event, decision in _events(following, target):
            # Until the plan is granted, nobody reads what changed with the plan of before.
            kept = decision if refused else following.beyond.get(event.id) or not_done(decision, note)
            self.recorder.settle(following.flow, [Settlement(event, status, kept, note=note)])
        return self._ended(following if refused else following.with_question(question))

    def _leave_to_runner(
        self, flow: str, before: Mapping[str, Decision], events: list[tuple[UpstreamEvent, Decision]]
    ) -> None:
        note = "the flow's runner applies it"
        for event, decision in events:
            status = EventStatus.WAITING if event.id in before else EventStatus.SEEN
            self.recorder.settle(flow, [Settlement(event, status, before.get(event.id, decision), note=note)])

    def _apply(
        self, change: DecidedChange, following: Following, events: list[tuple[UpstreamEvent, Decision]]
    ) -> FlowPlan | None:
        """Have a change carried out; the plan that the flow runs with then, None: as before."""
        flow, before = change.flow, following.beyond
        if self.apply_change is None:
            self._leave_to_runner(flow, before, events)
            return None
        try:
            self.apply_change(change)
        except StreamhouseError as error:
            for event, decision in events:
                failed = before.get(event.id) or not_done(decision, str(error))
                self.recorder.settle(flow, [Settlement(event, EventStatus.FAILED, failed, note=str(error))])
            return None
        for event, decision in events:
            if event.lost:
                self.recorder.state.append_event(flow, "loss", loss_text(event))
            self.recorder.settle(flow, [followed_with(following, decision, event, change.plan.fingerprint)])
        return change.plan


def _events(following: Following, target: TargetPlan) -> list[tuple[UpstreamEvent, Decision]]:
    """All that a target carries, with what was decided of it."""
    found = [(decision.event, decision) for decision in following.decisions]
    return found if target.edit is None else [*found, (target.edit, Decision(event=target.edit))]

"""Rounds of the autopilot: look, measure what was applied, propose, and apply what may be applied."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from filelock import FileLock, Timeout

from streamhouse.autopilot.act import Actor, outcome_of, unknown_readers, why_busy
from streamhouse.autopilot.finding import Evidence, FaultKind, FlowFault, Goal, Means
from streamhouse.autopilot.measure import LEAST_EPOCHS, compared, helped, is_worse, number, promise_now, within
from streamhouse.autopilot.observe import Observer
from streamhouse.autopilot.policy import HISTORY, why_not
from streamhouse.autopilot.rules import findings
from streamhouse.errors import LeaseHeldError, StreamhouseError
from streamhouse.model.outcome import Outcome
from streamhouse.project.autopilot import AutopilotMode, AutopilotSettings
from streamhouse.project.autopilot_flows import unknown_flows
from streamhouse.project.check import load_registry
from streamhouse.project.project import Project
from streamhouse.state.autopilot import AutopilotDecision, DecisionState, NewDecision
from streamhouse.state.store import StateStore

_PATIENCE = 3  # windows, in which an epoch must come that shows whether it helped
_GOING_ON = frozenset({DecisionState.APPLYING, DecisionState.APPLIED, DecisionState.TAKING_BACK})


@dataclass(frozen=True)
class RemedyProposal:
    """A finding, and what may be done about it now.

    Attributes:
        outcome: Of the plan; None: no plan changes, or the effect on other flows is not known.
        before: The number that would be measured; None: unknown.
        why_not: Why it is not applied; None: it may be.
    """

    finding: FlowFault
    outcome: Outcome | None
    before: float | None
    why_not: str | None


@dataclass(frozen=True)
class Round:
    """What one round found and did.

    Attributes:
        flows: That were looked at.
        decisions: That it made, or that became something else.
        unseen: What could not be looked at → why.
        failed: Flow → what could not be done; the next round tries again.
    """

    mode: AutopilotMode
    flows: tuple[str, ...] = ()
    proposals: tuple[RemedyProposal, ...] = ()
    decisions: tuple[AutopilotDecision, ...] = ()
    unseen: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, StreamhouseError] = field(default_factory=dict)


def _clock() -> datetime:
    return datetime.now(UTC)


@dataclass
class Autopilot:
    """The autopilot of one project.

    Args:
        project: Its settings are the limits.
        mode: What a round does.
        say: Is called with what is being done.
        now: The clock.
    """

    project: Project
    mode: AutopilotMode
    say: Callable[[str], None] = lambda _: None
    now: Callable[[], datetime] = _clock

    @property
    def settings(self) -> AutopilotSettings:
        """The limits."""
        return self.project.settings.autopilot

    def look(self, flows: Sequence[str] = ()) -> Round:
        """Look once, and say what a round in the mode `auto` would apply; nothing is recorded or changed.

        Args:
            flows: Those to look at; empty: all that were applied.
        """
        state = self.project.existing_state()
        if state is None:
            return Round(AutopilotMode.SUGGEST)
        with state:
            evidence = Observer(self.project, state).look(flows, self.settings.window, self.now())
            found = self.findings(state, evidence)
            proposals = tuple(self.proposal(state, evidence[one.flow], one, AutopilotMode.AUTO) for one in found)
            wrong = self.unknown_flows(state)
            return Round(AutopilotMode.SUGGEST, tuple(evidence), proposals, unseen=_unseen(evidence), failed=wrong)

    def round(self, flows: Sequence[str] = ()) -> Round:
        """One round: go on with what was begun, measure what was applied, propose, apply what may be applied.

        In the mode `suggest` nothing new is applied. May be killed at any moment: the next round goes on.

        Raises:
            LeaseHeldError: another autopilot of the project is at work.
        """
        if self.mode is AutopilotMode.OFF:
            return Round(self.mode)
        state = self.project.existing_state()
        if state is None:
            return Round(self.mode)
        with state, self._alone():
            return _Round(self, state, Actor(self.project, state, self.now, self.say)).run(flows)

    def unknown_flows(self, state: StateStore) -> dict[str, StreamhouseError]:
        """Flow in the limits that neither a file defines nor ever ran → the error."""
        if not self.settings.flows:
            return {}
        registry = load_registry(self.project)
        return dict(unknown_flows(self.project, {*registry.flows, *registry.broken_flows, *state.flows()}))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        folder = self.project.state_dir / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(folder / "autopilot.lock", timeout=0):  # ends with its process
                yield
        except Timeout as error:
            raise LeaseHeldError(
                "another autopilot of this project is at work", hint="wait for it, or end it: streamhouse autopilot off"
            ) from error

    def findings(self, state: StateStore, evidence: Mapping[str, Evidence]) -> list[FlowFault]:
        """What is wrong, since when it is known, each with the time for which its remedy would be measured."""
        window, seen = self.settings.window, {one.finding: one.since for one in state.autopilot.open()}
        return [
            replace(
                one,
                window=window if one.means is Means.EDIT else timedelta(0),
                since=min((at for at in (one.since, seen.get(one.key)) if at is not None), default=None),
            )
            for one in findings(evidence)
        ]

    def proposal(
        self, state: StateStore, evidence: Evidence, finding: FlowFault, mode: AutopilotMode
    ) -> RemedyProposal:
        """What a round in a mode may do about a finding now."""
        unknown = unknown_readers(state) if finding.means is Means.EDIT else None
        known = finding.means is Means.EDIT and unknown is None
        outcome = outcome_of(evidence.plan, finding.edits, state) if known else None
        now, limits = self.now(), self.settings
        recent, busy = state.autopilot.moved_since(now - HISTORY), _busy(state, finding.flow)
        if busy is None and finding.means is Means.EDIT and not evidence.running:
            busy = "the flow does not run"
        why = unknown or why_not(
            finding,
            outcome,
            mode=mode,
            settings=limits,
            recent=recent,
            now=now,
            busy=busy,
            changed=evidence.changed,
        )
        if why is None and finding.means is Means.EDIT:
            why = why_busy(self.project, finding.flow)
        return RemedyProposal(finding, outcome, number(finding.goal, evidence, finding.about, finding.numbers), why)


@dataclass
class _Round:
    pilot: Autopilot
    state: StateStore
    actor: Actor
    moved: dict[int, AutopilotDecision] = field(default_factory=dict)
    failed: dict[str, StreamhouseError] = field(default_factory=dict)

    def run(self, flows: Sequence[str]) -> Round:
        self.failed |= self.pilot.unknown_flows(self.state)
        for decision in self._of(flows, DecisionState.APPLYING, DecisionState.TAKING_BACK):
            self._try(decision, lambda one: self._measured(self.actor.go_on(one)))
        evidence = self._look(flows)
        for decision in self._of(flows, DecisionState.APPLIED):
            if decision.flow in evidence:
                self._try(decision, lambda one: self._measured(one, evidence))
        proposals = tuple(self._proposed(evidence[one.flow], one) for one in self.pilot.findings(self.state, evidence))
        self._end_suggestions(evidence, {one.finding.key for one in proposals}, is_whole=not flows)
        moved = tuple(self.moved.values())
        return Round(self.pilot.mode, tuple(evidence), proposals, moved, _unseen(evidence), self.failed)

    def _proposed(self, evidence: Evidence, finding: FlowFault) -> RemedyProposal:
        """Record a proposal, and apply it where it may be."""
        proposal = self.pilot.proposal(self.state, evidence, finding, self.pilot.mode)
        now = self.pilot.now()
        decision, is_new = self.state.autopilot.suggest(_new(proposal, now), now)
        if is_new:
            self.moved[decision.id] = decision
        if proposal.why_not is None and decision.state is DecisionState.SUGGESTED:
            self._try(decision, lambda one: self._measured(self.actor.begin(one, proposal.before)))
        return proposal

    def _end_suggestions(self, flows: Collection[str], found: set[str], *, is_whole: bool) -> None:
        if not is_whole:  # what flows share is seen only where all are looked at
            found |= {one.finding for one in self.state.autopilot.open() if one.kind == FaultKind.SHARED_STEP}
        for over in self.state.autopilot.over(flows, found, self.pilot.now()):
            self.moved[over.id] = over

    def _look(self, flows: Sequence[str]) -> dict[str, Evidence]:
        return Observer(self.pilot.project, self.state).look(flows, self.pilot.settings.window, self.pilot.now())

    def _of(self, flows: Sequence[str], *states: DecisionState) -> list[AutopilotDecision]:
        found = self.state.autopilot.open()
        return [one for one in found if one.state in states and (not flows or one.flow in flows)]

    def _try(self, decision: AutopilotDecision, act: Callable[[AutopilotDecision], AutopilotDecision]) -> None:
        """Do something about one decision; what fails leaves the others alone."""
        try:
            done = act(decision)
        except StreamhouseError as error:
            self.failed[decision.flow] = error
            self._record_failure(decision, error)
            return
        if done.state is not decision.state:
            self.moved[done.id] = done

    def _record_failure(self, decision: AutopilotDecision, error: StreamhouseError) -> None:
        with suppress(StreamhouseError):  # of a state store that does not answer, nothing can be recorded
            self.state.autopilot.stuck(decision.id, str(error).splitlines()[0], self.pilot.now())

    def _measured(
        self, decision: AutopilotDecision, evidence: Mapping[str, Evidence] | None = None
    ) -> AutopilotDecision:
        """What becomes of a decision that was applied, as far as its time has come."""
        if decision.state is not DecisionState.APPLIED or decision.applied_at is None:
            return decision
        now = self.pilot.now()
        is_edit, passed = decision.means == Means.EDIT, now - decision.applied_at
        if is_edit and passed < decision.window and (evidence is None or not evidence[decision.flow].failed):
            return decision
        found = (evidence if is_edit and evidence is not None else self._look([decision.flow]))[decision.flow]
        if is_edit and found.failed:
            return self.actor.take_back(
                decision, f"the flow failed after it: {(found.error or '?').splitlines()[0]}", None
            )
        other = found.changed if found.changed is not None and found.changed.at > decision.applied_at else None
        measured = passed if other is None else other.at - decision.applied_at  # later epochs are of another plan
        found = replace(found, epochs=within(found.past, decision.applied_at, measured))
        goal = Goal(decision.goal)
        after = number(goal, found, _about(decision), decision.numbers)
        words = compared(goal, decision.before, after)
        if decision.before is not None and after is not None:
            if is_edit and is_worse(goal, decision.before, after):
                return self.actor.take_back(decision, f"it got worse; {words}", after)
            promise = promise_now(goal, found)
            if promise is not None:
                if is_edit and not promise[1]:
                    return self.actor.take_back(decision, f"the promise does not hold: {promise[0]}; {words}", after)
                return self._keep(decision, f"{promise[0]}; {words}", after)
            reason = words if helped(goal, decision.before, after) else f"it did not help; {words}"
            return self._keep(decision, reason, after)
        if is_edit and len(found.epochs) < LEAST_EPOCHS:
            if passed < _PATIENCE * decision.window:
                return decision
            return self._keep(decision, f"too few epochs came to measure it; {words}", after)
        is_drained = goal is Goal.ROWS_PER_SECOND and decision.before is not None
        return self._keep(decision, f"no rows wait any more; {words}" if is_drained else words, after)

    def _keep(self, decision: AutopilotDecision, reason: str, after: float | None) -> AutopilotDecision:
        return self.actor.state.autopilot.move(decision, DecisionState.KEPT, reason, self.pilot.now(), after=after)


def _about(decision: AutopilotDecision) -> str:
    return decision.finding.split(":", 2)[2]


def _busy(state: StateStore, flow: str) -> str | None:
    going_on = next((one for one in state.autopilot.open(flow) if one.state in _GOING_ON), None)
    if going_on is not None:
        return f"decision {going_on.id} of the flow is not finished: {going_on.state}"
    change = state.open_change(flow)
    return None if change is None else f"change {change.id} of the flow is open"


def _new(proposal: RemedyProposal, now: datetime) -> NewDecision:
    one = proposal.finding
    return NewDecision(
        flow=one.flow,
        finding=one.key,
        kind=one.kind.value,
        means=one.means.value,
        text=one.text,
        remedy=one.remedy,
        goal=one.goal.value,
        window=one.window,
        since=one.since or now,
        reason=proposal.why_not or "it may be applied",
        numbers=one.numbers,
        edits=one.edits,
        outcome=None if proposal.outcome is None else proposal.outcome.value,
    )


def _unseen(evidence: Mapping[str, Evidence]) -> dict[str, str]:
    return {what: why for one in evidence.values() for what, why in one.unseen.items()}

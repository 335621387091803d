"""Carries out what was decided, and takes it back. Killed at any moment, it goes on from what the state store says.

An edit is written into the flow's file, and then applied as a person's would be. The decision is recorded before the
file is written, with the text that stood there and a hash of the text that takes its place: so the next round knows
whether the file is as it was, as the autopilot wrote it, or as somebody else left it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from streamhouse.autopilot.finding import Means
from streamhouse.change.apply import apply
from streamhouse.errors import BlockedError, EnvironmentProblem, StoreUnavailableError, StreamhouseError
from streamhouse.install.whole_file import write_whole
from streamhouse.jobs.tier import tier_flows
from streamhouse.jobs.upkeep import keep_up
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import duration_of
from streamhouse.project.check import load_registry
from streamhouse.project.compare import Applied, PlanComparison, compare, compare_project
from streamhouse.project.project import Project
from streamhouse.registry.files import text_hash
from streamhouse.registry.yaml_edits import with_value
from streamhouse.state.autopilot import AutopilotDecision, DecisionState, reason_of
from streamhouse.state.plans import Unreadable
from streamhouse.state.store import StateStore

BY = "autopilot"
"""Who asks, for the journal of changes."""

_SAFE = frozenset({Outcome.NO_OP, Outcome.SWAP})


def with_edits(plan: FlowPlan, edits: Mapping[str, Any]) -> FlowPlan:
    """The plan with other settings, as the flow's file would give them."""
    as_planned = {
        key: duration_of(str(value)) if isinstance(getattr(plan, key), timedelta) else value
        for key, value in edits.items()
    }
    return plan.model_copy(update=as_planned)


def outcome_of(plan: FlowPlan, edits: Mapping[str, Any], state: StateStore) -> Outcome:
    """What an edit of an applied plan would do, found without touching a file."""
    return compare(with_edits(plan, edits), Applied.of(state), {}).found.outcome


def unknown_readers(state: StateStore) -> str | None:
    """Why the effect of an edit on other flows is not known; None: it is."""
    unreadable: Unreadable = {}
    state.plans(unreadable)
    return next((f"it is not known what {flow} reads: {why.message}" for flow, why in unreadable.items()), None)


def why_busy(project: Project, flow: str) -> str | None:
    """Why the files of a flow cannot be edited now; None: they say what is applied."""
    try:
        [compared] = compare_project(project, flow)
    except StoreUnavailableError:
        raise
    except StreamhouseError as error:
        return f"its files cannot be compared with what is applied: {error.message}"
    return f"an edit of its files waits for a person: streamhouse plan {flow}" if compared.differs else None


@dataclass(frozen=True)
class Actor:
    """Acts in one project; the caller holds its lock."""

    project: Project
    state: StateStore
    now: Callable[[], datetime]
    say: Callable[[str], None]

    def begin(self, decision: AutopilotDecision, before: float | None) -> AutopilotDecision:
        """Carry out a suggestion.

        Args:
            decision: As it was suggested.
            before: The number of its goal; None: unknown.

        Returns:
            The decision, applied or refused.
        """
        if decision.means != Means.EDIT:
            return self._job(self._move(decision, DecisionState.APPLYING, "begun", before=before))
        name = load_registry(self.project).flow(decision.flow).at.file
        old = self._text(name)
        if old is None:
            return self._move(decision, DecisionState.REFUSED, f"{name} cannot be read")
        try:
            new = old
            for key, value in decision.edits.items():
                new = with_value(new, (key,), value, name)
        except StreamhouseError as error:
            return self._move(decision, DecisionState.REFUSED, error.message)
        more = {"before": before, "file": name, "old_text": old, "new_hash": text_hash(new)}
        begun = self._move(decision, DecisionState.APPLYING, f"{name} is being edited", **more)
        try:
            is_written = self._write(begun, old, new)
        except EnvironmentProblem as error:
            return self._move(begun, DecisionState.REFUSED, error.message)
        return self._apply(begun) if is_written else self._left(begun, "nothing was applied")

    def go_on(self, decision: AutopilotDecision) -> AutopilotDecision:
        """Finish what a process that was killed began."""
        if decision.means != Means.EDIT:
            return self._job(decision)
        decision = replace(decision, reason=reason_of(decision.reason))
        text = self._text(decision.file)
        ours, as_it_was = text is not None and text_hash(text) == decision.new_hash, text == decision.old_text
        if decision.state is DecisionState.APPLYING and ours:
            return self._apply(decision)
        if decision.state is DecisionState.APPLYING and as_it_was:
            self._withdraw(decision.flow)
            if why_busy(self.project, decision.flow) is None:
                return self._move(decision, DecisionState.SUGGESTED, "its process ended before anything was done")
            return self._undone(decision, DecisionState.REFUSED, "its process ended while it was applied")
        if text is not None and (ours or as_it_was):
            return self._taken_back(decision, text)
        self._withdraw(decision.flow)
        return self._left(decision, decision.reason)

    def take_back(self, decision: AutopilotDecision, reason: str, after: float | None) -> AutopilotDecision:
        """Give the flow back what it had, unless its file is another one by now."""
        text = self._text(decision.file)
        if text is None or text_hash(text) != decision.new_hash:
            return self._left(decision, reason, after=after)
        return self._taken_back(self._move(decision, DecisionState.TAKING_BACK, reason, after=after), text)

    def _apply(self, decision: AutopilotDecision) -> AutopilotDecision:
        """Apply the file, which is as the autopilot wrote it."""
        try:
            compared = self._compared(decision, decision.edits)
            change = apply(self.project, compared, BY, say=self.say) if compared.differs else None
        except StreamhouseError as error:
            text = self._text(decision.file)
            if text is not None and text_hash(text) == decision.new_hash:
                self._write(decision, text, decision.old_text or "")
            return self._move(decision, DecisionState.REFUSED, str(error))
        outcome_text = f"change {change.id}, {change.outcome}" if change is not None else "it was applied already"
        return self._move(
            decision, DecisionState.APPLIED, f"{outcome_text}; it is measured until {self._until(decision)}"
        )

    def _taken_back(self, decision: AutopilotDecision, text: str) -> AutopilotDecision:
        if not self._write(decision, text, decision.old_text or ""):
            return self._left(decision, decision.reason)
        return self._undone(decision, DecisionState.ROLLED_BACK, decision.reason)

    def _undone(self, decision: AutopilotDecision, end: DecisionState, reason: str) -> AutopilotDecision:
        """Apply the file, which is as it was.

        Raises:
            StreamhouseError: that does not succeed; the next round tries again.
        """
        [compared] = compare_project(self.project, decision.flow)
        if compared.differs:
            if compared.found.outcome not in _SAFE:
                return self._left(decision, reason)
            apply(self.project, compared, BY, say=self.say)
        return self._move(decision, end, reason)

    def _compared(self, decision: AutopilotDecision, edits: Mapping[str, Any]) -> PlanComparison:
        """The file against what is applied.

        Raises:
            BlockedError: it says more than the edits, or they do more than the autopilot may.
        """
        [compared] = compare_project(self.project, decision.flow)
        if compared.applied is None or compared.plan.fingerprint != with_edits(compared.applied, edits).fingerprint:
            raise BlockedError(f"{decision.flow}: its files say more than the autopilot wrote")
        if compared.found.outcome not in _SAFE:
            raise BlockedError(f"{decision.flow}: it would {compared.found.outcome}")
        return compared

    def _job(self, decision: AutopilotDecision) -> AutopilotDecision:
        """A round that changes no row; done again it does no harm."""
        try:
            if decision.means == Means.UPKEEP:
                keep_up(self.project, [decision.flow], say=self.say)
            else:
                tier_flows(self.project, [decision.flow], say=self.say)
        except StreamhouseError as error:
            return self._move(decision, DecisionState.REFUSED, str(error))
        return self._move(decision, DecisionState.APPLIED, f"one round of {decision.means}")

    def _withdraw(self, flow: str) -> None:
        change = self.state.open_change(flow)
        if change is not None and change.requested_by == BY:
            self.state.withdraw_change(flow)

    def _left(self, decision: AutopilotDecision, reason: str, **more: float | None) -> AutopilotDecision:
        message = f"{reason}; but {decision.file} was edited meanwhile, and stays as it is"
        return self._move(decision, DecisionState.LEFT, message, **more)

    def _move(
        self, decision: AutopilotDecision, state: DecisionState, reason: str, **more: str | float | None
    ) -> AutopilotDecision:
        self.say(f"{decision.flow}: {decision.remedy}: {state}, {reason.splitlines()[0]}")
        return self.state.autopilot.move(decision, state, reason, self.now(), **more)

    def _until(self, decision: AutopilotDecision) -> str:
        return f"{self.now() + decision.window:%H:%M:%S} UTC"

    def _text(self, name: str | None) -> str | None:
        try:
            return (self.project.root / (name or "")).read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            return None

    def _write(self, decision: AutopilotDecision, old: str, new: str) -> bool:
        """Replace a text by another one, as a whole; False: it is a third one by now, and stays.

        Raises:
            EnvironmentProblem: the file cannot be written.
        """
        file = (self.project.root / (decision.file or "")).resolve()
        try:
            return write_whole(file, new, only_if=lambda: self._text(decision.file) == old)
        except OSError as error:
            raise EnvironmentProblem(
                f"{decision.file} cannot be written: {error.strerror or error}",
                hint="the autopilot edits the files of the project: let it write there, or set mode: suggest",
            ) from error

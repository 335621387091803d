"""One look of the Flow Trigger, stage by stage: decide, compile, find what each flow is to become, conclude.

Every stage takes what the ones before it gave and gives a value of its own; nothing is changed on the way.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from streamhouse.project.check import Checked
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.state.store import StateStore
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.compiled import Followings, compiled, known_inputs, set_apart
from streamhouse.trigger.conclude import Conclusion
from streamhouse.trigger.decide import decide
from streamhouse.trigger.following import Following
from streamhouse.trigger.questions import Questions
from streamhouse.trigger.recorder import Recorder
from streamhouse.trigger.result import ApplyChange, FlowLook


@dataclass(frozen=True)
class LookRound:
    """What one look decided and did.

    Attributes:
        looks: One for each flow, upstream first.
        as_files: The plans that the files and what runs give, for the next look.
    """

    looks: tuple[FlowLook, ...]
    as_files: Checked


@dataclass(frozen=True)
class _Compiled:
    """What all flows follow, and the plans that this gives."""

    followings: Followings
    as_files: Checked
    desired: Checked


def run_round(
    basis: Basis, state: StateStore, apply_change: ApplyChange | None = None, as_files: Checked | None = None
) -> LookRound:
    """Decide on everything that a look saw, and carry it through.

    Args:
        basis: What is known; its looks have the flows.
        state: Where events, questions and answers are recorded.
        apply_change: Carries changes out; None: they are decided and recorded only.
        as_files: The plans that the files and what runs give, where an earlier look compiled them.

    Raises:
        StoreUnavailableError: the state store does not answer.
    """
    recorder, questions = Recorder(basis, state), Questions(basis, state.approvals)
    followings = {flow: _decided(basis, flow, recorder, questions) for flow in basis.looks}
    plans = _plans(basis, recorder, followings, _as_files(basis, as_files))
    conclusion = Conclusion(basis, plans.desired, plans.as_files, recorder, questions, apply_change)
    order = dict.fromkeys([*plans.as_files.plans, *plans.desired.plans, *basis.looks])
    applied, looks = basis.applied, []
    for flow in order:
        if flow in basis.looks:
            concluded = conclusion.of(plans.followings[flow], applied)
            looks.append(concluded.look)
            applied = applied if concluded.plan is None else {**applied, flow: concluded.plan}
    return LookRound(tuple(looks), plans.as_files)


def _decided(basis: Basis, flow: str, recorder: Recorder, questions: Questions) -> Following:
    decided = decide(basis, flow, recorder.record_upstream(flow), questions.about_event)
    recorder.settle(flow, decided.settlements)
    return decided.following


def _as_files(basis: Basis, known: Checked | None) -> Checked:
    return known if known is not None else compiled(basis, KnownInputs(basis.applied))


def _plans(basis: Basis, recorder: Recorder, followings: Mapping[str, Following], as_files: Checked) -> _Compiled:
    """What flows compile with; what they do not is recorded as failed, and left out."""
    desired = as_files
    if any(one.decisions for one in followings.values()):
        desired = compiled(basis, known_inputs(basis, followings))
    broken = [flow for flow in dict.fromkeys([*as_files.plans, *basis.looks]) if flow not in desired.plans]
    apart = set_apart(basis, followings, broken, as_files.plans)
    for flow, settlements in apart.settlements.items():
        recorder.settle(flow, settlements)
    if apart.is_changed:
        desired = compiled(basis, known_inputs(basis, apart.followings))
    return _Compiled(apart.followings, as_files, desired)

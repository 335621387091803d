"""The third stage of a look: what one flow is to become, of all that compiles; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from streamhouse.compiler.diff import diff
from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.schema_change import EventType
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.project.check import Checked
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.following import Following

Plans = Mapping[str, FlowPlan]


@dataclass(frozen=True)
class TargetPlan:
    """What a flow is to become.

    Attributes:
        plan: To be applied.
        diff: Against the plan as it runs; None: it is that plan, and nothing else is to be done.
        edit: Its files say something else than it runs with, and that is a part of `plan`; None: they do not.
        reads_files: What the files say was compiled, so that an earlier edit that is none any more is outdated.
    """

    plan: FlowPlan
    diff: FlowDiff | None
    edit: UpstreamEvent | None
    reads_files: bool

    def must_ask(self, *, approved: bool) -> bool:
        """Whether a person must grant it; `approved`: one granted an event in it."""
        if self.diff is None:
            return False
        if self.diff.outcome is Outcome.BLOCK:
            return not approved or self.edit is not None
        return self.edit is not None and self.diff.outcome is Outcome.REBUILD


def target_of(
    basis: Basis, following: Following, desired: Checked, as_files: Checked, applied: Plans
) -> TargetPlan | None:
    """What a flow that compiles is to become; None: a flow that it reads from has not come so far.

    Args:
        basis: What is known.
        following: What the flow follows.
        desired: The plans with all that is followed.
        as_files: The plans with nothing followed.
        applied: Flow → its plan as it runs by now, with what this look applied.
    """
    flow, old = following.flow, applied[following.flow]
    candidates = (plans for plans in (desired, as_files) if flow in plans.plans)
    ready = next((plans for plans in candidates if _is_ready(plans.plans[flow], plans, applied)), None)
    if ready is None:
        return None
    new = ready.plans[flow]
    edited = as_files.plans.get(flow) if not basis.runs_by_record(flow) else None
    differs = edited is not None and edited.fingerprint != old.fingerprint
    edit = edit_of(flow, old, edited.fingerprint) if edited is not None and differs else None
    if new.fingerprint == old.fingerprint and not following.beyond_plan:
        return TargetPlan(new, None, edit, edited is not None)
    found = diff(old, new, {name: plan for name, plan in applied.items() if name != flow})
    return TargetPlan(new, found, edit, edited is not None)


def is_left_to_a_person(basis: Basis, following: Following, found: FlowDiff) -> bool:
    """Whether the same files say something else under this version, which a person applies."""
    milder = found.outcome in (Outcome.NO_OP, Outcome.SWAP)
    return basis.runs_by_record(following.flow) and not following.decisions and not milder


def edit_of(flow: str, old: FlowPlan, after: str) -> UpstreamEvent:
    """The event of files that say something else than a flow runs with; `after`: the fingerprint of what they say."""
    return UpstreamEvent(type=EventType.EDIT, object=f"{flow} and its actions", before=old.fingerprint, after=after)


def broken_edit(basis: Basis, old: FlowPlan, errors: str) -> UpstreamEvent | None:
    """The event of files that are wrong; None: the flow does not run with its files."""
    flow, flows = old.flow, basis.registry.flows
    if flow not in flows or basis.runs_by_record(flow):
        return None
    after = sha256(errors.encode()).hexdigest()[:16]
    return UpstreamEvent(type=EventType.EDIT, object=flows[flow].at.file or flow, before=old.fingerprint, after=after)


def _is_ready(plan: FlowPlan, among: Checked, applied: Plans) -> bool:
    """Whether the flows that a plan reads from run as it takes them to."""
    reads = {table.name for table in plan.external}
    return all(
        owner == plan.flow or not reads & set(other.tables) or applied.get(owner, other) == other
        for owner, other in among.plans.items()
    )

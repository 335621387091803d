"""What a look of the Flow Trigger decides, and what it gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamhouse.model.definition import Definition
from streamhouse.model.outcome import FlowDiff
from streamhouse.model.plan import FlowPlan
from streamhouse.model.upstream import Decision
from streamhouse.state.approvals import Approval
from streamhouse.state.upstream import UpstreamRecord
from streamhouse.state.waits import Wait
from streamhouse.stores.unreadable import UnreadableTable


@dataclass(frozen=True)
class DecidedChange:
    """What a flow is to become.

    Attributes:
        plan: To be applied.
        diff: Against the plan as it runs.
        decisions: What came from upstream; empty: an edit alone.
        approved: A person granted what blocks in it, or rebuilds.
        beyond: Those of `decisions` that a person granted and that the plan does not carry, such as reading a table
            again that was dropped and created again: to be carried out too, or refused with an error. Their readers
            must not read on before.
        definition: The files that the plan follows from; None: they are not known.
    """

    flow: str
    plan: FlowPlan
    diff: FlowDiff
    decisions: tuple[Decision, ...] = ()
    approved: bool = False
    beyond: tuple[Decision, ...] = ()
    definition: Definition | None = None


ApplyChange = Callable[[DecidedChange], None]
"""Carries a change into its flow at an epoch boundary and records the plan as applied, or raises a
StreamhouseError and changes nothing; the same change may be given again."""


@dataclass(frozen=True)
class FlowLook:
    """What one look did for one flow.

    Attributes:
        records: Changes that are not settled, and those settled by this look.
        change: What was applied, or would be.
        approvals: Questions that wait.
        paused: Steps that must not read on.
        unseen: What could not be looked at, with the reason.
        waits: All that waits, for whom and why.
        failed: Those of `unseen` of which a store gave an error.
    """

    flow: str
    records: tuple[UpstreamRecord, ...] = ()
    change: DecidedChange | None = None
    approvals: tuple[Approval, ...] = ()
    paused: frozenset[str] = frozenset()
    unseen: Mapping[str, str] = field(default_factory=dict)
    waits: tuple[Wait, ...] = ()
    failed: Mapping[str, UnreadableTable] = field(default_factory=dict)

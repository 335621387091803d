"""The Flow Trigger: sees what changed, decides, and has it carried out or asks (design D8).

One look is: observe → note each change once → decide for every step it reaches → compile what is allowed →
apply, or ask a person → note what became of it. It may be cut short anywhere: the next look does the rest.
"""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from streamhouse.engine.unreadable_flows import refuse_unknown_inputs
from streamhouse.errors import StateConflictError, StreamhouseError
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.shape import Shape
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import table_name
from streamhouse.project.check import Checked, compile_with_upstream
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.project.project import Project
from streamhouse.project.running import Defined, defined
from streamhouse.state.plans import Unreadable
from streamhouse.state.store import StateStore
from streamhouse.state.waits import waits_of
from streamhouse.stores.base import Store
from streamhouse.stores.unreadable import UnreadableTable
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.result import ApplyChange, FlowLook
from streamhouse.trigger.round import run_round
from streamhouse.upstream.observe import UpstreamLook, UpstreamObserver


class Trigger:
    """Follows the changes of one project; used by one thread at a time.

    Args:
        project: Holds the flows.
        state: Its state store.
        stores: Those that are open; tables in other tiers are not looked at.
        apply_change: Carries changes out; None: they are decided and shown only.
    """

    def __init__(
        self,
        project: Project,
        state: StateStore,
        stores: Mapping[Tier, Store],
        apply_change: ApplyChange | None = None,
    ) -> None:
        self._project = project
        self._state = state
        self._apply = apply_change
        self._observer = UpstreamObserver(project.root, stores)
        self._of: object = None  # what they were made of
        self._definitions: Defined | None = None
        self._settled: dict[str, tuple[str, int]] = {}  # flow → the files and the revision that were found to agree
        self._as_files: tuple[object, Checked] | None = None  # what was compiled last, and of what
        self._shapes: dict[
            str, tuple[FlowPlan, Mapping[str, Shape]]
        ] = {}  # flow → its plan and what it reads, at a look

    def pin(self, flow: str) -> None:
        """Take what a flow reads for what it is now, once: call it when the flow is applied for the first time."""
        applied = self._state.plans({})
        if flow in applied and not self._state.upstream.pins(flow):
            look = self._observer.look(
                applied[flow][1], {}, (plan for _, plan in applied.values()), self._state.versions(flow)
            )
            self._state.upstream.save_pins(flow, {n: s.model_dump_json() for n, s in look.pins.items()})

    def look(self, flows: Collection[str] | None = None, *, now: datetime | None = None) -> list[FlowLook]:
        """Look once at everything that flows read, and at the files; a flow that never ran is not looked at.

        Args:
            flows: Those to look at; None: all.
            now: The time for the record.

        Returns:
            One for each flow, upstream first. When nothing changed this takes milliseconds.

        Raises:
            StoreUnavailableError: the state store does not answer.
        """
        at = now or datetime.now(UTC)
        unreadable: Unreadable = {}
        stored_plans = self._state.plans(unreadable)
        revisions = {name: revision for name, (revision, _) in stored_plans.items()}
        applied = {name: plan for name, (_, plan) in stored_plans.items()}
        named = [name for name in applied if flows is None or name in flows]
        unsure = {name: text for name in named if (text := _unsure(applied, name, unreadable)) is not None}
        wanted = [name for name in named if name not in unsure]
        looks = {name: self._observe(name, applied) for name in wanted}
        files = self._files()
        live_shapes = {name: (applied[name], look.live) for name, look in looks.items()}
        if all(not looks[name].events and self._settled.get(name) == (files, revisions[name]) for name in wanted):
            self._shapes |= live_shapes
            settled = [self._nothing_new(name, looks[name].unseen, looks[name].failed) for name in wanted]
            return settled + self._unlooked(unsure)
        definitions = self._defined(files, applied)
        of = (files, tuple(revisions.items()), tuple(wanted))
        done = self._as_files[1] if self._as_files is not None and self._as_files[0] == of else None
        basis = Basis.of(self._project, definitions, applied, looks, at, tuple(unreadable))
        done_now = run_round(basis, self._state, self._apply, done)
        self._shapes |= live_shapes  # only now: until what changed is followed, it differs
        self._as_files = (of, done_now.as_files)
        for one in done_now.looks:
            if not one.records and not one.approvals and one.change is None:
                self._settled[one.flow] = (files, revisions[one.flow])
        return [*done_now.looks, *self._unlooked(unsure)]

    def _nothing_new(self, flow: str, unseen: Mapping[str, str], failed: Mapping[str, UnreadableTable]) -> FlowLook:
        return FlowLook(
            flow,
            paused=self._state.upstream.paused(flow),
            unseen=unseen,
            waits=waits_of(self._state, flow),
            failed=failed,
        )

    def _unlooked(self, unsure: Mapping[str, str]) -> list[FlowLook]:
        """Flows that are not looked at; `unsure`: flow → why."""
        return [self._nothing_new(flow, {flow: why}, {}) for flow, why in unsure.items()]

    def together(self, flow: str) -> FlowPlan | None:
        """The plan of a flow with nothing detached; None while its files say something else than what runs."""
        applied = {name: plan for name, (_, plan) in self._state.plans({}).items()}
        running = applied[flow]
        registry = self._defined(self._files(), applied).registry
        whole = applied | {flow: running.model_copy(update={"aside": ()})}
        try:
            if (
                compile_with_upstream(self._project, registry, flow, KnownInputs(applied)).fingerprint
                != running.fingerprint
            ):
                return None
            return compile_with_upstream(self._project, registry, flow, KnownInputs(whole))
        except StreamhouseError:
            return None

    def differs(self, flow: str, inputs: Collection[str]) -> bool:
        """Whether inputs of a flow look other than they did at the last look. Safe beside a look; milliseconds.

        Args:
            flow: Its name; one that was not looked at yet differs.
            inputs: Names of sources, and of tables of other flows.
        """
        if flow not in self._shapes:
            return True
        plan, live = self._shapes[flow]
        return self._observer.differs(plan, inputs, live, {name: live[name].at for name in inputs if name in live})

    def _observe(self, flow: str, applied: Mapping[str, FlowPlan]) -> UpstreamLook:
        pins = {name: Shape.model_validate_json(body) for name, body in self._state.upstream.pins(flow).items()}
        plan, state = applied[flow], self._state

        def read(source: str) -> list[Position]:
            segments = [one.name for one in plan.segments if table_name(source) in one.reads]
            last = [state.last_epoch(flow, segment) for segment in segments]
            return [record.end[source] for record in last if record is not None and source in record.end]

        look = self._observer.look(plan, pins, applied.values(), state.versions(flow), read)
        fresh = {name: shape.model_dump_json() for name, shape in look.pins.items() if name not in pins}
        if fresh:
            self._state.upstream.save_pins(flow, fresh, keep=pins)
        return look

    def _files(self) -> str:
        """Changes when a file that defines something does, or what applied plans follow from."""
        root = self._project.root
        found = [*(root / "actions").rglob("*.sql"), *(root / "flows").rglob("*.y*ml")]
        stamps = sorted((str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in found)
        return sha256(json.dumps([stamps, self._state.definitions.stamp()]).encode()).hexdigest()

    def _defined(self, files: str, applied: Mapping[str, FlowPlan]) -> Defined:
        """What flows are compiled from; `files` is of `_files`."""
        of = (files, tuple(plan.fingerprint for plan in applied.values()))
        if self._definitions is None or self._of != of:
            self._definitions, self._of = defined(self._project, self._state, applied), of
        return self._definitions


def _unsure(applied: Mapping[str, FlowPlan], flow: str, unreadable: Unreadable) -> str | None:
    """Why a flow cannot be looked at: a plan that cannot be read may be that of a flow which writes what it reads."""
    try:
        refuse_unknown_inputs(applied[flow], applied.values(), unreadable)
    except StateConflictError as error:
        return f"{error.code} {error.message}"
    return None


def document(look: FlowLook) -> dict[str, Any]:
    """A look as JSON."""
    return {
        "flow": look.flow,
        "outcome": look.change.diff.outcome.value if look.change is not None else Outcome.NO_OP.value,
        "plan": look.change.plan.fingerprint if look.change is not None else None,
        "paused": sorted(look.paused),
        "approvals": [{"id": q.id, "asks": q.asks} for q in look.approvals],
        "unseen": dict(look.unseen),
        "waits": [one.document() for one in look.waits],
    }

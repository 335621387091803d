"""The Flow Trigger: sees what changed, decides, and has it carried out or asks (design D8).

One look is: observe → note each change once → decide for every step it reaches → compile what is allowed →
apply, or ask a person → note what became of it. It may be cut short anywhere: the next look does the rest.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from streamhouse.compiler.diff import diff
from streamhouse.errors import StreamhouseError
from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.shape import Shape
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.registry import Registry
from streamhouse.runtime.check import Checked, check_project, compile_with_upstream
from streamhouse.runtime.project import Project
from streamhouse.runtime.seen import Seen
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.store import StateStore
from streamhouse.state.upstream import Status, UpstreamRecord
from streamhouse.stores.base import Store
from streamhouse.trigger.impact import Impact, in_question, is_open, source_object
from streamhouse.trigger.observe import Look, Observer
from streamhouse.trigger.view import accepted

_BY_ITSELF = frozenset({Values.AS_BEFORE, Values.TAKEN, Values.UNREAD, Values.COUNTED, Values.WAIT})
"""What is done to values without a person. Rescue columns, casts that count and filling two columns are not yet."""

_NEEDS_NOTHING = frozenset({Values.RESCUED, Values.VALUE_DISCARDED})
"""Of a field that is not read: it stays where it comes from."""

_FORCED = {
    EventType.ADD_COLUMN,
    EventType.ADD_REQUIRED_COLUMN,
    EventType.UNKNOWN_FIELD,
    EventType.DROP_COLUMN,
    EventType.WIDEN_TYPE,
    EventType.NARROW_TYPE,
    EventType.CHANGE_TYPE,
    EventType.SHARDS_DISAGREE,
    EventType.ADD_FIELD,
    EventType.RELAX_NULLABILITY,
    EventType.TIGHTEN_NULLABILITY,
}
"""What the columns of a source can show once a person granted it."""


@dataclass(frozen=True)
class Change:
    """What a flow is to become.

    Attributes:
        plan: To be applied.
        diff: Against the plan as it runs.
        decisions: What came from upstream; empty: an edit alone.
        approved: A person granted what blocks in it, or rebuilds.
        beyond: Those of `decisions` that a person granted and that the plan does not carry, such as reading a table
            anew that was dropped and made again: to be carried out too, or refused with an error. Their readers
            must not read on before.
    """

    flow: str
    plan: FlowPlan
    diff: FlowDiff
    decisions: tuple[Decision, ...] = ()
    approved: bool = False
    beyond: tuple[Decision, ...] = ()


ApplyChange = Callable[[Change], None]
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
    """

    flow: str
    records: tuple[UpstreamRecord, ...] = ()
    change: Change | None = None
    approvals: tuple[Approval, ...] = ()
    paused: frozenset[str] = frozenset()
    unseen: Mapping[str, str] = field(default_factory=dict)


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
        self._observer = Observer(project.root, stores)
        self._stamp = ""
        self._registry: Registry | None = None
        self._settled: dict[str, tuple[str, int]] = {}  # flow → the files and the revision that were found to agree
        self._as_files: tuple[object, Checked] | None = None  # what was compiled last, and of what

    def pin(self, flow: str) -> None:
        """Take what a flow reads for what it is now, once: call it when the flow is applied for the first time."""
        applied = self._state.plans()
        if flow in applied and not self._state.upstream.pins(flow):
            look = self._observer.look(applied[flow][1], {}, (plan for _, plan in applied.values()))
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
        held = self._state.plans()
        revisions = {name: revision for name, (revision, _) in held.items()}
        applied = {name: plan for name, (_, plan) in held.items()}
        wanted = [name for name in applied if flows is None or name in flows]
        looks = {name: self._observe(name, applied) for name in wanted}
        files = self._files()
        if all(not looks[name].events and self._settled.get(name) == (files, revisions[name]) for name in wanted):
            paused = self._state.upstream.paused
            return [FlowLook(name, paused=paused(name), unseen=looks[name].unseen) for name in wanted]
        registry = self._load(files)
        of = (files, tuple(revisions.items()), tuple(wanted))
        done = self._as_files[1] if self._as_files is not None and self._as_files[0] == of else None
        this = _Round(self._project, self._state, registry, self._apply, applied, looks, at, done)
        found = this.run()
        if this.as_files is not None:
            self._as_files = (of, this.as_files)
        for one in found:
            if not one.records and not one.approvals and one.change is None:
                self._settled[one.flow] = (files, revisions[one.flow])
        return found

    def _observe(self, flow: str, applied: Mapping[str, FlowPlan]) -> Look:
        pins = {name: Shape.model_validate_json(body) for name, body in self._state.upstream.pins(flow).items()}
        look = self._observer.look(applied[flow], pins, applied.values())
        fresh = {name: shape.model_dump_json() for name, shape in look.pins.items() if name not in pins}
        if fresh:
            self._state.upstream.save_pins(flow, fresh, keep=pins)
        return look

    def _files(self) -> str:
        """Changes when a file that defines something does."""
        root = self._project.root
        found = [*(root / "actions").rglob("*.sql"), *(root / "flows").rglob("*.y*ml")]
        stamps = sorted((str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in found)
        return sha256(json.dumps(stamps).encode()).hexdigest()

    def _load(self, files: str) -> Registry:
        if self._registry is None or self._stamp != files:
            self._registry, self._stamp = Registry.load(self._project.root), files
        return self._registry


class _Round:
    """One look: all that is decided rests on the same state of everything."""

    def __init__(
        self,
        project: Project,
        state: StateStore,
        registry: Registry,
        apply_change: ApplyChange | None,
        applied: Mapping[str, FlowPlan],
        looks: Mapping[str, Look],
        now: datetime,
        as_files: Checked | None,
    ) -> None:
        self.as_files = as_files
        """The plans that the files and what runs give; of an earlier look, until they are compiled."""
        self._project = project
        self._state = state
        self._registry = registry
        self._apply = apply_change
        self._applied = dict(applied)
        self._looks = looks
        self._now = from_ms(to_ms(now))  # as the state store keeps it
        rules = {name: flow.schema_change for name, flow in registry.flows.items()}
        self._impact = Impact(applied, rules, self._opens)
        self._questions: dict[str, list[Approval]] = {}
        self._let_in: dict[str, dict[str, tuple[Column, ...]]] = {}
        self._granted: dict[str, set[tuple[str, str]]] = {}
        self._followed: dict[str, list[Decision]] = {}
        self._forced: set[str] = set()
        self._beyond: dict[str, Decision] = {}  # event → what stood before a person granted it

    def run(self) -> list[FlowLook]:
        for name, look in self._looks.items():
            self._decide(name, look)
        if self.as_files is None:
            self.as_files = self._compiled(Seen(self._applied))
        as_files = self.as_files
        followed = Seen(self._applied, self._let_in, {n: frozenset(g) for n, g in self._granted.items()})
        desired = self._compiled(followed) if self._followed else as_files
        order = dict.fromkeys([*as_files.plans, *desired.plans, *self._looks])
        return [self._carry(name, as_files, desired) for name in order if name in self._looks]

    # --- decide --------------------------------------------------------------------------------

    def _decide(self, flow: str, look: Look) -> None:
        records = self._state.upstream.record(flow, [*look.events, *self._edits_noted(flow)], self._now)
        for record in records:
            if record.event.type is EventType.EDIT:
                continue
            if record.status in (Status.APPLIED, Status.NOTED) and record.decision is not None:
                continue
            decision = self._able(flow, self._impact.decision(record.event))
            if decision.outcome is Outcome.BLOCK:
                decision = self._asked(flow, record, decision)
                if decision.outcome is Outcome.BLOCK:
                    continue
            if _follows(decision):
                self._follow(flow, decision)
            else:
                # Readers of what is gone wait, though nobody is asked: until it is there again.
                status = Status.WAITING if decision.paused else Status.NOTED
                self._settle(flow, record.event, status, decision, note="; ".join(decision.notes) or None)

    def _edits_noted(self, flow: str) -> list[UpstreamEvent]:
        """Edits that wait are not outdated by a look at what is upstream."""
        edits = [r.event for r in self._state.upstream.open(flow) if r.event.type is EventType.EDIT]
        return [event for event in edits if event.before == self._applied[flow].fingerprint]

    def _asked(self, flow: str, record: UpstreamRecord, decision: Decision) -> Decision:
        """The decision after what a person said; one that still blocks waits."""
        event = record.event
        asks = "; ".join(decision.asks)
        question = self._state.approvals.about(flow, event.id, self._now)
        if question is None or question.state is ApprovalState.EXPIRED:
            document = {"event": event.model_dump(mode="json"), "decision": decision.model_dump(mode="json")}
            plan, told = self._if_granted(flow, decision)
            evidence = _evidence(decision) + plan
            question = self._state.approvals.ask(flow, event.id, asks, evidence, document | told, now=self._now)
        if question.state is ApprovalState.GRANTED:
            self._forced.add(event.id)
            if not self._shows(flow, event):
                self._beyond[event.id] = decision
            granted = decision.model_copy(update={"verdicts": tuple(_granted(v, event) for v in decision.verdicts)})
            if event.now is not None:
                name = event.object.partition(":")[2] or event.object
                self._granted.setdefault(flow, set()).add((name, event.now.name))
            return granted
        if question.state is ApprovalState.REFUSED:
            without = self._impact.decision(event, policy=Policy.IGNORE)
            self._settle(flow, event, Status.REFUSED, without, note=f"refused by {question.decided_by}")
            return decision
        self._questions.setdefault(flow, []).append(question)
        self._settle(flow, event, Status.WAITING, decision, note=f"approval {question.id}: {asks}")
        return decision

    def _if_granted(self, flow: str, decision: Decision) -> tuple[str, dict[str, Any]]:
        """What the flow would become if a person granted an event, as text and as JSON."""
        event = decision.event
        if not self._shows(flow, event):
            return "", {}
        verdicts = [_granted(told, event) for told in decision.verdicts]
        follows = max(verdicts, key=lambda told: told.spreads)
        name = event.object.partition(":")[2]
        columns = next(source.columns for source in self._applied[flow].sources if source.name == name)
        let_in = {flow: {name: accepted(columns, [(event, follows)])}}
        came = frozenset({(name, event.now.name)}) if event.now is not None else frozenset()
        try:
            plan = compile_with_upstream(self._project, self._registry, flow, Seen(self._applied, let_in, {flow: came}))
        except StreamhouseError as error:
            return f"\n\nif it is granted, the flow does not compile until its actions are changed:\n{error}", {
                "error": str(error)
            }
        others = {other: held for other, held in self._applied.items() if other != flow}
        found = diff(self._applied[flow], plan, others)
        shown = {"diff": found.model_dump(mode="json"), "plan": plan.fingerprint}
        return f"\n\nif it is granted, the plan becomes\n{diff_text(found)}", shown

    def _shows(self, flow: str, event: UpstreamEvent) -> bool:
        """Whether the columns of a source can show an event."""
        of_source = any(source_object(flow, s.name) == event.object for s in self._applied[flow].sources)
        return of_source and event.type in _FORCED

    def _able(self, flow: str, decision: Decision) -> Decision:
        """The decision with a question in place of what is not done by itself."""
        event = decision.event
        source = next((s for s in self._applied[flow].sources if source_object(flow, s.name) == event.object), None)
        verdicts = tuple(
            v
            if _is_able(v, event, source)
            else in_question(v, event, f"Streamhouse cannot do this by itself yet: {v.values}")
            for v in decision.verdicts
        )
        return decision.model_copy(update={"verdicts": verdicts})

    def _follow(self, flow: str, decision: Decision) -> None:
        self._followed.setdefault(flow, []).append(decision)
        for source in self._applied[flow].sources:
            if source_object(flow, source.name) == decision.event.object:
                held = self._let_in.setdefault(flow, {})
                told = max(decision.verdicts, key=lambda v: (v.spreads, v.values is Values.TAKEN))
                held[source.name] = accepted(held.get(source.name, source.columns), [(decision.event, told)])

    def _opens(self, step: PlannedStep, read: PlannedRead) -> bool:
        try:
            return is_open(self._registry.action(f"{step.action}@{step.version}"), read.port)
        except StreamhouseError:
            return False

    # --- carry out -----------------------------------------------------------------------------

    def _compiled(self, seen: Seen) -> Checked:
        checked = check_project(self._project, self._registry, seen)
        if not checked.errors:
            return checked
        plans: dict[str, FlowPlan] = {}
        errors: list[StreamhouseError] = []
        for flow in self._looks:  # one that is broken does not hold up the others
            try:
                plans[flow] = compile_with_upstream(self._project, self._registry, flow, seen)
            except StreamhouseError as error:
                errors.append(error)
        return Checked(tuple(errors), plans=plans)

    def _carry(self, flow: str, as_files: Checked, desired: Checked) -> FlowLook:
        followed = self._followed.get(flow, [])
        old = self._applied[flow]
        made = [plans for plans in (desired, as_files) if flow in plans.plans]
        if flow not in desired.plans:
            return self._broken(flow, followed, as_files, desired)
        stands = next((plans for plans in made if self._stands(plans.plans[flow], plans)), None)
        if stands is None:  # a flow that it reads from has not come so far
            return self._told(flow)
        new = stands.plans[flow]
        edited = as_files.plans.get(flow)
        event = _edit(flow, old, edited) if edited is not None and edited.fingerprint != old.fingerprint else None
        if edited is not None:  # what is no edit any more is outdated by this
            events = [*self._looks[flow].events, *([event] if event is not None else [])]
            self._state.upstream.record(flow, events, self._now)
        beyond = tuple(decision for decision in followed if decision.event.id in self._beyond)
        if new.fingerprint == old.fingerprint and not beyond:
            for decision in followed:
                self._settle(flow, decision.event, Status.APPLIED, decision, plan=old.fingerprint)
            return self._told(flow)
        others = {name: plan for name, plan in self._applied.items() if name != flow}
        found = diff(old, new, others)
        approved = any(d.event.id in self._forced for d in followed)
        if self._must_ask(found, event, approved=approved):
            asked = self._ask_for_plan(flow, new, found, event, followed)
            if asked is None:
                return self._told(flow)
            approved = asked
        change = Change(flow, new, found, tuple(followed), approved, beyond)
        return self._told(flow, self._applying(change, event, followed))

    def _stands(self, plan: FlowPlan, among: Checked) -> bool:
        """Whether the flows that a plan reads from run as it takes them to."""
        reads = {table.name for table in plan.external}
        return all(
            owner == plan.flow or not reads & set(other.tables) or self._applied.get(owner, other) == other
            for owner, other in among.plans.items()
        )

    def _must_ask(self, found: FlowDiff, event: UpstreamEvent | None, *, approved: bool) -> bool:
        if found.outcome is Outcome.BLOCK:
            return not approved or event is not None
        return event is not None and found.outcome is Outcome.REBUILD

    def _ask_for_plan(
        self,
        flow: str,
        new: FlowPlan,
        found: FlowDiff,
        event: UpstreamEvent | None,
        followed: list[Decision],
    ) -> bool | None:
        """True: a person granted it; None: it waits, or was refused."""
        asks = f"apply a plan that would {found.outcome}"
        document = {"diff": found.model_dump(mode="json"), "plan": new.fingerprint}
        question = self._state.approvals.ask(flow, new.fingerprint, asks, diff_text(found), document, now=self._now)
        if question.state is ApprovalState.GRANTED:
            return True
        refused = question.state is ApprovalState.REFUSED
        status = Status.REFUSED if refused else Status.WAITING
        note = f"refused by {question.decided_by}" if refused else f"approval {question.id}: {asks}"
        for decision in followed:
            self._settle(flow, decision.event, status, decision, note=note)
        if event is not None:
            self._settle(flow, event, status, Decision(event=event), note=note)
        if not refused:
            self._questions.setdefault(flow, []).append(question)
        return None

    def _applying(self, change: Change, event: UpstreamEvent | None, followed: list[Decision]) -> Change:
        events = [*((d.event, d) for d in followed), *([(event, Decision(event=event))] if event is not None else [])]
        if self._apply is None:
            for one, decision in events:
                before = self._beyond.get(one.id)
                status = Status.SEEN if before is None else Status.WAITING
                self._settle(change.flow, one, status, before or decision, note="the flow's runner applies it")
            return change
        try:
            self._apply(change)
        except StreamhouseError as error:
            for one, decision in events:
                before = self._beyond.get(one.id, decision)
                self._settle(change.flow, one, Status.FAILED, before, note=str(error))
            return change
        self._applied[change.flow] = change.plan
        for one, decision in events:
            self._settle(change.flow, one, Status.APPLIED, decision, plan=change.plan.fingerprint)
        return change

    def _broken(self, flow: str, followed: list[Decision], as_files: Checked, desired: Checked) -> FlowLook:
        """The files are wrong, or do not fit what came from upstream: the flow goes on as it runs."""
        upstream = bool(followed) and flow in as_files.plans
        text = "\n".join(str(error) for error in (desired if upstream else as_files).errors) or "it does not compile"
        for decision in followed:
            self._settle(flow, decision.event, Status.FAILED, decision, note=text)
        if not upstream and flow in self._registry.flows:
            event = UpstreamEvent(
                type=EventType.EDIT,
                object=self._registry.flows[flow].at.file or flow,
                before=self._applied[flow].fingerprint,
                after=sha256(text.encode()).hexdigest()[:16],
            )
            self._state.upstream.record(flow, [*self._looks[flow].events, event], self._now)
            self._settle(flow, event, Status.FAILED, Decision(event=event), note=text)
        return self._told(flow)

    # --- tell ----------------------------------------------------------------------------------

    def _told(self, flow: str, change: Change | None = None) -> FlowLook:
        look = self._looks[flow]
        asked = self._questions.get(flow, [])
        open_, known = self._state.upstream.open(flow), self._state.upstream.events(flow)
        waits = {record.event.id for record in open_}
        fresh = [
            r for r in known if r.since >= self._now and r.event.id not in waits and r.status is not Status.OUTDATED
        ]
        over = {r.event.id for r in known if r.status is Status.OUTDATED}
        over |= {r.event.after for r in known if r.event.type is EventType.EDIT and r.status is Status.OUTDATED}
        if left := over - {question.subject for question in asked}:
            self._state.approvals.withdraw(flow, left, self._now)
        if not open_:
            held = {**look.pins, **look.live}
            self._state.upstream.save_pins(flow, {n: s.model_dump_json() for n, s in held.items()}, keep=look.unseen)
        return FlowLook(
            flow,
            (*open_, *fresh),
            change,
            tuple(asked),
            self._state.upstream.paused(flow),
            look.unseen,
        )

    def _settle(
        self,
        flow: str,
        event: UpstreamEvent,
        status: Status,
        decision: Decision,
        *,
        plan: str | None = None,
        note: str | None = None,
    ) -> None:
        self._state.upstream.settle(flow, event.id, status, decision=decision, plan=plan, note=note, now=self._now)


def _is_able(told: Verdict, event: UpstreamEvent, source: PlannedSource | None) -> bool:
    """Whether what a verdict says is done without a person."""
    if event.column == "" or told.values is Values.WAIT:
        return True  # nothing of columns, or a question already
    if told.values in _NEEDS_NOTHING:
        return event.was is None
    if told.values is Values.NULL and not told.spreads:
        return source is not None and _reads_absent_as_null(source)
    if told.values not in (*_BY_ITSELF, Values.NULL):
        return False
    if not told.spreads and not told.tiers:
        return True
    if source is None or event.type is EventType.RENAME_COLUMN:
        return False  # columns of sources alone are let in one by one; those of tables come with their flows
    return event.type is not EventType.MAYBE_RENAME or _reads_absent_as_null(source)


def _reads_absent_as_null(source: PlannedSource) -> bool:
    told = str(source.options.get("format") or source.options.get("path", ""))
    return source.kind == "cdc" or (source.kind == "files" and "json" in told)


def _follows(decision: Decision) -> bool:
    """Whether somebody's plan becomes another one."""
    return any(v.spreads or v.tiers or v.values is Values.TAKEN for v in decision.verdicts)


def _granted(told: Verdict, event: UpstreamEvent) -> Verdict:
    """A verdict that blocked, after a person granted it: the change is followed."""
    if told.outcome is not Outcome.BLOCK:
        return told
    values = Values.NULL if event.type is EventType.DROP_COLUMN else Values.TAKEN
    forced = event.type in _FORCED
    return told.model_copy(
        update={"outcome": Outcome.SWAP, "values": values, "pauses": False, "asks": "", "spreads": forced}
    )


def _edit(flow: str, old: FlowPlan, new: FlowPlan) -> UpstreamEvent:
    return UpstreamEvent(
        type=EventType.EDIT, object=f"{flow} and its actions", before=old.fingerprint, after=new.fingerprint
    )


def _evidence(decision: Decision) -> str:
    lines = [str(decision.event), f"seen between version {decision.event.before} and {decision.event.after}", ""]
    for v in decision.verdicts:
        tiers = "; ".join(f"{t.tier}: {', '.join(map(str, t.ddl))}" for t in v.tiers)
        waits = ", waits" if v.pauses else ""
        lines.append(
            f"{v.flow}/{v.step}: {v.outcome} by {v.policy} ({v.said}), {v.values}{waits}{tiers and f'; {tiers}'}"
        )
    return "\n".join([*lines, *(f"note: {note}" for note in decision.notes)])


def diff_text(found: FlowDiff) -> str:
    """What a plan would change, for a person: one line for each finding."""
    lines = [f"{found.flow}: {found.outcome}"]
    for step in found.steps:
        lines += [f"{f.outcome} {step.step} (rule {f.rule}): {f.proof}" for f in step.findings]
    for table in found.tables:
        lines += [f"{table.table} {t.tier}: {'; '.join(map(str, t.ddl))}" for t in table.tiers]
    return "\n".join(lines)


def document(look: FlowLook) -> dict[str, Any]:
    """A look as JSON."""
    return {
        "flow": look.flow,
        "outcome": look.change.diff.outcome.value if look.change is not None else Outcome.NO_OP.value,
        "plan": look.change.plan.fingerprint if look.change is not None else None,
        "paused": sorted(look.paused),
        "approvals": [{"id": q.id, "asks": q.asks} for q in look.approvals],
        "unseen": dict(look.unseen),
    }

"""One look of the Flow Trigger: decides what was seen, compiles what is allowed, applies or asks, and notes it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from streamhouse.change.looked import ApplyChange, Change, FlowLook
from streamhouse.compiler.diff import diff
from streamhouse.errors import StreamhouseError
from streamhouse.model.definition import Definition
from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep
from streamhouse.model.read_as import RESCUED
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Table
from streamhouse.model.upstream import Decision, UpstreamEvent
from streamhouse.project.check import Checked, check_project, compile_with_upstream
from streamhouse.project.project import Project
from streamhouse.project.running import Defined
from streamhouse.project.seen import Seen
from streamhouse.state.approvals import Approval, ApprovalState
from streamhouse.state.instants import from_ms, to_ms
from streamhouse.state.store import StateStore
from streamhouse.state.upstream import Status, UpstreamRecord
from streamhouse.trigger.ability import becomes_another, follows, granted, is_able
from streamhouse.trigger.evidence import decision_text, diff_text, way_out
from streamhouse.trigger.impact import Impact, in_question, is_open, source_object
from streamhouse.trigger.known import Known, direct, followed
from streamhouse.trigger.lost import loss_text
from streamhouse.trigger.observe import Look
from streamhouse.trigger.reader import Use


class Round:
    """One look: all that is decided rests on the same state of everything."""

    def __init__(
        self,
        project: Project,
        state: StateStore,
        defined: Defined,
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
        self._defined = defined
        self._registry = registry = defined.registry
        self._apply = apply_change
        self._applied = dict(applied)
        self._looks = looks
        self._now = from_ms(to_ms(now))  # as the state store keeps it
        rules = {name: flow.schema_change for name, flow in registry.flows.items()}
        self._impact = Impact(applied, rules, self._opens)
        self._questions: dict[str, list[Approval]] = {}
        self._let_in: dict[str, dict[str, Known]] = {}
        self._granted: dict[str, set[tuple[str, str]]] = {}
        self._followed: dict[str, list[Decision]] = {}
        self._forced: set[str] = set()
        self._refused: dict[str, str] = {}  # event → who refused to follow it
        self._beyond: dict[str, Decision] = {}  # event → what stood before a person granted it

    def run(self) -> list[FlowLook]:
        """Do it; one result for each flow, upstream first."""
        for name in self._looks:
            self._decide(name)
        if self.as_files is None:
            self.as_files = self._compiled(Seen(self._applied))
        as_files = self.as_files
        desired = self._compiled(self._seen()) if self._followed else as_files
        upstream_first = dict.fromkeys([*as_files.plans, *self._looks])
        if self._set_apart([n for n in upstream_first if n not in desired.plans], as_files.plans):
            desired = self._compiled(self._seen())
        order = dict.fromkeys([*as_files.plans, *desired.plans, *self._looks])
        return [self._carry(name, as_files, desired) for name in order if name in self._looks]

    # --- decide --------------------------------------------------------------------------------

    def _record(self, flow: str, *more: UpstreamEvent) -> list[UpstreamRecord]:
        look = self._looks[flow]
        return self._state.upstream.record(flow, [*look.events, *more], self._now, unseen=look.unseen)

    def _decide(self, flow: str) -> None:
        records = self._record(flow, *self._edits_noted(flow))
        lost = {event.id: event for event in self._looks[flow].events if event.lost}
        for noted in records:
            # More rows may have gone since a loss was noted: those are given up that are gone now.
            record = replace(noted, event=lost.get(noted.event.id, noted.event))
            if record.event.type is EventType.EDIT:
                continue
            if record.status in (Status.APPLIED, Status.NOTED) and record.decision is not None:
                continue
            decision = self._able(flow, self._impact.decision(record.event, flow))
            if decision.outcome is Outcome.BLOCK:
                decision = self._asked(flow, record, decision)
                if decision.outcome is Outcome.BLOCK:
                    continue
            if self._follows(flow, decision):
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
            evidence = decision_text(decision) + plan
            question = self._state.approvals.ask(flow, event.id, asks, evidence, document | told, now=self._now)
        if question.state is ApprovalState.GRANTED:
            self._forced.add(event.id)
            yes = self._yes(flow, decision)
            if self._known(flow, yes) is None:
                self._beyond[event.id] = decision
            if event.now is not None:
                name = event.object.partition(":")[2] or event.object
                self._granted.setdefault(flow, set()).add((name, event.now.name))
            return yes
        if question.state is ApprovalState.REFUSED:
            without = self._able(flow, self._impact.decision(event, flow, policy=Policy.IGNORE))
            if without.outcome is not Outcome.BLOCK and self._follows(flow, without):
                self._refused[event.id] = question.decided_by or ""
                return without
            self._settle(flow, event, Status.REFUSED, without, note=f"refused by {question.decided_by}")
            return decision
        self._questions.setdefault(flow, []).append(question)
        self._settle(flow, event, Status.WAITING, decision, note=f"approval {question.id}: {asks}")
        return decision

    def _yes(self, flow: str, decision: Decision) -> Decision:
        """The decision once a person granted it."""
        event = decision.event
        uses = self._impact.uses(event, flow) if event.type is EventType.DROP_COLUMN else Use.NOTHING
        keeps = uses not in (Use.NOTHING, Use.PASSED, Use.KEY)  # what steps ask for by name is NULL
        verdicts = tuple(granted(told, event, keeps=keeps) for told in decision.verdicts)
        return decision.model_copy(update={"verdicts": verdicts})

    def _if_granted(self, flow: str, decision: Decision) -> tuple[str, dict[str, Any]]:
        """What the flow would become if a person granted an event, as text and as JSON."""
        event = decision.event
        known = self._known(flow, self._yes(flow, decision))
        if known is None:
            way = way_out(event)
            return f"\n\nif it is granted, readers go on waiting: nothing carries it out by itself. {way}", {}
        name = known.origin.name
        let_in = {flow: {name: known}}
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

    def _known(self, flow: str, decision: Decision) -> Known | None:
        """What the flow knows of a thing once a decision is followed; None: nothing carries it out."""
        event, plan = decision.event, self._applied[flow]
        origins: dict[str, PlannedSource | Table] = {source_object(flow, s.name): s for s in plan.sources}
        tables = plan.readable if event.type is EventType.POSITIONS_LOST else plan.external
        origins |= {table.name: table for table in tables}
        if event.object not in origins:
            return None
        origin = origins[event.object]
        known = self._let_in.get(flow, {}).get(origin.name) or Known.of(plan, origin)
        steps = {step.id for step in plan.steps if any(read.table == origin.name for read in step.reads)}
        return followed(known, event, direct(decision.verdicts, flow, steps))

    def _able(self, flow: str, decision: Decision) -> Decision:
        """The decision with a question in place of what is not done by itself."""
        event = decision.event
        if decision.outcome is Outcome.BLOCK or self._known(flow, decision) is not None:
            return decision
        verdicts = tuple(
            v
            if not event.column and is_able(v)
            else in_question(v, event, f"Streamhouse cannot do this by itself yet: {v.values}")
            for v in decision.verdicts
        )
        return decision.model_copy(update={"verdicts": verdicts})

    def _follows(self, flow: str, decision: Decision) -> bool:
        """Whether the flow becomes another one."""
        known = self._known(flow, decision)
        return follows(decision) or (known is not None and known != Known.of(self._applied[flow], known.origin))

    def _follow(self, flow: str, decision: Decision) -> None:
        self._followed.setdefault(flow, []).append(decision)
        known = self._known(flow, decision)
        if known is not None:
            self._let_in.setdefault(flow, {})[known.origin.name] = known
            if any(one.rescues for one in known.adapted):  # whatever is said of added columns
                self._granted.setdefault(flow, set()).add((known.origin.name, RESCUED.name))

    def _opens(self, flow: str, step: PlannedStep, read: PlannedRead) -> bool:
        try:
            return is_open(self._registry.of_flow(flow).action(f"{step.action}@{step.version}"), read.port)
        except StreamhouseError:  # not known: the flow does not compile, and what comes waits until it does
            return True

    # --- carry out -----------------------------------------------------------------------------

    def _seen(self) -> Seen:
        """What flows are told of what they read, by all that is followed."""
        return Seen(self._applied, self._let_in, {n: frozenset(g) for n, g in self._granted.items()})

    def _set_apart(self, broken: Iterable[str], compiled: Collection[str]) -> bool:
        """Hold back what flows do not compile with, so that they follow the rest; whether anything was.

        All events of one thing are held or followed together: its columns are read as they are there, or as they were.

        Args:
            broken: Flows, upstream first, that do not compile with all that they follow.
            compiled: Those that compile as the files are, and nothing followed.
        """
        any_held = False
        for flow in broken:
            followed = self._followed.pop(flow, [])
            let_in, granted = self._let_in.pop(flow, {}), self._granted.pop(flow, set())
            things: dict[str, list[Decision]] = {}
            for decision in followed:
                things.setdefault(decision.event.object, []).append(decision)
            waiting = dict.fromkeys(things, "")
            while waiting:  # one may compile only beside another
                errors = {thing: self._why_not(flow, things[thing], granted) for thing in waiting}
                before, waiting = len(waiting), {thing: error for thing, error in errors.items() if error is not None}
                if len(waiting) == before:
                    break
            if flow not in compiled and len(waiting) == len(things):  # the files are wrong
                self._followed[flow], self._let_in[flow], self._granted[flow] = followed, let_in, granted
                continue
            any_held = any_held or bool(things)
            for thing, error in waiting.items():
                for decision in things[thing]:
                    self._settle(flow, decision.event, Status.FAILED, _held(decision, error), note=error)
        return any_held

    def _why_not(self, flow: str, told: list[Decision], granted: set[tuple[str, str]]) -> str | None:
        """Follow one thing beside what is followed already, or tell why that does not compile; None: it does."""
        before = list(self._followed.get(flow, [])), dict(self._let_in.get(flow, {})), set(self._granted.get(flow, ()))
        for decision in told:
            self._follow(flow, decision)
        name = told[0].event.object.partition(":")[2] or told[0].event.object
        self._granted.setdefault(flow, set()).update(one for one in granted if one[0] == name)
        try:
            compile_with_upstream(self._project, self._registry, flow, self._seen())
        except StreamhouseError as error:
            self._followed[flow], self._let_in[flow], self._granted[flow] = before
            if not before[0]:
                del self._followed[flow]
            return str(error)
        return None

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
        stays = flow in self._defined.standing
        if stays:
            self._note_edit(flow)
        if flow not in desired.plans:
            return self._broken(flow, followed, as_files, desired)
        stands = next((plans for plans in made if self._stands(plans.plans[flow], plans)), None)
        if stands is None:  # a flow that it reads from has not come so far
            return self._told(flow)
        new = stands.plans[flow]
        edited = as_files.plans.get(flow) if not stays else None
        event = _edit(flow, old, edited) if edited is not None and edited.fingerprint != old.fingerprint else None
        if edited is not None:  # what is no edit any more is outdated by this
            self._record(flow, *([event] if event is not None else []))
        beyond = tuple(decision for decision in followed if decision.event.id in self._beyond)
        if new.fingerprint == old.fingerprint and not beyond:
            for decision in followed:
                self._settle(flow, decision.event, Status.APPLIED, decision, plan=old.fingerprint)
            return self._told(flow)
        others = {name: plan for name, plan in self._applied.items() if name != flow}
        found = diff(old, new, others)
        if stays and not followed and found.outcome not in (Outcome.NO_OP, Outcome.SWAP):
            return self._told(flow)  # the same files say something else under this version: a person applies that
        approved = any(d.event.id in self._forced for d in followed)
        if self._must_ask(found, event, approved=approved):
            asked = self._ask_for_plan(flow, new, found, event, followed)
            if asked is None:
                return self._told(flow)
            approved = asked
        change = Change(flow, new, found, tuple(followed), approved, beyond, self._definition(flow))
        return self._told(flow, self._applying(change, event, followed))

    def _definition(self, flow: str) -> Definition | None:
        try:
            return self._registry.definition(flow)
        except StreamhouseError:
            return None

    def _note_edit(self, flow: str) -> None:
        """Note that files say something else than the flow runs with, until a person applies it."""
        edit, before = self._defined.waiting.get(flow), self._applied[flow].fingerprint
        if edit is None:
            self._record(flow)
            return
        event = UpstreamEvent(type=EventType.EDIT, object=f"{flow} and its actions", before=before, after=edit.after)
        known = {record.event.id for record in self._state.upstream.open(flow) if record.status is Status.WAITING}
        self._record(flow, event)
        self._settle(flow, event, Status.WAITING, Decision(event=event), note=str(edit))
        if event.id not in known:
            self._state.append_event(flow, "edit", str(edit))

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
                before = self._beyond.get(one.id) or _not_done(decision, str(error))
                self._settle(change.flow, one, Status.FAILED, before, note=str(error))
            return change
        self._applied[change.flow] = change.plan
        for one, decision in events:
            if one.lost:
                self._state.append_event(change.flow, "loss", loss_text(one))
            self._settle(change.flow, one, Status.APPLIED, decision, plan=change.plan.fingerprint)
        return change

    def _broken(self, flow: str, followed: list[Decision], as_files: Checked, desired: Checked) -> FlowLook:
        """The files are wrong, or do not fit what came from upstream: the flow goes on as it runs."""
        upstream = bool(followed) and flow in as_files.plans
        text = "\n".join(str(error) for error in (desired if upstream else as_files).errors) or "it does not compile"
        for decision in followed:
            self._settle(flow, decision.event, Status.FAILED, _held(decision, text), note=text)
        if not upstream and flow in self._registry.flows and flow not in self._defined.standing:
            event = UpstreamEvent(
                type=EventType.EDIT,
                object=self._registry.flows[flow].at.file or flow,
                before=self._applied[flow].fingerprint,
                after=sha256(text.encode()).hexdigest()[:16],
            )
            self._record(flow, event)
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
        # What is open is compared with what the flow knew before it, and the rest with what it knows now.
        kept = {*look.unseen, *(record.event.object for record in open_)}
        pins = {n: s.model_dump_json() for n, s in {**look.pins, **look.live}.items() if n not in kept}
        self._state.upstream.save_pins(flow, pins, keep=kept)
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
        if status is Status.APPLIED and event.id in self._refused:
            status, note = Status.REFUSED, f"refused by {self._refused[event.id]}"
        self._state.upstream.settle(flow, event.id, status, decision=decision, plan=plan, note=note, now=self._now)


def _not_done(decision: Decision, why: str) -> Decision:
    """The decision where it could not be carried out: who reads what is other than it was must not read on."""
    event = decision.event
    if event.was is None:
        return decision
    return decision.model_copy(update={"verdicts": tuple(in_question(v, event, why) for v in decision.verdicts)})


def _held(decision: Decision, why: str) -> Decision:
    """The decision where the flow does not compile with it: who would follow it must not read on without it."""
    event = decision.event
    if event.was is not None:
        return _not_done(decision, why)
    verdicts = tuple(in_question(v, event, why) if becomes_another(v, event) else v for v in decision.verdicts)
    return decision.model_copy(update={"verdicts": verdicts})


def _edit(flow: str, old: FlowPlan, new: FlowPlan) -> UpstreamEvent:
    return UpstreamEvent(
        type=EventType.EDIT, object=f"{flow} and its actions", before=old.fingerprint, after=new.fingerprint
    )

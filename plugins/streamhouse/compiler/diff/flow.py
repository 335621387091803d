"""Desired against applied, for one flow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from streamhouse.compiler.diff.around import Around
from streamhouse.compiler.diff.bad_rows import letters_again
from streamhouse.compiler.diff.beside import Beside
from streamhouse.compiler.diff.choices import decided
from streamhouse.compiler.diff.consumers import Seen, affected, consumers, consumers_beside
from streamhouse.compiler.diff.semver import version_advice
from streamhouse.compiler.diff.settings import replaced, setting_findings, source_findings
from streamhouse.compiler.diff.tiers import table_outcome, tier_changes
from streamhouse.model.outcome import Consumer, Finding, FlowDiff, Outcome, StepChange, TableChange, worst
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.types import History, Strategy, format_duration

_DROPS = frozenset({5, 6})
_MARKS = frozenset({3, 4, 11})


def diff(
    old: FlowPlan | None,
    new: FlowPlan,
    others: Mapping[str, FlowPlan],
    *,
    age: timedelta = timedelta(0),
    choices: Mapping[str, Outcome] = MappingProxyType({}),
) -> FlowDiff:
    """What applying `new` does where `old` runs.

    Args:
        old: As applied; None: never.
        new: As compiled from the files.
        others: The other flows as they run, by name: they read tables of this one.
        age: How long the flow has run: rows may be as old.
        choices: Table whose change blocks → FORWARD, older rows keep their meaning; or REBUILD, they are
            recomputed from what there is.

    Returns:
        Every step of both plans and every table, each with its outcome.
    """
    if old is new:
        return _unchanged(new)
    beside = Beside.of(others)
    new = _stored(new)
    old = _stored(old) if old is not None else None
    now = Around.of(new, beside.memory)
    was = Around.of(old) if old is not None else None
    before = {step.id: step for step in old.steps} if old is not None else {}
    after = {step.id: step for step in new.steps}
    found: dict[str, list[Finding]] = {}
    known = was.known if was is not None else frozenset()
    for name, step in after.items():  # upstream first
        found[name] = _findings(step, before.get(name), was, now, beside, known, age)
        if name not in before and any(finding.restate for finding in found[name]):
            known |= {step.writes.name}
    if old is not None:
        for name, findings in source_findings(old, new).items():
            found[name] = sorted([*found[name], *findings], key=lambda finding: -finding.outcome.weight)
    decide = _Decide(choices)
    chosen = {name: decide(step, found[name]) for name, step in after.items()}
    for name, again in letters_again(before, after, chosen).items():
        found[name].append(again)
    more = _spread(now, found, before, frozenset(replaced(old, new)) if old is not None else frozenset(), decide)
    for name, step in after.items():
        guards = [*_unheld(step, new, found[name], age), *_starved(step, found[name], beside)]
        found[name] += decide(step, guards, found[name])
    changes = {name: affected(_heaviest_first(found[name]), more=name in more) for name in after}
    reached = consumers_beside(now, [(after[name], change) for name, change in changes.items() if change], beside)
    steps = [_change(step, before.get(name), found[name], reached.get(name, ())) for name, step in after.items()]
    steps = [_with_wider(change, before.get(change.step), after[change.step], beside) for change in steps]
    steps += [_removed(step, beside) for name, step in before.items() if name not in after]
    settings = tuple(setting_findings(old, new)) if old is not None else ()
    outcome = worst(*(step.outcome for step in steps), *(finding.outcome for finding in settings))
    tables = tuple(_tables(old, new, found, {s.table: s.outcome for s in steps if s.change == "removed"}))
    advice = version_advice(before, after, steps)
    return FlowDiff(
        flow=new.flow, outcome=outcome, settings=settings, steps=tuple(steps), tables=tables, versions=advice
    )


def _unchanged(plan: FlowPlan) -> FlowDiff:
    """What the rest of `diff` finds of a plan and itself: most plans are not edited."""
    steps = tuple(
        StepChange(step=step.id, table=step.writes.name, action=step.action, change="same", outcome=Outcome.NO_OP)
        for step in plan.steps
    )
    tables = tuple(TableChange(table=name, outcome=Outcome.NO_OP) for name in plan.tables)
    return FlowDiff(flow=plan.flow, outcome=Outcome.NO_OP, steps=steps, tables=tables)


def _stored(plan: FlowPlan) -> FlowPlan:
    """The plan as the state store gives it back: without notices, which are shown once, when it is compiled."""
    if not any(step.notices for step in plan.steps):
        return plan

    def without_notices(step: PlannedStep) -> PlannedStep:
        return step.model_copy(update={"notices": ()}) if step.notices else step

    segments = (s.model_copy(update={"steps": tuple(without_notices(step) for step in s.steps)}) for s in plan.segments)
    return plan.model_copy(update={"segments": tuple(segments)})


@dataclass(frozen=True)
class _Decide:
    """Applies a person's choices to findings of steps."""

    choices: Mapping[str, Outcome]

    def __call__(
        self, step: PlannedStep, findings: list[Finding], beside: list[Finding] | None = None
    ) -> list[Finding]:
        choice = self.choices.get(step.writes.name)
        if choice is None:
            return findings
        return decided(findings, choice, by_row=step.strategy is Strategy.MAP, beside=beside or ())


def _findings(
    step: PlannedStep,
    was: PlannedStep | None,
    before: Around | None,
    after: Around,
    beside: Beside,
    known: frozenset[str],
    age: timedelta,
) -> list[Finding]:
    if was is not None and before is not None:
        if was == step and before.inputs(was) == after.inputs(step):
            return []
        from streamhouse.compiler.diff.steps import step_findings  # loads sqlglot, which nothing else here needs

        return step_findings(was, step, before, after, known, age)
    return [_created(step, beside, known)]


def _created(step: PlannedStep, beside: Beside, known: frozenset[str]) -> Finding:
    table = step.writes.name
    if not step.part and (owners := beside.writers(table)):
        proof = f"the flow {owners[0]} writes {table} as it runs; apply that flow without it first"
        return Finding(rule=33, outcome=Outcome.BLOCK, proof=proof)
    missed = sorted({read.table for read in step.reads if read.table in known})
    proof = f"{table} is created, kept up to date by {step.strategy}: {step.reason}"
    if missed:
        proof += f"; its older rows come from the history of {', '.join(missed)}"
    return Finding(rule=0, outcome=Outcome.SWAP, proof=proof, keeps_values=True, restate=bool(missed))


def _unheld(step: PlannedStep, plan: FlowPlan, findings: list[Finding], age: timedelta) -> list[Finding]:
    """A guard: what is to be recomputed no longer exists."""
    rebuilt = [finding for finding in findings if finding.outcome is Outcome.REBUILD]
    copies = step.strategy is Strategy.MAP and step.history is History.KEEP and not step.part
    if not rebuilt or (copies and all(finding.keeps_values for finding in rebuilt)):
        return []
    tables = {table.name: table for table in plan.readable}
    for read in step.reads:
        table = tables.get(read.table)
        if table is None:  # a source is read again
            continue
        if table.forgets_after is not None:  # who begins reads the first tier
            limit = table.forgets_after
        elif table.primary_key:  # every key is stored
            continue
        else:
            limit = max(getattr(table.tiers, tier.value) for tier in table.tiers.present)
        if limit < age:
            proof = (
                f"it needs all of {table.name}, which holds {format_duration(limit)}, and the flow has run for longer; "
                "choose history: keep, or lose the older rows"
            )
            return [Finding(rule=0, outcome=Outcome.BLOCK, proof=proof)]
    return []


def _starved(writer: PlannedStep, findings: list[Finding], beside: Beside) -> list[Finding]:
    """A guard: a column goes, or gets another name, that a step of another flow reads."""
    name = writer.writes.name
    lost_columns = {c for f in findings if f.rule in _DROPS for c in f.columns}
    lost_columns |= {writer.renamed[c] for f in findings if f.rule == 12 for c in f.columns if c in writer.renamed}
    found: list[Finding] = []
    if not lost_columns:
        return found
    for flow, _, step in beside.readers(name):
        own = {c for r in step.reads if r.table == name for c in (*r.columns, *r.key_columns.values())}
        if starved := sorted(own & lost_columns):
            proof = f"{flow}: {step.id} reads {', '.join(starved)} of {name}; change and apply it first"
            found.append(Finding(rule=5, outcome=Outcome.BLOCK, proof=proof, columns=tuple(starved)))
    return found


def _spread(
    around: Around,
    found: dict[str, list[Finding]],
    before: Mapping[str, PlannedStep],
    again: frozenset[str],
    decide: "_Decide",
) -> set[str]:
    """Steps that ran before and read what changes, upstream first, find so.

    Args:
        around: The plan wanted.
        found: Step → its findings, to which others are added.
        before: Step → as applied.
        again: From `replaced`.
        decide: Applies a person's choices.

    Returns:
        Steps whose table gets a new version, with rows that never came into the one before.
    """
    more: set[str] = set()
    fresh = set(again)  # what is read from its beginning, and tables of `more`
    seen = {True: Seen(), False: Seen()}  # by `more` of the change that is followed
    for step in around.plan.steps:
        found[step.id] = decide(step, found[step.id])
        passed = before[step.id].follows - fresh if step.id in before else frozenset()
        change = affected(found[step.id], more=not step.follows <= passed)
        if change is None:
            continue
        if change.more:
            more.add(step.id)
            fresh.add(step.writes.name)
        for consumer in consumers(step.writes.name, change, around.own_readers, seen[change.more]):
            known = found[consumer.step]
            if consumer.step not in before:
                continue
            counted = [finding.outcome for finding in known if not (change.more and finding.keeps_values)]
            if worst(*counted).weight >= consumer.outcome.weight:
                continue
            known.insert(
                0,
                Finding(
                    rule=next(f.rule for f in found[step.id] if f.outcome.weight >= Outcome.FORWARD.weight),
                    outcome=consumer.outcome,
                    proof=consumer.proof,
                    columns=consumer.columns,
                    rows=consumer.rows,
                    keeps_values=change.swaps,
                ),
            )
    return more


def _change(
    step: PlannedStep, was: PlannedStep | None, findings: list[Finding], reached: tuple[Consumer, ...]
) -> StepChange:
    outcome = worst(*(finding.outcome for finding in findings))
    ordered = tuple(_heaviest_first(findings))
    return StepChange(
        step=step.id,
        table=step.writes.name,
        action=step.action,
        change="new" if was is None else "changed" if was != step else "same",
        outcome=outcome,
        findings=ordered,
        marks=tuple(dict.fromkeys(c for f in ordered if f.rule in _MARKS or _keeps(f) for c in _marked(f, step))),
        consumers=reached,
    )


def _heaviest_first(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: -finding.outcome.weight)


def _with_wider(change: StepChange, was: PlannedStep | None, step: PlannedStep, beside: Beside) -> StepChange:
    """The change, with steps of other flows whose values may show that columns of the table are wider."""
    types = {c.name: c.type for c in was.columns} if was is not None else {}
    if all(types.get(c.name, c.type) == c.type for c in step.columns):
        return change
    from streamhouse.compiler.diff.widths import wider_consumers  # loads sqlglot

    found = {(one.flow, one.step): one for one in change.consumers}
    for one in wider_consumers(step.writes.name, step.columns, beside):
        known = found.get((one.flow, one.step))
        if known is None or known.outcome.weight < one.outcome.weight:
            found[one.flow, one.step] = one
    return change.model_copy(update={"consumers": tuple(found.values())})


def _keeps(finding: Finding) -> bool:
    return finding.outcome is Outcome.FORWARD


def _marked(finding: Finding, step: PlannedStep) -> tuple[str, ...]:
    return tuple(c.name for c in step.columns) if finding.rows else finding.columns


def _removed(step: PlannedStep, beside: Beside) -> StepChange:
    readers = [(flow, reader.id) for flow, _, reader in beside.readers(step.writes.name)]
    if readers:
        proof = f"{readers[0][0]}: {readers[0][1]} still reads {step.writes.name}; change and apply it first"
        finding = Finding(rule=5, outcome=Outcome.BLOCK, proof=proof, rows=True)
    else:
        proof = f"no step writes {step.writes.name} any more; it stays as it is"
        finding = Finding(rule=5, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
    return StepChange(
        step=step.id,
        table=step.writes.name,
        action=step.action,
        change="removed",
        outcome=finding.outcome,
        findings=(finding,),
    )


def _tables(
    old: FlowPlan | None, new: FlowPlan, found: Mapping[str, list[Finding]], removed: Mapping[str, Outcome]
) -> Iterator[TableChange]:
    after = new.tables
    before = old.tables if old is not None else {}
    writers: dict[str, list[PlannedStep]] = {}
    for step in new.steps:
        writers.setdefault(step.writes.name, []).append(step)
    for name, table in after.items():
        steps = [(step, found[step.id]) for step in writers.get(name, ())]
        findings = [finding for _, own in steps for finding in own]
        blocked = any(finding.outcome is Outcome.BLOCK for finding in findings)
        same = not findings and before.get(name) == table
        tiers = [] if blocked or same else tier_changes(before.get(name), table, steps)
        yield TableChange(table=name, outcome=table_outcome(tiers, findings), tiers=tuple(tiers))
    for name in before:
        if name not in after:
            yield TableChange(table=name, outcome=removed.get(name, Outcome.NO_OP))

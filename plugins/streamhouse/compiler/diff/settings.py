"""Settings of a flow and its sources that are no step's."""

from collections.abc import Iterator
from datetime import timedelta

from streamhouse.model.bad_rows import OPTION
from streamhouse.model.outcome import Finding, Outcome
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.model.types import Ranges, format_duration

_NOTES = ("description", "owner", "tags")
_SCHEDULES = {"freshness": 34, "max_rows_per_epoch": 39, "local_epoch_rows": 39}
_PACE = frozenset({"speed"})  # options of a source that change when rows come, not which
_OF_BAD_ROWS = frozenset({OPTION})  # what becomes of rows that cannot be read: no row that can be is another
_COVERED_BY_COLUMNS = frozenset({"columns", "primary_key", "base_key"})


def setting_findings(old: FlowPlan, new: FlowPlan) -> Iterator[Finding]:
    """What differs in a flow beside its steps."""
    notes = [name for name in _NOTES if getattr(old, name) != getattr(new, name)]
    if notes:
        proof = f"{', '.join(notes)} changed, which no table shows"
        yield Finding(rule=36, outcome=Outcome.NO_OP, proof=proof, keeps_values=True)
    for name, rule in _SCHEDULES.items():
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            yield Finding(
                rule=rule, outcome=Outcome.SWAP, proof=f"{name}: {_shown(was)} → {_shown(now)}", keeps_values=True
            )
    clocks = [{step.id: (s.name, s.interval) for s in plan.segments for step in s.steps} for plan in (old, new)]
    moved = sorted(name for name in clocks[1] if name in clocks[0] and clocks[0][name] != clocks[1][name])
    if moved:
        proof = f"{', '.join(moved)} run on another clock"
        yield Finding(rule=39, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
    sources = {source.name: source for source in old.sources}
    for source in new.sources:
        was_source = sources.get(source.name)
        if was_source is not None and (paced := _options(was_source, source) & _PACE):
            proof = f"source {source.name}: {', '.join(sorted(paced))} changed, which decides when rows come only"
            yield Finding(rule=39, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
        if was_source is not None and _options(was_source, source) & _OF_BAD_ROWS:
            proof = f"source {source.name}: rows that cannot be read are treated otherwise from now on"
            yield Finding(rule=39, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
        if was_source is not None and (was_source.truncations, was_source.truncated) != (
            source.truncations,
            source.truncated,
        ):
            decisions = "; ".join(f"{one}: {done}" for one, done in source.truncated.items())
            proof = f"source {source.name}: when all rows are removed there, they are {source.truncations}"
            proof += f" here; decided: {decisions}" if decisions else " here"
            yield Finding(rule=0, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
        if was_source is not None and was_source.given_up != source.given_up:
            proof = f"source {source.name} goes on behind rows that are gone: {_ranges(source.given_up)}"
            yield Finding(rule=0, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
    for name in sorted({*old.given_up, *new.given_up}):
        if old.given_up.get(name) != new.given_up.get(name):
            proof = f"{name} is read on behind rows that are gone: {_ranges(new.given_up.get(name, {}))}"
            yield Finding(rule=0, outcome=Outcome.SWAP, proof=proof, keeps_values=True)
    for name in sorted({*old.adapted, *new.adapted}):
        if old.adapted.get(name) != new.adapted.get(name):
            adaptations = "; ".join(map(str, new.adapted.get(name, ()))) or "as it is"
            proof = f"{name}, which changed upstream, is read in another way: {adaptations}"
            yield Finding(rule=0, outcome=Outcome.SWAP, proof=proof, keeps_values=True)


def _ranges(ranges: Ranges) -> str:
    return "; ".join(f"{part}: {a} to {b}" for part, found in ranges.items() for a, b in found) or "none"


def _shown(value: object) -> str:
    return format_duration(value) if isinstance(value, timedelta) else str(value)


def source_findings(old: FlowPlan, new: FlowPlan) -> dict[str, list[Finding]]:
    """Step id → what follows where it reads a source that is another now."""
    steps = {step.id for step in old.steps}
    found: dict[str, list[Finding]] = {}
    for source, reason in replaced(old, new).items():
        # In the segment that writes it rows go from step to step: nothing of it is lost there.
        beside = {step.id for segment in new.segments if source in segment.tables for step in segment.steps}
        for step in new.steps:
            if step.id in steps - beside and any(read.table == source for read in step.reads):
                finding = Finding(rule=37, outcome=Outcome.REBUILD, proof=reason, rows=True)
                found.setdefault(step.id, []).append(finding)
    return found


def replaced(old: FlowPlan, new: FlowPlan) -> dict[str, str]:
    """What both read, but whose rows are others now, so that no position in it is worth anything → why."""
    before = {source.name: source for source in old.sources}
    reasons = {s.name: _replaced(before[s.name], s) for s in new.sources if s.name in before}
    why = "is read from its beginning: it was made again, or lost what was not read"
    reasons |= {name: f"{name} {why}" for name in read_again(old, new)}
    return {name: why for name, why in reasons.items() if why}


def read_again(old: FlowPlan, new: FlowPlan) -> frozenset[str]:
    """Tables, as people know them, that are read from their beginning once `new` takes the place of `old`."""
    return frozenset(name for name, time in new.again.items() if old.again.get(name) != time)


def _replaced(was: PlannedSource, now: PlannedSource) -> str:
    if was.kind != now.kind:
        return f"the source {now.name} was {was.kind}, is {now.kind}; its rows are others"
    other = sorted(_options(was, now) - _PACE - _OF_BAD_ROWS - _COVERED_BY_COLUMNS)
    return f"the source {now.name} has another {', '.join(other)}; its rows are others" if other else ""


def _options(was: PlannedSource, now: PlannedSource) -> set[str]:
    return {k for k in {*was.options, *now.options} if was.options.get(k) != now.options.get(k)}

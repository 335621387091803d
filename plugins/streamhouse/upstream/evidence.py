"""What a person is shown before deciding; pure."""

from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.schema_change import EventType
from streamhouse.model.upstream import Decision, UpstreamEvent


def decision_text(decision: Decision) -> str:
    """An event and what is decided for each step, for a person."""
    lines = [str(decision.event), f"seen between version {decision.event.before} and {decision.event.after}", ""]
    for v in decision.verdicts:
        tiers = "; ".join(f"{t.tier}: {', '.join(map(str, t.ddl))}" for t in v.tiers)
        waits = ", waits" if v.pauses else ""
        lines.append(
            f"{v.flow}/{v.step}: {v.outcome} by {v.policy} ({v.said}), {v.values}{waits}{tiers and f'; {tiers}'}"
        )
    return "\n".join([*lines, *(f"note: {note}" for note in decision.notes)])


def way_out(event: UpstreamEvent) -> str:
    """What a person can do about an event that nothing carries out by itself."""
    return _WAYS_OUT.get(event.type, "Change the actions, or the flow, so that they fit what is there")


_WAYS_OUT = {
    EventType.CHANGE_KEY: "Give the source, and the actions that write by its key, the new one: what is made of it is "
    "rebuilt from the rows that are there",
    EventType.DROP_TABLE: "Bring it back; or take the steps that read it out of the flow: their tables stay",
    EventType.RECREATE_TABLE: "Give the source another name in the flow's file: it is read from its beginning",
    EventType.POSITIONS_LOST: "Give the source another name in the flow's file: it is read from its beginning",
}


def diff_text(found: FlowDiff) -> str:
    """What a plan would change, for a person: one line for each finding."""
    lines = [f"{found.flow}: {found.outcome}"]
    lines += [f"{f.outcome} (rule {f.rule}): {f.proof}" for f in found.settings if f.outcome is not Outcome.NO_OP]
    for step in found.steps:
        lines += [f"{f.outcome} {step.step} (rule {f.rule}): {f.proof}" for f in step.findings]
    for table in found.tables:
        lines += [f"{table.table} {t.tier}: {'; '.join(map(str, t.ddl))}" for t in table.tiers]
    return "\n".join(lines)

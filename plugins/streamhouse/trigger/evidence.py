"""What a person is shown before deciding; pure."""

from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.model.upstream import Decision


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


def diff_text(found: FlowDiff) -> str:
    """What a plan would change, for a person: one line for each finding."""
    lines = [f"{found.flow}: {found.outcome}"]
    lines += [f"{f.outcome} (rule {f.rule}): {f.proof}" for f in found.settings if f.outcome is not Outcome.NO_OP]
    for step in found.steps:
        lines += [f"{f.outcome} {step.step} (rule {f.rule}): {f.proof}" for f in step.findings]
    for table in found.tables:
        lines += [f"{table.table} {t.tier}: {'; '.join(map(str, t.ddl))}" for t in table.tiers]
    return "\n".join(lines)

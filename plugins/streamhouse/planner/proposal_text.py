"""A proposal as text for the person who approves the change that came of it. Pure."""

from collections.abc import Iterable

from streamhouse.planner.proposal import Cost, Proposal

MOST_LINES = 20
"""Of each part; the rest is counted."""

_MOST_CHARACTERS = 300  # of a line


def proposal_text(proposal: Proposal, most_lines: int = MOST_LINES) -> str:
    """How a wish was understood, what was assumed and asked, what is reused, planned and computed, its cost and checks.

    No rows: these are for those who may read tables. Of files, only the names: the diff of the plan says what becomes
    of them. Each part has `most_lines` lines at most, and the query `MOST_LINES`, so the text is bounded.
    """
    parts = {
        "phrases": [f"{one.phrase} → {one.became}" for one in proposal.readings],
        "assumed": proposal.assumptions,
        "questions": [f"{one.text} ({' | '.join(one.choices)})" for one in proposal.questions],
        "reuse": [f"{one.kind} {one.name}: {one.why}" for one in proposal.reuses],
        "files": [f"{one.path}: {'new' if one.before is None else 'edited'}" for one in proposal.files],
        "plan": [f"{one.table} by {one.action}: {one.strategy}: {one.reason}" for one in proposal.steps],
        "cost": _cost(proposal.cost) if proposal.steps else (),
        "checks": [f"{one.name}: {one.verdict}{one.text and f': {one.text}'}" for one in proposal.checks],
    }
    lines = [f"proposal {proposal.id}: {proposal.sentence}", f"wish: {proposal.wish}"]
    for name, found in parts.items():
        lines += _part(name, [" ".join(line.split()) for line in found], most_lines)
    lines += _part("query", proposal.sql.splitlines(), MOST_LINES)
    return "\n".join([*map(_short, lines), f"see it whole: streamhouse proposals {proposal.id}"])


def _cost(cost: Cost) -> Iterable[str]:
    rows = "unknown" if cost.first_rows is None else f"{cost.first_rows:,} rows"
    yield f"the first run reads: {rows}"
    if cost.rows_per_epoch is not None:
        yield f"each epoch reads: {cost.rows_per_epoch:,} rows"
    if cost.state:
        yield f"state: {cost.state}"
    yield from (f"tiers of {table}: {', '.join(tiers)}" for table, tiers in cost.tiers.items())
    yield from cost.notes


def _part(name: str, found: list[str], most_lines: int) -> list[str]:
    if not found:
        return [f"{name}: none"]
    more = [f"  … and {len(found) - most_lines} more"] if len(found) > most_lines else []
    return [f"{name}:", *(f"  {line}" for line in found[:most_lines]), *more]


def _short(line: str) -> str:
    return line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 1]}…"

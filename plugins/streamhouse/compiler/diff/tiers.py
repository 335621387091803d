"""What each tier can do to a stored table, and what a change therefore takes there."""

from collections.abc import Iterable

from streamhouse.model.outcome import Ddl, Finding, Outcome, TierChange, worst
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Tier

CAN: dict[Tier, frozenset[str]] = {
    Tier.HOT: frozenset({"add"}),  # at the end and nullable, not to a table that folds; nothing else, ever
    Tier.WARM: frozenset({"add", "rename", "drop", "widen"}),  # not of key columns
    Tier.COLD: frozenset({"add", "rename", "drop", "widen"}),
}


def tier_changes(old: Table | None, new: Table, steps: Iterable[tuple[PlannedStep, list[Finding]]]) -> list[TierChange]:
    """What happens to a table in each of its tiers, hottest first; nothing in a tier is left out.

    Args:
        old: As applied; None: it is new.
        new: As desired.
        steps: Those that write it, with their findings.
    """
    found = list(steps)
    changes = [_tier(tier, old, new, found) for tier in new.tiers.present]
    if old is not None:
        left = [tier for tier in old.tiers.present if tier not in new.tiers.present]
        changes += [TierChange(tier=t, outcome=Outcome.SWAP, ddl=(Ddl(kind="drop later"),)) for t in left]
    return [change for change in changes if change.ddl]


def _tier(tier: Tier, old: Table | None, new: Table, steps: list[tuple[PlannedStep, list[Finding]]]) -> TierChange:
    if old is None or tier not in old.tiers.present:
        return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=(Ddl(kind="create"),))
    anew = [f for _, findings in steps for f in findings if f.outcome is Outcome.REBUILD]
    if any(not _spares(tier, finding, new) for finding in anew):
        return TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(Ddl(kind="new version"),))
    ddl: list[Ddl] = []
    before = {column.name: column for column in old.columns}
    renames = {name: was for step, _ in steps for name, was in step.renamed.items() if was in before}
    for column in new.columns:
        was = renames.get(column.name, column.name) if column.name not in before else column.name
        stored = before.get(was)
        if stored is None:
            ddl.append(Ddl(kind="add column", column=column.name, type=column.type))
        elif was != column.name and "rename" in CAN[tier]:
            ddl.append(Ddl(kind="rename column", column=column.name, old=was))
        elif was != column.name:
            ddl += [Ddl(kind="add column", column=column.name, type=column.type), Ddl(kind="fill both", column=was)]
        if stored is not None and stored.type != column.type:
            ddl.append(Ddl(kind="widen column", column=column.name, type=column.type, old=stored.type))
    names = {column.name for column in new.columns}
    for name in before:
        if name not in names and name not in renames.values():
            kind = "drop later" if "drop" in CAN[tier] else None
            ddl.append(Ddl(kind="stop filling", column=name))
            if kind is not None:
                ddl.append(Ddl(kind="drop later", column=name))
    if "widen" not in CAN[tier] and any(change.kind == "widen column" for change in ddl):
        return TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(Ddl(kind="new version"),))
    return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=tuple(ddl))


def _spares(tier: Tier, finding: Finding, table: Table) -> bool:
    """Whether a rebuild of the table leaves this tier's alone: another tier alone could not do the DDL."""
    alone = finding.rule == 8 and not set(finding.columns) & set(table.primary_key)
    return alone and "widen" in CAN[tier]


def table_outcome(tiers: Iterable[TierChange], findings: Iterable[Finding]) -> Outcome:
    """What happens to the table as a whole."""
    return worst(*(tier.outcome for tier in tiers), *(finding.outcome for finding in findings))

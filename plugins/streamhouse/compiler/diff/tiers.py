"""What each tier can do to a stored table, and what a change therefore takes there.

A tier adds nullable columns at the end, and nothing else: stores could rename and widen columns of lakes, but not in
all tiers and with the plan at one moment. So such a change builds a new version of the table.
"""

from collections.abc import Iterable

from streamhouse.model.outcome import Ddl, Finding, Outcome, TierChange, worst
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Tier

_NEW_VERSION = (Ddl(kind="new version"),)


def tier_changes(old: Table | None, new: Table, steps: Iterable[tuple[PlannedStep, list[Finding]]]) -> list[TierChange]:
    """What happens to a table in each of its tiers, hottest first; nothing in a tier is left out.

    Args:
        old: As applied; None: it is new.
        new: As desired.
        steps: Those that write it, with their findings.
    """
    found = list(steps)
    changes = [_tier(tier, old, new, found) for tier in new.tiers.present]
    rebuilt = old is not None and any(one.outcome is Outcome.REBUILD for _, findings in found for one in findings)
    if rebuilt or any(change.outcome is Outcome.REBUILD for change in changes):  # a version is of all tiers of a table
        changes = [TierChange(tier=t, outcome=Outcome.REBUILD, ddl=_NEW_VERSION) for t in new.tiers.present]
    if old is not None:
        left = [tier for tier in old.tiers.present if tier not in new.tiers.present]
        changes += [TierChange(tier=t, outcome=Outcome.SWAP, ddl=(Ddl(kind="drop later"),)) for t in left]
    return [change for change in changes if change.ddl]


def _tier(tier: Tier, old: Table | None, new: Table, steps: list[tuple[PlannedStep, list[Finding]]]) -> TierChange:
    if old is None or tier not in old.tiers.present:
        return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=(Ddl(kind="create"),))
    ddl: list[Ddl] = []
    before = {column.name: column for column in old.columns}
    renames = {name: was for step, _ in steps for name, was in step.renamed.items() if was in before}
    for column in new.columns:
        was = renames.get(column.name, column.name) if column.name not in before else column.name
        stored = before.get(was)
        if stored is None:
            ddl.append(Ddl(kind="add column", column=column.name, type=column.type))
        elif was != column.name or stored.type != column.type:
            return TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=_NEW_VERSION)
    names = {column.name for column in new.columns}
    gone = (name for name in before if name not in names and name not in renames.values())
    ddl += [Ddl(kind="stop filling", column=name) for name in gone]
    return TierChange(tier=tier, outcome=Outcome.SWAP, ddl=tuple(ddl))


def table_outcome(tiers: Iterable[TierChange], findings: Iterable[Finding]) -> Outcome:
    """What happens to the table as a whole."""
    return worst(*(tier.outcome for tier in tiers), *(finding.outcome for finding in findings))

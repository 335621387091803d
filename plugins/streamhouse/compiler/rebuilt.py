"""Tables that `apply` builds again for a reason that is none of their own step; pure.

The findings of a step say what its edit means. That a table is built again may also follow from what stores still hold
and from what is built beside it. The plan says so here, so that it never promises less than `apply` does.
"""

from collections.abc import Collection

from streamhouse.model.outcome import Ddl, Finding, FlowDiff, Outcome, StepChange, TableChange, TierChange, worst
from streamhouse.model.plan import FlowPlan


def with_rebuilt(
    found: FlowDiff, plan: FlowPlan, to_rebuild: Collection[str], again: Collection[str], known: Collection[str]
) -> FlowDiff:
    """The difference, in which every table that gets a new version in place of a stored one says so.

    Args:
        found: As compared.
        plan: The plan wanted.
        to_rebuild: From `tables_to_rebuild`.
        again: From `taken_up`.
        known: Every table that was ever applied; the first version of another one is made and not built again.
    """
    told = {c.table for c in found.tables if c.outcome.weight >= Outcome.REBUILD.weight}
    silent = {name for name in to_rebuild if name in known and name not in told}
    if not silent:
        return found
    steps = tuple(_step(one, again) if one.table in silent and one.change != "removed" else one for one in found.steps)
    tables = tuple(_table(one, plan) if one.table in silent else one for one in found.tables)
    return found.model_copy(
        update={"steps": steps, "tables": tables, "outcome": worst(found.outcome, *(step.outcome for step in steps))}
    )


def _step(change: StepChange, again: Collection[str]) -> StepChange:
    if change.outcome.weight >= Outcome.REBUILD.weight:
        return change
    if change.table in again:
        why = "a column comes back whose former values stores still hold, so the rows are copied without them"
    elif change.change == "new":
        why = "another plan, or an environment, has a table of this name, so a new version is filled beside it"
    else:
        why = "a table that is rebuilt needs its rows in the order in which they came, so it is filled as well"
    finding = Finding(rule=0, outcome=Outcome.REBUILD, proof=f"{change.table}: {why}", keeps_values=True)
    return change.model_copy(update={"outcome": Outcome.REBUILD, "findings": (finding, *change.findings)})


def _table(change: TableChange, plan: FlowPlan) -> TableChange:
    tiers = tuple(
        TierChange(tier=tier, outcome=Outcome.REBUILD, ddl=(Ddl(kind="new version"),))
        for tier in plan.tables[change.table].tiers.present
    )
    left = tuple(one for one in change.tiers if one.tier not in plan.tables[change.table].tiers.present)
    return change.model_copy(update={"outcome": Outcome.REBUILD, "tiers": (*tiers, *left)})

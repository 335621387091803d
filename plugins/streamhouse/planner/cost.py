"""What a new step takes: rows, state, tiers. Estimates from what was counted; what nobody counted is unknown."""

from collections.abc import Mapping

from streamhouse.compiler.cost import history
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.types import Strategy
from streamhouse.planner.proposal import Cost


def cost_of(step: PlannedStep, plan: FlowPlan, rows: Mapping[str, int]) -> Cost:
    """The cost of one step of a plan.

    Args:
        step: New in the plan.
        plan: Of its flow.
        rows: Table → rows written so far; absent: nobody knows.
    """
    read = history(step, plan, rows)
    tables = tuple(dict.fromkeys(one.table for one in step.reads))
    unknown = [name for name in tables if name not in rows]
    notes = [f"the rows of {', '.join(unknown)} were never counted: nothing has run yet"] if unknown else []
    every = None
    if step.strategy is Strategy.FULL:
        every = read.rows if read is not None else None
        notes.append(f"every epoch reads all rows of {', '.join(tables)}")
    elif read is not None:
        notes.append(f"an epoch reads the changed rows, at most {plan.max_rows_per_epoch:,} of each input")
    return Cost(
        first_rows=read.rows if read is not None else None,
        first_bytes=read.bytes if read is not None else None,
        rows_per_epoch=every,
        state=_state(step),
        tiers={step.writes.name: step.writes.tiers.present},
        notes=tuple(notes),
    )


def _groups(step: PlannedStep) -> str:
    return "the totals" if step.delta is not None and step.delta.totals else "the joined rows"


def _state(step: PlannedStep) -> str:
    tables = ", ".join(dict.fromkeys(one.table for one in step.reads))
    keys = ", ".join(dict.fromkeys(key for one in step.reads for key in one.key_columns))
    return {
        Strategy.MAP: "none",
        Strategy.MERGE: "none: the store adds each epoch to what it holds",
        Strategy.RECOMPUTE: f"rows of {tables}, found by {keys or 'their key'}",
        Strategy.DELTA: f"rows of {tables}, and {_groups(step)} of each group",
        Strategy.FULL: f"all rows of {tables}",
    }[step.strategy]

"""What it takes to build tables anew: rows and bytes of history to read. Pure; estimates, told as such."""

from collections.abc import Collection, Mapping

from streamhouse.model.outcome import Finding, FlowDiff, Outcome, Reading, worst
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep
from streamhouse.model.table import Column, Table

_BYTES = {
    "boolean": 1,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "float": 4,
    "date": 4,
    "bigint": 8,
    "double": 8,
    "timestamp": 8,
    "timestamp_ntz": 8,
    "string": 20,
}
_OTHER_BYTES = 32  # a decimal has 16; nested types have what they hold


def with_cost(found: FlowDiff, plan: FlowPlan, anew: Collection[str], rows: Mapping[str, int]) -> FlowDiff:
    """The difference, with what each table that is built anew reads.

    Args:
        found: What changes.
        plan: The plan wanted.
        anew: The tables that are built anew.
        rows: Table → rows written to it so far; a source has about as many as the tables that are made from it.
    """
    read: list[Table | PlannedSource] = [*plan.sources, *plan.readable]
    origins = {one.name: one for one in read}
    costs: dict[str, Reading] = {}
    for step in plan.steps:
        if step.writes.name in anew:
            before = costs.get(step.writes.name, Reading())
            costs[step.writes.name] = before + _history(step, origins, rows)
    tables = tuple(
        table.model_copy(update={"reading": costs[table.table]}) if table.table in costs else table
        for table in found.tables
    )
    return found.model_copy(update={"tables": tables})


def within_budget(found: FlowDiff, budget: int | None) -> FlowDiff:
    """The difference, in which a table blocks whose history is more than a project reads without being asked.

    Args:
        found: With its cost.
        budget: Bytes; None: any.
    """
    if budget is None:
        return found
    over = {t.table: t.reading for t in found.tables if t.reading is not None and t.reading.bytes > budget}
    steps = tuple(
        step.model_copy(
            update={"outcome": Outcome.BLOCK, "findings": (_over(over[step.table], budget), *step.findings)}
        )
        if step.table in over
        else step
        for step in found.steps
    )
    tables = tuple(
        table.model_copy(update={"outcome": Outcome.BLOCK}) if table.table in over else table for table in found.tables
    )
    outcome = worst(found.outcome, *(step.outcome for step in steps))
    return found.model_copy(update={"steps": steps, "tables": tables, "outcome": outcome})


def _over(reading: Reading, budget: int) -> Finding:
    proof = f"it reads {reading}, more than rebuild_budget allows ({budget:,} bytes)"
    return Finding(rule=0, outcome=Outcome.BLOCK, proof=proof)


def _history(step: PlannedStep, origins: Mapping[str, "Table | PlannedSource"], rows: Mapping[str, int]) -> Reading:
    total = Reading()
    for read in step.reads:
        count = rows.get(read.table, rows.get(step.writes.name, 0))
        total += Reading(rows=count, bytes=count * _width(read, origins[read.table].columns))
    return total


def _width(read: PlannedRead, columns: tuple[Column, ...]) -> int:
    kinds = {column.name: column.type for column in columns}
    return sum(_BYTES.get(kinds[name], _OTHER_BYTES) for name in read.columns if name in kinds)

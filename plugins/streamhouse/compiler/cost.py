"""The cost of a rebuild: rows and bytes of history to read. Pure; the figures are estimates, and messages say so."""

from collections.abc import Collection, Mapping

from streamhouse.model.outcome import FlowDiff, ReadEstimate
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


def with_cost(found: FlowDiff, plan: FlowPlan, to_rebuild: Collection[str], rows: Mapping[str, int]) -> FlowDiff:
    """The difference, with what each table that is rebuilt reads.

    Args:
        found: What changes.
        plan: The plan wanted.
        to_rebuild: The tables that are rebuilt.
        rows: Table → rows written to it so far; a source has about as many as the tables that are made from it.
    """
    read: list[Table | PlannedSource] = [*plan.sources, *plan.readable]
    origins = {one.name: one for one in read}
    costs: dict[str, ReadEstimate] = {}
    for step in plan.steps:
        if step.writes.name in to_rebuild:
            before = costs.get(step.writes.name, ReadEstimate())
            costs[step.writes.name] = before + _history(step, origins, rows)
    tables = tuple(
        table.model_copy(update={"reading": costs[table.table]}) if table.table in costs else table
        for table in found.tables
    )
    return found.model_copy(update={"tables": tables})


def over_budget(found: FlowDiff, budget: int | None) -> dict[str, str]:
    """Table → why it may not be rebuilt without a person's word: its history is larger than `budget` bytes."""
    if budget is None:
        return {}
    return {
        table.table: f"it reads {table.reading}, more than rebuild_budget allows ({budget:,} bytes)"
        for table in found.tables
        if table.reading is not None and table.reading.bytes > budget
    }


def history(step: PlannedStep, plan: FlowPlan, rows: Mapping[str, int]) -> ReadEstimate | None:
    """What a new step reads of what is there; None: the rows of an input were never counted.

    Args:
        step: Of the plan.
        plan: Has its inputs.
        rows: As for `with_cost`.
    """
    if any(read.table not in rows for read in step.reads):
        return None
    read: list[Table | PlannedSource] = [*plan.sources, *plan.readable]
    return _history(step, {one.name: one for one in read}, rows)


def _history(
    step: PlannedStep, origins: Mapping[str, "Table | PlannedSource"], rows: Mapping[str, int]
) -> ReadEstimate:
    total = ReadEstimate()
    for read in step.reads:
        count = rows.get(read.table, rows.get(step.writes.name, 0))
        total += ReadEstimate(rows=count, bytes=count * _width(read, origins[read.table].columns))
    return total


def _width(read: PlannedRead, columns: tuple[Column, ...]) -> int:
    kinds = {column.name: column.type for column in columns}
    return sum(_BYTES.get(kinds[name], _OTHER_BYTES) for name in read.columns if name in kinds)

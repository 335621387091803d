"""Columns whose older rows mean something else, or nothing: of a change, and of what is filled from such rows."""

from collections.abc import Callable, Collection, Mapping

from streamhouse.compiler.diff.around import Around
from streamhouse.model.outcome import FlowDiff
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedStep
from streamhouse.model.types import ReadMode


def marks(
    found: FlowDiff,
    plan: FlowPlan,
    to_rebuild: Collection[str],
    copies: Collection[str],
    known: Callable[[str], Collection[str]],
) -> dict[str, tuple[str, ...]]:
    """Table → its columns that mean something else, or nothing, in rows that are there once a change is done.

    Also tables of other flows that rest on them, and tables that are filled from rows of which this is true already.

    Args:
        found: What the plan changes.
        plan: The plan wanted.
        to_rebuild: Tables of which another version is filled.
        copies: Those of them that get the rows there are.
        known: Table → its columns of which it is true before the change.
    """
    filled = set(to_rebuild) - set(copies)
    columns_by_table: dict[str, list[str]] = {}
    for change in found.steps:
        if change.marks and change.change != "new" and change.table not in filled:
            columns_by_table.setdefault(change.table, []).extend(change.marks)
        for consumer in change.consumers:
            if consumer.flow != found.flow and consumer.marks:
                columns_by_table.setdefault(consumer.table, []).extend(consumer.marks)
    new = {change.table for change in found.steps if change.change == "new"}
    for table, columns in _inherited(plan, filled, new, columns_by_table, known).items():
        columns_by_table.setdefault(table, []).extend(sorted(columns))
    return {table: tuple(dict.fromkeys(columns)) for table, columns in columns_by_table.items()}


def _inherited(
    plan: FlowPlan,
    filled: Collection[str],
    new: Collection[str],
    columns_by_table: Mapping[str, Collection[str]],
    known: Callable[[str], Collection[str]],
) -> dict[str, set[str]]:
    around = Around.of(plan)
    found: dict[str, set[str]] = {}

    def marked(table: str) -> set[str]:
        before = () if table in filled or table in new else known(table)
        return {column.lower() for column in (*before, *columns_by_table.get(table, ()), *found.get(table, ()))}

    for step in plan.steps:  # upstream first
        if step.writes.name not in filled and step.writes.name not in new:
            continue
        for read in step.reads:
            if _reads_old_rows(step, read, filled) and (columns := marked(read.table)):
                derived_columns = _derived_columns(around, step, read, columns)
                if derived_columns:
                    found.setdefault(step.writes.name, set()).update(derived_columns)
    return found


def _reads_old_rows(step: PlannedStep, read: PlannedRead, filled: Collection[str]) -> bool:
    """Whether rows go into the table of the step that were there before it."""
    return step.writes.name in filled or step.strategy.reads_state or read.mode is ReadMode.LOOKUP


def _derived_columns(around: Around, step: PlannedStep, read: PlannedRead, columns: Collection[str]) -> set[str]:
    own = {c.lower() for c in (*read.columns, *read.key_columns.values())}
    if own.isdisjoint(columns):
        return set()
    made_of = around.made_of(step)
    wanted = {(read.table, column) for column in columns}
    if not wanted.isdisjoint({(table, column.lower()) for table, column in made_of.decides}):
        return set(step.writes.column_names)
    names = {column.lower(): column for column in step.writes.column_names}
    derived_names = {
        name for name, of in made_of.values.items() if not wanted.isdisjoint({(t, c.lower()) for t, c in of})
    }
    return {names[name.lower()] for name in derived_names if name.lower() in names}

"""Rows that point to nothing are no thing: of "riders with more than 10 rides", casual hires are left out."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.request import ColumnRef, Condition, Scalar


def leave_out_nobody(bench: Bench, per: tuple[str, ...]) -> None:
    """Leave out rows without the thing that is listed or ranked, where its description says that there are such rows.

    Args:
        bench: Its dimensions are the things, and those in `per`.
        per: Dimensions that only part the result; rows without these stay.
    """
    for one in bench.dimensions:
        if one.name not in per:
            leave_out_empty(bench, one.of)


def leave_out_empty(bench: Bench, of: Scalar) -> None:
    """Leave out rows without one thing, where its description says that there are such rows."""
    if not isinstance(of, ColumnRef):
        return
    if of.role:
        if _is_key_behind_none(bench, of):
            _leave_out(bench, of)
        return
    column = bench.base.column(of.column)
    if column.name in bench.base.primary_key:
        return  # a key is never empty
    if column.references is None or not may_be_empty(column):
        return
    _leave_out(bench, of)


def _is_key_behind_none(bench: Bench, of: ColumnRef) -> bool:
    """Whether rows reach a key of another table over one that may be empty: the driver of a fine's ride."""
    scope = bench.places.scope
    reach = scope.reaches.get(of.role)
    if reach is None:
        return False
    column = reach.table.column(of.column)
    if column.references is None and column.name not in reach.table.primary_key:
        return False
    return (column.references is not None and may_be_empty(column)) or _is_optional(bench, of.role)


def _is_optional(bench: Bench, role: str) -> bool:
    """Whether rows reach another table over a key that may be empty: an order without a frame has no brand."""
    reaches = bench.places.scope.reaches
    reach = reaches.get(role)
    while reach is not None and reach.key is not None:
        left = reaches[reach.left]
        if any(may_be_empty(left.table.column(name)) for name in reach.key.columns):
            return True
        reach = left
    return False


def leave_out_unnamed(bench: Bench, per: tuple[str, ...]) -> None:
    """Leave out rows without the text that alone is ranked: the opening of "three openings most often played"."""
    one = bench.dimensions[0].of if len(bench.dimensions) == 1 and not per else None
    if not isinstance(one, ColumnRef):
        return
    reach = bench.places.scope.reaches.get(one.role)
    if reach is None or reach.table.column(one.column).type != "string" or one.column in reach.table.primary_key:
        return
    if may_be_empty(reach.table.column(one.column)) or _is_optional(bench, one.role):
        _leave_out(bench, one)


def _leave_out(bench: Bench, of: ColumnRef) -> None:
    condition = Condition(left=of, operator="is not null")
    if condition not in bench.filters:
        bench.filters.append(condition)
        bench.places.assume(f"rows of {bench.base.name} without {of.column} are left out")

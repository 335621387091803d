"""Sums and averages of SQL that a model wrote that say something else than they seem to: of averages, of equal rows."""

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import RequestShapeError
from streamhouse.planner.models.draft_keys import Ports, key_of_rows
from streamhouse.planner.models.draft_values import parts_of
from streamhouse.sql.dialect import short
from streamhouse.sql.scopes import aggregates_in, function_name, selects_of

_SUMS = frozenset({"sum", "try_sum"})
_AVERAGES = frozenset({"avg", "mean", "try_avg"})
_MIDDLES = _AVERAGES | {"median", "percentile", "percentile_cont", "percentile_disc", "mode"}


def check_sums(scope: Scope, calls: Sequence[exp.Expr], ports: Ports) -> None:
    """Refuse sums and averages that a person would read as something else.

    Args:
        scope: Of a SELECT of a checked query.
        calls: Its calls that count rows.
        ports: Port → the table it reads.

    Raises:
        RequestShapeError: of distinct values, of averages, of distinct counts, or of rows of which equal ones were
            left out before.
    """
    for call in calls:
        name = function_name(call)
        if isinstance(call.this, exp.Distinct):
            raise RequestShapeError(
                f"{short(call)} takes equal values of several rows once",
                hint="sum the value of each row; where rows are there several times, aggregate before the join",
            )
        if name not in _SUMS | _AVERAGES:
            continue
        is_windowed = isinstance(call.find_ancestor(exp.Window, exp.Select), exp.Window)
        for part in parts_of(call):
            if isinstance(part, exp.Column):
                _check_below(call, part, scope, ports, is_windowed=is_windowed)


def _check_below(call: exp.Expr, column: exp.Column, scope: Scope, ports: Ports, *, is_windowed: bool) -> None:
    source = scope.sources.get(column.table)
    if not isinstance(source, Scope):
        return
    if _lost_equal_rows(source, ports):
        raise RequestShapeError(
            f"{short(call)} takes rows of '{column.table}' once that agree in all its columns",
            hint="use UNION ALL and no DISTINCT, or GROUP BY what tells the rows apart, with MAX of the others",
        )
    for inner in _aggregates_behind(source, column.name):
        name = function_name(inner)
        is_distinct_count = name == "approx_count_distinct" or (
            name == "count" and isinstance(inner.this, exp.Distinct)
        )
        if is_distinct_count and function_name(call) in _SUMS:
            raise RequestShapeError(
                f"{short(call)} adds distinct counts: what is in several groups is counted several times",
                hint="count the distinct values of the rows themselves",
            )
        if (name in _MIDDLES or isinstance(inner, exp.Div)) and not is_windowed:
            raise RequestShapeError(
                f"{short(call)} is of averages or ratios: a small group weighs as much as a large one",
                hint="divide the sum of sums by the sum of counts; if each group is to weigh the same, answer with a "
                "Request whose inner block has the average",
            )


def _lost_equal_rows(source: Scope, ports: Ports) -> bool:
    """Whether rows that agree in the columns of a query, but are not the same, are one row of it."""
    parts = source.set_operation_scopes or ()
    if parts:
        return bool(source.expression.args.get("distinct")) and any(key_of_rows(one, ports) is None for one in parts)
    return bool(source.expression.args.get("distinct")) and key_of_rows(source, ports) is None


def _aggregates_behind(source: Scope, name: str) -> Iterator[exp.Expr]:
    """The aggregates, and the ratios of aggregates, of which a column of a query is made."""
    parts = source.set_operation_scopes or ()
    names = [item.alias_or_name for item in selects_of(source)]
    if name not in names:
        return
    place = names.index(name)
    for part in parts or (source,):
        items = selects_of(part)
        if part.set_operation_scopes:
            yield from _aggregates_behind(part, items[place].alias_or_name)
            continue
        if place >= len(items):
            continue
        found = aggregates_in(items[place])
        yield from found
        yield from (one for one in items[place].find_all(exp.Div) if _is_ratio(one))
        for column in () if found else parts_of(items[place]):
            below = part.sources.get(column.table) if isinstance(column, exp.Column) else None
            if isinstance(below, Scope) and isinstance(column, exp.Column):
                yield from _aggregates_behind(below, column.name)


def _is_ratio(node: exp.Div) -> bool:
    return bool(aggregates_in(node.left)) and bool(aggregates_in(node.right))

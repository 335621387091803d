"""What a SELECT with groups may show: its keys, and what folds the rows of a group."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import DefinitionErrors, Location, StrategyError, StreamhouseError
from streamhouse.sql.dialect import place_of, render
from streamhouse.sql.scopes import aggregates_in, is_aggregate

_TANGLED = ("all", "totals")


def check_groups(root: Scope, sql: str, at: Location) -> None:
    """Refuse a column beside aggregates that no group key has, and a window that Spark cannot compute.

    Only what is surely wrong is refused: a column that stands in a key may be used in another form of it.

    Args:
        root: Of a qualified query.
        sql: Its text.
        at: Where that begins.

    Raises:
        StrategyError: Spark would refuse the query.
        DefinitionErrors: for several reasons.
    """
    errors: list[StreamhouseError] = []
    for scope in root.traverse():
        query = scope.expression
        if not isinstance(query, exp.Select):
            continue
        for window in query.find_all(exp.Window):
            if isinstance(window.this, exp.Filter) and window.find_ancestor(exp.Select) is query:
                message = "a function with FILTER stands before OVER, which Spark does not compute"
                hint = "fold a CASE WHEN condition THEN value END"
                errors.append(StrategyError(message, at=place_of(window, sql, at), hint=hint))
        for column in _loose(query, scope):
            message = f"{render(column)} is neither folded nor a group key"
            hint = "add it to GROUP BY, or write any_value(…) around it"
            errors.append(StrategyError(message, at=place_of(column, sql, at), hint=hint))
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise DefinitionErrors(errors)


def _loose(query: exp.Select, scope: Scope) -> Iterator[exp.Column]:
    group = query.args.get("group")
    if group is None and not any(aggregates_in(item) for item in query.selects):
        return
    if group is not None and any(group.args.get(key) for key in _TANGLED):
        return
    keys: set[tuple[str, str]] = set()
    for key in group.iter_expressions() if group is not None else ():
        shown = _at_position(key, query)
        if shown is None:
            return
        keys |= {(column.table, column.name) for column in shown.find_all(exp.Column)}
    for item in query.selects:
        for column in _outside_of_folds(item):
            own = column.table in scope.sources and not isinstance(column.this, exp.Star)
            if own and (column.table, column.name) not in keys:
                yield column


def _at_position(key: exp.Expr, query: exp.Select) -> exp.Expr | None:
    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.name)
        return query.selects[place - 1] if 0 < place <= len(query.selects) else None
    return key


def _outside_of_folds(tree: exp.Expr) -> Iterator[exp.Column]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column):
            yield node
        elif not (isinstance(node, exp.Query) or _folds(node)):
            waiting += list(node.iter_expressions())


def _folds(node: exp.Expr) -> bool:
    """Whether a node is an aggregate of rows, and not over a window of them."""
    inner = node
    while isinstance(inner, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        inner = inner.this
    under = node.parent
    return is_aggregate(inner) and not (isinstance(under, exp.Window) and under.this is node)

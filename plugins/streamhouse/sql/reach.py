"""What Spark's analyser refuses about the names in a query: how far a sub-query sees, and what a name can mean."""

from collections import Counter
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.admit import Refused
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import aggregates_in, own_nodes, windows_in
from streamhouse.sql.traces import text_of

_ONE_OUT = "join what it needs in the query between, and name it there"
_MOST_OUT = 1


def out_of_reach(root: Scope, inference: Inference) -> Iterator[Refused]:
    """Names that mean nothing, or several things, for Spark.

    Args:
        root: Of a query whose names are resolved.
        inference: Of the query.
    """
    for scope in root.traverse():
        yield from _too_far(scope)
        yield from _ambiguous(scope, inference)
        if isinstance(scope.expression, exp.Select):
            yield from _sub_queries(scope, scope.expression)
            yield from _distinct_order(scope.expression)
            if scope.parent is not None:
                yield from _outer_in_folds(scope, scope.expression)


def _too_far(scope: Scope) -> Iterator[Refused]:
    for column in scope.columns:
        at: Scope | None = scope
        levels = 0
        while at is not None and column.table and column.table not in at.sources:
            levels += _is_boundary(at)
            at = at.parent
        if at is not None and levels > _MOST_OUT:
            message = f"{column.sql('spark')} belongs to a query {levels} levels out, and Spark looks one level out"
            yield Refused(column, message, _ONE_OUT)


def _is_boundary(scope: Scope) -> bool:
    """Whether the names around a scope are those of an outer query; they are also for a query in LATERAL."""
    lateral = scope.parent.expression if scope.parent is not None else None
    is_first = isinstance(lateral, exp.Lateral) and isinstance(lateral.parent, exp.From)
    return bool(scope.is_subquery) and not is_first


def _outer_in_folds(scope: Scope, select: exp.Select) -> Iterator[Refused]:
    """Columns of an outer query that are grouped, aggregated or ordered by, which Spark does not compute."""
    group, order = select.args.get("group"), select.args.get("order")
    folds = group is not None or any(aggregates_in(item) for item in select.selects)
    parts = [*select.selects, *([group] if group is not None else [])] if folds else []
    parts += [order] if order is not None else []
    parts += [window for item in select.selects for window in windows_in(item)]
    for column in (node for part in parts for node in own_nodes(part) if isinstance(node, exp.Column)):
        if column.table and column.table not in scope.sources:
            hint = "use it in WHERE or HAVING, or join the tables"
            yield Refused(column, f"{column.sql('spark')} of the outer query is in a grouping, window or order", hint)


def _ambiguous(scope: Scope, inference: Inference) -> Iterator[Refused]:
    twice: dict[str, set[str]] = {}
    for alias, source in scope.sources.items():
        if isinstance(source, Scope):
            names = Counter(column.name for column in inference.outputs(source))
            twice[alias] = {name for name, times in names.items() if times > 1}
    for column in scope.columns:
        if column.name in twice.get(column.table, ()):
            hint = "give one of them another name with AS"
            yield Refused(column, f"two columns of {column.table} are named '{column.name}'", hint)


def _sub_queries(scope: Scope, select: exp.Select) -> Iterator[Refused]:
    """Correlated sub-queries where Spark takes none."""
    joined = [join.args["on"] for join in select.args.get("joins") or [] if isinstance(join.args.get("on"), exp.Expr)]
    group = select.args.get("group")
    folds = group is not None or any(aggregates_in(item) for item in select.selects)
    keys = {key.sql("spark") for key in (group.expressions if group is not None else ())}
    for inner in scope.subquery_scopes:
        holder = inner.expression.parent
        if not isinstance(holder, exp.Subquery) or isinstance(holder.parent, exp.In) or not inner.external_columns:
            continue
        if any(_holds(part, holder) for part in joined):
            hint = "compute it in a sub-query of FROM, and join that"
            yield Refused(holder, "a join condition takes no sub-query that looks at its rows", hint)
        elif folds and holder.sql("spark") not in keys:
            for item in select.selects:
                folded = any(_holds(call, holder) for call in aggregates_in(item))
                if _holds(item, holder) and not folded:
                    hint = "compute it in a sub-query, before or after the grouping"
                    yield Refused(holder, "a sub-query that looks at grouped rows is in no aggregate", hint)


def _holds(part: exp.Expr, node: exp.Expr) -> bool:
    return any(one is node for one in own_nodes(part))


def _distinct_order(select: exp.Select) -> Iterator[Refused]:
    order = select.args.get("order")
    if order is None or not select.args.get("distinct"):
        return
    shown = {text_of(item.unalias()) for item in select.selects if isinstance(item.unalias(), exp.Column)}
    whole = {item.unalias().sql("spark") for item in select.selects}
    for item in order.expressions:
        key = item.this if isinstance(item, exp.Ordered) else item
        if key.sql("spark") in whole:
            continue
        for column in key.find_all(exp.Column):
            if column.table and text_of(column) not in shown:
                hint = "add it to the output, or group instead of DISTINCT"
                yield Refused(column, f"after DISTINCT there is no column '{column.name}' to order by", hint)

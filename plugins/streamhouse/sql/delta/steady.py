"""Refuses rows that depend on the order in which others were read: they could not be taken away as they were added."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.delta.cut import scope_of
from streamhouse.sql.frames import Needs, needs
from streamhouse.sql.infer import Inference
from streamhouse.sql.row_keys import RowKeys
from streamhouse.sql.rows import Inputs, NotProvenError
from streamhouse.sql.scopes import function_name, is_aggregate
from streamhouse.sql.ties import order_of
from streamhouse.sql.traces import text_of
from streamhouse.sql.words import words

_STEADY = words(
    """
    count count_if approx_count_distinct min max bool_and bool_or every some median percentile
    bit_and bit_or bit_xor bitwise_and_agg bitwise_or_agg bitwise_xor_agg quantile
    """
)
_EXACT = words("tinyint smallint int bigint decimal")  # added up in any order they give one sum
_SUMS = words("sum avg mean")
_CUTS = ("limit", "offset", "fetch")
_AROUND = (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)


def refuse_unsteady(rows: exp.Select, inputs: Inputs, inference: Inference) -> None:
    """Look at the aggregates and window functions of inner queries, before the rows are grouped.

    Args:
        rows: SELECT of rows; stays as it is.
        inputs: Of every port.
        inference: Of its ports.

    Raises:
        NotProvenError: one of them may give another value of the same rows.
    """
    tree = rows.copy()
    types = inference.of_another_query()
    keys = RowKeys({port: tuple(c.lower() for c in one.primary_key) for port, one in inputs.items()}, types)
    for scope in scope_of(tree).traverse():
        refuse_cut_at_random(scope, keys)
        for node in scope.walk():
            if is_aggregate(node) and not _is_steady(node, scope, types):
                raise NotProvenError(f"{function_name(node)}() in an inner query depends on the order of its rows")
            if isinstance(node, exp.Window) and not _is_ordered(node, scope, keys):
                raise NotProvenError(f"{function_name(_call(node))}() in an inner query has an order that leaves ties")


def refuse_cut_at_random(scope: Scope, keys: RowKeys) -> None:
    """Refuse an inner query with a LIMIT whose ORDER BY leaves it open which rows it takes.

    Raises:
        NotProvenError: it does.
    """
    if not _is_cut_by_key(scope, keys):
        raise NotProvenError("LIMIT in an inner query has an order that leaves ties; order by a key as well")


def _is_cut_by_key(scope: Scope, keys: RowKeys) -> bool:
    """Whether ORDER BY decides which rows a LIMIT or OFFSET leaves, or there is neither."""
    query = scope.expression
    if not any(query.args.get(clause) for clause in _CUTS) or isinstance(query.parent, exp.Exists):
        return True
    if not isinstance(query, exp.Select):
        return False
    by = order_of(query)
    known, texts = keys.selected(scope, by), {text_of(part) for part in by}
    return known.row or all(text_of(item.unalias()) in texts or known.tells(item.unalias()) for item in query.selects)


def _is_ordered(window: exp.Window, scope: Scope, keys: RowKeys) -> bool:
    """Whether PARTITION BY and ORDER BY decide the place of each row, where the function needs it."""
    named = {one.name.lower(): one for one in scope.expression.args.get("windows") or []}
    definition = named.get(window.alias.lower(), window) if window.alias else window
    if needs(_call(window), definition) is not Needs.PLACE:
        return True  # what else depends on the order is an aggregate
    order = definition.args.get("order")
    by = [*(definition.args.get("partition_by") or []), *([one.this for one in order.expressions] if order else [])]
    return keys.selected(scope, by).row


def _call(window: exp.Window) -> exp.Expr:
    """What stands before OVER, without IGNORE NULLS, RESPECT NULLS and FILTER."""
    call = window.this
    while isinstance(call, _AROUND):
        call = call.this
    assert isinstance(call, exp.Expr)
    return call


def _is_steady(node: exp.Expr, scope: Scope, types: Inference) -> bool:
    name = function_name(node)
    if name not in _SUMS:
        return name in _STEADY
    kind = types.type_of(node.this, scope) if isinstance(node.this, exp.Expr) else None
    return kind is not None and kind.kind in _EXACT

"""Where a sub-query stands, and what that says of the rows around it."""

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.scopes import aggregates_in


@dataclass(frozen=True)
class SubqueryUse:
    """How a SELECT uses one of its sub-queries.

    Attributes:
        holder: The IN or EXISTS it stands in; None: it is a scalar.
        required: Rows for which the holder is not true are dropped: it is a part of `WHERE a AND b`.
        monotone: The holder's NULL counts as false: it stands below AND and OR alone.
    """

    holder: exp.In | exp.Exists | None
    required: bool
    monotone: bool


def place_of(inner: Scope, outer: exp.Expr) -> SubqueryUse:
    """How `outer` uses the sub-query of a scope."""
    node = inner.expression
    while isinstance(node.parent, (exp.Subquery, exp.Paren)):
        node = node.parent
    holder = node.parent
    in_list = isinstance(holder, exp.In) and holder.args.get("query") is node
    if not isinstance(holder, (exp.In, exp.Exists)) or (isinstance(holder, exp.In) and not in_list):
        return SubqueryUse(None, required=False, monotone=False)
    required = monotone = True
    at: exp.Expr | None = holder.parent
    while isinstance(at, (exp.Paren, exp.And, exp.Or)):
        required = required and not isinstance(at, exp.Or)
        at = at.parent
    clause = isinstance(at, (exp.Where, exp.Having)) and at.parent is outer
    return SubqueryUse(holder, required=required and clause and isinstance(at, exp.Where), monotone=monotone and clause)


def empty_from_nothing(query: exp.Expr) -> bool:
    """Whether a query over no rows gives no rows; an aggregate without GROUP BY gives one."""
    if not isinstance(query, exp.Select) or query.args.get("group") or query.args.get("having"):
        return False
    return not any(aggregates_in(item) for item in query.selects)

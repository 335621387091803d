"""Which expressions are never NULL."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.scopes import conjuncts, function_name
from streamhouse.sql.typed import Types


def nullable(types: Types, node: exp.Expr, scope: Scope) -> bool:
    """False only where no row can hold NULL."""
    if isinstance(node, exp.Column):
        if _required(node, scope):
            return False
        found = types.resolve(node, scope)
        return found is None or found.nullable or _may_be_absent(node.table, scope)
    if isinstance(node, (exp.Literal, exp.Boolean, exp.Count, exp.RowNumber, exp.CountIf)):
        return False
    if isinstance(node, exp.Coalesce):
        return all(nullable(types, e, scope) for e in (node.this, *node.expressions))
    if isinstance(node, (exp.Window, exp.Paren)):
        return nullable(types, node.this, scope)
    if isinstance(node, exp.Cast):
        source_type = types.type_of(node.this, scope)
        sure = source_type is not None and source_type.kind != "string" and not node.args.get("safe")
        return not sure or nullable(types, node.this, scope)
    if isinstance(node, exp.Anonymous) and function_name(node) in {"date_trunc", "hour", "year", "month"}:
        return any(nullable(types, e, scope) for e in node.expressions)
    return True


def _required(column: exp.Column, scope: Scope) -> bool:
    where = scope.expression.args.get("where")
    return where is not None and any(
        isinstance(part, exp.Not)
        and isinstance(part.this, exp.Is)
        and part.this.this == column
        and isinstance(part.this.expression, exp.Null)
        for part in conjuncts(where.this)
    )


def _may_be_absent(source: str, scope: Scope) -> bool:
    """Whether an outer join can fill the columns of a source with NULL."""
    joins = scope.expression.args.get("joins") or []
    mine = [i for i, join in enumerate(joins) if join.alias_or_name == source]
    position = mine[0] if mine else -1
    own = joins[position].side if mine else ""
    later = {join.side for join in joins[position + 1 :]}
    lateral = any(v.alias_or_name == source for v in scope.expression.args.get("laterals") or [])
    return lateral or own in {"LEFT", "FULL"} or bool(later & {"RIGHT", "FULL"})

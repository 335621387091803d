"""What a condition proves: which expressions are not NULL in the rows for which it is true. Pure."""

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.null_functions import KINDS
from streamhouse.sql.scopes import conjuncts, function_name

Proved = frozenset[exp.Expr]
"""Expressions that are not NULL."""

NOTHING: Proved = frozenset()
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.RegexpLike)
_STRICT = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.DPipe,
    exp.Paren, exp.Neg, exp.BitwiseNot, exp.Cast, exp.Dot, exp.Trim, exp.Substring, exp.Extract, exp.Bracket,
)  # fmt: skip


def proved_by_rows(scope: Scope) -> Proved:
    """What is not NULL in any row of a SELECT, by its WHERE and its inner joins."""
    query = scope.expression
    if not isinstance(query, exp.Select):
        return NOTHING
    where, joins = query.args.get("where"), query.args.get("joins") or []
    found = _all_true([where.this]) if where is not None else NOTHING
    for number, join in enumerate(joins):
        on = join.args.get("on")
        filled_later = any(later.side in {"RIGHT", "FULL"} for later in joins[number + 1 :])
        if on is not None and not join.side and join.kind != "ANTI" and not filled_later:
            found |= _all_true([on])
    return found


def proved_by_groups(scope: Scope) -> Proved:
    """What is not NULL in any row that a SELECT gives, by its HAVING and QUALIFY."""
    clauses = [scope.expression.args.get(name) for name in ("having", "qualify")]
    return _all_true([clause.this for clause in clauses if clause is not None])


def proved_of_columns(condition: exp.Expr) -> frozenset[str]:
    """The columns that are not NULL in rows for which a condition is true, in lower case."""
    return frozenset(part.name.lower() for part in _all_true([condition]) if isinstance(part, exp.Column))


def _all_true(conditions: Iterable[exp.Expr]) -> Proved:
    return NOTHING.union(*(_proved(part, value=True) for one in conditions for part in conjuncts(one)))


def _proved(condition: exp.Expr, *, value: bool) -> Proved:
    """What is not NULL where a condition has this value."""
    node = condition.unnest()
    if isinstance(node, exp.Not):
        return _proved(node.this, value=not value)
    if isinstance(node, (exp.And, exp.Or)):
        left, right = (_proved(part, value=value) for part in (node.left, node.right))
        return left | right if isinstance(node, exp.And) is value else left & right
    if isinstance(node, exp.Is):
        return _of_is(node, value=value)
    if isinstance(node, exp.In):
        # `x NOT IN (SELECT …)` is true for NULL where the sub-query gives no row.
        return _needed(node.this) if value or node.expressions else NOTHING
    if isinstance(node, exp.Between):
        return _needed(node.this) if not value else _needed(node.this) | _needed(node.args["low"])
    if isinstance(node, _COMPARED):
        return _needed(node.this) | _needed(node.expression)
    if isinstance(node, exp.NullSafeEQ):
        return _of_same(node) if value else NOTHING
    name = function_name(node)
    if name in ("isnull", "isnotnull") and len(node.expressions) == 1:
        return _needed(node.expressions[0]) if value is (name == "isnotnull") else NOTHING
    return _needed(node) if isinstance(node, exp.Column) or name in KINDS else NOTHING


def _of_is(node: exp.Is, *, value: bool) -> Proved:
    if isinstance(node.expression, exp.Null):
        return NOTHING if value else _needed(node.this)
    return _needed(node.this) if value else NOTHING  # IS TRUE, IS FALSE


def _of_same(node: exp.NullSafeEQ) -> Proved:
    found = NOTHING
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if isinstance(other, (exp.Literal, exp.Boolean)):
            found |= _needed(one)
    return found


def _needed(node: exp.Expr) -> Proved:
    """An expression, and what is in it that makes it NULL by being NULL."""
    inner = node.unnest()
    found = {inner}
    if isinstance(inner, _STRICT):
        parts = [inner.this] if isinstance(inner, (exp.Cast, exp.Dot, exp.Bracket)) else list(inner.iter_expressions())
    elif isinstance(inner, exp.Anonymous) and function_name(inner) in KINDS:
        parts = list(inner.expressions)
    else:
        parts = []
    for part in parts:
        if isinstance(part, exp.Expr) and not isinstance(part, (exp.Literal, exp.Var, exp.Query)):
            found |= _needed(part)
    return frozenset(found)

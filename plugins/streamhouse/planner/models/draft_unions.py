"""Whether the parts of a UNION ALL may have the same rows of a table."""

from collections.abc import Collection
from itertools import combinations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.scopes import conjuncts

_OPPOSITES = {exp.LT: exp.GTE, exp.GTE: exp.LT, exp.GT: exp.LTE, exp.LTE: exp.GT, exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}


def twice(union: Scope, used: Collection[str]) -> bool:
    """Whether two parts of a union may have a row of the same table, with equal values in the columns that are used.

    Args:
        union: Of a set operation of a checked query.
        used: Its columns that the query around it uses.
    """
    if union.expression.args.get("distinct"):
        return False
    leaves = [one for one in _leaves(union.expression) if isinstance(one, exp.Select)]
    names = [item.alias_or_name for item in leaves[0].selects] if leaves else []
    places = [place for place, name in enumerate(names) if name in used]
    return any(
        _as_read(one, places) == _as_read(other, places) and not _are_apart(one, other)
        for one, other in combinations(leaves, 2)
    )


def _leaves(query: exp.Expr) -> list[exp.Expr]:
    if isinstance(query, exp.SetOperation):
        return [*_leaves(query.this), *_leaves(query.expression)]
    return _leaves(query.this) if isinstance(query, exp.Subquery) else [query]


def _as_read(select: exp.Select, places: Collection[int]) -> str:
    """The part of a union, without its conditions and with the columns of these places alone."""
    found = select.copy()
    found.set("where", None)
    found.set("expressions", [found.expressions[place].unalias() for place in places if place < len(found.expressions)])
    return found.sql()


def _are_apart(one: exp.Select, other: exp.Select) -> bool:
    """Whether no row meets the conditions of both."""
    conditions = [select.args["where"].this if select.args.get("where") else None for select in (one, other)]
    if None in conditions:
        return False
    left, right = (conjuncts(condition) for condition in conditions if condition is not None)
    return any(_exclude(this, that) for this in left for that in right)


def _exclude(one: exp.Expr, other: exp.Expr) -> bool:
    if isinstance(one, exp.Not) or isinstance(other, exp.Not):
        return _bare(one) == other.sql() or one.sql() == _bare(other)
    if not isinstance(one, exp.Binary) or not isinstance(other, exp.Binary):
        return False
    if one.left.sql() != other.left.sql():
        return False
    if type(other) is _OPPOSITES.get(type(one)):
        return bool(one.right.sql() == other.right.sql())
    is_equal = isinstance(one, exp.EQ) and isinstance(other, exp.EQ)
    literals = isinstance(one.right, exp.Literal) and isinstance(other.right, exp.Literal)
    return is_equal and literals and one.right.sql() != other.right.sql()


def _bare(node: exp.Expr) -> str:
    return node.this.unnest().sql() if isinstance(node, exp.Not) else ""

"""Pairs of columns that a query compares for equality, so that rows which meet have one value in both."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from streamhouse.sql.copies import chosen_from
from streamhouse.sql.scopes import conjuncts

Named = tuple[str, str]
"""A `(table, column)`, by the names of the FROM."""


def equated(tree: exp.Query) -> frozenset[tuple[Named, Named]]:
    """The pairs in the conditions of joins and in WHERE; a comparison under OR or NOT does not count.

    Args:
        tree: A query whose columns all name their table, as a plan has it.

    Example:
        >>> from sqlglot import parse_one
        >>> from streamhouse.sql.dialect import SPARK
        >>> query = "SELECT o.id AS id FROM orders AS o JOIN people AS p ON o.who = p.id AND p.age > 3"
        >>> sorted(equated(parse_one(query, dialect=SPARK)))
        [(('orders', 'who'), ('people', 'id'))]
    """
    found: set[tuple[Named, Named]] = set()
    for scope in traverse_scope(tree):
        for node in _conditions(scope):
            found.update((one, other) for one in _named(node.left, scope) for other in _named(node.right, scope))
    return frozenset(found)


def _conditions(scope: Scope) -> Iterator[exp.EQ | exp.NullSafeEQ]:
    if not isinstance(scope.expression, exp.Select):
        return
    where = scope.expression.args.get("where")
    trees = [join.args.get("on") for join in scope.expression.args.get("joins") or []]
    for tree in [*trees, where.this if where is not None else None]:
        for part in conjuncts(tree) if tree is not None else ():
            node = part.unnest()
            if isinstance(node, (exp.EQ, exp.NullSafeEQ)):
                yield node


def _named(node: exp.Expr, scope: Scope) -> frozenset[Named]:
    found = chosen_from(node, scope)
    return found[0] if found is not None else frozenset()

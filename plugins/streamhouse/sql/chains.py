"""Chains of conditions, which cost an analysis time that grows as the square of their length."""

from collections.abc import Iterable

from sqlglot import exp

from streamhouse.errors import Location, SqlSyntaxError

_LINKS = (exp.And, exp.Or)
MOST = 400
"""Conditions of one chain; an analysis would run out of stack a little later."""


def check_chains(nodes: Iterable[exp.Expr], at: Location) -> None:
    """Refuse a chain of AND and OR that is too long to be analysed.

    Args:
        nodes: All of a query.
        at: Where its text begins.

    Raises:
        SqlSyntaxError: one has more than `MOST` conditions.
    """
    for node in nodes:
        if isinstance(node, _LINKS) and type(node.parent) is not type(node) and _length(node) > MOST:
            raise SqlSyntaxError(
                f"more than {MOST} conditions are in one chain of AND and OR",
                at=at,
                hint="write column IN (…), join a table that has the values, or split it into steps",
            )


def _length(root: exp.Expr) -> int:
    """Of a chain as the parser makes it, one link left of the other; an AND in a chain of OR is one condition."""
    links: int = 0
    node: object = root
    while isinstance(node, _LINKS) and type(node) is type(root):
        links, node = links + 1, node.this
    return links + 1

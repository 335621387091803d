"""What a value of SQL is made of: columns and queries that become part of it, without those that only choose it."""

from collections.abc import Iterator

from sqlglot import exp

from streamhouse.sql.choices import choices_of, given_to
from streamhouse.sql.scopes import function_name
from streamhouse.sql.words import words

_CONDITIONS = exp.Predicate | exp.Connector | exp.Not | exp.CountIf | exp.Order | exp.DataType
_FIRST = words("nullif max_by min_by")
"""Functions that give their first argument; the others only choose its row."""


def parts_of(node: exp.Expr) -> Iterator[exp.Column | exp.Query]:
    """Columns and queries whose values become part of the value of a node.

    Example:
        >>> from sqlglot import parse_one
        >>> [part.sql() for part in parts_of(parse_one("SUM(CASE WHEN a > 1 THEN b * 2 ELSE c END)"))]
        ['b', 'c']
    """
    if isinstance(node, exp.Column | exp.Query):
        yield node
        return
    if isinstance(node, _CONDITIONS):
        return
    for one in _inner(node):
        yield from parts_of(one)


def _inner(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Filter | exp.Window):
        return [node.this]
    if function_name(node) in _FIRST:
        return given_to(node)[:1]
    choices = choices_of(node)
    return choices if choices is not None else list(node.iter_expressions())

"""Columns that a SELECT calls again by their own names, as in `o.id AS id`: a SELECT with `o.id` says the same.

Spark 4.1's optimiser (RemoveRedundantAliases) fails over a UNION ALL whose columns are called again and read by a
window function: "The plan was previously resolved and now became unresolved". So Spark gets no such names.
"""

from collections.abc import Iterator

from sqlglot import exp


def call_once(query: exp.Query) -> None:
    """Make `o.id AS id` in each SELECT `o.id`; changes the tree.

    Example:
        >>> from sqlglot import parse_one
        >>> tree = parse_one("SELECT o.id AS id, o.id AS k FROM o")
        >>> call_once(tree)
        >>> tree.sql()
        'SELECT o.id, o.id AS k FROM o'
    """
    for item in list(_called_again(query)):
        item.replace(item.this)


def calls_again(query: exp.Query) -> bool:
    """Whether a SELECT of a query calls a column again by its own name."""
    return any(True for _ in _called_again(query))


def _called_again(query: exp.Query) -> Iterator[exp.Alias]:
    for item in query.find_all(exp.Alias):
        column = item.this
        shown = isinstance(item.parent, exp.Select) and item.arg_key == "expressions"
        if shown and isinstance(column, exp.Column) and not column.is_star and column.name == item.alias:
            yield item

"""The name that Spark gives to a value that has none of its own, where it becomes a field."""

from sqlglot import exp

from streamhouse.sql.dialect.literals import WRITTEN


def name_of(node: exp.Expr) -> str:
    """The last part of a column's name as it was written; empty: Spark takes the place of the value for a name."""
    inner = node.unnest()
    last = inner.expression if isinstance(inner, exp.Dot) else inner.this if isinstance(inner, exp.Column) else inner
    if not isinstance(last, exp.Identifier):
        return ""
    return str(last.meta_get(WRITTEN) or last.name)

"""Queries that have rows though their inputs have none, as `SELECT count(*) FROM t` has; pure."""

from functools import lru_cache

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.row_keys import folds_to_one


@lru_cache(maxsize=1024)
def may_have_rows_of_nothing(sql: str) -> bool:
    """Whether a query may have a row when no input has one: somewhere it folds all rows into one, or reads no input.

    Args:
        sql: Of a step.

    Example:
        >>> may_have_rows_of_nothing("SELECT 1 AS k, sum(v) AS v FROM t")
        True
        >>> may_have_rows_of_nothing("SELECT k, sum(v) AS v FROM t WHERE k IN (SELECT max(k) FROM u) GROUP BY k")
        False
    """
    return _may(parse_query(sql, Location("")))


def _may(query: exp.Expr) -> bool:
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    if isinstance(inner, exp.Values):
        return True
    if not isinstance(inner, exp.Query):
        return False
    with_ = inner.args.get("with_")
    if with_ is not None and any(_may(cte.this) for cte in with_.expressions):
        return True
    if isinstance(inner, exp.SetOperation):
        return _may(inner.this) or _may(inner.expression)
    from_ = inner.args.get("from_")
    if from_ is None or folds_to_one(inner):
        return True
    parts = [from_.this, *(join.this for join in inner.args.get("joins") or [])]
    return any(_may(part.this if isinstance(part, exp.Lateral) else part) for part in parts)

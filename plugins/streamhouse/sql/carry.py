"""Carries a column of a table through a query, so that each output row names the row it was made of. Pure."""

from collections.abc import Collection

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from streamhouse.sql.scopes import inner_query, read_sources


def carried(query: exp.Query, tables: Collection[str], column: str) -> exp.Query:
    """The query with one more output column, `column` of the one of `tables` that a row comes from.

    Args:
        query: Each output row comes from one row of one of the tables, as strategy `map` proves; not changed.
        tables: Names as in the query; their rows have `column`, and no other has.
        column: A name that the query does not use.

    Example:
        >>> from sqlglot import parse_one
        >>> carried(parse_one("WITH a AS (SELECT x FROM t) SELECT a.x FROM a JOIN u ON u.x = a.x"), ["t"], "n").sql()
        'WITH a AS (SELECT x, t.n AS n FROM t) SELECT a.x, a.n AS n FROM a JOIN u ON u.x = a.x'
    """
    copied = query.copy()
    scope = build_scope(copied)
    if scope is not None:
        _carry(scope, tables, column, {})
    return copied


def _carry(scope: Scope, tables: Collection[str], column: str, done: dict[int, bool]) -> bool:
    """Whether the scope's rows have the column now."""
    query = scope.expression
    if id(query) not in done:
        if isinstance(query, exp.Select):
            done[id(query)] = _select(scope, query, tables, column, done)
        elif isinstance(query, exp.SetOperation):
            done[id(query)] = all(_carry(member, tables, column, done) for member in scope.set_operation_scopes)
        else:
            inner = inner_query(scope)
            done[id(query)] = inner is not None and _carry(inner, tables, column, done)
        if done[id(query)] and (named := _named_columns(query)):
            named.append("columns", exp.to_identifier(column))
    return done[id(query)]


def _select(scope: Scope, query: exp.Select, tables: Collection[str], column: str, done: dict[int, bool]) -> bool:
    for alias, source in read_sources(scope).items():
        if source.name in tables if isinstance(source, exp.Table) else _carry(source, tables, column, done):
            if not any(_is_star(item, alias) for item in query.selects):
                query.select(exp.alias_(exp.column(column, table=alias), column), copy=False)
            return True
    return False


def _is_star(item: exp.Expr, alias: str) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and item.is_star and item.table == alias)


def _named_columns(query: exp.Expr) -> exp.TableAlias | None:
    """The `AS t(a, b)` in which a query's columns are counted, if it has one."""
    alias = query.parent.args.get("alias") if isinstance(query.parent, (exp.CTE, exp.Subquery)) else None
    return alias if isinstance(alias, exp.TableAlias) and alias.columns else None

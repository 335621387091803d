"""Binds a planned query to the tables and the time of one epoch."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from streamhouse.errors import Location
from streamhouse.sql.called_again import call_once
from streamhouse.sql.determinism import is_clock
from streamhouse.sql.dialect import SPARK, parse_query, quote_names, render
from streamhouse.sql.parameters import timestamp_literal
from streamhouse.sql.scopes import function_name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def bind(query: str | exp.Query, tables: Mapping[str, str], epoch_ms: int) -> exp.Query:
    """The query of a planned step over the tables and the time of one epoch.

    Args:
        query: `PlannedStep.sql`, or its tree; not changed.
        tables: Port → name of the table or view that holds its rows; may have dots.
        epoch_ms: The epoch's time, milliseconds since 1970, for clock functions.

    Returns:
        A query that gives the same rows whenever it runs over the same rows.

    Example:
        >>> render(bind("SELECT id, CURRENT_DATE() AS d FROM orders AS o", {"orders": "v1"}, 0))
        "SELECT id, CAST('1970-01-01' AS DATE) AS d FROM v1 AS o"
        >>> render(bind("SELECT o.id AS id, o.id AS k FROM orders AS o", {"orders": "v1"}, 0))
        'SELECT o.id, o.id AS k FROM v1 AS o'
    """
    bound = _parsed(query).copy() if isinstance(query, str) else query.copy()
    for scope in traverse_scope(bound):
        for alias, source in list(scope.sources.items()):
            if isinstance(source, exp.Table) and not source.db and source.name in tables:
                renamed = exp.to_table(tables[source.name], dialect=SPARK)
                renamed.set("alias", exp.TableAlias(this=exp.to_identifier(source.alias or alias)))
                for key in ("joins", "laterals"):
                    renamed.set(key, source.args.get(key))
                source.replace(renamed)
    set_clocks(bound, epoch_ms)
    call_once(bound)
    quote_names(bound)
    return bound


def set_clocks(query: exp.Query, epoch_ms: int) -> None:
    """Let the clock functions of a query say a time, milliseconds since 1970.

    Example:
        >>> query = _parsed("SELECT CURRENT_DATE() AS d FROM orders").copy()
        >>> set_clocks(query, 0)
        >>> render(query)
        "SELECT CAST('1970-01-01' AS DATE) AS d FROM orders"
    """
    now = _EPOCH + timedelta(milliseconds=epoch_ms)
    for node in list(query.find_all(exp.Func)):
        if is_clock(node):
            node.replace(_clock(function_name(node), now, epoch_ms))


@lru_cache(maxsize=1024)
def tells_time(query: str) -> bool:
    """Whether a query has clock functions.

    Example:
        >>> tells_time("SELECT CURRENT_DATE() AS d FROM orders"), tells_time("SELECT o.d AS d FROM orders AS o")
        (True, False)
    """
    return any(is_clock(node) for node in _parsed(query).find_all(exp.Func))


def _clock(name: str, now: datetime, epoch_ms: int) -> exp.Expr:
    if name in {"current_date", "curdate"}:
        return _cast(exp.Literal.string(now.date().isoformat()), "date")
    if name == "localtimestamp":
        return _cast(exp.Literal.string(now.replace(tzinfo=None).isoformat(sep=" ")), "timestamp_ntz")
    if name == "unix_timestamp":
        return _cast(exp.Literal.number(epoch_ms // 1000), "bigint")
    return timestamp_literal(now)


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect=SPARK))


@lru_cache(maxsize=1024)
def _parsed(sql: str) -> exp.Query:
    return parse_query(sql, Location(""))


__all__ = ["bind", "render", "set_clocks", "tells_time"]

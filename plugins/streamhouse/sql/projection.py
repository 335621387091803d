"""Queries that make their rows of single rows of a table: how much work that is, and how many rows. Pure."""

from collections.abc import Mapping, Set
from functools import lru_cache
from types import MappingProxyType

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.scopes import function_name, is_generator
from streamhouse.sql.windows import hops
from streamhouse.sql.words import words

_LIGHT = words("abs ceil ceiling coalesce floor greatest if ifnull least lower nullif nvl round sign trim upper")


@lru_cache(maxsize=1024)
def repeated(sql: str) -> Mapping[str, str] | None:
    """Output column → the column of the one table that it repeats, in their order; None: the query does more.

    Args:
        sql: A query of a plan: tables stand before the names of columns, and every output has a name.

    Example:
        >>> dict(repeated("SELECT o.id AS order_id, o.cents AS cents FROM orders AS o"))
        {'order_id': 'id', 'cents': 'cents'}
        >>> repeated("SELECT o.id AS id FROM orders AS o WHERE o.id > 0") is None
        True
    """
    query = parse_query(sql, Location(""))
    table = _only_table(query)
    if table is None:
        return None
    found: dict[str, str] = {}
    for item in query.selects:
        column = item.unalias()
        if not _is_column_of(column, table) or item.alias_or_name in found:
            return None
        found[item.alias_or_name] = column.name
    return MappingProxyType(found)


@lru_cache(maxsize=1024)
def is_light(sql: str) -> bool:
    """Whether to run a query again costs less than to carry its rows: it selects and computes from one table's rows.

    Example:
        >>> is_light("SELECT o.id AS id, ROUND(o.eur * 100) AS cents FROM orders AS o WHERE o.eur > 0")
        True
        >>> is_light("SELECT GET_JSON_OBJECT(o.body, '$.id') AS id FROM orders AS o")
        False
    """
    query = parse_query(sql, Location(""))
    if _only_table(query, {"where"}) is None or any(n is not query for n in query.find_all(exp.Query, exp.Window)):
        return False
    return all(_is_light(call) for call in query.find_all(exp.Func))


@lru_cache(maxsize=1024)
def may_give_several(sql: str) -> bool:
    """Whether one row of a table may give several rows of a query, as far as its text says: it joins, or makes rows.

    Example:
        >>> may_give_several("SELECT o.id AS id, EXPLODE(o.lines) AS line FROM orders AS o")
        True
        >>> may_give_several("SELECT o.id AS id FROM orders AS o WHERE o.id > 0")
        False
    """
    query = parse_query(sql, Location(""))
    makes_rows = query.find(exp.Join, exp.Lateral) is not None or any(map(is_generator, query.walk()))
    return makes_rows or any(map(hops, query.find_all(exp.Select)))


def _is_light(call: exp.Func) -> bool:
    return isinstance(call, (exp.Cast, exp.Case, exp.And, exp.Or)) or function_name(call) in _LIGHT


def _only_table(query: exp.Query, further: Set[str] = frozenset()) -> exp.Table | None:
    """The table of `SELECT … FROM table` without any clause but `further` ones."""
    if not isinstance(query, exp.Select) or _argument_names(query) - further != {"expressions", "from_"}:
        return None
    table = query.args["from_"].this
    if not isinstance(table, exp.Table) or not _argument_names(table) <= {"this", "alias"} or table.alias_column_names:
        return None
    return table


def _argument_names(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _is_column_of(node: exp.Expr, table: exp.Table) -> bool:
    """Of the table by its name: `a.b` is else a field of a column `a`."""
    return isinstance(node, exp.Column) and not node.is_star and not node.db and node.table == table.alias_or_name

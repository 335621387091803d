"""Which columns of which tables a query needs, and a column that surely does not exist. Pure.

Leaving a column out that the query needs would break it, so every doubt adds columns: names are
matched without scopes, and whatever depends on all columns (a star inside of a set operation,
DISTINCT, PIVOT, positions) gets all of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.pushdown_projections import pushdown_projections
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from streamhouse.model.table import Table
from streamhouse.sql.scopes import names_in_from

# Without a column of that name Spark reads these as units or functions; sqlglot takes some for columns.
_NOT_COLUMNS = frozenset(
    {
        *("year", "yearofweek", "quarter", "month", "week", "day", "days", "dayofweek", "dayofyear"),
        *("hour", "minute", "second", "millisecond", "microsecond"),
        *("user", "current_user", "session_user", "current_catalog", "current_database", "current_schema"),
        *("current_date", "current_time", "current_timestamp", "localtimestamp", "all"),
    }
)
_COUNTS_POSITIONS = ("order", "sort", "cluster", "distribute", "group", "distinct", "having", "qualify", "laterals")


@dataclass(frozen=True)
class QueriedColumns:
    """What a query reads.

    Attributes:
        needed: table's name in the query → the columns needed, in the table's order.
        unknown: A column that no table of its scope has, and the names there are; None: none surely.
    """

    needed: dict[str, tuple[str, ...]]
    unknown: tuple[exp.Column, tuple[str, ...]] | None = None


def needed_columns(tree: exp.Query, tables: Mapping[str, Table]) -> QueriedColumns:
    """Find what a query reads of each table.

    Args:
        tree: As parsed; it is not changed.
        tables: Lower-case name in the query, `layer.table` with or without `$part` → the table.
    """
    everything = {name: table.column_names for name, table in tables.items()}
    if any(node.alias_column_names for node in tree.find_all(exp.Table)):
        return QueriedColumns(everything)  # `FROM t AS q(a, b)` calls the columns by their places
    schema = _schema(tables)
    has_stars = any(map(_reads_all, tree.find_all(exp.Star)))
    try:
        expanded = _qualified(tree, schema, expand_stars=True)
        unknown = _unknown(expanded, tables)
        if unknown is None and _is_plain_star(tree):
            return QueriedColumns(everything)
        used = set(_used(_qualified(tree, schema, expand_stars=False), tables)) if has_stars else set[tuple[str, str]]()
        if has_stars and _stars_are_plain(expanded_from=tree):
            expanded = pushdown_projections(expanded)
    except (SqlglotError, AssertionError):  # Spark may know it, and sqlglot not resolve it: `SELECT * … ORDER BY 1`
        return QueriedColumns(everything)
    if unknown is not None:
        return QueriedColumns(everything, unknown)
    if any(_reads_all(star) for star in expanded.find_all(exp.Star)) or expanded.find(exp.Pivot):
        return QueriedColumns(everything)
    used.update(_used(expanded, tables))
    return QueriedColumns(
        {n: tuple(one for one in t.column_names if (n, one.lower()) in used) for n, t in tables.items()}
    )


def _qualified(tree: exp.Query, schema: dict[str, object], *, expand_stars: bool) -> exp.Expr:
    return qualify(
        tree.copy(),
        schema=schema,
        dialect="spark",
        expand_stars=expand_stars,
        validate_qualify_columns=False,
        allow_partial_qualification=True,
        quote_identifiers=False,
        identify=False,
    )


def _used(tree: exp.Expr, tables: Mapping[str, Table]) -> Iterator[tuple[str, str]]:
    """Pairs of table and column that any column reference may mean."""
    by_alias: dict[str, list[str]] = defaultdict(list)
    for node in tree.find_all(exp.Table):
        if (name := table_name(node)) in tables:
            by_alias[node.alias_or_name.lower()].append(name)
    for column in tree.find_all(exp.Column):
        parts = {part.name.lower() for part in column.parts}
        if column.table and not _is_of_own_select(column):
            # Spark reads `s.id` as a field where a table of the sub-query has a column `s`.
            first = column.parts[0].name.lower()
            yield from ((name, first) for name in tables if first in _lower(tables[name]))
        for name in by_alias.get(column.table.lower(), tables):
            known = _lower(tables[name])
            own = column.name.lower()
            yield from ((name, part) for part in ({own} if own in known and column.table else known & parts))


def _is_of_own_select(column: exp.Column) -> bool:
    """Whether the SELECT around a column has the table that the column names, and no outer query has to have it."""
    select = column.find_ancestor(exp.Select)
    names = names_in_from(select) if select is not None else []
    return column.table.lower() in {name.lower() for name in names}


def _lower(table: Table) -> set[str]:
    return {name.lower() for name in table.column_names}


def _is_plain_star(tree: exp.Query) -> bool:
    """Whether a query is one SELECT of all columns of all that its FROM names."""
    selects = list(tree.find_all(exp.Select))
    star = tree.expressions[0] if len(selects) == 1 and selects[0] is tree and len(tree.expressions) == 1 else None
    return isinstance(star, exp.Star) and not any(star.args.values())


def _reads_all(star: exp.Star) -> bool:
    return not (isinstance(star.parent, exp.Count) and star.arg_key == "this")


def _stars_are_plain(expanded_from: exp.Query) -> bool:
    """Whether columns may be dropped from every inner `SELECT *` without changing what the query means."""
    for select in expanded_from.find_all(exp.Select):
        if select is expanded_from or not any(e.is_star for e in select.expressions):
            continue
        holder = select.parent
        inner = isinstance(holder, exp.CTE) or (
            isinstance(holder, exp.Subquery) and isinstance(holder.parent, exp.From | exp.Join)
        )
        renamed = holder is not None and holder.args.get("alias") and holder.args["alias"].args.get("columns")
        if not inner or renamed or any(select.args.get(key) for key in _COUNTS_POSITIONS):
            return False
    return True


def _unknown(tree: exp.Expr, tables: Mapping[str, Table]) -> tuple[exp.Column, tuple[str, ...]] | None:
    if tree.find(exp.Lateral, exp.Unnest, exp.Pivot, exp.Aliases):
        return None  # these make columns whose names are not always known
    parameters = {name.name.lower() for function in tree.find_all(exp.Lambda) for name in function.expressions}
    for scope in traverse_scope(tree):
        if not isinstance(scope.expression, exp.Select):
            continue
        around = list(_with_outer(scope))
        sources = {alias.lower(): _names(source, tables) for one in around for alias, source in one.sources.items()}
        known = tuple(dict.fromkeys(name for names in sources.values() for name in names or ()))
        if None in sources.values():
            continue
        select_aliases = {select.alias.lower() for one in around for select in _selects(one) if not _is_column(select)}
        words = parameters | select_aliases | set(known) | _NOT_COLUMNS
        for column in scope.columns:
            of_source = sources.get(column.table.lower()) if column.table else None
            if of_source is not None and column.table.lower() not in known:
                if column.name.lower() not in of_source and not column.is_star:
                    return column, of_source
            elif (column.table or column.name).lower() not in words and column.table.lower() not in sources:
                return column, known
    return None


def _is_column(select: exp.Expr) -> bool:
    column = select.unalias()  # a plain column got its own name as alias when it was qualified
    return isinstance(column, exp.Column) and column.name.lower() == select.alias.lower()


def _selects(scope: Scope) -> list[exp.Expr]:
    return list(scope.expression.selects) if isinstance(scope.expression, exp.Query) else []


def _with_outer(scope: Scope) -> Iterator[Scope]:
    outer: Scope | None = scope
    while outer is not None:
        yield outer
        outer = outer.parent


def _names(source: exp.Expr | Scope, tables: Mapping[str, Table]) -> tuple[str, ...] | None:
    """The columns of what a FROM names, in lower case; None: not known."""
    if isinstance(source, Scope):
        selects = _selects(source)
        if not selects or any(select.is_star for select in selects):
            return None
        return tuple(select.alias_or_name.lower() for select in selects)
    if isinstance(source, exp.Table) and (name := table_name(source)) in tables:
        return tuple(column.lower() for column in tables[name].column_names)
    return None


def table_name(node: exp.Table) -> str:
    """The name as the catalog spells it: lower case, with `$part` where it has one."""
    return ".".join(part.name for part in node.parts).lower()


def _schema(tables: Mapping[str, Table]) -> dict[str, object]:
    """Layer → table → column → type, as sqlglot takes it."""
    by_layer: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for name, table in tables.items():
        layer, short = name.split(".")
        by_layer[layer][short] = {column.name: column.type for column in table.columns}
    return {**by_layer}

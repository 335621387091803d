"""Columns that a query names and no table of its FROM has, or several have; pure."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import did_you_mean
from streamhouse.sql.admit import Refused
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import selects_of


def unknown_columns(root: Scope, inference: Inference) -> Iterator[Refused]:
    """Columns that are not one of exactly one source.

    Where there are none, names are looked at that Spark takes for something else.

    Args:
        root: Of a qualified query.
        inference: Knows the columns of its ports.
    """
    is_found = False
    visited: set[int] = set()
    for scope in root.traverse():
        for column in scope.columns:
            if id(column) in visited:
                continue
            visited.add(id(column))
            if inference.resolve(column, scope) is None and not _is_output(column, scope):
                is_found = True
                yield _unknown(column, scope, inference)
    if not is_found:
        yield from _taken_for_fields(root, inference)
        yield from _behind_semi_joins(root)
        yield from _of_a_database(root)


def offered(scope: Scope, source: str, inference: Inference) -> tuple[str, ...]:
    """The lower-case names of the columns that a source of a FROM shows.

    Args:
        scope: Of the query with the FROM.
        source: Its name there.
        inference: Knows the columns of its ports.
    """
    found = scope.sources[source]
    if isinstance(found, exp.Table):
        return inference.port_columns(found.name)
    return tuple(column.name for column in inference.outputs(found))


def in_several(name: str, holders: list[str]) -> tuple[str, str]:
    """What to say of a name that several sources have: that they have it, and which names to write in its place.

    >>> in_several("id", ["a", "b"])
    ("column 'id' is in a and in b", 'write a.id or b.id')
    """
    which = " or ".join(f"{source}.{name}" for source in holders)
    return f"column '{name}' is in {' and in '.join(holders)}", f"write {which}"


def _is_output(column: exp.Column, scope: Scope) -> bool:
    names = {item.alias_or_name for item in selects_of(scope)}
    return not column.table and column.name in names and column.find_ancestor(exp.Order, exp.Having) is not None


def _unknown(column: exp.Column, scope: Scope, inference: Inference) -> Refused:
    known = {source: offered(scope, source, inference) for source in scope.sources}
    holders = [source for source, names in known.items() if column.name in names]
    if not column.table and len(holders) > 1:
        return Refused(column, *in_several(column.name, holders))
    if column.table and column.table not in known:
        close = did_you_mean(column.table, list(known), f"the FROM has: {', '.join(known)}")
        return Refused(column, f"unknown table or column '{column.table}'", close)
    names = list(known.get(column.table) or [name for names in known.values() for name in names])
    whose = f" in {column.table}" if column.table else ""
    close = did_you_mean(column.name, names, f"columns: {', '.join(dict.fromkeys(names))}")
    return Refused(column, f"unknown column '{column.name}'{whose}", close)


def _taken_for_fields(root: Scope, inference: Inference) -> Iterator[Refused]:
    """Columns of an outer query whose table is called as a column of the sub-query: Spark looks for a field of that."""
    for scope in root.traverse():
        own = {name: {c.lower() for c in offered(scope, name, inference)} for name in scope.selected_sources}
        for column in scope.columns:
            table = column.table.lower()
            holders = [] if not table or column.table in own else [name for name in own if table in own[name]]
            if holders:
                text = f"for Spark, {column.sql()} is a field of the column {table} of {holders[0]} in the sub-query"
                hint = f"give the table {column.table} of the outer query another name with AS"
                yield Refused(_written(column), text, hint)


def _behind_semi_joins(root: Scope) -> Iterator[Refused]:
    """Columns of the right side of a SEMI or ANTI JOIN anywhere but in its ON: the join shows the left side alone."""
    for scope in root.traverse():
        joins = [join for join in scope.find_all(exp.Join) if join.kind in ("SEMI", "ANTI")]
        for join in joins:
            for column in scope.columns:
                inside = any(parent is join for parent in _parents(column))
                if column.table == join.alias_or_name and not inside:
                    text = f"the {join.kind} JOIN shows no column of {column.table}, such as {column.sql()}"
                    hint = "write JOIN where its columns are wanted, or use them in the ON of this join alone"
                    yield Refused(_written(column), text, hint)


def _of_a_database(root: Scope) -> Iterator[Refused]:
    """Columns with more than the name of a table before them: ports and CTEs are in no database."""
    for scope in root.traverse():
        for column in scope.columns:
            if column.args.get("db") is not None:
                text = f"{column.sql('spark')} names a database, and an action reads its inputs by port"
                yield Refused(column, text, f"write {column.table}.{column.name}")


def _parents(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _written(column: exp.Column) -> exp.Expr:
    """What a person wrote of a column: its name alone, where the analysis found the table."""
    table, name = column.args.get("table"), column.this
    begins, ends = name.meta_get("start"), table.meta_get("end") if table is not None else None
    is_whole = begins is not None and ends is not None and 0 < begins - ends <= len(" . ")
    return column if is_whole else name

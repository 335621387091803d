"""HAVING beside ROLLUP, CUBE or GROUPING SETS, as a condition on the rows behind the groups.

In such a HAVING Spark finds no `grouping(t.k)`, which our text has; among the output columns it does.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlglot import exp

from streamhouse.sql.scopes import (
    aggregates_in,
    arguments_of,
    has_grouping_sets,
    is_grouping,
    names_in_from,
    own_nodes,
    windows_in,
)


def spell_groupings(nodes: Iterable[exp.Expr]) -> bool:
    """Make a QUALIFY of each HAVING that says which set of keys a row is of; changes the tree.

    Beside a window function it stays, which sees the rows that HAVING leaves.

    Args:
        nodes: All of a query as parsed.

    Returns:
        Whether there was one, so that `nodes` may be others now.
    """
    found = [
        node
        for node in nodes
        if type(node) is exp.Select and node.args.get("having") is not None and has_grouping_sets(node)
    ]
    found = [select for select in found if not has_windows(select) and _says_sets(select)]
    for select in found:
        select.set("qualify", exp.Qualify(this=of_outputs(select.args["having"], select).this))
        select.set("having", None)
    return bool(found)


def of_outputs(having: exp.Expr, select: exp.Select) -> exp.Expr:
    """HAVING with the value of each output column that it names, before columns of the input, as Spark reads it.

    Args:
        having: Of the SELECT, or a copy; it is changed.
        select: It has the output columns.
    """
    values = {item.alias.lower(): item.this for item in select.selects if item.alias}
    inside = folded(having) | {id(node) for call in _groupings(having) for node in call.walk()}
    tables = {name.lower() for name in names_in_from(select)}
    for column in [node for node in own_nodes(having) if isinstance(node, exp.Column)]:
        name, table, fields = parts_of(column, tables)
        value = values.get(name)
        if value is not None and not table and id(column) not in inside:
            found: exp.Expr = exp.Paren(this=value.copy())
            for field in fields:
                found = exp.Dot(this=found, expression=field.copy())
            column.replace(found)
    return having


def parts_of(column: exp.Column, tables: Collection[str]) -> tuple[str, str, Sequence[exp.Expr]]:
    """The name and the table of a column, and the fields that are read of it: `q.a` is one where no table is `q`.

    Args:
        column: As written.
        tables: Names in FROM, in lower case.
    """
    first, *others = column.parts
    if not others or first.name.lower() in tables:
        return column.name.lower(), column.table.lower(), ()
    return first.name.lower(), "", others


def has_windows(select: exp.Select) -> bool:
    """Whether a SELECT has QUALIFY, or window functions, which see the rows that HAVING leaves."""
    order = select.args.get("order")
    return select.args.get("qualify") is not None or any(
        windows_in(part) for part in (*select.selects, *([order] if order is not None else []))
    )


def _says_sets(select: exp.Select) -> bool:
    """Whether HAVING says of which set a row is, in names of output columns alone; Spark finds no others there."""
    having, items = select.args["having"], select.selects
    bare = {item.name.lower(): item.table.lower() for item in items if isinstance(item, exp.Column)}
    made = {item.alias.lower(): item.this for item in items if isinstance(item, exp.Alias)}
    made = {name: value for name, value in made.items() if aggregates_in(value) or _groupings(value)}
    calls, inside_folds = _groupings(having), folded(having)
    if any(not isinstance(part, exp.Column) for call in calls for part in arguments_of(call)):
        return False
    inside = {id(node) for call in calls for node in call.walk()}
    named = [node for node in own_nodes(having) if isinstance(node, exp.Column) and id(node) not in inside_folds]
    tables = {name.lower() for name in names_in_from(select)}
    parts = [(parts_of(node, tables), () if id(node) in inside else made) for node in named]
    if not all(_is_found(name, table, bare, outputs) for (name, table, _), outputs in parts):
        return False
    says = (made.get(name) for (name, _, _), _ in parts)
    return bool(calls) or any(value is not None and _groupings(value) for value in says)


def folded(having: exp.Expr) -> set[int]:
    """The nodes, by `id`, in aggregates or behind FILTER, whose names Spark looks for in the input."""
    calls = [call for call in aggregates_in(having) if not is_grouping(call)]
    return {id(node) for call in calls for node in (call.find_ancestor(exp.Filter) or call).walk()}


def _is_found(name: str, table: str, bare: Mapping[str, str], made: Collection[str]) -> bool:
    """Whether a name is that of a plain output column, given with its table, or of one that is made of aggregates."""
    return ("" in (table, bare[name]) or table == bare[name]) if name in bare else (name in made and not table)


def _groupings(part: exp.Expr) -> list[exp.Expr]:
    return [node for node in own_nodes(part) if is_grouping(node)]

"""HAVING and ORDER BY behind groups that Spark finds only as they are written, spelled out for the text of a plan.

Of groups by a time window Spark 4.1 finds `window.end` there, and no `window(t.ts, '1 hour').end`, which our text has.
"""

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.functions import TIME_WINDOWS
from streamhouse.sql.scopes import function_name, has_grouping_sets, names_in_from, own_nodes
from streamhouse.sql.spelled_groupings import folded, has_windows, of_outputs, parts_of


def spell_bounds(nodes: Iterable[exp.Expr]) -> bool:
    """Make a QUALIFY of each HAVING and ORDER BY that names a bound of the time window of the groups.

    Some HAVING stays, which `bounds_in_having` refuses. Changes the tree.

    Args:
        nodes: All of a query as parsed, with `window.end` written out.

    Returns:
        Whether there was one, so that `nodes` may be others now.
    """
    found = False
    for select in (node for node in nodes if type(node) is exp.Select and _is_timed(node)):
        having = select.args.get("having")
        if having is not None and _is_movable(select) and _bounds(of_outputs(having.copy(), select)):
            select.set("qualify", exp.Qualify(this=of_outputs(having, select).this))
            select.set("having", None)
            found = True
        elif select.args.get("qualify") is None and _is_cut_by_bound(select):
            select.set("qualify", exp.Qualify(this=exp.true()))
            found = True
    return found


def bounds_in_having(select: exp.Expr) -> Iterator[Refused]:
    """The time windows that Spark would not find in the HAVING of a SELECT, whose names are resolved."""
    having = select.args.get("having")
    for call in _bounds(having)[:1] if having is not None else ():
        message = "a time window in HAVING is not followed beside QUALIFY, window functions and columns named as a key"
        yield Refused(call, message, "give its bound a name in a sub-query, and filter by that in the query around it")


def spell_fields(nodes: Collection[exp.Expr], columns: Collection[str]) -> bool:
    """Put the value of an output column where HAVING reads a field of it, as in `HAVING q.a > 0`; changes the tree.

    A name that a column of the input may have as well is left as it is.

    Args:
        nodes: All of a query as parsed.
        columns: Names of columns that the inputs have.

    Returns:
        Whether there was one, so that `nodes` may be others now.
    """
    found = False
    for select in [node for node in nodes if type(node) is exp.Select and node.args.get("having") is not None]:
        having = select.args["having"]
        tables = {name.lower() for name in names_in_from(select)}
        inside = folded(having)
        named = [node for node in own_nodes(having) if isinstance(node, exp.Column) and id(node) not in inside]
        fields = [(node, *parts_of(node, tables)) for node in named]
        names = {name for _, name, _, rest in fields if rest}
        if not names or has_grouping_sets(select):
            continue
        values = _values(select, names - set(columns) - _others(nodes, select))
        for node, name, _, rest in fields:
            if rest and name in values:
                value: exp.Expr = exp.Paren(this=values[name].copy())
                for field in rest:
                    value = exp.Dot(this=value, expression=field.copy())
                node.replace(value)
                found = True
    return found


def _values(select: exp.Select, names: Collection[str]) -> dict[str, exp.Expr]:
    """Name → value of the output columns that are named once."""
    found = [(item.alias.lower(), item.this) for item in select.selects if isinstance(item, exp.Alias)]
    all_names = [name for name, _ in found]
    return {name: value for name, value in found if name in names and all_names.count(name) == 1}


def _others(nodes: Iterable[exp.Expr], select: exp.Select) -> set[str]:
    """Names in a query that stand elsewhere than in HAVING and ORDER BY of a SELECT and as names of its columns."""
    parts = [select.args["having"], select.args.get("order"), *(item.args.get("alias") for item in select.selects)]
    own = {id(node) for part in parts if isinstance(part, exp.Expr) for node in own_nodes(part)}
    return {node.name.lower() for node in nodes if isinstance(node, exp.Identifier) and id(node) not in own}


def _is_timed(select: exp.Select) -> bool:
    group = select.args.get("group")
    keys = group.expressions if group is not None and not has_grouping_sets(select) else ()
    return any(function_name(key.unnest()) in TIME_WINDOWS for key in keys)


def _is_movable(select: exp.Select) -> bool:
    """Whether HAVING means the same behind the groups: no window function sees its rows, and each name stays.

    A name of a key is the key in HAVING, and the output column of this name behind the groups.
    """
    group = select.args["group"]
    keys = {key.name.lower() for key in group.expressions if isinstance(key, exp.Column)}
    made = {item.alias.lower() for item in select.selects if isinstance(item, exp.Alias) and not _is_plain(item)}
    named = {node.name.lower() for node in own_nodes(select.args["having"]) if isinstance(node, exp.Column)}
    return not has_windows(select) and not keys & made & named


def _is_plain(item: exp.Alias) -> bool:
    return isinstance(item.this, exp.Column) and item.this.name.lower() == item.alias.lower()


def _bounds(part: exp.Expr) -> list[exp.Expr]:
    """Time windows of a part of a SELECT."""
    return [node for node in own_nodes(part) if function_name(node) in TIME_WINDOWS]


def _is_cut_by_bound(select: exp.Select) -> bool:
    """Whether the rows that LIMIT leaves hang on a bound that is no output column."""
    order = select.args.get("order")
    if order is None or not (select.args.get("limit") or select.args.get("offset")):
        return False
    values = [item.unalias() for item in select.selects]
    return any(item.this not in values and _bounds(item) for item in order.expressions)

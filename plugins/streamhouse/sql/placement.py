"""Where Spark takes aggregates, window functions and generators, and which columns a grouped SELECT has."""

from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql import functions
from streamhouse.sql.admit import Refused
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import short
from streamhouse.sql.scopes import (
    GROUPING_SETS,
    aggregates_in,
    function_name,
    generators_in,
    grouping_keys,
    has_grouping_sets,
    is_aggregate,
    is_generator,
    is_grouping,
    own_nodes,
    windows_in,
)
from streamhouse.sql.words import words

_ORDERED = frozenset({*functions.RANKS, "lag", "lead", "nth_value"})
_FIELDS = words(
    """
    year y years yr yrs yearofweek quarter qtr month mon mons months week w weeks day d days dayofweek dow
    dayofweek_iso dow_iso doy hour h hours hr hrs minute m min mins minutes second s sec seconds secs
    """
)
_PLACED = Kinds(exp.Window, exp.Filter, exp.Extract)
_CALLS = Kinds(exp.Window, exp.Filter, exp.Func)
_OVER = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)


def misplaced(nodes: Sequence[exp.Expr]) -> Iterator[Refused]:
    """What stands where Spark does not take it; see `CheckAnalysis` of Spark 4.1.

    Args:
        nodes: All of a query as parsed; nothing needs to be resolved.
    """
    if not any(map(_has_its_place, nodes)):
        return
    for select in (node for node in nodes if type(node) is exp.Select):
        yield from _clauses(select)
        yield from _generated(select)
        windows = {window.name.lower() for window in select.args.get("windows") or ()}
        has_sets = has_grouping_sets(select)
        for item in _parts(select):
            for node in own_nodes(item):
                if not _CALLS[type(node)]:
                    continue
                if not has_sets and is_grouping(node):
                    hint = "group by several sets of keys"
                    yield Refused(node, f"{function_name(node)}() needs ROLLUP, CUBE or GROUPING SETS", hint)
                yield from _call(node, windows)
        yield from _of_sets(select)


def _of_sets(select: exp.Select) -> Iterator[Refused]:
    """In HAVING of ROLLUP, Spark finds no `grouping(t.k)` and no `upper(t.k)`, which our text has; keys it does."""
    group = select.args.get("group")
    if group is None or not has_grouping_sets(select):
        return
    keys = {column.name.lower() for column in group.find_all(exp.Column) if isinstance(column.parent, _SETS)}
    plain = {item.alias_or_name.lower() for item in select.expressions if _is_plain(item.unalias(), keys)}
    clauses = ["having"] + ["order"] * bool(select.args.get("limit") or select.args.get("offset"))
    of_sets = {"order": set[str](), "having": _named_sets(select)}
    for clause, part in ((clause, one) for clause in clauses if (one := select.args.get(clause)) is not None):
        folded = {id(node) for call in aggregates_in(part) for node in call.walk()}
        for node in own_nodes(part):
            is_call = _CALLS[type(node)] and is_grouping(node) and node.find(exp.Column) is not None
            name = _named_by(node, select)
            unknown = name != "" and id(node) not in folded and name.lower() not in (keys | plain) - of_sets[clause]
            if is_call or unknown:
                what = f"{function_name(node)}(…)" if is_call else name
                hint = "give it a name in a sub-query, and name that in the query around it"
                yield Refused(
                    node, f"{what} in HAVING or ORDER BY of ROLLUP, CUBE or GROUPING SETS is not followed", hint
                )


def _named_sets(select: exp.Select) -> set[str]:
    """Output columns that say of which set a row is; names of keys are none."""
    said = (item for item in select.expressions if isinstance(item, exp.Alias))
    return {item.alias.lower() for item in said if any(map(is_grouping, own_nodes(item)))}


def _named_by(node: exp.Expr, select: exp.Select) -> str:
    """The column that a name, or a place in ORDER BY, means; "": it is none of both."""
    if isinstance(node, exp.Column):
        return node.name
    is_place = isinstance(node, exp.Literal) and node.is_int and isinstance(node.parent, exp.Ordered)
    items = select.selects
    return items[int(node.name) - 1].alias_or_name if is_place and 0 < int(node.name) <= len(items) else ""


_SETS = (exp.Group, exp.Tuple, exp.Paren, *GROUPING_SETS)


def _is_plain(value: exp.Expr, keys: Collection[str]) -> bool:
    """Whether an output column is a key, or made of aggregates."""
    return (isinstance(value, exp.Column) and value.name.lower() in keys) or bool(aggregates_in(value))


def _has_its_place(node: exp.Expr) -> bool:
    """Whether a node is of those that do not stand wherever an expression does."""
    if not _CALLS[type(node)]:
        return False
    if _PLACED[type(node)] or is_aggregate(node) or is_generator(node):
        return True
    return function_name(node) in _ORDERED or is_grouping(node)


def _parts(select: exp.Select) -> Iterator[exp.Expr]:
    for value in select.args.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, exp.Expr) and not isinstance(item, (exp.Query, exp.With, exp.From)):
                yield item


def _ordering(select: exp.Select) -> Iterator[Refused]:
    having, group = select.args.get("having"), select.args.get("group")
    for clause in _ORDERS:
        part = select.args.get(clause)
        for window in windows_in(part) if part is not None else ():
            if not isinstance(window.find_ancestor(exp.Window, exp.Query), exp.Window):
                hint = "compute it in an output column, and name that column here"
                yield Refused(window, f"{clause.upper()} BY takes no window function", hint)
    order = select.args.get("order")
    if (
        order is not None
        and group is None
        and not any(aggregates_in(one) for one in (*select.expressions, having) if one)
    ):
        for call in aggregates_in(order):
            yield Refused(call, "ORDER BY takes no aggregate where nothing is grouped", "compute it in a sub-query")


def _clauses(select: exp.Select) -> Iterator[Refused]:
    where, having, group = (select.args.get(clause) for clause in ("where", "having", "group"))
    rows = [("WHERE", where)] if where is not None else []
    rows += [("a join condition", join.args["on"]) for join in select.args.get("joins") or () if join.args.get("on")]
    rows += [("GROUP BY", key) for key in (group.expressions if group is not None else ())]
    rows += _named_keys(select)
    for place, part in rows:
        for call in aggregates_in(part):
            hint = "write it in HAVING, or compute it in a sub-query"
            yield Refused(call, f"{function_name(call)}() is an aggregate, and {place} sees single rows", hint)
    for place, part in [*rows, *([("HAVING", having)] if having is not None else [])]:
        for window in windows_in(part):
            hint = "write it in QUALIFY, or compute it in a sub-query"
            yield Refused(window, f"{place} takes no window function", hint)
    yield from _ordering(select)
    for place, part in [*rows, ("HAVING", having), ("ORDER BY", select.args.get("order"))]:
        for call in generators_in(part) if part is not None else ():
            yield Refused(call, f"{place} takes no {function_name(call)}()", _LATERAL)


def _named_keys(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    """The output columns that GROUP BY names by their places."""
    group, items = select.args.get("group"), select.selects
    for key in group.expressions if group is not None else ():
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(items):
            yield f"GROUP BY {key.name}", items[int(key.name) - 1]


_ORDERS = ("order", "sort", "cluster", "distribute")
_LATERAL = "write LATERAL VIEW explode(…) name AS column"


def _generated(select: exp.Select) -> Iterator[Refused]:
    having = select.args.get("having")
    folded = having is not None and bool(aggregates_in(having))
    for node in (one for item in select.expressions if folded for one in generators_in(item)):
        hint = "group in a sub-query, and make the rows around it"
        yield Refused(node, f"{function_name(node)}() is beside a HAVING with an aggregate", hint)
    for item in select.expressions:
        call = item.this if isinstance(item, (exp.Alias, exp.Aliases)) else item
        for node in generators_in(call):
            if node is not call:
                yield Refused(node, f"{function_name(node)}() stands alone in a SELECT, in no expression", _LATERAL)


def _call(node: exp.Expr, windows: set[str]) -> Iterator[Refused]:
    if isinstance(node, exp.Window):
        yield from _window(node, windows)
    elif (name := function_name(node)) in _ORDERED and not _is_over(node):
        yield Refused(node, f"{name}() needs OVER", f"write {name}(…) OVER (PARTITION BY … ORDER BY …)")
    elif is_aggregate(node) and not is_generator(node) and not _is_over(node):
        for inner in (part for child in node.iter_expressions() for part in own_nodes(child)):
            if isinstance(inner, exp.Window):
                hint = "compute it in a sub-query"
                yield Refused(inner, f"{function_name(node)}() takes no window function", hint)
            elif is_aggregate(inner) and not _is_over(inner):
                hint = "compute the inner one in a sub-query"
                yield Refused(inner, f"{function_name(node)}() takes no other aggregate", hint)
    elif isinstance(node, exp.Filter):
        for call in aggregates_in(node.expression):
            yield Refused(call, "FILTER sees single rows, and takes no aggregate", "compute it in a sub-query")
    elif isinstance(node, exp.Extract) and node.this.name.lower() not in _FIELDS:
        hint = "such as YEAR, MONTH, DAY, DOW, HOUR, MINUTE or SECOND"
        yield Refused(node, f"EXTRACT knows no field {node.this.name}", hint)


def _window(node: exp.Window, windows: set[str]) -> Iterator[Refused]:
    call = node.this
    if isinstance(call, exp.Filter):
        hint = "fold a CASE WHEN condition THEN value END"
        yield Refused(node, "a function with FILTER stands before OVER, which Spark does not compute", hint)
    while isinstance(call, _OVER):
        call = call.this
    name = function_name(call)
    base = node.args.get("alias")
    if base is not None and base.name.lower() not in windows:
        yield Refused(node, f"no window is named {base.name}", f"write WINDOW {base.name} AS (…)")
    if name in _ORDERED and base is None and node.args.get("order") is None:
        yield Refused(node, f"{name}() needs an ORDER BY in its window", "say which row is the first")
    if name == "median" and (node.args.get("order") is not None or _is_cut(node.args.get("spec"))):
        yield Refused(node, "median() takes no ORDER BY and no frame in its window", "write PARTITION BY only")
    if isinstance(call.this, exp.Distinct):
        hint = "count in a sub-query with GROUP BY"
        yield Refused(node, f"{name}(DISTINCT …) takes no OVER", hint)


def _is_cut(frame: exp.Expr | None) -> bool:
    return frame is not None and not frame.args.get("start") == frame.args.get("end") == "UNBOUNDED"


def _is_over(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, _OVER):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def ungrouped(scope: Scope) -> Iterator[Refused]:
    """Columns of a grouped SELECT that are in no group key and in no aggregate.

    A column that a longer key contains is not looked at: whether Spark finds the key in an expression is its affair.

    Args:
        scope: Of a qualified query.
    """
    select = scope.expression
    if not isinstance(select, exp.Select):
        return
    group = select.args.get("group")
    parts = [*select.expressions, *(one for clause in ("having", "order") if (one := select.args.get(clause)))]
    if group is None and not any(aggregates_in(part) for part in parts):
        return
    if group is not None and group.args.get("totals"):
        return
    keys = _keys(group, select)
    if keys is None:
        return
    parts = [part for part in parts if part.unalias() not in keys]
    # To Spark `GROUP BY (a, b)` is one key, a struct.
    whole = [key for key in keys if not isinstance(key, exp.Tuple)]
    covered = {(c.table.lower(), c.name.lower()) for key in whole for c in key.find_all(exp.Column)}
    for part in parts:
        yield from _bare(part, scope, covered)


def not_of_sets(scope: Scope) -> Iterator[Refused]:
    """Arguments of GROUPING and GROUPING_ID that are not the keys of ROLLUP, CUBE or GROUPING SETS.

    Args:
        scope: Of a qualified query.
    """
    select = scope.expression
    if not isinstance(select, exp.Select) or not has_grouping_sets(select):
        return
    keys = list(dict.fromkeys(grouping_keys(select.args["group"])))
    if any(key.is_int or (isinstance(key, exp.Column) and not key.table) for key in keys):
        return  # places, and names of output columns
    shown = ", ".join(map(short, keys))
    for node in (node for part in _parts(select) for node in own_nodes(part)):
        name = function_name(node) if _CALLS[type(node)] else ""
        given = [one.unnest() for one in node.iter_expressions()] if is_grouping(node) else []
        strange = next((one for one in given if not _is_key(one, keys)), None)
        if strange is not None:
            yield Refused(strange, f"{name}() takes what GROUP BY has, and {short(strange)} is none of {shown}", _SHOWN)
        elif name == "grouping_id" and given != keys and given and all(one in keys for one in given):
            message = f"grouping_id() takes all that GROUP BY has, in its order: {shown}"
            yield Refused(node, message, "write grouping_id()")


def _is_key(node: exp.Expr, keys: Sequence[exp.Expr]) -> bool:
    """Whether an expression is a key, or may be one that is written in another way."""
    if node in keys or isinstance(node, exp.Column):
        return node in keys
    columns = set(node.find_all(exp.Column))
    return any(set(key.find_all(exp.Column)) == columns for key in keys if not isinstance(key, exp.Column))


_SHOWN = "name a column of the ROLLUP, CUBE or GROUPING SETS"


def _keys(group: exp.Expr | None, select: exp.Select) -> list[exp.Expr] | None:
    """The keys of a GROUP BY; None: they are not known."""
    if group is None:
        return []
    if group.args.get("all"):
        return [item.unalias() for item in select.selects if not aggregates_in(item)]
    keys = [_at_position(key, select) for key in group.iter_expressions()]
    known = [key.unalias().unnest() if not isinstance(key, exp.Tuple) else key for key in keys if key is not None]
    return known if len(known) == len(keys) else None


def _at_position(key: exp.Expr, select: exp.Select) -> exp.Expr | None:
    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.name)
        return select.selects[place - 1] if 0 < place <= len(select.selects) else None
    return key


def _bare(part: exp.Expr, scope: Scope, covered: set[tuple[str, str]]) -> Iterator[Refused]:
    inside = {id(node) for call in aggregates_in(part) for node in call.walk()}
    around = [one for one in own_nodes(part) if isinstance(one, (exp.Filter, exp.WithinGroup)) and not _is_over(one)]
    inside |= {id(node) for one in around for node in one.walk()}
    for column in own_nodes(part):
        if not isinstance(column, exp.Column) or id(column) in inside or column.table not in scope.sources:
            continue
        if (column.table.lower(), column.name.lower()) not in covered:
            hint = "add it to GROUP BY, or write any_value(…) around it"
            yield Refused(column, f"column '{column.name}' is neither a group key nor in an aggregate", hint)

"""Calls that make rows, spelled out: each in a LATERAL VIEW, with a name for each of its columns.

So no other analysis needs to know which names Spark gives to the columns of `inline(items)`, or that
`SELECT id, posexplode(items)` has three columns. Each rewriting gives the same rows in the same order of columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location, StrategyError, StreamhouseError, UnknownTableError, UntypedColumnError
from streamhouse.model.table import Column
from streamhouse.sql.classes import Kinds
from streamhouse.sql.dialect import place_of, short
from streamhouse.sql.generators import Columns, arguments_of
from streamhouse.sql.infer import Inference
from streamhouse.sql.left_out import check_left_out
from streamhouse.sql.literals import whole_number
from streamhouse.sql.resolved import qualified, scope_of
from streamhouse.sql.scopes import (
    aggregates_in,
    function_name,
    is_generator,
    merges,
    names_in_from,
    own_nodes,
    windows_in,
)

_MARK = "generator"
_ROWS = "_rows"
_FIELDS = "_fields"
_TABLE, _LATERAL, _SELECT = Kinds(exp.Table), Kinds(exp.Lateral), Kinds(exp.Select)
_AROUND = ("distinct", "order", "sort", "cluster", "distribute", "limit", "offset")
_HINT = "write LATERAL VIEW with a name for each column, or CAST(… AS array<…>) inside"
_LATERAL_ONLY = frozenset({"variant_explode", "variant_explode_outer"})
"""Functions that Spark takes only in FROM."""


class _Found:
    """One call whose columns have no names yet.

    Attributes:
        call: The call.
        holder: The LATERAL, or the output column, in which it is.
        excepts: The names behind EXCEPT, where it is the `s.*` of a struct.
    """

    def __init__(self, call: exp.Expr, holder: exp.Expr, excepts: Sequence[exp.Expr] = ()) -> None:
        self.call, self.holder, self.excepts = call, holder, excepts


def spell_rows(query: exp.Query, visible: Mapping[str, Mapping[str, Column]], sql: str, at: Location) -> bool:
    """Write out each call that makes rows; changes the tree.

    Args:
        query: As parsed, its ports checked.
        visible: Port → its columns as the query sees them.
        sql: Its text.
        at: Where that begins.

    Returns:
        Whether there was one, so that the nodes of the query are others now.

    Raises:
        UntypedColumnError: the columns of a call are not known.
        StrategyError: a call is beside something that cannot be followed.
    """
    names = count()
    nodes = list(query.walk())
    _refuse_views(nodes, sql, at)
    _without_words(nodes)
    changed = _tables_as_queries(nodes, names, sql, at)
    changed = _joins_as_views(nodes) or changed
    nodes = list(query.walk()) if changed else nodes
    waiting = [*_unnamed(nodes, names), *_struct_stars(nodes)]
    while waiting:
        changed = True
        columns = _columns(query, waiting, visible, at)
        if not columns:
            raise _unknown(waiting[0], sql, at)
        for place, found in sorted(columns.items(), reverse=True):
            one = waiting.pop(place)
            if function_name(one.call) == _FIELDS:
                check_left_out(one.excepts, found, sql, at)
                unwanted = {item.name.lower() for item in one.excepts}
                _spread(one.call, [name for name in found if name.lower() not in unwanted], sql, at)
            elif isinstance(one.holder, exp.Lateral):
                _name_lateral(one.holder, found)
            else:
                _into_lateral(one, found, names, sql, at)
    return changed


def _unknown(found: _Found, sql: str, at: Location) -> StreamhouseError:
    if function_name(found.call) == _FIELDS:
        name = arguments_of(found.call)[0].sql("spark")
        select = found.call.find_ancestor(exp.Select)
        known = ", ".join(names_in_from(select)) if select is not None else ""
        message = f"unknown table '{name}' before .*"
        hint = f"the FROM has {known or 'no table'}; or name a column that is a struct"
        return UnknownTableError(message, at=place_of(found.call, sql, at), hint=hint)
    message = f"the columns of {short(found.call)} cannot be derived"
    return UntypedColumnError(message, at=place_of(found.call, sql, at), hint=_HINT)


def _refuse_views(nodes: Sequence[exp.Expr], sql: str, at: Location) -> None:
    for node in nodes:
        if isinstance(node, exp.Func) and function_name(node) in {*_LATERAL_ONLY, "range"}:
            inside = node.parent
            if not isinstance(inside, exp.Table) and not (
                isinstance(inside, exp.Lateral) and not inside.args.get("view")
            ):
                name = function_name(node)
                hint = f"write FROM a, LATERAL {name}(…) AS b"
                raise StrategyError(f"Spark takes {name}() in FROM only", at=place_of(node, sql, at), hint=hint)


def _without_words(nodes: Sequence[exp.Expr]) -> None:
    """`explode(collection => a)` as `explode(a)`, for a LATERAL VIEW takes no names of arguments."""
    for node in nodes:
        if isinstance(node, exp.Kwarg) and is_generator(node.parent or node) and node.name.lower() in _ARGUMENTS:
            node.replace(node.expression)


_ARGUMENTS = frozenset({"collection", "input"})


# --- functions in FROM ---


def _joins_as_views(nodes: Sequence[exp.Expr]) -> bool:
    """`FROM t, LATERAL explode(a) AS e(x)` as `FROM t LATERAL VIEW explode(a) e AS x`, where no other join follows."""
    found = False
    for select in [node for node in nodes if _SELECT[type(node)]]:
        joins = list(select.args.get("joins") or [])
        moved: list[exp.Expr] = []
        while joins and _is_view(joins[-1]):
            lateral = joins.pop().this
            lateral.set("view", True)
            moved.insert(0, lateral)
        if moved:
            select.set("joins", joins)
            select.set("laterals", [*moved, *(select.args.get("laterals") or [])])
            found = True
    return found


def _is_view(join: exp.Join) -> bool:
    lateral = join.this
    plain = not join.side and join.kind in ("", "CROSS", "INNER") and join.args.get("on") in (None, exp.true())
    is_call = isinstance(lateral, exp.Lateral) and is_generator(lateral.this)
    return plain and is_call and function_name(lateral.this) not in _LATERAL_ONLY


def _tables_as_queries(nodes: Sequence[exp.Expr], names: Iterator[int], sql: str, at: Location) -> bool:
    """`FROM explode(…) AS e(x)` as `FROM (SELECT explode(…)) AS e(x)`."""
    tables = [node for node in nodes if _TABLE[type(node)] and isinstance(node.this, exp.Func)]
    for table in tables:
        call: exp.Expr = table.this
        if function_name(call) == "range":
            call = _range(call, sql, at)
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(f"{_ROWS}{next(names)}"))
        select = exp.Select(expressions=[call])
        if function_name(call) in _LATERAL_ONLY:
            name = f"{_ROWS}{next(names)}"
            lateral = exp.Lateral(this=call, view=False, alias=exp.TableAlias(this=exp.to_identifier(name)))
            star = exp.Column(this=exp.Star(), table=exp.to_identifier(name))
            select = exp.Select(expressions=[star], from_=_one_row(names), joins=[exp.Join(this=lateral, kind="CROSS")])
        more = {key: table.args[key] for key in ("joins", "laterals") if table.args.get(key)}
        table.replace(exp.Subquery(this=select, alias=alias, **more))
    return bool(tables)


def _one_row(names: Iterator[int]) -> exp.From:
    one = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), "one")])
    return exp.From(this=one.subquery(f"{_ROWS}{next(names)}"))


def _range(call: exp.Expr, sql: str, at: Location) -> exp.Expr:
    """`range(3)` as `explode(sequence(0L, 2L, 1L)) AS id`."""
    bounds = [whole_number(part.unnest()) for part in arguments_of(call)[:3]]
    start, end, step = 0, None, 1
    if len(bounds) == 1:
        end = bounds[0]
    elif len(bounds) > 1:
        start, end, step = [bounds[0], bounds[1], *bounds[2:], 1][:3]  # type: ignore[assignment]  # None is refused below
    if None in bounds or end is None or step == 0:
        hint = "write LATERAL VIEW explode(sequence(…)) for bounds that are computed"
        raise StrategyError("range() takes whole numbers here", at=place_of(call, sql, at), hint=hint)
    numbers = range(start, end, step)
    bigint = exp.DataType(this=exp.DType.BIGINT)
    parts = [exp.cast(exp.Literal.number(n), bigint) for n in (numbers[0], numbers[-1], step)] if numbers else []
    values: exp.Expr = exp.Anonymous(this="sequence", expressions=parts)
    if not numbers:
        kind = exp.DataType(this=exp.DType.ARRAY, expressions=[bigint], nested=True)
        values = exp.cast(exp.Anonymous(this="array", expressions=[]), kind)
    return exp.alias_(exp.Explode(this=values), "id")


# --- names ---


def _unnamed(nodes: Sequence[exp.Expr], names: Iterator[int]) -> Iterator[_Found]:
    for node in nodes:
        if _LATERAL[type(node)] and is_generator(node.this):
            alias = node.args.get("alias")
            if alias is None or not alias.this:
                columns = alias.columns if alias is not None else []
                node.set("alias", exp.TableAlias(this=exp.to_identifier(f"{_ROWS}{next(names)}"), columns=columns))
            if not node.args["alias"].columns:
                yield _Found(node.this, node)
        elif _SELECT[type(node)]:
            for item in node.expressions:
                call = item.this if isinstance(item, exp.Aliases) else item
                if is_generator(call):
                    yield _Found(call, item)
                elif isinstance(item, exp.Alias) and is_generator(item.this) and _is_read(item.alias, item, node):
                    yield _Found(item.this, item)


def _columns(
    query: exp.Query, waiting: Sequence[_Found], visible: Mapping[str, Mapping[str, Column]], at: Location
) -> dict[int, list[str]]:
    """Place in `waiting` → the names of the columns of that call, of those whose types are known by now."""
    for place, found in enumerate(waiting):
        found.call.meta[_MARK] = place
    tree = qualified(query.copy(), visible, at)
    inference = Inference(visible)
    known: dict[int, list[str]] = {}
    for scope in scope_of(tree, at).traverse():
        for node in _calls(scope):
            place = node.meta_get(_MARK)
            if place is not None and place not in known:
                columns = _fields(node, scope, inference)
                if columns is not None and all(kind is not None for _, kind in columns):
                    known[place] = [name for name, _ in columns]
    for found in waiting:
        found.call.meta.pop(_MARK, None)
    return known


def _calls(scope: Scope) -> Iterator[exp.Expr]:
    query = scope.expression
    if isinstance(query, exp.Lateral):
        yield query.this
    elif isinstance(query, exp.Select):
        yield from (node for node in own_nodes(query) if node.meta_get(_MARK) is not None)


def _name_lateral(lateral: exp.Lateral, columns: Sequence[str]) -> None:
    alias = lateral.args["alias"]
    alias.set("columns", [exp.to_identifier(name) for name in columns])


# --- stars of structs ---


def _struct_stars(nodes: Sequence[exp.Expr]) -> Iterator[_Found]:
    """Each `s.*` of which no table has the name, as a call that gives the fields of s."""
    stars = [node.parent for node in nodes if isinstance(node, exp.Star) and isinstance(node.parent, exp.Column)]
    for column in [one for one in stars if isinstance(one, exp.Column)]:
        select = column.find_ancestor(exp.Select)
        known = {name.lower() for name in names_in_from(select)} if select is not None else set()
        if column.args.get("db") is None and column.table.lower() in known:
            continue
        struct = exp.Column(this=column.args["table"].copy())
        if column.args.get("db") is not None:
            struct.set("table", column.args["db"].copy())
        call = exp.Anonymous(this=_FIELDS, expressions=[struct])
        column.replace(call)
        yield _Found(call, call, column.this.args.get("except_") or ())


def _fields(call: exp.Expr, scope: Scope, inference: Inference) -> Columns | None:
    if function_name(call) != _FIELDS:
        return inference.generated(call, scope)
    kind = inference.type_of(call.expressions[0], scope)
    return kind.fields if kind is not None and kind.kind == "struct" else None


def _spread(call: exp.Expr, names: Sequence[str], sql: str, at: Location) -> None:
    """Put the fields of a struct into the place of its star."""
    holder = call.parent
    struct = call.expressions[0]
    fields: list[exp.Expr] = [
        exp.Dot(this=struct.copy(), expression=exp.to_identifier(name, quoted=True)) for name in names
    ]
    if isinstance(holder, exp.Struct):
        fields = [
            exp.PropertyEQ(this=exp.to_identifier(name), expression=field)
            for name, field in zip(names, fields, strict=True)
        ]
    elif isinstance(holder, exp.Select):
        fields = [exp.alias_(field, exp.to_identifier(name)) for name, field in zip(names, fields, strict=True)]
    elif not isinstance(holder, exp.Anonymous):
        message = f"{struct.sql('spark')}.* is not followed here"
        raise StrategyError(message, at=place_of(call, sql, at), hint="name the fields")
    holder.set("expressions", [one for item in holder.expressions for one in (fields if item is call else [item])])


# --- calls among output columns ---


def _into_lateral(found: _Found, columns: Sequence[str], names: Iterator[int], sql: str, at: Location) -> None:
    item = found.holder
    select = item.parent
    assert isinstance(select, exp.Select)
    shown = [item.alias] if isinstance(item, exp.Alias) else list(columns)
    shown = [name.name for name in item.expressions] if isinstance(item, exp.Aliases) else shown
    place = place_of(found.call, sql, at)
    if len(shown) != len(columns):
        message = f"{short(found.call)} gives {len(columns)} columns, and {len(shown)} names are here"
        raise UntypedColumnError(message, at=place, hint=f"it gives {', '.join(columns)}")
    if len(columns) == 1 and not _is_read(shown[0], item, select):
        item.replace(exp.alias_(found.call.copy(), exp.to_identifier(shown[0])))
        return
    clauses = [*select.expressions, *(c for key in ("qualify", "order") if (c := select.args.get(key)) is not None)]
    if any(windows_in(part) for part in clauses):
        hint = "compute the window function in a sub-query"
        raise StrategyError("a window function is beside a function that makes rows", at=place, hint=hint)
    _spell_stars(select, place)
    name = f"{_ROWS}{next(names)}"
    own = [f"{name}_{i}" for i in range(len(columns))]
    items = [
        exp.alias_(exp.column(exp.to_identifier(column), exp.to_identifier(name)), exp.to_identifier(text))
        for column, text in zip(own, shown, strict=True)
    ]
    index = next(i for i, one in enumerate(select.expressions) if one is item)
    call: exp.Expr = found.call.copy()
    grouped = select.args.get("group") is not None or select.args.get("having") is not None
    if grouped or any(aggregates_in(part) for part in select.expressions):
        if sum(1 for one in select.expressions if any(map(is_generator, own_nodes(one)))) > 1:
            hint = "group in a sub-query, and write a LATERAL VIEW for each"
            raise StrategyError("two functions that make rows are beside a grouping", at=place, hint=hint)
        _behind_grouping(select, index, call, items, names)
    else:
        select.set("expressions", [*select.expressions[:index], *items, *select.expressions[index + 1 :]])
        if select.args.get("from_") is None:
            select.set("from_", _one_row(names))
    select.append("laterals", _lateral(call, name, own))


def _is_read(name: str, item: exp.Expr, select: exp.Expr) -> bool:
    """Whether another output column computes with the rows that a call makes, by the name that they have."""
    others = (node for one in select.expressions if one is not item for node in one.find_all(exp.Column))
    return any(not node.table and node.name.lower() == name.lower() for node in others)


def _lateral(call: exp.Expr, name: str, columns: Sequence[str]) -> exp.Lateral:
    alias = exp.TableAlias(this=exp.to_identifier(name), columns=[exp.to_identifier(c) for c in columns])
    return exp.Lateral(this=call, view=True, outer=False, alias=alias)


def _spell_stars(select: exp.Select, at: Location) -> None:
    """`*` as `t.*` of each table, so that the LATERAL VIEW adds nothing to it."""
    if not any(isinstance(item, exp.Star) for item in select.expressions):
        return
    joins = select.args.get("joins") or []
    if merges(joins):
        hint = "name the columns, or write a LATERAL VIEW"
        raise StrategyError("* of a join by USING is beside a function that makes rows", at=at, hint=hint)
    if len(names_in_from(select)) > 1 and any(item.args.get("except_") for item in select.expressions):
        message = "* EXCEPT of several tables is beside a function that makes rows"
        raise StrategyError(message, at=at, hint="name the columns, or write a LATERAL VIEW")
    items: list[exp.Expr] = []
    for item in select.expressions:
        if isinstance(item, exp.Star):
            items += [exp.Column(this=item.copy(), table=exp.to_identifier(n)) for n in names_in_from(select)]
        else:
            items.append(item)
    select.set("expressions", items)


def _behind_grouping(
    select: exp.Select, index: int, call: exp.Expr, items: list[exp.Expr], names: Iterator[int]
) -> None:
    """`SELECT k, posexplode(collect_list(v)) … GROUP BY k`: the rows are made of those of the grouping."""
    inner = select.copy()
    for clause in _AROUND:
        inner.set(clause, None)
    name = f"{_ROWS}{next(names)}"
    hidden, shown = [], []
    for i, one in enumerate(inner.expressions):
        if i == index:
            shown += items
            for j, argument in enumerate(arguments_of(call)):
                if not isinstance(argument, exp.Literal):
                    text = f"{name}_{i}_{j}"
                    hidden.append(exp.alias_(argument.copy(), text))
                    argument.replace(exp.column(text, name))
            continue
        text = one.alias_or_name or f"{name}_{i}"
        hidden.append(one.copy() if isinstance(one, exp.Alias) else exp.alias_(one.copy(), text))
        shown.append(exp.alias_(exp.column(exp.to_identifier(text), name), exp.to_identifier(text)))
    inner.set("with_", None)
    inner.set("expressions", hidden)
    for clause in [key for key in select.args if key not in (*_AROUND, "with_", "kind")]:
        select.set(clause, None)
    select.set("expressions", shown)
    select.set("from_", exp.From(this=inner.subquery(name)))

"""Cuts a query in two: which rows it puts together, and what it makes of each group of them.

The rows are those of FROM, JOIN and WHERE of the SELECT that makes groups. A group is what GROUP BY, PARTITION BY or
DISTINCT name, else the primary key.
"""

from collections.abc import Callable

from sqlglot import exp
from sqlglot.optimizer.eliminate_ctes import eliminate_ctes

from streamhouse.model.delta_plan import ROWS, DeltaPlan
from streamhouse.model.table import Column
from streamhouse.sql.delta.cut import QueryCut, cut, is_in_query, partitions, scope_of
from streamhouse.sql.delta.kinds import KEYS, VALUES
from streamhouse.sql.delta.links import linear_ports, links
from streamhouse.sql.delta.steady import refuse_unsteady
from streamhouse.sql.delta.totals import NoTotalError, Totals
from streamhouse.sql.dialect import render_written
from streamhouse.sql.rows import Inputs, NotProvenError
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import function_name
from streamhouse.sql.traces import text_of
from streamhouse.sql.typed import Typed
from streamhouse.sql.windows import bounds_of, is_bound

_SOURCES = ("from_", "joins", "laterals", "where")
_ALL = "g"


def block_plan(query: CheckedQuery, inputs: Inputs, key: tuple[str, ...], *, as_one: bool = False) -> DeltaPlan:
    """How a query is kept up to date by the groups that an epoch touches, without any stage.

    Args:
        query: Checked and qualified; stays as it is.
        inputs: Of every port.
        key: Primary key of the result.
        as_one: Whether all rows may be one group where window functions do not part them.

    Raises:
        NotProvenError: this is not known to give what the query gives.
    """
    found = cut(query, key, as_one=as_one)
    shown = _shown(found, key)
    values, totals, result = _by_totals(found) or _by_rows(found)
    rows = _rows(found, values)
    refuse_unsteady(rows, inputs, found.inference)
    columns = {column.name: column for column in found.inference.of_another_query().outputs(scope_of(rows))}
    groups = [name for parts in found.keys for name in parts] or [_ALL]
    linear, tied = linear_ports(rows, inputs, found.inference), links(rows, inputs, found.inference)
    if not linear and not any(tied):
        raise NotProvenError("no input has a column that determines which rows of the others match its changes")
    return DeltaPlan(
        rows=render_written(rows),
        groups=tuple(_column(columns[name], KEYS) for name in groups),
        key=tuple(dict.fromkeys(shown.values())) or (_ALL,),
        values=totals.columns if totals else tuple(_column(columns[name], VALUES) for name in values),
        totals=render_written(totals.query(groups)) if totals else None,
        result=render_written(result),
        shown=shown,
        linear=linear,
        links=tied,
        top=found.top,
        single=not found.keys and found.folds,
        hidden=found.hidden,
    )


def _shown(found: QueryCut, key: tuple[str, ...]) -> dict[str, str]:
    """Column of the primary key → the group that it is; of window functions over groups, those that partition all.

    Raises:
        NotProvenError: there is none, so the rows of a group cannot be found in the table.
    """
    shown: dict[str, str] = {}
    windows = found.windows if found.folds else []  # a window function sees the groups beside a group
    apart = partitions(windows) if windows else found.groups
    for item in found.select.selects:
        text = text_of(item.unalias())
        group = found.groups.get(text) if text in apart else None
        for name in found.outer.get(item.alias_or_name, []):
            if group is not None and name in key:
                shown.setdefault(name, group)
    if found.keys and not shown:
        over = ", and every window function partitioned" if windows else ""
        raise NotProvenError(f"the primary key has no column by which rows are grouped{over}")
    if windows and not found.keys:
        raise NotProvenError("a window function over the only group")
    return shown


def _by_totals(found: QueryCut) -> tuple[dict[str, exp.Expr], Totals | None, exp.Select] | None:
    """Values of the rows, their totals, and the result of these; None: something does not follow from totals."""
    if not found.folds or found.windows or found.sessions:
        return None
    totals = Totals(found)
    try:
        result = _result(found, totals.shown)
    except NoTotalError:
        return None
    having = result.args.get("having")
    result.set("group", None)
    result.set("having", None)
    result.set("where", exp.Where(this=having.this) if having is not None else None)
    return totals.values, totals, result


def _by_rows(found: QueryCut) -> tuple[dict[str, exp.Expr], Totals | None, exp.Select]:
    """Values of the rows, and the result of the rows themselves."""
    values: dict[str, exp.Expr] = {}
    names: dict[str, str] = {}

    def shown(node: exp.Expr) -> exp.Expr:
        group = found.group_of(node)
        if group is not None:
            return exp.column(group, ROWS)
        if not isinstance(node, (exp.Column, exp.Subquery, exp.Exists)) and not is_in_query(node):
            return node
        name = names.setdefault(text_of(node), f"v{len(names)}")
        values.setdefault(name, node)
        return exp.column(name, ROWS)

    return values, None, _result(found, shown)


def _result(found: QueryCut, shown: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    """The SELECT over the port `grouped`, with the columns of the whole query."""
    names = {name: item for item in found.select.selects for name in found.outer.get(item.alias_or_name, [])}
    ordered = [name for item in found.root.selects if (name := item.alias_or_name) in names]
    _refuse_whole_windows(found)
    items = [exp.alias_(names[name].unalias().transform(shown), name, copy=False) for name in ordered]
    result = exp.Select(expressions=items, from_=exp.From(this=exp.Table(this=exp.to_identifier(ROWS))))
    for clause in ("group", "having", "qualify", "distinct"):
        if (part := found.select.args.get(clause)) is not None:
            result.set(clause, part.transform(shown))
    if found.select.args.get("group"):
        by: list[exp.Expr] = [exp.column(name, ROWS) for keys in found.keys for name in keys]
        by += [session.transform(shown) for session in found.sessions]
        result.set("group", exp.Group(expressions=by))
    return result


def _refuse_whole_windows(found: QueryCut) -> None:
    """A group has the start and the end of a time window; the window itself is no column of it.

    Raises:
        NotProvenError: the query shows the window.
    """
    for part in found.shaping:
        for node in part.walk(prune=is_bound):
            if function_name(node) == "window" and not is_bound(node) and found.group_of(bounds_of(node)[0]):
                raise NotProvenError("it shows a time window as a whole; show its start")


def _rows(found: QueryCut, values: dict[str, exp.Expr]) -> exp.Select:
    """FROM, JOIN and WHERE of the SELECT, with groups and values as columns."""
    groups = [exp.alias_(node.copy(), name, copy=False) for parts in found.keys for name, node in parts.items()]
    one = [] if groups else [exp.alias_(exp.Literal.number(0), _ALL)]
    others = [exp.alias_(node.copy(), name, copy=False) for name, node in values.items()]
    rows = exp.Select(expressions=[*groups, *one, *others])
    for clause in _SOURCES:
        part = found.select.args.get(clause)
        rows.set(clause, [one.copy() for one in part] if isinstance(part, list) else part and part.copy())
    ctes = _ctes_before(found.select)
    if ctes:
        rows.set("with_", exp.With(expressions=ctes))
    pruned = eliminate_ctes(rows)
    assert isinstance(pruned, exp.Select)
    return pruned


def _ctes_before(select: exp.Select) -> list[exp.CTE]:
    """The WITH queries that a SELECT may read, inner ones last."""
    found: list[exp.CTE] = []
    node: exp.Expr | None = select
    above = {id(select)}
    while node is not None:
        with_ = node.args.get("with_") if isinstance(node, exp.Query) else None
        ctes = with_.expressions if with_ is not None else []
        stop = next((at for at, cte in enumerate(ctes) if id(cte) in above), len(ctes))
        found = [*(cte.copy() for cte in ctes[:stop]), *found]
        node = node.parent
        above.add(id(node))
    return found


def _column(column: Typed, kinds: frozenset[str]) -> Column:
    if column.type is None or column.type.kind not in kinds:
        raise NotProvenError(f"its state would have a column of type {column.type}")
    return Column(name=column.name, type=str(column.type))

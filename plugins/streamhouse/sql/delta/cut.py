"""Finds the SELECT of a query that makes groups, and what makes them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from streamhouse.model.delta_plan import TopRows
from streamhouse.model.table import Column
from streamhouse.sql.delta.kinds import KEYS
from streamhouse.sql.delta.top import take_top
from streamhouse.sql.determinism import is_clock
from streamhouse.sql.fold import group_keys
from streamhouse.sql.infer import Inference
from streamhouse.sql.rows import NotProvenError
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import aggregates_in, function_name, peel, windows_in
from streamhouse.sql.traces import text_of
from streamhouse.sql.windows import bounds_of

_CUTS = {
    "limit": "LIMIT depends on all rows",
    "offset": "OFFSET depends on all rows",
    "fetch": "FETCH depends on all rows",
    "windows": "a named window is not followed; write the window after OVER",
    "pivots": "PIVOT is not followed",
    "sort": "SORT BY depends on how rows are spread",
    "cluster": "CLUSTER BY depends on how rows are spread",
    "distribute": "DISTRIBUTE BY depends on how rows are spread",
    "connect": "CONNECT BY is not followed",
}
"""Clause of a SELECT → why it is refused."""


@dataclass(frozen=True)
class QueryCut:
    """The SELECT that makes groups, in a copy of the query.

    Attributes:
        root: The copy.
        scope: Of the SELECT.
        inference: Types in the copy.
        outer: Columns of the SELECT → the names they have in the result.
        top: ORDER BY and LIMIT of the whole query, which the copy does not have.
        hidden: Columns that the copy has more, for ORDER BY alone.
        groups: Text of an expression that determines the group of a row → the name of its column.
        keys: The same, in parts: each is one key, which any of its expressions determines. None: there is one group.
        sessions: Session windows of GROUP BY: the rows of a group make them, so they part no groups.
    """

    root: exp.Query
    scope: Scope
    inference: Inference
    outer: dict[str, list[str]]
    top: TopRows | None
    hidden: tuple[Column, ...] = ()
    groups: dict[str, str] = field(default_factory=dict)
    keys: list[dict[str, exp.Expr]] = field(default_factory=list)
    sessions: list[exp.Expr] = field(default_factory=list)

    @property
    def select(self) -> exp.Select:
        """The SELECT."""
        found = self.scope.expression
        assert isinstance(found, exp.Select)
        return found

    @property
    def shaping(self) -> list[exp.Expr]:
        """All parts of the SELECT that are not about which rows there are."""
        clauses = (self.select.args.get(clause) for clause in ("having", "qualify"))
        return [*self.select.selects, *(clause for clause in clauses if clause is not None)]

    @property
    def windows(self) -> list[exp.Window]:
        """Its window functions."""
        return [window for part in self.shaping for window in windows_in(part)]

    def group_of(self, node: exp.Expr) -> str | None:
        """The column of the group that an expression is; None: of none, or a constant, which stays as it is.

        Spark wants a constant in many places, such as the scale of ROUND and the offset of LAG.
        """
        return None if is_constant(node) else self.groups.get(text_of(node))

    @property
    def folds(self) -> bool:
        """Whether many rows become one."""
        return bool(self.select.args.get("group")) or any(aggregates_in(part) for part in self.shaping)


def cut(query: CheckedQuery, key: tuple[str, ...], *, as_one: bool = False) -> QueryCut:
    """Where a query is cut.

    Args:
        query: Checked and qualified; stays as it is.
        key: Primary key of the result.
        as_one: Whether all rows may be one group where window functions do not part them.

    Raises:
        NotProvenError: it has no such SELECT, or LIMIT with an order that is not known.
    """
    root = query.tree.copy()
    top, hidden = take_top(root, query.inference, key)
    scope, outer = peel(scope_of(root))
    if not isinstance(scope.expression, exp.Select) or scope.expression.args.get("from_") is None:
        raise NotProvenError("the result is no SELECT from inputs")
    found = QueryCut(root, scope, query.inference.of_another_query(), outer, top, hidden)
    _refuse(found)
    if as_one and not found.select.args.get("group") and _is_unparted(found):
        return found
    for number, parts in enumerate(_keys(found, key)):
        names = {text_of(part): f"g{number}" + ("" if at == 0 else f"_{at}") for at, part in enumerate(parts)}
        found.keys.append({names[text_of(part)]: part for part in parts})
        found.groups.update(names)
    if found.select.args.get("group"):
        _add_following(found, key)
        found.sessions.extend(key for key in group_keys(found.select) if _is_session(key))
    if found.sessions and not found.keys:
        raise NotProvenError("a session window without another key depends on all rows")
    return found


def _add_following(found: QueryCut, key: tuple[str, ...]) -> None:
    """Columns of the primary key that follow from the group are groups, too: the table shows the group by them."""
    for item in found.select.selects:
        node = item.unalias()
        if not set(found.outer.get(item.alias_or_name, [])) & set(key) or text_of(node) in found.groups:
            continue
        kind = found.inference.type_of(node, found.scope)
        if kind is not None and kind.kind in KEYS and _follows(node, found):
            name = f"x{len(found.keys)}"
            found.keys.append({name: node})
            found.groups[text_of(node)] = name


def _follows(node: exp.Expr, found: QueryCut) -> bool:
    """Whether an expression has one value in all rows of a group."""
    if is_constant(node) or aggregates_in(node) or windows_in(node) or node.find(exp.Query):
        return False
    ends = node.walk(prune=lambda part: found.group_of(part) is not None)
    return not any(isinstance(part, exp.Column) and found.group_of(part) is None for part in ends)


def _is_unparted(found: QueryCut) -> bool:
    """Whether a window function sees all rows."""
    try:
        return bool(found.windows) and not partitions(found.windows)
    except NotProvenError:
        return True


def is_constant(node: exp.Expr) -> bool:
    """Whether an expression has one value, whatever the row."""
    return node.find(exp.Column, exp.Query) is None and not aggregates_in(node)


def is_in_query(node: exp.Expr) -> bool:
    """Whether an expression asks if a value is among those of a sub-query."""
    return isinstance(node, exp.In) and node.args.get("query") is not None


def scope_of(tree: exp.Query) -> Scope:
    """The scope of a query that has columns."""
    scope = build_scope(tree)
    assert scope is not None
    return scope


def _refuse(found: QueryCut) -> None:
    for clause, why in _CUTS.items():
        if found.select.args.get(clause):
            raise NotProvenError(why)
    if found.folds and any(part.find(exp.Query) for part in found.shaping):
        raise NotProvenError("a sub-query decides more than which rows there are")
    if any(is_clock(node) for node in found.root.find_all(exp.Func)):
        raise NotProvenError("it has the time of day")


def _keys(found: QueryCut, key: tuple[str, ...]) -> Iterator[tuple[exp.Expr, ...]]:
    """What makes a group, each with all expressions that tell it."""
    select = found.select
    if select.args.get("group"):
        yield from _grouped(select)
    elif found.folds:
        return
    elif windows := found.windows:
        yield from _partition(windows)
    elif select.args.get("distinct"):
        yield from ((item.unalias(),) for item in select.selects)
    else:
        items = {name: item for item in select.selects for name in found.outer.get(item.alias_or_name, [])}
        if not set(key) <= set(items):
            raise NotProvenError("the result does not show the whole primary key")
        yield from ((items[name].unalias(),) for name in key)


def _grouped(select: exp.Select) -> Iterator[tuple[exp.Expr, ...]]:
    for key in group_keys(select):
        if _is_session(key):
            continue
        if any(function_name(node) == "session_window" for node in key.walk()):
            raise NotProvenError("an expression over a session window depends on the rows around it")
        yield bounds_of(key) or (key,)


def _is_session(key: exp.Expr) -> bool:
    return function_name(key.unnest()) == "session_window"


def _partition(windows: list[exp.Window]) -> Iterator[tuple[exp.Expr, ...]]:
    yield from ((node,) for node in partitions(windows).values())


def partitions(windows: list[exp.Window]) -> dict[str, exp.Expr]:
    """Text → expression by which every window function is partitioned; a constant parts no rows.

    Raises:
        NotProvenError: there is none.
    """
    parts = [{text_of(part): part for part in window.args.get("partition_by") or []} for window in windows]
    common = {
        text: node for text, node in parts[0].items() if not is_constant(node) and all(text in other for other in parts)
    }
    if not common:
        raise NotProvenError("a window function without PARTITION BY depends on all rows")
    return common

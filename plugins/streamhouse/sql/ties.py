"""Parts of a query whose result depends on the order of rows, which a table does not have.

An epoch that is repeated, a backfill and a batch may each see the rows in another order. Where a key of the
inputs decides, nothing is said. An input without a primary key may have rows that agree in every column that
is compared: there a second column to compare by counts as the answer of somebody who thought of it.

The order in which floating-point numbers are added shows in their last digits; nothing is said of that.
"""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location
from streamhouse.model.notice import Notice
from streamhouse.sql.dialect import place_of, render
from streamhouse.sql.frames import SKETCHES, Needs, folded, needs
from streamhouse.sql.infer import Inference
from streamhouse.sql.row_keys import Keys, KnownColumns, RowKeys, compared, group_keys, sources_of
from streamhouse.sql.scopes import aggregates_in, function_name, has_grouping_sets, selects_of, windows_in
from streamhouse.sql.traces import text_of

_LISTS = frozenset({"collect_list", "array_agg", "collect_set"})
_TEXTS = frozenset({"listagg", "string_agg"})
_APPROXIMATE = frozenset({"percentile_approx", "approx_percentile"})
_ORDERLESS = frozenset(
    {"sort_array", "array_sort", "size", "array_size", "cardinality", "array_max", "array_min", "array_contains"}
)
_AROUND = (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)

_Said = tuple[str, str]  # what depends on the order, and what helps


def ties(root: Scope, keys: Keys, inference: Inference, sql: str, at: Location) -> tuple[Notice, ...]:
    """A notice for each part of a query whose result the order of rows may change.

    Args:
        root: The query, qualified, with places.
        keys: Port → its primary key, in lower case; empty or absent: it has none.
        inference: Of the query.
        sql: Its text.
        at: Where that begins.
    """
    walk = _TieWalk(RowKeys(keys, inference))
    found = []
    for scope in root.traverse():
        if isinstance(scope.expression, exp.Select):
            found += [(node, *said) for node, said in walk.select(scope, scope.expression)]
        if isinstance(scope.expression, exp.Query) and (said := walk.cut(scope, scope.expression)) is not None:
            order = scope.expression.args.get("order")
            found.append((scope.expression if order is None else order, *said))
    notices = [Notice(message, place_of(node, sql, at), hint) for node, message, hint in found]
    return tuple(dict.fromkeys(sorted(notices, key=lambda notice: notice.at)))


class _TieWalk:
    def __init__(self, keys: RowKeys) -> None:
        self._keys = keys

    def select(self, scope: Scope, query: exp.Select) -> list[tuple[exp.Expr, _Said]]:
        clauses = [*query.selects, *(query.args[c] for c in ("having", "qualify", "order") if query.args.get(c))]
        found: list[tuple[exp.Expr, _Said]] = []
        for node in (call for clause in clauses for call in aggregates_in(clause)):
            said = self._aggregate(node, scope)
            if said:
                found.append((node, said))
        for window in (w for clause in clauses for w in windows_in(clause)):
            said = self._window(window, scope, query)
            if said:
                found.append((window, said))
        return found

    # --- aggregates ---

    def _aggregate(self, node: exp.Expr, scope: Scope) -> _Said | None:
        match folded(function_name(node)):
            case Needs.BEST:
                return self._best(node, scope)
            case Needs.VALUES if not _sorted(node) and not _chooses_least(node):
                return self._values(node, scope)
        return None

    def _best(self, node: exp.Expr, scope: Scope) -> _Said | None:
        chosen, by = _both(node)
        known = self._keys.known(scope, _grouped(scope.expression) | compared(by))
        return None if known.tells(chosen) or (known.keyless and len(compared(by)) > 1) else _better(node)

    def _values(self, node: exp.Expr, scope: Scope) -> _Said | None:
        order = node.parent.expression if isinstance(node.parent, exp.WithinGroup) else None
        by = [item.this for item in order.expressions] if order is not None else []
        known = self._keys.known(scope, _grouped(scope.expression).union(*map(compared, by)))
        if _tells_values(known, node) or (known.keyless and len(by) > 1):
            return None
        name, shown = function_name(node), render(node)
        agree = ""
        if by:
            agree = f" that agree in {', '.join(map(render, by))}"
            hint = "add columns to WITHIN GROUP (ORDER BY …) until no two rows agree"
        elif name in _LISTS:
            hint = f"write SORT_ARRAY({shown})"
        elif name in _TEXTS:
            hint = f"write {shown} WITHIN GROUP (ORDER BY …)"
        elif name in _APPROXIMATE:
            hint = "write PERCENTILE, which is exact"
        elif name in SKETCHES:
            hint = "compute it exactly, such as by COUNT(DISTINCT …), or by GROUP BY and COUNT(*)"
        elif name == "mode":
            agree = " where values are there equally often"
            hint = f"write MODE({render(next(node.iter_expressions()))}, TRUE), which gives the least of them"
        else:
            value = render(next(node.iter_expressions()))
            hint = f"write MIN({value}), or MAX_BY({value}, STRUCT(a time, a key))"
        return f"{shown} depends on the order of rows{agree}", hint

    # --- windows ---

    def _window(self, window: exp.Window, scope: Scope, query: exp.Select) -> _Said | None:
        call = window.this
        while isinstance(call, _AROUND):
            call = call.this
        named = {w.name.lower(): w for w in query.args.get("windows") or []}
        definition = named.get(window.alias.lower(), window) if window.alias else window
        needed = needs(call, definition)
        if needed is Needs.NOTHING or (needed is Needs.VALUES and (_sorted(window) or _chooses_least(call))):
            return None
        order = definition.args.get("order")
        ordered = [item.this for item in order.expressions] if order is not None else []
        by = [*(definition.args.get("partition_by") or []), *ordered]
        known = self._keys.selected(scope, by)
        if known.row or (known.keyless and len(ordered) > 1):
            return None
        if needed is Needs.VALUES and _tells_values(known, call):
            return None
        if needed is Needs.BEST:
            chosen, best = _both(call)
            known = self._keys.selected(scope, [*by, best])
            return None if known.tells(chosen) or (known.keyless and len(compared(best)) > 1) else _better(call)
        shown = render(call) if definition.args.get("spec") is None else render(window)
        hint = f"add columns to the window's ORDER BY until no two rows agree{self._apart(scope)}"
        return f"{shown} depends on the order of rows{_agreeing(by)}", hint

    # --- LIMIT ---

    def cut(self, scope: Scope, query: exp.Query) -> _Said | None:
        """What a LIMIT or OFFSET leaves to the order of rows."""
        words = [query.args[clause] for clause in ("limit", "offset") if query.args.get(clause) is not None]
        cuts = [word for word in words if not _is_whole(word)]
        if not cuts or isinstance(query.parent, exp.Exists):
            return None
        by = order_of(query)
        items = [item.unalias() for item in selects_of(scope)]
        if isinstance(query, exp.SetOperation):
            names = {column.name for column in by if isinstance(column, exp.Column)}
            unique = self._keys.unique(scope)
            decided = any(key <= names for key in [*unique, frozenset(item.alias_or_name for item in query.selects)])
            decided = decided or (not unique and len(by) > 1)
        else:
            known = self._keys.selected(scope, by)
            texts = {text_of(part) for part in by}
            decided = known.row or (known.keyless and len(by) > 1) or any(map(_numbers_rows, by))
            decided = decided or all(text_of(item) in texts or known.tells(item) for item in items)
        if decided:
            return None
        shown = " ".join(render(word).strip() for word in cuts)
        hint = f"add columns to ORDER BY until no two rows agree{self._apart(scope)}"
        return f"{shown} depends on the order of rows{_agreeing(by)}", hint

    def _apart(self, scope: Scope) -> str:
        """The columns that distinguish the rows of a SELECT, as the end of a hint."""
        query = scope.expression
        if has_grouping_sets(query):
            return "; the keys and GROUPING_ID() together identify the groups"
        if keys := group_keys(query):
            return f"; the groups are identified by {', '.join(map(render, keys))}"
        keyed = {alias: self._keys.key_of(source) for alias, source in sources_of(scope).items()}
        shown = [f"the key of {alias} is ({', '.join(key)})" for alias, key in keyed.items() if key]
        return f"; {' and '.join(shown)}" if shown else ""


def _grouped(query: exp.Expr) -> set[str]:
    return {text_of(key) for key in group_keys(query)} if not has_grouping_sets(query) else set()


def _better(call: exp.Expr) -> _Said:
    """What to say of MAX_BY or MIN_BY."""
    chosen, by = _both(call)
    hint = f"compare by more: {function_name(call).upper()}({render(chosen)}, STRUCT({render(by)}, a key))"
    return f"{render(call)} depends on the order of rows that agree in {render(by)}", hint


def _agreeing(by: Sequence[exp.Expr]) -> str:
    return f" that agree in {', '.join(map(render, by))}" if by else ""


def _tells_values(known: KnownColumns, call: exp.Expr) -> bool:
    """Whether rows that may change places give a function the same values."""
    return known.row or all(known.tells(part) for part in call.iter_expressions())


def _is_whole(word: exp.Expr) -> bool:
    """Whether a LIMIT or OFFSET takes all rows or none."""
    most = word.expression
    return (isinstance(most, (exp.Column, exp.Var)) and most.name.upper() == "ALL") or (
        isinstance(most, exp.Literal) and most.name == "0"
    )


def order_of(query: exp.Query) -> list[exp.Expr]:
    """What an ORDER BY compares; the expression of an output column in place of its name."""
    order = query.args.get("order")
    by = [item.this for item in order.expressions] if order is not None else []
    if isinstance(query, exp.SetOperation):
        return [exp.column(item.alias_or_name) for item in query.selects] if _is_all(by) else by
    if _is_all(by):
        return [item.unalias() for item in query.selects]
    named = {item.alias_or_name: item.unalias() for item in query.selects}
    return [named.get(part.name, part) if isinstance(part, exp.Column) and not part.table else part for part in by]


def _is_all(by: list[exp.Expr]) -> bool:
    return len(by) == 1 and isinstance(by[0], (exp.Column, exp.Var)) and by[0].sql().upper() == "ALL"


def _numbers_rows(by: exp.Expr) -> bool:
    """Whether no two rows have one value of an expression, as ROW_NUMBER() without PARTITION BY."""
    return (
        isinstance(by, exp.Window)
        and function_name(by.this) == "row_number"
        and not by.args.get("partition_by")
        and not by.alias
    )


def _both(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    parts = node.iter_expressions()
    return next(parts), next(parts)


def _chooses_least(call: exp.Expr) -> bool:
    """Whether a call is `MODE(value, TRUE)`."""
    parts = [*call.iter_expressions()]
    return function_name(call) == "mode" and any(isinstance(part, exp.Boolean) and part.this for part in parts[1:])


def _sorted(node: exp.Expr) -> bool:
    """Whether what is done with a list does not depend on its order."""
    parent = node.parent
    while isinstance(parent, (exp.Paren, exp.Filter)):
        node, parent = parent, parent.parent
    if not isinstance(parent, exp.Func) or function_name(parent) not in _ORDERLESS:
        return False
    arguments = [*parent.iter_expressions()]
    return arguments[0] is node and not any(isinstance(part, exp.Lambda) for part in arguments)

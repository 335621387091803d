"""Functions whose result depends on the order of rows, which a table does not have.

An epoch that is repeated, a backfill and a batch may each see the rows in another order. Where a key of the
inputs decides, nothing is said. An input without a primary key may have rows that agree in every column that
is compared: there a second column to compare by counts as the answer of somebody who thought of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import Location
from streamhouse.model.notice import Notice
from streamhouse.sql.dialect import place_of, render
from streamhouse.sql.fold import key_text
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import (
    TangledError,
    aggregates_in,
    conjuncts,
    function_name,
    generators_in,
    read_sources,
    selects_of,
    windows_in,
)
from streamhouse.sql.traces import text_of

_ANY_ROW = frozenset({"first", "last", "first_value", "last_value", "any_value"})
_BEST_ROW = frozenset({"max_by", "min_by"})
_LISTS = frozenset({"collect_list", "array_agg", "collect_set"})
_TEXTS = frozenset({"listagg", "string_agg"})
_OF_ORDER_CALLS = _ANY_ROW | _BEST_ROW | _LISTS | _TEXTS | {"mode"}
_OF_ORDER = frozenset({"row_number", "ntile", "lag", "lead", "nth_value"}) | _ANY_ROW | _LISTS
_WHOLE_ROW = frozenset({"row_number", "ntile"}) | _LISTS
_ORDERLESS = frozenset(
    {"sort_array", "array_sort", "size", "array_size", "cardinality", "array_max", "array_min", "array_contains"}
)

Keys = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Told:
    """What is known of a row of a FROM when some of its columns are.

    Attributes:
        columns: Texts of all columns that are known then.
        row: Whether it is one row at most.
        keyless: An input without a key stands in the way.
    """

    columns: frozenset[str]
    row: bool
    keyless: bool


def ties(root: Scope, keys: Keys, inference: Inference, sql: str, at: Location) -> tuple[Notice, ...]:
    """A notice for each function of a query whose result the order of rows may change.

    Args:
        root: The query, qualified, with places.
        keys: Port → its primary key, in lower case; empty or absent: it has none.
        inference: Of the query.
        sql: Its text.
        at: Where that begins.
    """
    walk = _Walk(keys, inference)
    found = []
    for scope in root.traverse():
        if isinstance(scope.expression, exp.Select):
            found += [(node, *said) for node, said in walk.select(scope, scope.expression)]
    notices = [Notice(message, place_of(node, sql, at), hint) for node, message, hint in found]
    return tuple(dict.fromkeys(sorted(notices, key=lambda notice: notice.at)))


class _Walk:
    def __init__(self, keys: Keys, inference: Inference) -> None:
        self._keys = keys
        self._inference = inference

    def select(self, scope: Scope, query: exp.Select) -> list[tuple[exp.Expr, tuple[str, str]]]:
        clauses = [*query.selects, *(query.args[c] for c in ("having", "qualify", "order") if query.args.get(c))]
        group = query.args.get("group")
        grouped = list(group.expressions) if group is not None else []
        found: list[tuple[exp.Expr, tuple[str, str]]] = []
        for node in (call for clause in clauses for call in aggregates_in(clause)):
            said = self._aggregate(node, scope, {text_of(key) for key in grouped})
            if said:
                found.append((node, said))
        for window in (w for clause in clauses for w in windows_in(clause)):
            said = self._window(window, scope, query, grouped)
            if said:
                found.append((window, said))
        return found

    def _aggregate(self, node: exp.Expr, scope: Scope, known: set[str]) -> tuple[str, str] | None:
        name = function_name(node)
        if name not in _OF_ORDER_CALLS:
            return None
        shown = render(node)
        if name in _ANY_ROW:
            if _texts(node) <= self._told(scope, known).columns:
                return None
            value = render(_first(node))
            return (
                f"{shown} depends on the order of rows",
                f"write MIN({value}), or MAX_BY({value}, STRUCT(a time, a key))",
            )
        if name in _BEST_ROW:
            chosen, by = _both(node)
            told = self._told(scope, known | _compared(by))
            if _texts(chosen) <= told.columns or (told.keyless and len(_compared(by)) > 1):
                return None
            hint = f"compare by more: {name.upper()}({render(chosen)}, STRUCT({render(by)}, a key))"
            return f"{shown} depends on the order of rows that agree in {render(by)}", hint
        if name in _LISTS and not _sorted(node) and not self._told(scope, known).row:
            return f"{shown} depends on the order of rows", f"write SORT_ARRAY({shown})"
        if name in _TEXTS and not isinstance(node.parent, exp.WithinGroup) and not self._told(scope, known).row:
            return f"{shown} depends on the order of rows", f"write {shown} WITHIN GROUP (ORDER BY …)"
        if name == "mode":
            hint = "count the values, and choose one by MAX_BY(value, STRUCT(count, value))"
            return f"{shown} depends on the order of rows where values are there equally often", hint
        return None

    def _window(
        self, window: exp.Window, scope: Scope, query: exp.Select, grouped: list[exp.Expr]
    ) -> tuple[str, str] | None:
        call = window.this
        while isinstance(call, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
            call = call.this
        name = function_name(call)
        if name not in _OF_ORDER or (name in _LISTS and _sorted(window)):
            return None
        named = {w.name: w for w in query.args.get("windows") or []}
        definition = named.get(window.alias, window) if window.alias else window
        order = definition.args.get("order")
        ordered = [item.this for item in order.expressions] if order is not None else []
        by = [*(definition.args.get("partition_by") or []), *ordered]
        texts = set().union(*(_compared(part) for part in by))
        if grouped:  # a row is a group
            row, keyless = {key_text(key) for key in grouped} <= {key_text(part) for part in by}, False
        else:
            told = self._told(scope, texts)
            row, keyless = told.row, told.keyless and len(ordered) > 1
            row = row or (name not in _WHOLE_ROW and _texts(call) <= told.columns)
        if row or keyless:
            return None
        agree = f" that agree in {', '.join(render(part) for part in by)}" if by else ""
        apart = f"; the groups are told apart by {', '.join(map(render, grouped))}" if grouped else self._keys_of(scope)
        return (
            f"{render(call)} depends on the order of rows{agree}",
            f"add columns to the window's ORDER BY until no two rows agree{apart}",
        )

    def _keys_of(self, scope: Scope) -> str:
        shown = []
        for alias, source in _sources(scope).items():
            key = self._keys.get(source.name, ()) if isinstance(source, exp.Table) else ()
            if key:
                shown.append(f"the key of {alias} is ({', '.join(key)})")
        return f"; {' and '.join(shown)}" if shown else ""

    # --- what decides a row ---

    def _told(self, scope: Scope, columns: set[str]) -> _Told:
        """What is known of a row of a scope's FROM, when `columns` of it are."""
        query = scope.expression
        known = set(columns)
        equal = list(_equal(query))
        joins = {join.alias_or_name: join for join in query.args.get("joins") or []}
        waiting = {a: s for a, s in _sources(scope).items() if not (a in joins and joins[a].kind in {"SEMI", "ANTI"})}
        keyless = False
        moved = True
        while moved:
            moved = False
            for one, other in equal:
                if (one in known) != (other in known):
                    known |= {one, other}
                    moved = True
            for alias, source in list(waiting.items()):
                if any(all(f"{alias}.{name}" in known for name in key) for key in self._unique(source)):
                    known |= {f"{alias}.{name}" for name in self._columns(source)}
                    del waiting[alias]
                    moved = True
        for source in waiting.values():
            keyless = keyless or not self._unique(source)
        return _Told(frozenset(known), not waiting and bool(_sources(scope)), keyless)

    def _columns(self, source: exp.Table | Scope) -> tuple[str, ...]:
        if isinstance(source, exp.Table):
            return self._inference.port_columns(source.name)
        return tuple(column.name for column in self._inference.outputs(source))

    def _unique(self, source: exp.Table | Scope) -> list[frozenset[str]]:
        """Sets of columns of which no two rows have the same values; none: not known."""
        if isinstance(source, exp.Table):
            key = self._keys.get(source.name, ())
            return [frozenset(key)] if key else []
        query = source.expression
        names = frozenset(item.alias_or_name for item in selects_of(source))
        if isinstance(query, exp.SetOperation):
            return [names] if query.args.get("distinct") else []
        if not isinstance(query, exp.Select) or any(generators_in(item) for item in query.selects):
            return []
        if query.args.get("group"):
            named = {key_text(item.unalias()): item.alias_or_name for item in query.selects}
            held = [named.get(key_text(key)) for key in query.args["group"].expressions]
            whole = all(name is not None for name in held) and bool(held)
            return [frozenset(name for name in held if name is not None)] if whole else []
        if any(aggregates_in(item) for item in query.selects):
            return [frozenset()]  # one row
        found = [names] if query.args.get("distinct") else []
        plain = {text_of(i.unalias()): i.alias_or_name for i in query.selects if isinstance(i.unalias(), exp.Column)}
        if not self._told(source, set(plain)).row:
            return found
        needed = dict(plain)
        for text in plain:
            fewer = {t: n for t, n in needed.items() if t != text}
            if self._told(source, set(fewer)).row:
                needed = fewer
        return [*found, frozenset(needed.values())]


def _sources(scope: Scope) -> dict[str, exp.Table | Scope]:
    try:
        return read_sources(scope)
    except TangledError:
        return {}


def _equal(query: exp.Expr) -> list[tuple[str, str]]:
    """Columns that every row of a SELECT has equal."""
    clauses = [query.args["where"].this] if query.args.get("where") else []
    clauses += [j.args["on"] for j in query.args.get("joins") or [] if j.args.get("on") and not j.side]
    parts = [part.unnest() for clause in clauses for part in conjuncts(clause)]
    return [
        (text_of(part.this), text_of(part.expression))
        for part in parts
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Column)
    ]


def _texts(node: exp.Expr) -> set[str]:
    return {text_of(column) for column in node.find_all(exp.Column)}


def _compared(node: exp.Expr) -> set[str]:
    """The columns that are equal in two rows when they are equal in `node`."""
    inner = node.unnest()
    if isinstance(inner, exp.Column):
        return {text_of(inner)}
    if isinstance(inner, exp.Struct) or function_name(inner) in {"named_struct", "array"}:
        return set().union(*(_compared(_value(part)) for part in inner.expressions))
    return set()


def _value(part: exp.Expr) -> exp.Expr:
    inner: exp.Expr = part.expression if isinstance(part, exp.PropertyEQ) else part.unalias()
    return inner


def _first(node: exp.Expr) -> exp.Expr:
    return next(node.iter_expressions())


def _both(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    parts = node.iter_expressions()
    return next(parts), next(parts)


def _sorted(node: exp.Expr) -> bool:
    """Whether what is done with a list does not depend on its order."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Filter):
        parent = parent.parent
    return isinstance(parent, exp.Func) and function_name(parent) in _ORDERLESS

"""Which columns decide a row of a query; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql.fold import key_text
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import (
    TangledError,
    aggregates_in,
    conjuncts,
    function_name,
    generators_in,
    has_grouping_sets,
    read_sources,
    selects_of,
    windows_in,
)
from streamhouse.sql.traces import text_of

Keys = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class KnownColumns:
    """What is known of a row when some of its columns are.

    Attributes:
        columns: Texts of all columns that are known then.
        row: Whether it is one row at most.
        keyless: An input without a key stands in the way.
    """

    columns: frozenset[str]
    row: bool
    keyless: bool

    def tells(self, node: exp.Expr) -> bool:
        """Whether all rows that agree in the known columns have one value of an expression."""
        return not _of_rows(node) and texts_of(node) <= self.columns


class RowKeys:
    """What decides the rows of the SELECTs of one query.

    Args:
        keys: Port → its primary key, in lower case; empty or absent: it has none.
        inference: Of the query.
    """

    def __init__(self, keys: Keys, inference: Inference) -> None:
        self._keys = keys
        self._inference = inference

    def key_of(self, source: exp.Table | Scope) -> tuple[str, ...]:
        """The primary key of a port; empty for all else."""
        return self._keys.get(source.name, ()) if isinstance(source, exp.Table) else ()

    def selected(self, scope: Scope, by: Sequence[exp.Expr]) -> KnownColumns:
        """What is known of a row of a SELECT, before DISTINCT, when the values of `by` are."""
        query = scope.expression
        columns = {text for part in by for text in compared(part)}
        if folds_to_one(query):
            return KnownColumns(frozenset(columns), row=True, keyless=False)
        if has_grouping_sets(query):  # a column that is no key of a row's set is NULL there, and decides nothing
            texts = {key_text(part) for part in by}
            whole = {key_text(key) for key in query.args["group"].find_all(exp.Column)} <= texts
            row = whole and any(function_name(part.unnest()) == "grouping_id" for part in by)
            return KnownColumns(frozenset(columns), row, keyless=False)
        known = self.known(scope, columns)
        keys = group_keys(query)
        if keys:
            texts = {key_text(part) for part in by}
            row = all(key_text(key) in texts or known.tells(key) for key in keys)
            return KnownColumns(known.columns, row, keyless=False)
        return KnownColumns(known.columns, known.row and not any(map(generators_in, selects_of(scope))), known.keyless)

    def known(self, scope: Scope, columns: set[str]) -> KnownColumns:
        """What is known of a row of a scope's FROM, when `columns` of it are."""
        query = scope.expression
        known = set(columns) | {text_of(column) for column in scope.external_columns}  # constant in a sub-query
        equal, fixed = self._equal(scope)
        known |= fixed
        joins = {join.alias_or_name: join for join in query.args.get("joins") or []}
        waiting = {a: s for a, s in sources_of(scope).items() if not (a in joins and joins[a].kind in {"SEMI", "ANTI"})}
        keyless = False
        moved = True
        while moved:
            moved = False
            for one, other in equal:
                if (one in known) != (other in known):
                    known |= {one, other}
                    moved = True
            for alias, source in list(waiting.items()):
                if any(all(f"{alias}.{name}" in known for name in key) for key in self.unique(source)):
                    known |= {f"{alias}.{name}" for name in self._columns(source)}
                    del waiting[alias]
                    moved = True
        for source in waiting.values():
            keyless = keyless or not self.unique(source)
        return KnownColumns(frozenset(known), not waiting and bool(sources_of(scope)), keyless)

    def unique(self, source: exp.Table | Scope) -> list[frozenset[str]]:
        """Sets of columns of which no two rows have the same values; none: not known."""
        if isinstance(source, exp.Table):
            key = self.key_of(source)
            return [frozenset(key)] if key else []
        query = source.expression
        names = frozenset(item.alias_or_name for item in selects_of(source))
        if isinstance(query, exp.SetOperation):
            return [names] if query.args.get("distinct") else []
        if not isinstance(query, exp.Select) or any(generators_in(item) for item in query.selects):
            return []
        if folds_to_one(query):
            return [frozenset()]
        found = [names] if query.args.get("distinct") else []
        if has_grouping_sets(query):
            return found
        if keys := group_keys(query):
            named = {key_text(item.unalias()): item.alias_or_name for item in query.selects}
            shown = [named.get(key_text(key)) for key in keys]
            whole = all(name is not None for name in shown)
            return [*found, *([frozenset(name for name in shown if name is not None)] if whole else [])]
        found += _numbered(query)
        plain = {text_of(i.unalias()): i.alias_or_name for i in query.selects if isinstance(i.unalias(), exp.Column)}
        if not self.known(source, set(plain)).row:
            return found
        needed = dict(plain)
        for text in plain:
            fewer = {t: n for t, n in needed.items() if t != text}
            if self.known(source, set(fewer)).row:
                needed = fewer
        return [*found, frozenset(needed.values())]

    def _equal(self, scope: Scope) -> tuple[list[tuple[str, str]], set[str]]:
        """Columns that every row has equal, and columns that have one value in all rows."""
        pairs, fixed = [], set()
        for part in _conditions(scope.expression):
            if not isinstance(part, exp.EQ) or not self._is_one_type(part, scope):
                continue
            sides = [part.this, part.expression]
            columns = [text_of(side) for side in sides if isinstance(side, exp.Column)]
            if len(columns) == 2:
                pairs.append((columns[0], columns[1]))
            elif any(isinstance(side, exp.Literal) for side in sides):
                fixed.update(columns)
        return pairs, fixed

    def _is_one_type(self, part: exp.EQ, scope: Scope) -> bool:
        """Whether equal values are one value: `'01' = 1` is true, too."""
        one, other = (self._inference.type_of(side, scope) for side in (part.this, part.expression))
        return one is not None and other is not None and (one == other or (one.integral and other.integral))

    def _columns(self, source: exp.Table | Scope) -> tuple[str, ...]:
        if isinstance(source, exp.Table):
            return self._inference.port_columns(source.name)
        return tuple(column.name for column in self._inference.outputs(source))


def sources_of(scope: Scope) -> dict[str, exp.Table | Scope]:
    """What a SELECT reads, by alias; nothing where its FROM is not followed."""
    try:
        return read_sources(scope)
    except TangledError:
        return {}


def group_keys(query: exp.Expr) -> list[exp.Expr]:
    """The keys of a GROUP BY; it must have no grouping sets."""
    group = query.args.get("group")
    if group is None or not isinstance(query, exp.Select):
        return []
    if group.args.get("all"):
        return [item.unalias() for item in query.selects if not aggregates_in(item) and not windows_in(item)]
    return list(group.expressions)


def folds_to_one(query: exp.Expr) -> bool:
    """Whether a query has aggregates and no keys, and so one row at most."""
    if query.args.get("group") is not None:
        return query.args["group"].args.get("all") is True and not group_keys(query)
    parts = [*query.selects, query.args.get("having")] if isinstance(query, exp.Select) else []
    return any(aggregates_in(part) for part in parts if part is not None)


def texts_of(node: exp.Expr) -> set[str]:
    """The columns in an expression."""
    return {text_of(column) for column in node.find_all(exp.Column)}


def compared(node: exp.Expr) -> set[str]:
    """The columns that are equal in two rows when they are equal in `node`."""
    inner = node.unnest()
    if isinstance(inner, exp.Column):
        return {text_of(inner)}
    if isinstance(inner, exp.Struct) or function_name(inner) in {"named_struct", "array"}:
        return set().union(*(compared(_value(part)) for part in inner.expressions))
    return set()


def _of_rows(node: exp.Expr) -> bool:
    """Whether an expression has values that are not of a single row of the FROM."""
    return bool(aggregates_in(node) or windows_in(node) or generators_in(node) or node.find(exp.Query))


def _value(part: exp.Expr) -> exp.Expr:
    inner: exp.Expr = part.expression if isinstance(part, exp.PropertyEQ) else part.unalias()
    return inner


def _conditions(query: exp.Expr) -> list[exp.Expr]:
    """What is true of every row of a SELECT's FROM and WHERE."""
    joins = [join for join in query.args.get("joins") or [] if join.args.get("on") and not join.side]
    clauses = [query.args["where"].this] if query.args.get("where") else []
    clauses += [join.args["on"] for join in joins if join.kind != "ANTI"]
    return [part.unnest() for clause in clauses for part in conjuncts(clause)]


def _numbered(query: exp.Select) -> list[frozenset[str]]:
    """For each output column that is ROW_NUMBER(): it, with the columns within whose values it counts."""
    shown = {text_of(i.unalias()): i.alias_or_name for i in query.selects if isinstance(i.unalias(), exp.Column)}
    found = []
    for item in query.selects:
        window = item.unalias()
        if isinstance(window, exp.Window) and function_name(window.this) == "row_number" and not window.alias:
            within = [shown.get(text_of(part)) for part in window.args.get("partition_by") or []]
            if None not in within:
                found.append(frozenset([item.alias_or_name, *(name for name in within if name is not None)]))
    return found

"""Whether SQL that a model wrote counts each row once, and has a key that no two of its rows share."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.errors import FanOutError, RequestShapeError
from streamhouse.planner.models.draft_keys import Ports, base_key, base_of, doubling, found_again, key_of, side, unused
from streamhouse.planner.models.draft_sums import check_sums
from streamhouse.planner.models.draft_unions import twice
from streamhouse.planner.models.draft_values import parts_of
from streamhouse.sql.dialect import short
from streamhouse.sql.functions import RANKS
from streamhouse.sql.scopes import (
    aggregates_in,
    function_name,
    generators_in,
    is_aggregate,
    own_nodes,
    selects_of,
    windows_in,
)

_ONCE_OR_OFTEN = frozenset(
    {"min", "max", "any_value", "bool_and", "bool_or", "every", "some", "any", "collect_set", "approx_count_distinct"}
)
"""Aggregates that a row may enter several times."""

_SUMS_OVER_WINDOWS = frozenset({"sum", "try_sum", "count", "count_if", "avg", "mean", "try_avg"})
"""Of the calls over windows, those to which it matters how often a row is there."""


def check_rows(root: Scope, ports: Ports, key: tuple[str, ...]) -> bool:
    """Refuse sums over rows that are there several times, and a key that two groups may share.

    Args:
        root: Of a checked query: columns have qualifiers, its FROM names are ports.
        ports: Port → the table it reads.
        key: Output columns that are to be different in each row.

    Returns:
        Whether the key is known to be different in each row.

    Raises:
        FanOutError: a sum, an average or a count may see a row several times.
        RequestShapeError: the query groups by something that is not in the key, or an aggregate of aggregates, of
            distinct values or of an outer join says something else than it seems to.
    """
    for scope in root.traverse():
        if isinstance(scope.expression, exp.Select):
            _CountingSelect(scope, ports).check()
    repeated = _repeated(root, ports)
    if repeated:
        raise FanOutError(
            f"equal rows may be there several times: {repeated}",
            hint="join by the whole key, or use EXISTS where only the existence of a row matters",
        )
    own = key_of(root, ports)
    is_known = own is not None and own <= set(key)
    if root.set_operation_scopes and twice(root, {item.alias_or_name for item in selects_of(root)}):
        raise FanOutError(
            "two parts of the union may have the same rows",
            hint="let their conditions exclude each other, or write one SELECT",
        )
    if key and not is_known and isinstance(root.expression, exp.Select):
        _check_key(root, own, ports, key)
    return is_known


def _check_key(root: Scope, own: set[str] | None, ports: Ports, key: tuple[str, ...]) -> None:
    """Refuse a key that two rows may share; one of which nothing is known passes."""
    select, equal = root.expression, f"several rows may have equal {', '.join(key)}"
    if select.args.get("group") is not None:
        missing = ", ".join(sorted(own - set(key))) if own else "what it groups by"
        raise RequestShapeError(
            f"{equal}: the key lacks {missing}",
            hint="the primary key is every column of the GROUP BY, and each of these is an output column",
        )
    if any(function_name(one) in RANKS for one in select.find_all(exp.Func)):
        return  # it may keep one row of each key by its rank
    lacks = "no two rows of the result may have the same primary key: add columns to it, or GROUP BY it"
    made = {item.alias_or_name for item in select.expressions if generators_in(item)}
    if made and not made & set(key):
        raise RequestShapeError(f"{equal}: there is one for each element of an array", hint=lacks)
    if own is None and (reason := _doubled(root, ports)):
        raise FanOutError(f"{equal}: {reason}", hint=lacks)
    below = own if own is not None or made else base_key(root, ports)
    if below is not None:
        missing = ", ".join(sorted(below - set(key)))
        raise RequestShapeError(f"{equal}: the key lacks {missing}", hint=lacks)


def _doubled(scope: Scope, ports: Ports) -> str:
    """What may find rows of a query several times, in it or in a query whose rows it hands on; empty: nothing."""
    select = scope.expression
    if not isinstance(select, exp.Select) or _folds(select):
        return ""
    below = scope.sources.get(base_of(select))
    return doubling(scope, ports) or (_doubled(below, ports) if isinstance(below, Scope) else "")


def _repeated(scope: Scope, ports: Ports) -> str:
    """What finds rows of a query several times, although the query shows nothing of what is found; empty: nothing."""
    select = scope.expression
    if not isinstance(select, exp.Select) or _folds(select):
        return ""
    below = scope.sources.get(base_of(select))
    return doubling(scope, ports, unused(scope)) or (_repeated(below, ports) if isinstance(below, Scope) else "")


class _CountingSelect:
    """The calls of one SELECT that count rows: sums, counts, averages, also over windows."""

    def __init__(self, scope: Scope, ports: Ports) -> None:
        self._scope, self._ports, self._select = scope, ports, scope.expression
        self._calls = [call for item in _values(self._select) for call in _counting_calls(item)]
        self._seen: set[int] = {id(scope)}

    def check(self) -> None:
        if not self._calls:
            return
        check_sums(self._scope, self._calls, self._ports)
        reason = doubling(self._scope, self._ports)
        if reason:
            self._refuse(reason)
        self._check_below(self._scope)
        again = found_again(self._scope, self._ports)
        for call in self._calls:
            if self._is_of_joined(call, self._scope, again):
                raise FanOutError(
                    f"{short(call)} counts rows of a joined table as often as they are found",
                    hint="read that table first, and join the others to it, or aggregate before the join",
                )
            self._check_outer_join(call)

    def _check_outer_join(self, call: exp.Expr) -> None:
        """Refuse `COUNT(*)` where a row of the other side alone is a row, too."""
        outer = [join for join in self._select.args.get("joins") or () if side(join) in {"RIGHT", "FULL"}]
        if outer and function_name(call) == "count" and not list(call.find_all(exp.Column)):
            raise RequestShapeError(
                f"{short(call)} counts a row that the {side(outer[0])} JOIN has without a partner as one",
                hint="count a column of the table that is to be counted, or turn the join round and use LEFT JOIN",
            )

    def _check_below(self, scope: Scope) -> None:
        """Refuse what may double rows in a query that hands its rows on, as they are, to where they are counted."""
        for name, source in scope.sources.items():
            if isinstance(source, Scope) and id(source) not in self._seen:
                self._seen.add(id(source))
                used = {c.name for c in scope.expression.find_all(exp.Column) if c.table == name}
                if source.set_operation_scopes and twice(source, used):
                    self._refuse(f"two parts of the union '{name}' may have the same rows")
                self._check_handed_on(source, name)

    def _check_handed_on(self, source: Scope, name: str) -> None:
        for part in source.set_operation_scopes or ():
            self._check_handed_on(part, name)
        if not isinstance(source.expression, exp.Select):
            return
        if any(generators_in(item) for item in source.expression.expressions):
            self._refuse(f"in '{name}' there is a row for each element of an array")
        if _folds(source.expression):
            return
        self._check_below(source)
        reason = doubling(source, self._ports)
        if reason:
            self._refuse(f"in '{name}' {reason}")

    def _refuse(self, reason: str) -> None:
        raise FanOutError(
            f"{short(self._calls[0])} may count a row several times: {reason}",
            hint="join by the whole key with ON a.x = b.y, or aggregate before the join",
        )

    def _is_of_joined(self, node: exp.Expr, scope: Scope, again: set[str]) -> bool:
        """Whether a value is made of rows alone that others find again and again."""
        parts = list(parts_of(node))
        columns = [one for one in parts if isinstance(one, exp.Column)]
        if not columns:
            return bool(parts)  # a query: one value for all rows
        return all(column.table in again or self._is_repeated_below(column, scope) for column in columns)

    def _is_repeated_below(self, column: exp.Column, scope: Scope) -> bool:
        source = scope.sources.get(column.table)
        return isinstance(source, Scope) and self._has_repeated(source, column.name)

    def _has_repeated(self, source: Scope, name: str) -> bool:
        names = [item.alias_or_name for item in selects_of(source)]
        return name in names and self._is_repeated_item(source, names.index(name))

    def _is_repeated_item(self, source: Scope, place: int) -> bool:
        if source.set_operation_scopes:
            return any(self._is_repeated_item(part, place) for part in source.set_operation_scopes)
        select = source.expression
        if not isinstance(select, exp.Select) or _folds(select):
            return False
        return self._is_of_joined(selects_of(source)[place], source, found_again(source, self._ports))


def _folds(select: exp.Select) -> bool:
    """Whether a query has each of its rows once, whatever its joins found."""
    folds = bool(select.args.get("group") or select.args.get("distinct"))
    return folds or any(aggregates_in(item) for item in select.expressions)


def _values(select: exp.Expr) -> Iterator[exp.Expr]:
    yield from select.expressions
    for clause in ("having", "order", "qualify"):
        if select.args.get(clause) is not None:
            yield select.args[clause]


def _counting_calls(item: exp.Expr) -> list[exp.Expr]:
    """Calls to which it matters how often a row is there."""
    windowed = [one for window in windows_in(item) for one in own_nodes(window.this)]
    return [
        *(call for call in aggregates_in(item) if _counts(call)),
        *(one for one in windowed if is_aggregate(one) and function_name(one) in _SUMS_OVER_WINDOWS),
    ]


def _counts(call: exp.Expr) -> bool:
    name = function_name(call)
    return name not in _ONCE_OR_OFTEN and not (name == "count" and isinstance(call.this, exp.Distinct))

"""Whether a query gives the values it gave when columns that it reads get a wider type.

An allow-list: what is not here may show the width of a value, as `hash`, `typeof` or `CAST(f AS STRING)` do.
"""

from collections.abc import Iterator, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.table import Column
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql import spark_type as t
from streamhouse.sql.infer import Inference
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import function_name
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.types import INTEGRAL_DIGITS

_FLOATING = frozenset({"float", "double"})
_ROWS = ("where", "group", "having", "order", "limit", "offset", "qualify", "windows", "laterals", "sort", "cluster")

_TRUTH = (exp.And, exp.Or, exp.Not, exp.Is, exp.Exists)
_COMPARES = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_PASSES = (exp.Paren, exp.Alias, exp.Ordered, exp.Order, exp.Where, exp.Having, exp.Group, exp.Distinct, exp.Filter)
_EXACT_SUMS = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Mod)  # of whole numbers, and but for Mod of decimals
_CHOOSES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif)
_ANY_VALUE = (exp.Min, exp.Max, exp.Count, exp.CountIf, exp.FirstValue, exp.LastValue, exp.Lag, exp.Lead, exp.NthValue)
_ANY_CALL = frozenset({"any_value", "max_by", "min_by", "first", "last"})
_AROUND = (exp.Window, exp.IgnoreNulls, exp.RespectNulls, exp.RowNumber, exp.Rank, exp.DenseRank)


class Widths:
    """One query, by the types that what it reads has, and those it had.

    Args:
        query: Analysed with the types of now.
        now: Port → its columns.
        before: Port → its columns, with the types they had.
    """

    def __init__(
        self, query: CheckedQuery, now: Mapping[str, tuple[Column, ...]], before: Mapping[str, tuple[Column, ...]]
    ) -> None:
        self.root = query.scope
        self._types = tuple(Inference(_by_name(ports)) for ports in (before, now))
        was = {(port.lower(), c.name.lower()): c.type for port, columns in before.items() for c in columns}
        self._wider = {
            (port.lower(), c.name.lower())
            for port, columns in now.items()
            for c in columns
            if was.get((port.lower(), c.name.lower()), c.type) != c.type
        }
        self._touches: dict[int, bool] = {}
        self._outputs: dict[int, dict[str, tuple[bool, bool]]] = {}

    def rows_vary(self) -> str:
        """The first part that decides about rows and may decide otherwise; empty: there is none."""
        for scope in self.root.traverse():
            for node in _deciding(scope.expression):
                if not self.steady(node, scope):
                    return node.sql("spark")
            if _compares_rows(scope.expression):
                for name, (steady, _) in self.outputs(scope).items():
                    if not steady:
                        return name
        return ""

    def outputs(self, scope: Scope) -> dict[str, tuple[bool, bool]]:
        """Output column of a scope → whether its value stays, and whether a wider column is in it at all."""
        known = self._outputs.get(id(scope))
        if known is None:
            known = self._outputs[id(scope)] = dict(self._outputs_of(scope))
        return known

    def _outputs_of(self, scope: Scope) -> Iterator[tuple[str, tuple[bool, bool]]]:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            arms = [list(self.outputs(arm).values()) for arm in scope.set_operation_scopes]
            then, now = (
                [[c.type for c in kind.outputs(arm)] for arm in scope.set_operation_scopes] for kind in self._types
            )
            for at, item in enumerate(query.selects):
                touched = any(arm[at][1] for arm in arms)
                exact = not touched or _exact([arm[at] for arm in then], [arm[at] for arm in now])
                yield item.alias_or_name, (exact and all(arm[at][0] for arm in arms), touched)
        elif isinstance(query, exp.Select):
            for item in query.selects:
                yield item.alias_or_name, (self.steady(item, scope), self.touched(item, scope))
        else:
            inner = next(iter((*scope.derived_table_scopes, *scope.subquery_scopes)), None)
            if inner is not None:
                yield from self.outputs(inner).items()

    # --- expressions ---

    def touched(self, node: exp.Expr, scope: Scope) -> bool:
        """Whether an expression looks at a wider column, also through queries below."""
        if isinstance(node, exp.Column):
            return self._column(node, scope)[1]
        known = self._touches.get(id(node))
        if known is None:
            if isinstance(node, exp.Query):
                below = self._below(node, scope)
                known = below is None or any(touched for _, touched in self.outputs(below).values())
            else:
                known = any(self.touched(child, scope) for child in node.iter_expressions())
            self._touches[id(node)] = known
        return known

    def steady(self, node: exp.Expr, scope: Scope) -> bool:
        """Whether an expression is known to have the value it had."""
        if isinstance(node, exp.Column):
            return self._column(node, scope)[0]
        if isinstance(node, (exp.Subquery, exp.Query)):
            return self._query(node, scope)
        if not self.touched(node, scope):
            return True
        parts = [part for part in node.iter_expressions() if not isinstance(part, (exp.DataType, exp.Identifier))]
        return all(self.steady(part, scope) for part in parts) and self._keeps(node, scope)

    def _keeps(self, node: exp.Expr, scope: Scope) -> bool:
        """Whether an operation whose parts all have their value gives the value it gave."""
        if isinstance(node, exp.Window):
            spec, order = node.args.get("spec"), node.args.get("order")
            ranged = spec is not None and spec.args.get("kind") != "ROWS"
            return not (ranged and order is not None and self.touched(order, scope))
        if isinstance(node, exp.Anonymous):
            return function_name(node) in _ANY_CALL
        if isinstance(node, (*_TRUTH, *_PASSES, *_AROUND)):
            return True
        if isinstance(node, exp.In):
            return self._meets([node.this, *node.expressions], scope) if not node.args.get("query") else False
        if isinstance(node, _COMPARES):
            return self._meets(list(node.iter_expressions()), scope)
        if isinstance(node, _CHOOSES):
            return self._meets(_results(node), scope)
        if isinstance(node, (exp.Lag, exp.Lead, exp.NthValue)):
            return node.args.get("default") is None
        if isinstance(node, _ANY_VALUE):
            return True
        if isinstance(node, (exp.Sum, exp.Avg)):
            kinds = self._kinds(node.this, scope)
            exact = all(kind is not None and (kind.integral or kind.kind in _FLOATING) for kind in kinds)
            return exact or (isinstance(node, exp.Sum) and all(k is not None and k.kind == "decimal" for k in kinds))
        if isinstance(node, exp.Cast):
            return self._cast(node, scope)
        return self._computes(node, scope)

    def _computes(self, node: exp.Expr, scope: Scope) -> bool:
        kinds = [kind for part in (node, *node.iter_expressions()) for kind in self._kinds(part, scope)]
        if isinstance(node, (exp.Div, exp.IntDiv)):
            return all(kind is not None and kind.integral for kind in kinds[2:])
        if not isinstance(node, _EXACT_SUMS):
            return False
        if all(kind is not None and kind.integral for kind in kinds):
            return True
        # With 38 digits Spark rounds what does not fit.
        whole = [
            k for k in kinds if k is not None and (k.integral or (k.kind == "decimal" and k.precision < DECIMAL_DIGITS))
        ]
        return len(whole) == len(kinds) and not isinstance(node, exp.Mod)

    def _cast(self, node: exp.Cast, scope: Scope) -> bool:
        source_kinds, wanted = self._kinds(node.this, scope), t.from_tree(node.to)
        if all(kind is not None and kind.integral for kind in source_kinds):
            return wanted.numeric or wanted.kind == "string"
        if all(kind is not None and kind.kind == "decimal" for kind in source_kinds):
            return wanted.numeric
        return all(kind is not None and kind.kind in _FLOATING for kind in source_kinds) and wanted.kind == "double"

    def _meets(self, nodes: list[exp.Expr], scope: Scope) -> bool:
        """Whether values of these come together in a type that holds each of them, then as now."""
        if not any(self.touched(node, scope) for node in nodes):
            return True
        then, now = ([types.type_of(node, scope) for node in nodes] for types in self._types)
        return _exact(then, now)

    def _kinds(self, node: exp.Expr, scope: Scope) -> list[SparkType | None]:
        return [types.type_of(node, scope) for types in self._types]

    def _column(self, column: exp.Column, scope: Scope) -> tuple[bool, bool]:
        at: Scope | None = scope
        while at is not None:
            source = at.sources.get(column.table)
            if isinstance(source, exp.Table):
                return True, (source.name.lower(), column.name.lower()) in self._wider
            if isinstance(source, Scope):
                if isinstance(source.expression, exp.Lateral):
                    touched = self.touched(source.expression.this, at)
                    return not touched, touched
                return self.outputs(source).get(column.name, (False, True))
            at = at.parent
        if not column.table and isinstance(scope.expression, exp.Select):  # in ORDER BY
            return self.outputs(scope).get(column.name, (False, True))
        return False, True

    def _query(self, node: exp.Expr, scope: Scope) -> bool:
        below = self._below(node, scope)
        return below is not None and all(steady for steady, _ in self.outputs(below).values())

    @staticmethod
    def _below(node: exp.Expr, scope: Scope) -> Scope | None:
        query = node.unnest() if isinstance(node, exp.Subquery) else node
        return next((s for s in scope.subquery_scopes if s.expression is query or s.expression is node), None)


def _by_name(ports: Mapping[str, tuple[Column, ...]]) -> dict[str, dict[str, Column]]:
    return {port.lower(): {c.name.lower(): c for c in columns} for port, columns in ports.items()}


def _compares_rows(query: exp.Expr) -> bool:
    """Whether equal rows are one, or fall away."""
    return isinstance(query, (exp.Except, exp.Intersect)) or bool(query.args.get("distinct"))


def _deciding(query: exp.Expr) -> Iterator[exp.Expr]:
    """Every part of a SELECT but its output columns and what it reads."""
    for clause in _ROWS:
        value = query.args.get(clause)
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, exp.Lateral):
                yield node.this
            elif isinstance(node, exp.Expr):
                yield node
    for join in query.args.get("joins") or []:
        if join.args.get("on") is not None:
            yield join.args["on"]


def _results(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Case):
        found = [branch.args["true"] for branch in node.args["ifs"]]
        # `CASE a WHEN b` compares.
        found += [node.this, *(branch.this for branch in node.args["ifs"])] if node.this is not None else []
        return [*found, *([node.args["default"]] if node.args.get("default") is not None else [])]
    if isinstance(node, exp.If):
        return [part for part in (node.args["true"], node.args.get("false")) if part is not None]
    return list(node.iter_expressions())


def _exact(before: list[SparkType | None], after: list[SparkType | None]) -> bool:
    """Whether values of some types keep what they are in the type they come together in, then as now."""
    then, now = t.widest(*before), t.widest(*after)
    if then is None or now is None:
        return False
    if then == now and then.kind != "decimal":
        return True
    if then.integral and now.integral:
        return True
    if then.kind in _FLOATING and now.kind in _FLOATING:
        return all(kind is not None and kind.kind in {*_FLOATING, "void"} for kind in after)
    if then.kind == now.kind == "decimal":
        numbers = [kind for kind in after if kind is not None and kind.kind != "void"]
        whole = max((INTEGRAL_DIGITS.get(kind.kind, kind.precision - kind.scale) for kind in numbers), default=0)
        return whole + max((kind.scale for kind in numbers), default=0) <= DECIMAL_DIGITS
    return False

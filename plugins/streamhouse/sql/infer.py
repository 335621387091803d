"""The types of expressions in a qualified query, exactly as Spark's analyser gives them, or none.

One walk over the scopes, inside out; each scope is typed once. sqlglot's own annotation is not used:
it is right about names and wrong about decimals, integer division and many functions.
"""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.table import Column
from streamhouse.sql import spark_type as t
from streamhouse.sql.calls import call_type
from streamhouse.sql.expressions import RULES
from streamhouse.sql.generators import Columns, arguments_of, generated
from streamhouse.sql.null_rejecting import Proved, proved_by_groups, proved_by_rows
from streamhouse.sql.nullability import nullable
from streamhouse.sql.scopes import inner_query, is_generator
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.typed import Lambda, Typed


class Inference:
    """Types one query, which is not changed meanwhile: what is found out is kept.

    Args:
        ports: Port → its columns by lower-case name.
    """

    def __init__(self, ports: Mapping[str, Mapping[str, Column]]) -> None:
        self._ports = ports
        self._outputs: dict[int, tuple[Typed, ...]] = {}
        # By the ids of a node and of its scope; a reference to each is kept, so that no other gets its id.
        self._types: dict[tuple[int, int], tuple[exp.Expr, Scope, SparkType | None]] = {}
        self._resolved: dict[tuple[int, int], tuple[exp.Column, Scope, Typed | None]] = {}
        self._proved: dict[int, tuple[Scope, Proved]] = {}

    def of_another_query(self) -> "Inference":
        """Of the same ports, for another query."""
        return Inference(self._ports)

    def with_ports(self, more: Mapping[str, Mapping[str, Column]]) -> "Inference":
        """Of another query, which reads further ports."""
        return Inference({**self._ports, **more})

    def columns_of(self, port: str) -> Mapping[str, Column]:
        """The columns of a port, by lower-case name."""
        return self._ports[port]

    def outputs(self, scope: Scope) -> tuple[Typed, ...]:
        """The output columns of a scope, in order."""
        known = self._outputs.get(id(scope))
        if known is None:
            self._outputs[id(scope)] = ()  # while its own expressions name it: it does not have those columns yet
            known = self._outputs[id(scope)] = self._type_scope(scope)
        return known

    def type_of(self, node: exp.Expr, scope: Scope, names: Lambda | None = None) -> SparkType | None:
        """The type of an expression that stands in `scope`; None: it is unknown."""
        if names:
            return self._type_of(node, scope, names)
        key = (id(node), id(scope))
        known = self._types.get(key)
        if known is None:
            known = self._types[key] = (node, scope, self._type_of(node, scope, {}))
        return known[2]

    def _type_of(self, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
        if is_generator(node):
            columns = self.generated(node, scope)
            return columns[0][1] if columns is not None and len(columns) == 1 else None
        rule = RULES.get(type(node))
        if rule is not None:
            return rule(self, node, scope, names)
        if isinstance(node, exp.Predicate):
            return t.BOOLEAN
        if isinstance(node, exp.Func):
            return call_type(self, node, scope, names)
        return None

    # --- scopes ---

    def _combined(self, scope: Scope) -> tuple[Typed, ...]:
        left, right = (self.outputs(s) for s in scope.set_operation_scopes)
        if len(left) != len(right):
            return tuple(Typed(c.name, None, True, c.node) for c in left)
        return tuple(
            Typed(a.name, t.widest(a.type, b.type), a.nullable or b.nullable, a.node)
            for a, b in zip(left, right, strict=True)
        )

    def _type_scope(self, scope: Scope) -> tuple[Typed, ...]:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            return self._combined(scope)
        if isinstance(query, exp.Select):
            more = proved_by_groups(scope)
            return tuple(
                Typed(item.alias_or_name, self.type_of(item, scope), nullable(self, item.unalias(), scope, more), item)
                for item in query.selects
            )
        if isinstance(query, exp.Lateral):
            return self._generated(query, scope)
        if isinstance(query, exp.Values):
            return self._values(query, scope)
        inner = inner_query(scope)
        return self.outputs(inner) if inner is not None else ()

    def _generated(self, lateral: exp.Lateral, scope: Scope) -> tuple[Typed, ...]:
        inner = inner_query(scope)
        if inner is not None:
            return self.outputs(inner)
        alias = lateral.args.get("alias")
        names = [c.name for c in alias.columns] if alias else []
        columns = self.generated(lateral.this, scope)
        if columns is None or (names and len(names) != len(columns)):
            return tuple(Typed(n, None, True, lateral) for n in names)
        names = names or [name for name, _ in columns]
        return tuple(Typed(n, kind, True, lateral) for n, (_, kind) in zip(names, columns, strict=True))

    def generated(self, call: exp.Expr, scope: Scope) -> Columns | None:
        """Name and type of each column that a call like `explode(…)` makes; None: they are unknown."""
        return generated(call, [self.type_of(argument, scope) for argument in arguments_of(call)])

    def _values(self, values: exp.Values, scope: Scope) -> tuple[Typed, ...]:
        alias = values.args.get("alias")
        rows = [e.expressions if isinstance(e, exp.Tuple) else [e] for e in values.expressions]
        columns = [t.widest(*(self.type_of(cell, scope) for cell in cells)) for cells in zip(*rows, strict=False)]
        names = [c.name for c in alias.columns] if alias and alias.columns else []
        names = names or [f"col{i + 1}" for i in range(len(columns))]
        return tuple(Typed(n, kind, True, values) for n, kind in zip(names, columns, strict=False))

    def resolve(self, column: exp.Column, scope: Scope) -> Typed | None:
        """The column of a source that a qualified column means; None: there is none."""
        key = (id(column), id(scope))
        known = self._resolved.get(key)
        if known is None:
            known = self._resolved[key] = (column, scope, self._resolve(column, scope))
        return known[2]

    def _resolve(self, column: exp.Column, scope: Scope) -> Typed | None:
        at: Scope | None = scope
        while at is not None:
            source = at.sources.get(column.table)
            if isinstance(source, exp.Table):
                own = self._ports.get(source.name, {}).get(column.name)
                return Typed(own.name, t.spark_type(own.type), own.nullable, column) if own else None
            if isinstance(source, Scope):
                return next((c for c in self.outputs(source) if c.name == column.name), None)
            at = at.parent
        return None

    def port_columns(self, port: str) -> tuple[str, ...]:
        """Lower-case names of a port's columns; empty for a name no port has."""
        return tuple(self._ports.get(port, ()))

    def port_type(self, port: str, column: str) -> SparkType:
        """The type of a port's column."""
        return t.spark_type(self._ports[port][column].type)

    def required_columns(self, port: str) -> tuple[str, ...]:
        """Those of a port's columns that never hold NULL."""
        return tuple(name for name, column in self._ports.get(port, {}).items() if not column.nullable)

    def nullable(self, node: exp.Expr, scope: Scope, *, before_totals: bool = False) -> bool:
        """False only where no row can hold NULL; `before_totals`: no row that is grouped, whatever its totals hold."""
        return nullable(self, node, scope, before_totals=before_totals)

    def proved(self, scope: Scope) -> Proved:
        """As `proved_by_rows`."""
        known = self._proved.get(id(scope))
        if known is None:
            known = self._proved[id(scope)] = (scope, proved_by_rows(scope))
        return known[1]

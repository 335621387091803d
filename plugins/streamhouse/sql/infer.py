"""The types of expressions in a qualified query, exactly as Spark's analyser gives them, or none.

One walk over the scopes, inside out; each scope is typed once. sqlglot's own annotation is not used:
it is right about names and wrong about decimals, integer division and many functions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.model.table import Column
from streamhouse.sql import functions
from streamhouse.sql import spark_type as t
from streamhouse.sql.scopes import conjuncts, function_name, inner_query
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.windows import is_bound
from streamhouse.sql.words import words

_DAYS = frozenset({"DAY", "DAYS", "WEEK", "WEEKS"})
_MONTHS = frozenset({"MONTH", "MONTHS", "YEAR", "YEARS", "QUARTER"})
_CASTS = words(
    """
    bigint binary boolean date decimal double float int smallint string timestamp tinyint
    """
)
_Lambda = Mapping[str, SparkType | None]


@dataclass(frozen=True, slots=True)
class Typed:
    """One output column of a scope; `type` None: it cannot be told."""

    name: str
    type: SparkType | None
    nullable: bool
    node: exp.Expr


class Inference:
    """Types one query.

    Args:
        ports: Port → its columns by lower-case name.
    """

    def __init__(self, ports: Mapping[str, Mapping[str, Column]]) -> None:
        self._ports = ports
        self._outputs: dict[int, tuple[Typed, ...]] = {}

    def outputs(self, scope: Scope) -> tuple[Typed, ...]:
        """The output columns of a scope, in order."""
        known = self._outputs.get(id(scope))
        if known is None:
            known = self._outputs[id(scope)] = self._type_scope(scope)
        return known

    def type_of(self, node: exp.Expr, scope: Scope, names: _Lambda | None = None) -> SparkType | None:
        """The type of an expression that stands in `scope`; None: it cannot be told."""
        rule = _RULES.get(type(node))
        if rule is not None:
            return rule(self, node, scope, names or {})
        if isinstance(node, exp.Predicate):
            return t.BOOLEAN
        if isinstance(node, exp.Func):
            return self._call(node, scope, names or {})
        return None

    # --- scopes ---

    def _type_scope(self, scope: Scope) -> tuple[Typed, ...]:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            left, right = (self.outputs(s) for s in scope.set_operation_scopes)
            if len(left) != len(right):
                return tuple(Typed(c.name, None, True, c.node) for c in left)
            return tuple(
                Typed(a.name, t.widest(a.type, b.type), a.nullable or b.nullable, a.node)
                for a, b in zip(left, right, strict=True)
            )
        if isinstance(query, exp.Select):
            return tuple(
                Typed(
                    item.alias_or_name,
                    self.type_of(item, scope),
                    self.nullable(item.unalias(), scope),
                    item,
                )
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
        types = self._generator(lateral.this, scope)
        if len(names) != len(types):
            default = {1: ["col"], 2: ["key", "value"]}.get(len(types), [])
            if names or len(default) != len(types):
                return tuple(Typed(n, None, True, lateral) for n in names)
            names = default
        return tuple(Typed(n, kind, True, lateral) for n, kind in zip(names, types, strict=True))

    def _generator(self, call: exp.Expr, scope: Scope) -> list[SparkType | None]:
        argument = call.expressions[0] if isinstance(call, exp.Anonymous) and call.expressions else call.this
        given = self.type_of(argument, scope) if isinstance(argument, exp.Expr) else None
        kinds: list[SparkType | None] = []
        if given is not None and given.kind in {"array", "map"}:
            kinds = [kind for _, kind in given.fields]
        if function_name(call).startswith("inline"):
            rows = given.element if given else None
            return [kind for _, kind in rows.fields] if rows and rows.kind == "struct" else []
        return [t.INT, *kinds] if isinstance(call, exp.Posexplode) else kinds

    def _values(self, values: exp.Values, scope: Scope) -> tuple[Typed, ...]:
        alias = values.args.get("alias")
        rows = [e.expressions if isinstance(e, exp.Tuple) else [e] for e in values.expressions]
        columns = [t.widest(*(self.type_of(cell, scope) for cell in cells)) for cells in zip(*rows, strict=False)]
        names = [c.name for c in alias.columns] if alias and alias.columns else []
        names = names or [f"col{i + 1}" for i in range(len(columns))]
        return tuple(Typed(n, kind, True, values) for n, kind in zip(names, columns, strict=False))

    def resolve(self, column: exp.Column, scope: Scope) -> Typed | None:
        """The column of a source that a qualified column means; None: there is none."""
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

    def required_columns(self, port: str) -> tuple[str, ...]:
        """Those of a port's columns that never hold NULL."""
        return tuple(name for name, column in self._ports.get(port, {}).items() if not column.nullable)

    # --- nullability ---

    def nullable(self, node: exp.Expr, scope: Scope) -> bool:
        """False only where no row can hold NULL."""
        if isinstance(node, exp.Column):
            if self._required(node, scope):
                return False
            found = self.resolve(node, scope)
            return found is None or found.nullable or _may_be_absent(node.table, scope)
        if isinstance(node, exp.Literal | exp.Boolean | exp.Count | exp.RowNumber | exp.CountIf):
            return False
        if isinstance(node, exp.Coalesce):
            return all(self.nullable(e, scope) for e in (node.this, *node.expressions))
        if isinstance(node, exp.Window):
            return self.nullable(node.this, scope)
        if isinstance(node, exp.Paren):
            return self.nullable(node.this, scope)
        if isinstance(node, exp.Cast):
            given = self.type_of(node.this, scope)
            sure = given is not None and given.kind != "string" and not node.args.get("safe")
            return not sure or self.nullable(node.this, scope)
        if is_bound(node):
            return False
        if isinstance(node, exp.Anonymous) and function_name(node) in {"date_trunc", "hour", "year", "month"}:
            return any(self.nullable(e, scope) for e in node.expressions)
        return True

    @staticmethod
    def _required(column: exp.Column, scope: Scope) -> bool:
        where = scope.expression.args.get("where")
        return where is not None and any(
            isinstance(part, exp.Not)
            and isinstance(part.this, exp.Is)
            and part.this.this == column
            and isinstance(part.this.expression, exp.Null)
            for part in conjuncts(where.this)
        )

    # --- expressions ---

    def _column(self, node: exp.Expr, scope: Scope, _: _Lambda) -> SparkType | None:
        found = self.resolve(node, scope) if isinstance(node, exp.Column) else None
        return found.type if found else None

    def _inner(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        return self.type_of(node.this, scope, names)

    def _name(self, node: exp.Expr, _scope: Scope, names: _Lambda) -> SparkType | None:
        return names.get(node.name)

    def _literal(self, node: exp.Expr, _scope: Scope, _: _Lambda) -> SparkType | None:
        return _literal_type(node) if isinstance(node, exp.Literal) else None

    def _cast(self, node: exp.Expr, _scope: Scope, _: _Lambda) -> SparkType | None:
        return t.from_tree(node.args["to"])

    def _case(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        results = [branch.args["true"] for branch in node.args["ifs"]]
        if node.args.get("default") is not None:
            results.append(node.args["default"])
        return t.widest(*(self.type_of(r, scope, names) for r in results))

    def _binary(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        operator = _OPERATORS[type(node)]
        left, right = (self.type_of(e, scope, names) for e in (node.this, node.expression))
        if left is None or right is None:
            return None
        if left.numeric and right.numeric:
            # A whole number written next to a decimal counts with the digits it has.
            if left.kind == "decimal":
                right = _digits(node.expression) or right
            elif right.kind == "decimal":
                left = _digits(node.this) or left
        if operator in "+-" and (shifted := _time_arithmetic(operator, left, right)):
            return shifted
        return t.arithmetic(operator, left, right)

    def _bits(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        wide = t.widest(*(self.type_of(e, scope, names) for e in (node.this, node.expression)))
        return wide if wide and wide.integral else None

    def _concat(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        parts = [self.type_of(e, scope, names) for e in (node.this, node.expression)]
        return functions.RULES["concat"](parts)

    def _interval(self, node: exp.Expr, _scope: Scope, _: _Lambda) -> SparkType | None:
        unit = node.args.get("unit")
        if not isinstance(unit, exp.Var):
            return None
        if unit.name.upper() in _MONTHS:
            return SparkType("month_interval")
        return SparkType("day_interval" if unit.name.upper() in _DAYS else "time_interval")

    def _dot(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        owner, name = self.type_of(node.this, scope, names), node.expression.name
        if owner is None:
            return None
        if owner.element is not None:
            field = owner.element.field(name)
            return t.array_of(field) if field else None
        return owner.fields[1][1] if owner.kind == "map" else owner.field(name)

    def _bracket(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        owner = self.type_of(node.this, scope, names)
        if owner is None or len(node.expressions) != 1:
            return None
        key = node.expressions[0]
        if owner.kind == "struct":
            return owner.field(key.name) if isinstance(key, exp.Literal) and key.is_string else None
        return owner.fields[1][1] if owner.kind == "map" else owner.element

    def _subquery(self, node: exp.Expr, scope: Scope, _: _Lambda) -> SparkType | None:
        inner = next((s for s in scope.subquery_scopes if s.expression is node.this), None)
        columns = self.outputs(inner) if inner is not None else ()
        return columns[0].type if len(columns) == 1 else None

    def _extract(self, node: exp.Expr, _scope: Scope, _: _Lambda) -> SparkType | None:
        return _date_part(node.name)

    def _struct(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        fields = []
        for i, item in enumerate(node.expressions):
            value = item.expression if isinstance(item, exp.PropertyEQ) else item.unalias()
            name = item.this.name if isinstance(item, exp.PropertyEQ) else item.alias_or_name
            kind = self.type_of(value, scope, names)
            if kind is None:
                return None
            fields.append((name or f"col{i + 1}", kind))
        return t.struct_of(*fields)

    def _within_group(self, node: exp.Expr, _scope: Scope, _: _Lambda) -> SparkType | None:
        call = node.this
        order = node.args.get("expression")
        ordered = order.expressions if isinstance(order, exp.Order) else []
        name = function_name(call)
        if name in {"percentile_cont", "percentile_disc"} and len(ordered) == 1:
            return t.DOUBLE
        return t.STRING if name in {"listagg", "string_agg"} else None

    def _explode(self, node: exp.Expr, scope: Scope, _: _Lambda) -> SparkType | None:
        types = self._generator(node, scope)
        return types[0] if len(types) == 1 else None

    def _function(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        return self._call(node, scope, names)

    def _call(self, node: exp.Expr, scope: Scope, names: _Lambda) -> SparkType | None:
        name = function_name(node)
        fixed = functions.FIXED.get(name)
        if fixed is not None:
            return fixed
        arguments = _arguments(node)
        if name in functions.SHAPED:
            return self._shaped(name, arguments, scope, names)
        rule = functions.RULES.get(name)
        if rule is None:
            return None
        if name in {"round", "bround"} and len(arguments) == 2:
            digits = _whole_number(arguments[1])
            if digits is None:
                return None
            rule = functions.round_rule(digits)
        return rule([self.type_of(a, scope, names) for a in arguments if not isinstance(a, exp.Lambda)])

    def _shaped(self, name: str, arguments: list[exp.Expr], scope: Scope, names: _Lambda) -> SparkType | None:
        if name in _CASTS and len(arguments) == 1:
            return t.spark_type(name)
        if name in {"datediff", "date_diff"}:
            return t.BIGINT if len(arguments) == 3 else t.INT
        if name in {"dateadd", "date_add", "timestampadd"}:
            if len(arguments) == 2:
                return t.DATE
            start = self.type_of(arguments[2], scope, names)
            return start if start in (t.TIMESTAMP, t.TIMESTAMP_NTZ) else None
        if name == "named_struct":
            return self._named_struct(arguments, scope, names)
        if name == "from_json" and len(arguments) >= 2 and isinstance(arguments[1], exp.Literal):
            return _json_type(arguments[1].name)
        if name == "date_part" and isinstance(arguments[0], exp.Literal):
            return _date_part(arguments[0].name)
        if name == "transform" and len(arguments) == 2 and isinstance(arguments[1], exp.Lambda):
            given = self.type_of(arguments[0], scope, names)
            body = self._lambda(arguments[1], [given.element if given else None, t.INT], scope, names)
            return t.array_of(body) if body else None
        if name in {"aggregate", "reduce"} and len(arguments) == 3 and isinstance(arguments[2], exp.Lambda):
            given, start = (self.type_of(a, scope, names) for a in arguments[:2])
            merged = self._lambda(arguments[2], [start, given.element if given else None], scope, names)
            return start if start == merged else None
        return None

    def _lambda(
        self, node: exp.Lambda, types: list[SparkType | None], scope: Scope, names: _Lambda
    ) -> SparkType | None:
        own = {p.name: kind for p, kind in zip(node.expressions, types, strict=False)}
        return self.type_of(node.this, scope, {**names, **own})

    def _named_struct(self, arguments: list[exp.Expr], scope: Scope, names: _Lambda) -> SparkType | None:
        fields = []
        for name, value in zip(arguments[::2], arguments[1::2], strict=False):
            kind = self.type_of(value, scope, names)
            if kind is None or not isinstance(name, exp.Literal):
                return None
            fields.append((name.name, kind))
        return t.struct_of(*fields)


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        arguments = list(node.expressions)
    else:
        arguments = [node.this, *([node.expression] if node.args.get("expression") else []), *node.expressions]
    first = arguments[0] if arguments else None
    if isinstance(first, exp.Distinct):
        arguments = [*first.expressions, *arguments[1:]]
    return [a.this if isinstance(a, exp.Order) else a for a in arguments if isinstance(a, exp.Expression)]


def _literal_type(node: exp.Literal) -> SparkType | None:
    if node.is_string:
        return t.STRING
    text = node.name.lower()
    if "e" in text:
        return t.DOUBLE
    if "." in text:
        whole, _, fraction = text.partition(".")
        digits = len(whole.lstrip("0")) + len(fraction)
        return t.decimal(max(digits, len(fraction), 1), len(fraction))
    value = int(text)
    if value < 2**31:
        return t.INT
    return t.BIGINT if value < 2**63 else t.decimal(len(text), 0)


def _whole_number(node: exp.Expr) -> int | None:
    sign = -1 if isinstance(node, exp.Neg) else 1
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Literal) and not inner.is_string and inner.name.isdigit():
        return sign * int(inner.name)
    return None


def _digits(node: exp.Expr) -> SparkType | None:
    number = _whole_number(node.unnest())
    return None if number is None else t.decimal(len(str(abs(number))), 0)


def _date_part(field: str) -> SparkType:
    seconds = {"SECOND", "S", "SEC", "SECONDS", "SECS"}
    return t.decimal(8, 6) if field.upper() in seconds else t.INT


def _json_type(schema: str) -> SparkType | None:
    for text in (schema, f"struct<{schema}>"):
        try:
            return t.spark_type(text)
        except ValueError:
            continue
    return None


def _time_arithmetic(operator: str, left: SparkType, right: SparkType) -> SparkType | None:
    if right.kind.endswith("_interval") and left.kind in {"date", "timestamp", "timestamp_ntz"}:
        return t.TIMESTAMP if left == t.DATE and right.kind == "time_interval" else left
    if operator == "+" and left.kind.endswith("_interval") and right.kind in {"timestamp", "timestamp_ntz", "date"}:
        return _time_arithmetic(operator, right, left)
    if left == t.DATE and right.kind in {"int", "smallint", "tinyint"}:
        return t.DATE
    if operator == "-" and left == right == t.DATE:
        return SparkType("day_interval")
    if operator == "-" and left.kind == right.kind and left.kind in {"timestamp", "timestamp_ntz"}:
        return SparkType("time_interval")
    return None


def _may_be_absent(source: str, scope: Scope) -> bool:
    """Whether an outer join can fill the columns of a source with NULL."""
    joins = scope.expression.args.get("joins") or []
    mine = [i for i, join in enumerate(joins) if join.alias_or_name == source]
    position = mine[0] if mine else -1
    own = joins[position].side if mine else ""
    later = {join.side for join in joins[position + 1 :]}
    lateral = any(v.alias_or_name == source for v in scope.expression.args.get("laterals") or [])
    return lateral or own in {"LEFT", "FULL"} or bool(later & {"RIGHT", "FULL"})


_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
}
_Rule = Callable[[Inference, exp.Expr, Scope, _Lambda], SparkType | None]


def _always(kind: SparkType) -> _Rule:
    return lambda *_: kind


_RULES: dict[type[exp.Expr], _Rule] = {
    exp.Column: Inference._column,
    exp.Identifier: Inference._name,
    exp.Alias: Inference._inner,
    exp.Paren: Inference._inner,
    exp.Neg: Inference._inner,
    exp.BitwiseNot: Inference._inner,
    exp.Window: Inference._inner,
    exp.Filter: Inference._inner,
    exp.IgnoreNulls: Inference._inner,
    exp.RespectNulls: Inference._inner,
    exp.Distinct: Inference._inner,
    exp.Literal: Inference._literal,
    exp.Boolean: _always(t.BOOLEAN),
    exp.Null: _always(t.VOID),
    exp.HexString: _always(t.BINARY),
    exp.Cast: Inference._cast,
    exp.TryCast: Inference._cast,
    exp.Case: Inference._case,
    **dict.fromkeys(_OPERATORS, Inference._binary),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), Inference._bits),
    exp.DPipe: Inference._concat,
    exp.Interval: Inference._interval,
    exp.Dot: Inference._dot,
    exp.Bracket: Inference._bracket,
    exp.Subquery: Inference._subquery,
    exp.Extract: Inference._extract,
    exp.Struct: Inference._struct,
    exp.WithinGroup: Inference._within_group,
    exp.Explode: Inference._explode,
    exp.ExplodeOuter: Inference._explode,
    exp.CurrentTimestamp: _always(t.TIMESTAMP),
    exp.CurrentDate: _always(t.DATE),
    exp.Localtimestamp: _always(t.TIMESTAMP_NTZ),
    **dict.fromkeys(
        (exp.And, exp.Or, exp.Not, exp.Between, exp.Exists, exp.In, exp.Is, exp.NullSafeEQ), _always(t.BOOLEAN)
    ),
    exp.Anonymous: Inference._function,
}

TYPED = frozenset(_RULES)
"""Classes of expressions that `Inference` has a rule for."""

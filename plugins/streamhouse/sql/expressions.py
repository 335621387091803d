"""The type of one expression from the types of its parts: a rule for each class of syntax tree."""

from collections.abc import Callable

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql import functions
from streamhouse.sql import spark_type as t
from streamhouse.sql.calls import call_type
from streamhouse.sql.literals import beside, date_part_type, literal_type, operated
from streamhouse.sql.names import name_of
from streamhouse.sql.scopes import function_name
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.typed import Lambda, Types


def _column(types: Types, node: exp.Expr, scope: Scope, _: Lambda) -> SparkType | None:
    found = types.resolve(node, scope) if isinstance(node, exp.Column) else None
    return found.type if found else None


def _inner(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    return types.type_of(node.this, scope, names)


def _neg(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    number = node.this
    if isinstance(number, exp.Literal) and not number.is_string and number.name in _LEAST:
        return _LEAST[number.name]  # with its sign it is one literal for Spark
    kind = types.type_of(number, scope, names)
    return t.DOUBLE if kind is not None and kind.kind in ("string", "void") else kind


_LEAST = {str(1 << 31): t.INT, str(1 << 63): t.BIGINT}


def _tuple(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    kinds = [types.type_of(part, scope, names) for part in node.expressions]
    if None in kinds:
        return None
    known = [
        (name_of(part) or f"col{i}", kind)
        for i, (part, kind) in enumerate(zip(node.expressions, kinds, strict=True), 1)
    ]
    return t.struct_of(*((name, kind) for name, kind in known if kind is not None))


def _name(_types: Types, node: exp.Expr, _scope: Scope, names: Lambda) -> SparkType | None:
    return names.get(node.name)


def _literal(_types: Types, node: exp.Expr, _scope: Scope, _: Lambda) -> SparkType | None:
    return literal_type(node) if isinstance(node, exp.Literal) else None


def _cast(_types: Types, node: exp.Expr, _scope: Scope, _: Lambda) -> SparkType | None:
    return t.from_tree(node.args["to"])


def _case(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    results = [branch.args["true"] for branch in node.args["ifs"]]
    if node.args.get("default") is not None:
        results.append(node.args["default"])
    return t.widest(*(types.type_of(r, scope, names) for r in results))


def _binary(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    operator = OPERATORS[type(node)]
    left, right = (types.type_of(e, scope, names) for e in (node.this, node.expression))
    if left is None or right is None:
        return None
    left, right = beside(node.this, left, right), beside(node.expression, right, left)
    assert left is not None
    assert right is not None
    return operated(operator, left, right)


def _bits(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    wide = t.widest(*(types.type_of(e, scope, names) for e in (node.this, node.expression)))
    return wide if wide and wide.integral else None


def _concat(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    parts = [types.type_of(e, scope, names) for e in (node.this, node.expression)]
    return functions.RULES["concat"](parts)


def _interval(_types: Types, node: exp.Expr, _scope: Scope, _: Lambda) -> SparkType | None:
    unit = node.args.get("unit")
    return t.interval_of(unit) if unit is not None else None


def _dot(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    owner, name = types.type_of(node.this, scope, names), node.expression.name
    if owner is None:
        return None
    if owner.element is not None:
        field = owner.element.field(name)
        return t.array_of(field) if field else None
    return owner.fields[1][1] if owner.kind == "map" else owner.field(name)


def _bracket(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    owner = types.type_of(node.this, scope, names)
    if owner is None or len(node.expressions) != 1:
        return None
    key = node.expressions[0]
    if owner.kind == "struct":
        return owner.field(key.name) if isinstance(key, exp.Literal) and key.is_string else None
    return owner.fields[1][1] if owner.kind == "map" else owner.element


def _subquery(types: Types, node: exp.Expr, scope: Scope, _: Lambda) -> SparkType | None:
    inner = next((s for s in scope.subquery_scopes if s.expression is node.this), None)
    columns = types.outputs(inner) if inner is not None else ()
    return columns[0].type if len(columns) == 1 else None


def _extract(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    return date_part_type(node.name, types.type_of(node.expression, scope, names))


def _shift(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    return functions.RULES["shiftleft"]([types.type_of(node.this, scope, names)])


def _overlay(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    return functions.RULES["overlay"]([types.type_of(e, scope, names) for e in (node.this, node.expression)])


def _struct(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    fields = []
    for i, item in enumerate(node.expressions):
        value = item.expression if isinstance(item, exp.PropertyEQ) else item.unalias()
        name = item.this.name if isinstance(item, exp.PropertyEQ) else item.alias_or_name
        kind = types.type_of(value, scope, names)
        if kind is None:
            return None
        fields.append((name or f"col{i + 1}", kind))
    return t.struct_of(*fields)


def _within_group(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    call = node.this
    order = node.args.get("expression")
    ordered = order.expressions if isinstance(order, exp.Order) else []
    name = function_name(call)
    if name in {"percentile_cont", "percentile_disc", "mode"} and len(ordered) == 1:
        kind = types.type_of(ordered[0].this, scope, names)
        if name == "mode":
            return kind
        return functions.RULES["percentile"]([kind, *(types.type_of(a, scope, names) for a in call.expressions)])
    return t.STRING if name in {"listagg", "string_agg"} else None


OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
}
"""Class of an arithmetic operation → its sign."""
Rule = Callable[[Types, exp.Expr, Scope, Lambda], SparkType | None]


def _generator(*_: object) -> SparkType | None:
    return None  # `Inference` knows the columns of these


def _always(kind: SparkType) -> Rule:
    return lambda *_: kind


RULES: dict[type[exp.Expr], Rule] = {
    exp.Column: _column,
    exp.Identifier: _name,
    exp.Alias: _inner,
    exp.Paren: _inner,
    exp.Neg: _neg,
    exp.BitwiseNot: _inner,
    exp.Window: _inner,
    exp.Filter: _inner,
    exp.IgnoreNulls: _inner,
    exp.RespectNulls: _inner,
    exp.Distinct: _inner,
    exp.Literal: _literal,
    exp.Boolean: _always(t.BOOLEAN),
    exp.Null: _always(t.VOID),
    exp.HexString: _always(t.BINARY),
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Case: _case,
    **dict.fromkeys(OPERATORS, _binary),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), _bits),
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift), _shift),
    exp.Overlay: _overlay,
    exp.DPipe: _concat,
    exp.Interval: _interval,
    exp.Dot: _dot,
    exp.Bracket: _bracket,
    exp.Subquery: _subquery,
    exp.Extract: _extract,
    exp.Struct: _struct,
    exp.Tuple: _tuple,
    exp.WithinGroup: _within_group,
    **dict.fromkeys((exp.Explode, exp.ExplodeOuter, exp.Inline), _generator),
    exp.CurrentTimestamp: _always(t.TIMESTAMP),
    exp.CurrentDate: _always(t.DATE),
    exp.Localtimestamp: _always(t.TIMESTAMP_NTZ),
    **dict.fromkeys(
        (exp.And, exp.Or, exp.Not, exp.Between, exp.Exists, exp.In, exp.Is, exp.NullSafeEQ, exp.Escape),
        _always(t.BOOLEAN),
    ),
    exp.Anonymous: call_type,
}

TYPED = frozenset(RULES)
"""Classes of expressions that `Inference` has a rule for."""

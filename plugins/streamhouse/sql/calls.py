"""The types of function calls; `functions` has what holds for a function wherever it stands."""

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from streamhouse.sql import functions
from streamhouse.sql import spark_type as t
from streamhouse.sql.arity import misfit
from streamhouse.sql.literals import beside, date_part_type, json_type, number_type, stored_type, whole_number
from streamhouse.sql.names import name_of
from streamhouse.sql.scopes import function_name
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.typed import Lambda, Types
from streamhouse.sql.words import words

_CASTS = words(
    """
    bigint binary boolean date decimal double float int smallint string timestamp tinyint
    """
)

_OPERATORS = words("mod pmod try_add try_divide try_mod try_multiply try_subtract div")


_TO_DIGITS = frozenset({"round", "bround", "ceil", "ceiling", "floor"})
_LITERALS = frozenset({"from_json", "from_csv", "to_number", "try_to_number", "variant_get", "try_variant_get"})
"""Functions whose type is in one of their arguments."""


def call_type(types: Types, node: exp.Expr, scope: Scope, names: Lambda) -> SparkType | None:
    """The type of a call of a function; None: it is unknown."""
    name = function_name(node)
    fixed = functions.FIXED.get(name)
    if fixed is not None:
        return fixed
    arguments = _arguments(node)
    if isinstance(node, exp.Anonymous) and misfit(name, len(arguments)) is not None:
        return None
    if name in functions.SHAPED:
        return _shaped(types, name, arguments, scope, names)
    rule = functions.RULES.get(name)
    if rule is None:
        return None
    if name in _TO_DIGITS and len(arguments) == 2:
        digits = whole_number(arguments[1])
        if digits is None:
            return None
        rule = functions.round_rule(digits) if name in {"round", "bround"} else functions.cut_to(digits)
    given = [types.type_of(a, scope, names) for a in arguments if not isinstance(a, exp.Lambda)]
    if name in _OPERATORS and len(arguments) == len(given) == 2:
        given = [beside(arguments[0], given[0], given[1]), beside(arguments[1], given[1], given[0])]
    return rule(given)


def _shaped(types: Types, name: str, arguments: list[exp.Expr], scope: Scope, names: Lambda) -> SparkType | None:
    if name in _CASTS and len(arguments) == 1:
        return t.spark_type(name)
    if name in {"datediff", "date_diff"}:
        return t.BIGINT if len(arguments) == 3 else t.INT
    if name in {"dateadd", "date_add", "timestampadd"}:
        if len(arguments) == 2:
            return t.DATE if name in {"date_add", "dateadd"} else None
        if len(arguments) != 3:
            return None
        start = types.type_of(arguments[2], scope, names)
        return t.TIMESTAMP if start == t.DATE else start if start in (t.TIMESTAMP, t.TIMESTAMP_NTZ) else None
    if name == "named_struct":
        return _named_struct(types, arguments, scope, names)
    if name in _LITERALS:
        return _of_literal(name, arguments)
    if name in {"date_part", "datepart"} and isinstance(arguments[0], exp.Literal):
        return date_part_type(arguments[0].name, types.type_of(arguments[1], scope, names))
    if name == "arrays_zip":
        return _zipped(types, arguments, scope, names)
    if name in {"zip_with", "transform_keys", "transform_values", "map_zip_with"}:
        return _of_lambda(types, name, arguments, scope, names)
    if name == "transform" and len(arguments) == 2 and isinstance(arguments[1], exp.Lambda):
        array_type = types.type_of(arguments[0], scope, names)
        body = _lambda(types, arguments[1], [array_type.element if array_type else None, t.INT], scope, names)
        return t.array_of(body) if body else None
    if name in {"aggregate", "reduce"} and len(arguments) in (3, 4) and isinstance(arguments[2], exp.Lambda):
        array_type, start = (types.type_of(a, scope, names) for a in arguments[:2])
        merged = _lambda(types, arguments[2], [start, array_type.element if array_type else None], scope, names)
        if start != merged or len(arguments) == 3:
            return start if start == merged else None
        last = arguments[3]
        return _lambda(types, last, [start], scope, names) if isinstance(last, exp.Lambda) else None
    return None


def _of_literal(name: str, arguments: list[exp.Expr]) -> SparkType | None:
    place = 2 if name.endswith("variant_get") else 1
    if len(arguments) <= place:
        return SparkType("variant") if place == 2 else None
    written = arguments[place]
    if not isinstance(written, exp.Literal) or not written.is_string:
        return None
    if name.endswith("to_number"):
        return number_type(written.name)
    if name.endswith("variant_get"):
        return stored_type(written.name)
    kind = json_type(written.name)
    return None if name == "from_csv" and kind is not None and kind.kind != "struct" else kind


def _zipped(types: Types, arguments: list[exp.Expr], scope: Scope, names: Lambda) -> SparkType | None:
    fields = []
    for place, argument in enumerate(arguments):
        kind = types.type_of(argument, scope, names)
        if kind is None or kind.element is None:
            return None
        fields.append((name_of(argument) or str(place), kind.element))
    return t.array_of(t.struct_of(*fields)) if fields else None


def _of_lambda(types: Types, name: str, arguments: list[exp.Expr], scope: Scope, names: Lambda) -> SparkType | None:
    body = arguments[-1]
    kinds = [types.type_of(argument, scope, names) for argument in arguments[:-1]]
    if not isinstance(body, exp.Lambda) or None in kinds:
        return None
    known = [kind for kind in kinds if kind is not None]
    if name == "zip_with":
        found = _lambda(types, body, [kind.element for kind in known], scope, names)
        return t.array_of(found) if found else None
    if any(kind.kind != "map" for kind in known):
        return None
    key = known[0].fields[0][1]
    found = _lambda(types, body, [key, *(kind.fields[1][1] for kind in known)], scope, names)
    if found is None:
        return None
    return t.map_of(found, known[0].fields[1][1]) if name == "transform_keys" else t.map_of(key, found)


def _lambda(
    types: Types, node: exp.Lambda, parameter_types: list[SparkType | None], scope: Scope, names: Lambda
) -> SparkType | None:
    own = {p.name: kind for p, kind in zip(node.expressions, parameter_types, strict=False)}
    return types.type_of(node.this, scope, {**names, **own})


def _named_struct(types: Types, arguments: list[exp.Expr], scope: Scope, names: Lambda) -> SparkType | None:
    fields = []
    for name, value in zip(arguments[::2], arguments[1::2], strict=False):
        kind = types.type_of(value, scope, names)
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

"""Fields and elements that a value does not have, and values that Spark gives no common type; pure.

References: `ExtractValue` and `AnsiTypeCoercion.findWiderCommonType` of Spark 4.1.
"""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from streamhouse.sql import functions
from streamhouse.sql.admit import Refused
from streamhouse.sql.dialect import short
from streamhouse.sql.met_types import comparable
from streamhouse.sql.scopes import arguments_of, function_name
from streamhouse.sql.spark_type import SparkType

_ONE_TYPE = frozenset({"coalesce", "ifnull", "nvl", "greatest", "least", "array"})
_CHOICES = frozenset({"if", "nvl2"})
"""Of these the first argument is a condition."""
_NO_PARTS = frozenset({"string", "binary", "boolean", "date", "timestamp", "timestamp_ntz", "time", "variant"})
_SPANS = functions.INTERVALS | {"calendar_interval"}


def of_one_type(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a call or a CASE to which Spark gives one type; empty: it is no such call."""
    if isinstance(node, exp.Case):
        found = [arm.args["true"] for arm in node.args["ifs"]]
        default = node.args.get("default")
        return [*found, default] if default is not None else found
    if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
        return []
    name = function_name(node)
    if name in _ONE_TYPE:
        return arguments_of(node)
    return arguments_of(node)[1:] if name in _CHOICES else []


def without_common_type(node: exp.Expr, type_of: Callable[[exp.Expr], SparkType | None]) -> Iterator[Refused]:
    """What Spark refuses since the values that a node chooses among have no common type.

    Args:
        node: Any; the nodes below it are not looked at.
        type_of: The type of an expression; None: it is not known.
    """
    parts = of_one_type(node)
    kinds = [kind for part in parts if (kind := type_of(part)) is not None]
    apart = _first_apart(kinds)
    if apart is not None:
        one, other = apart
        name = "CASE" if isinstance(node, exp.Case) else f"{function_name(node)}()"
        yield Refused(
            node, f"{name} takes values of one type, and {one} and {other} have none", "convert one with CAST"
        )


def _first_apart(kinds: Sequence[SparkType]) -> tuple[SparkType, SparkType] | None:
    pairs = ((one, other) for place, one in enumerate(kinds) for other in kinds[place + 1 :])
    return next((pair for pair in pairs if not comparable(*pair) or _text_and_span(*pair)), None)


def _text_and_span(one: SparkType, other: SparkType) -> bool:
    kinds = {one.kind, other.kind}
    return "string" in kinds and bool(kinds & _SPANS)


def missing_part(node: exp.Bracket | exp.Dot, type_of: Callable[[exp.Expr], SparkType | None]) -> Iterator[Refused]:
    """A field or an element of a value that has none such.

    Args:
        node: Of a qualified query.
        type_of: The type of an expression; None: it is not known.
    """
    kind = type_of(node.this)
    if kind is None:
        return
    if isinstance(node, exp.Bracket):
        if kind.numeric or kind.kind in _NO_PARTS:
            text = f"{short(node.this)} is {kind}, which has no elements"
            yield Refused(node, text, "take […] of an array or a map")
    elif isinstance(node.expression, exp.Identifier):
        yield from _missing_field(node, kind)


def _missing_field(node: exp.Dot, kind: SparkType) -> Iterator[Refused]:
    """Of an array of structs too, of which Spark makes an array of the field."""
    name, of = node.expression.name, kind.element or kind
    if of.kind == "struct":
        if of.field(name) is None:
            there = ", ".join(field for field, _ in of.fields)
            yield Refused(node, f"{short(node.this)} has no field '{name}'", f"its fields are: {there}")
    elif of.numeric or of.kind in _NO_PARTS or kind.element is not None:
        yield Refused(node, f"{short(node.this)} is {kind}, which has no field '{name}'", "name a column of a struct")

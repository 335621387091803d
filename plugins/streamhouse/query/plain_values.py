"""Values of Spark SQL that DuckDB has alike: their types, their literals and what compares them. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from streamhouse.query.conditions import literal

INTEGERS = ("tinyint", "smallint", "int", "bigint")
_EXACT = {*INTEGERS, "string", "boolean", "date", "timestamp", "timestamp_ntz"}
_DUCKDB = {"timestamp": "TIMESTAMPTZ", "timestamp_ntz": "TIMESTAMP", "string": "VARCHAR"}
_EXACT_DOUBLES = 1 << 53


class NotPlainError(Exception):
    """A query is Spark's; the text says which piece of it."""


@dataclass(frozen=True)
class TypedExpression:
    """An expression for DuckDB, with the type that it has in Spark."""

    tree: exp.Expr
    type: str
    name: str | None = None  # that Spark would give it
    aggregates: bool = False


def average(one: TypedExpression) -> exp.Expr:
    """As Spark: the sum as a double by the count as one; where that is inexact, an error, so that Spark is asked.

    Raises:
        NotPlainError: the values are no integers.
    """
    if one.type not in INTEGERS:
        raise NotPlainError("AVG of other than integers")
    wide = exp.cast(one.tree.copy(), "HUGEINT", dialect="duckdb")
    inexact = exp.GT(this=exp.Sum(this=exp.Abs(this=wide)), expression=exp.Literal.number(_EXACT_DOUBLES))
    total, count = exp.Sum(this=one.tree), exp.Count(this=one.tree.copy())
    mean = exp.Div(this=exp.cast(total, "DOUBLE"), expression=exp.cast(count, "DOUBLE"))
    error = exp.Anonymous(this="error", expressions=[exp.Literal.string("inexact")])
    return exp.Case(ifs=[exp.If(this=inexact, true=exp.cast(error, "DOUBLE"))], default=mean)


def pair(
    left: exp.Expr, right: exp.Expr, value: Callable[[exp.Expr], TypedExpression]
) -> tuple[TypedExpression, TypedExpression]:
    """Two sides of a comparison, of types that both engines compare alike.

    Raises:
        NotPlainError: both sides are literals, or of types that are compared in different ways.
    """
    one = value(left) if not _is_literal(left) else None
    other = value(right) if not _is_literal(right) else None
    if one is not None and other is None:
        other = _literal_for(right, one.type)
    elif other is not None and one is None:
        one = _literal_for(left, other.type)
    if one is None or other is None:
        raise NotPlainError("a comparison of literals")
    exact = {t for t in (one.type, other.type) if t in INTEGERS or t.startswith("decimal(")}
    if one.type == other.type:
        refuse_inexact("a comparison", one.type)
    elif exact != {one.type, other.type}:
        raise NotPlainError(f"a comparison of {one.type} with {other.type}")
    return one, other


def _is_literal(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.Paren | exp.Neg):
        return _is_literal(tree.this)
    if isinstance(tree, exp.Cast):
        return isinstance(tree.this, exp.Literal)
    return isinstance(tree, exp.Literal | exp.Boolean | exp.Null)


def _literal_for(tree: exp.Expr, kind: str) -> TypedExpression:
    """A literal that is compared with a value of type `kind`."""
    if kind.startswith("decimal("):
        try:
            return plain_literal(tree)
        except NotPlainError:
            pass  # of digits after a point
    value = literal(tree, kind)
    if value is None and kind in INTEGERS:
        return plain_literal(tree)
    if value is None:
        raise NotPlainError(f"a literal beside {kind}")
    if isinstance(value, bool):
        return TypedExpression(exp.Boolean(this=value), kind)
    if kind in INTEGERS or kind.startswith("decimal("):
        return TypedExpression(exp.cast(exp.Literal.string(str(value)), _duck(kind), dialect="duckdb"), kind)
    text = value if isinstance(value, str) else value.isoformat()  # type: ignore[union-attr]
    if kind == "string":
        return TypedExpression(exp.Literal.string(text), kind)
    return TypedExpression(exp.cast(exp.Literal.string(text), _duck(kind), dialect="duckdb"), kind)


def plain_literal(tree: exp.Expr) -> TypedExpression:
    """A literal by itself, with the type that Spark gives it.

    Raises:
        NotPlainError: it is no literal, or of a type that both engines write in different ways.
    """
    if isinstance(tree, exp.Boolean):
        return TypedExpression(exp.Boolean(this=tree.this), "boolean", str(bool(tree.this)).lower())
    if isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal):
        one = plain_literal(tree.this)
        if one.type in INTEGERS:
            return TypedExpression(exp.Neg(this=one.tree), one.type)
    if isinstance(tree, exp.Literal):
        if tree.is_string:
            return TypedExpression(exp.Literal.string(tree.name), "string", tree.name)
        if tree.name.isdigit() and int(tree.name) < 1 << 63:
            kind = "int" if int(tree.name) < 1 << 31 else "bigint"
            return TypedExpression(exp.cast(exp.Literal.number(tree.name), _duck(kind)), kind, tree.name)
    raise NotPlainError(tree.name.upper() if isinstance(tree, exp.Anonymous) else tree.key.upper())


def summed(one: TypedExpression, name: str | None) -> TypedExpression:
    """SUM, with the type that Spark's has.

    Raises:
        NotPlainError: the values are neither integers nor decimals.
    """
    if one.type in INTEGERS:
        kind = "bigint"
    elif one.type.startswith("decimal("):
        precision, scale = (int(part) for part in one.type[8:-1].split(","))
        kind = f"decimal({min(38, precision + 10)},{scale})"
    else:
        raise NotPlainError(f"SUM of {one.type}")
    total: exp.Expr = exp.Sum(this=one.tree)
    if kind.startswith("decimal("):  # DuckDB's SUM lets it have 39 digits; `+` does not
        total = exp.Add(this=total, expression=exp.cast(exp.Literal.number(0), kind))
    return TypedExpression(exp.cast(total, _duck(kind)), kind, name, aggregates=True)


def typed_expression(tree: exp.Expr, kind: str, *parts: TypedExpression) -> TypedExpression:
    """What is computed of `parts`."""
    return TypedExpression(tree, kind, None, any(part.aggregates for part in parts))


def refuse_other(what: str, kind: str, *parts: TypedExpression) -> None:
    """Refuse parts of `what` of another type than `kind`.

    Raises:
        NotPlainError: one is of another type.
    """
    if any(part.type != kind for part in parts):
        raise NotPlainError(f"{what} of other than {kind}")


def refuse_inexact(what: str, *kinds: str) -> None:
    """Refuse `what` for types whose values both engines do not compare alike.

    Raises:
        NotPlainError: one of `kinds` is such a type.
    """
    for kind in kinds:
        if kind not in _EXACT and not kind.startswith("decimal("):
            raise NotPlainError(f"{what} of {kind}")


def refuse_unknown(tree: exp.Expr, known: set[str]) -> None:
    """Refuse a clause with parts other than `known`.

    Raises:
        NotPlainError: it has such parts.
    """
    for key, value in tree.args.items():
        if key not in known and value not in (None, False, []):
            raise NotPlainError(f"{key.strip('_').upper()} of {tree.key.upper()}")


def _duck(kind: str) -> str:
    return _DUCKDB.get(kind, kind)

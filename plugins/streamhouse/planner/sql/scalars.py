"""Values of one row: columns, cuts of times, spans between times, arithmetic, bands."""

from decimal import Decimal
from itertools import pairwise

from sqlglot import exp

from streamhouse.planner.request import Banded, Between, ColumnRef, Cut, Grain, Number, Scalar
from streamhouse.planner.sql.constants import number, number_type
from streamhouse.planner.sql.scope import Scope, Value
from streamhouse.sql import spark_type as t
from streamhouse.sql.dialect import SPARK

_MICROS = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
_PARTS = {Grain.HOUR_OF_DAY: "HOUR", Grain.DAY_OF_MONTH: "DAY", Grain.MONTH_OF_YEAR: "MONTH"}
_OPERATORS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}


def scalar(of: Scalar, scope: Scope) -> Value:
    """The tree and the type of a value.

    Raises:
        UnknownWordError: it uses a column that is not there.
    """
    if isinstance(of, ColumnRef):
        found = scope.of(of)
        return Value(found.copy(), found.type, found.grain)
    if isinstance(of, Number):
        return Value(number(of.value), number_type(of.value))
    if isinstance(of, Cut):
        return cut(scalar(of.of, scope), of.grain)
    if isinstance(of, Between):
        return _between(of, scope)
    if isinstance(of, Banded):
        return _banded(of, scope)
    return arithmetic(of.operator, scalar(of.left, scope), scalar(of.right, scope))


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function as Spark names it."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def cast(tree: exp.Expr, type_: str) -> exp.Expr:
    """A CAST, also where sqlglot would leave it out."""
    return exp.Cast(this=tree, to=exp.DataType.build(type_, dialect=SPARK))


def within(tree: exp.Expr) -> exp.Expr:
    """The tree as one operand: in brackets where it is an operation itself."""
    return exp.Paren(this=tree) if isinstance(tree, exp.Binary | exp.Neg | exp.Not) else tree


def cut(time: Value, grain: Grain) -> Value:
    """The begin of a period in UTC as a timestamp, or a part of the calendar as an int; the week begins on Monday."""
    if grain is Grain.DAY_OF_WEEK:
        return Value(exp.Add(this=call("WEEKDAY", time.copy()), expression=number(1)), t.INT, grain)
    if grain in _PARTS:
        return Value(call(_PARTS[grain], time.copy()), t.INT, grain)
    return Value(call("DATE_TRUNC", exp.Literal.string(grain.value.upper()), time.copy()), t.TIMESTAMP, grain)


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Two numbers combined; a quotient is a double, and NULL where the divisor is zero."""
    if operator == "/":
        return quotient(left, right)
    one, other = _beside(left, right), _beside(right, left)
    type_ = t.arithmetic(operator, one, other) if one is not None and other is not None else None
    return Value(_OPERATORS[operator](this=within(left.copy()), expression=within(right.copy())), type_)


def _beside(value: Value, other: Value) -> t.SparkType | None:
    """The type of an operand; Spark takes a whole literal beside a decimal as a decimal of its digits."""
    decimal = other.type is not None and other.type.kind == "decimal"
    if decimal and isinstance(value.tree, exp.Literal) and value.type is not None and value.type.integral:
        return t.decimal(len(value.tree.name), 0)
    return value.type


def quotient(left: Value, right: Value) -> Value:
    """A ratio in double: whole numbers are not cut off, decimals not rounded to a scale."""
    divisor = double(right)
    if not (isinstance(divisor, exp.Literal) and Decimal(divisor.name) != 0):
        divisor = exp.Nullif(this=divisor, expression=number(0))
    return Value(exp.Div(this=within(double(left)), expression=divisor), t.DOUBLE)


def double(value: Value) -> exp.Expr:
    """The value where Spark's division takes it in double; it does so by itself of whole numbers and doubles."""
    if value.type is not None and (value.type.integral or value.type.kind == "double"):
        return value.copy()
    return cast(value.copy(), "double")


def _between(of: Between, scope: Scope) -> Value:
    first, last = (scalar(side, scope) for side in (of.first, of.last))
    if of.unit == "day" and _kinds(first, last) == {"date", "timestamp"}:
        first, last = _day(first), _day(last)  # a date has no time of day, so only whole days are known
    span = exp.Sub(this=_micros(last), expression=_micros(first))
    return Value(exp.Div(this=exp.Paren(this=span), expression=number(_MICROS[of.unit])), t.DOUBLE)


def _kinds(*times: Value) -> set[str]:
    return {one.type.kind for one in times if one.type is not None}


def _day(time: Value) -> Value:
    """The day of a time."""
    is_day = time.type is not None and time.type.kind == "date"
    return time if is_day else Value(cast(time.copy(), "date"), t.DATE)


def _micros(time: Value) -> exp.Expr:
    exact = time.type is not None and time.type.kind == "timestamp"
    return call("UNIX_MICROS", time.copy() if exact else cast(time.copy(), "timestamp"))


def _banded(of: Banded, scope: Scope) -> Value:
    value = scalar(of.of, scope)
    labels = band_labels(of.bounds)
    case = exp.Case()
    for bound, label in zip(of.bounds, labels[:-1], strict=True):
        case = case.when(exp.LT(this=within(value.copy()), expression=number(bound)), exp.Literal.string(label))
    known = exp.Not(this=exp.Is(this=within(value.copy()), expression=exp.null()))
    return Value(case.when(known, exp.Literal.string(labels[-1])), t.STRING)


def band_labels(bounds: tuple[Decimal, ...]) -> tuple[str, ...]:
    """Names of bands, in order: `under 10`, `10 to 20`, `20 and over`; a band has its lower bound, not the upper."""
    texts = [number(bound).sql() for bound in bounds]
    middle = [f"{low} to {high}" for low, high in pairwise(texts)]
    return (f"under {texts[0]}", *middle, f"{texts[-1]} and over")

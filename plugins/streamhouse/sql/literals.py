"""Types that depend on how a value is written, and those of arithmetic with dates and times."""

from sqlglot import exp

from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql import spark_type as t
from streamhouse.sql.dialect.literals import WRITTEN
from streamhouse.sql.spark_type import SparkType

_COUNTED = frozenset({exp.DType.BIGINT, exp.DType.SMALLINT})  # of the suffixes L and S


def literal_type(node: exp.Literal) -> SparkType | None:
    """What a number or text is, as Spark reads it."""
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


def whole_number(node: exp.Expr) -> int | None:
    """The value of a whole number as written; None: it is none."""
    sign = -1 if isinstance(node, exp.Neg) else 1
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Literal) and not inner.is_string and inner.name.isdigit():
        return sign * int(inner.name)
    return None


def counted_number(node: exp.Expr) -> int | None:
    """A whole number as written, with a suffix or without: `3`, `-3`, `3L`, `3S`; None: it is none.

    Beside a decimal Spark takes it for a decimal of its digits. It takes a CAST of it, and `3Y`, for one of all digits
    that the type may have (`DecimalPrecision`).
    """
    bare = node.unnest()
    inner = bare.this if isinstance(bare, exp.Neg) else bare
    if isinstance(inner, exp.Cast) and inner.meta_get(WRITTEN) is not None and inner.to.this in _COUNTED:
        number = whole_number(inner.this)
        return -number if number is not None and inner is not bare else number
    return whole_number(bare)


def digits_of(node: exp.Expr) -> SparkType | None:
    """The decimal that has just the digits of a whole number as written."""
    number = counted_number(node)
    return None if number is None else t.decimal(len(str(abs(number))), 0)


def beside(node: exp.Expr, own: SparkType | None, other: SparkType | None) -> SparkType | None:
    """The type that an operand has beside another one: a whole number counts with its digits beside a decimal."""
    if own is not None and own.integral and other is not None and other.kind == "decimal":
        return digits_of(node) or own
    return own


def date_part_type(field: str, of: SparkType | None = None) -> SparkType:
    """The type of one field of a date, time or interval."""
    name = field.upper()
    if name in {"SECOND", "S", "SEC", "SECONDS", "SECS"}:
        return t.decimal(8, 6)
    if of is not None and of.kind.endswith("_interval") and name in _SMALL_FIELDS:
        return SparkType("tinyint")
    return t.INT


_SMALL_FIELDS = frozenset(
    {"MONTH", "MON", "MONS", "MONTHS", "HOUR", "H", "HOURS", "HR", "HRS", "MINUTE", "M", "MIN", "MINS", "MINUTES"}
)
"""Fields of an interval that Spark gives as a TINYINT."""


def number_type(text: str) -> SparkType | None:
    """The decimal that a format of `to_number` describes; None: it is no format."""
    digits = "".join(sign for sign in text.upper().replace("D", ".") if sign in "09.")
    whole, _, fraction = digits.partition(".")
    precision = len(whole) + len(fraction)
    return t.decimal(precision, len(fraction)) if 0 < precision <= DECIMAL_DIGITS and "." not in fraction else None


def json_type(schema: str) -> SparkType | None:
    """The type that a schema of `from_json` names."""
    for text in (schema, f"struct<{schema}>"):
        try:
            return t.spark_type(text)
        except ValueError:
            continue
    return None


def stored_type(text: str) -> SparkType | None:
    """The type that a text names; None: it names none."""
    try:
        return t.spark_type(text)
    except ValueError:
        return None


def operated(operator: str, left: SparkType, right: SparkType) -> SparkType | None:
    """The type of an operation on numbers, dates, times, intervals, and on texts beside numbers; None: none is sure.

    Beside a whole number Spark reads a text as a BIGINT, beside another number as a DOUBLE; two texts it refuses.
    """
    if left == t.STRING and right.numeric:
        left = t.BIGINT if right.integral else t.DOUBLE
    elif right == t.STRING and left.numeric:
        right = t.BIGINT if left.integral else t.DOUBLE
    return time_arithmetic(operator, left, right) or t.arithmetic(operator, left, right)


def time_arithmetic(operator: str, left: SparkType, right: SparkType) -> SparkType | None:
    """The type of an operation on dates, times and intervals; None: Spark refuses it, or neither is one of these."""
    one, other = left.kind.endswith("_interval"), right.kind.endswith("_interval")
    if one and other:
        return _of_intervals(operator, left, right)
    if operator in "*/" and (one or (other and operator == "*")):
        interval, number = (left, right) if one else (right, left)
        if not (number.numeric or number == t.VOID):
            return None
        return SparkType("time_interval") if interval.kind == "day_interval" else interval
    if operator not in "+-":
        return None
    if other and left.kind in _MOMENTS:
        return t.TIMESTAMP if left == t.DATE and right.kind == "time_interval" else left
    if operator == "+" and (one or left.kind in _DAY_COUNTS) and right.kind in _MOMENTS:
        return time_arithmetic(operator, right, left)
    if left == t.DATE and right.kind in _DAY_COUNTS:
        return t.DATE
    if operator == "-" and left == t.DATE and right in (t.DATE, t.STRING):
        return SparkType("day_interval")
    if operator == "-" and left.kind in _MOMENTS and (right.kind in _MOMENTS or right == t.STRING):
        return SparkType("time_interval")
    return None


def _of_intervals(operator: str, left: SparkType, right: SparkType) -> SparkType | None:
    both = t.widest(left, right)
    if operator == "div":
        return t.BIGINT if both is not None and both.kind != "calendar_interval" else None
    return both if operator in "+-" else None


_MOMENTS = frozenset({"date", "timestamp", "timestamp_ntz"})
_DAY_COUNTS = frozenset({"int", "smallint", "tinyint"})

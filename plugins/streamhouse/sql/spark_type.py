"""Spark SQL types as values, and the types that Spark's arithmetic and widening give.

Rules are those of Spark 4.1 with `spark.sql.ansi.enabled=true` and
`spark.sql.decimalOperations.allowPrecisionLoss=true` (both defaults). Where Spark would convert
between text and another type, there is no answer here (None): the SQL must say CAST.
"""

from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.types import INTEGRAL_DIGITS, parse_type, type_name

_MIN_ADJUSTED_SCALE = 6
_FLOATING_DIGITS = {"float": (14, 7), "double": (30, 15)}
_DAYS, _MONTHS = frozenset({"DAY", "WEEK"}), frozenset({"MONTH", "YEAR", "QUARTER"})
_INTERVAL_ORDER = ("day_interval", "time_interval")
_NUMERIC_ORDER = ("tinyint", "smallint", "int", "bigint", "float", "double")
_INSTANTS = {
    frozenset({"date", "timestamp"}): "timestamp",
    frozenset({"date", "timestamp_ntz"}): "timestamp_ntz",
    frozenset({"timestamp", "timestamp_ntz"}): "timestamp",
}
_SIMPLE = frozenset({*_NUMERIC_ORDER, "boolean", "string", "binary", "date", "timestamp", "timestamp_ntz", "variant"})


@dataclass(frozen=True, slots=True)
class SparkType:
    """One type. Equal types compare equal.

    Attributes:
        kind: `int`, `decimal`, `array`, `map`, `struct`, …; `void` is the type of NULL; `day_interval`,
            `month_interval`, `time_interval` and `calendar_interval` occur in expressions only and cannot be stored.
        precision: Digits of a decimal; 0 otherwise.
        scale: Digits of a decimal after the point.
        fields: Struct: name and type of each field. Array: one, `element`. Map: two, `key` and `value`.
    """

    kind: str
    precision: int = 0
    scale: int = 0
    fields: tuple[tuple[str, "SparkType"], ...] = ()

    def __str__(self) -> str:
        if self.kind == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.kind == "struct":
            return f"struct<{','.join(f'{name}:{kind}' for name, kind in self.fields)}>"
        if self.fields:
            return f"{self.kind}<{','.join(str(kind) for _, kind in self.fields)}>"
        return self.kind

    @property
    def element(self) -> "SparkType | None":
        """Of an array: the type of its elements."""
        return self.fields[0][1] if self.kind == "array" else None

    @property
    def integral(self) -> bool:
        """Whether it is a whole number type other than decimal."""
        return self.kind in INTEGRAL_DIGITS

    @property
    def numeric(self) -> bool:
        """Whether arithmetic works on it."""
        return self.kind == "decimal" or self.kind in _NUMERIC_ORDER

    @property
    def storable(self) -> bool:
        """Whether a table column can have it."""
        if self.fields:
            return all(kind.storable for _, kind in self.fields)
        return self.kind == "decimal" or self.kind in _SIMPLE

    def field(self, name: str) -> "SparkType | None":
        """Of a struct: the type of a field, in any case; None when there is none."""
        if self.kind == "struct":
            for own, kind in self.fields:
                if own.lower() == name.lower():
                    return kind
        return None


VOID, BOOLEAN, STRING, BINARY = (SparkType(k) for k in ("void", "boolean", "string", "binary"))
INT, BIGINT, DOUBLE, FLOAT = (SparkType(k) for k in ("int", "bigint", "double", "float"))
DATE, TIMESTAMP, TIMESTAMP_NTZ = (SparkType(k) for k in ("date", "timestamp", "timestamp_ntz"))


def decimal(precision: int, scale: int) -> SparkType:
    """A decimal within Spark's bounds; digits before the point are kept first (DecimalType.bounded)."""
    return SparkType("decimal", min(precision, DECIMAL_DIGITS), min(scale, DECIMAL_DIGITS))


def array_of(element: SparkType) -> SparkType:
    """An array type."""
    return SparkType("array", fields=(("element", element),))


def map_of(key: SparkType, value: SparkType) -> SparkType:
    """A map type."""
    return SparkType("map", fields=(("key", key), ("value", value)))


def struct_of(*fields: tuple[str, SparkType]) -> SparkType:
    """A struct type."""
    return SparkType("struct", fields=fields)


@lru_cache(maxsize=4096)
def spark_type(name: str) -> SparkType:
    """The type of a Spark type name.

    Raises:
        ValueError: `name` names no type.
    """
    return from_tree(parse_type(name))


def from_tree(tree: exp.DataType) -> SparkType:
    """The type of a parsed type name, as a CAST has it.

    Raises:
        ValueError: an array or a map does not say of what.
    """
    kinds = exp.DataType.Type
    if isinstance(tree.this, exp.Interval):
        return interval_of(tree.this.args.get("unit"))
    if tree.this == kinds.INTERVAL:
        return SparkType("calendar_interval")
    if tree.this == kinds.STRUCT:
        return struct_of(*((f.name, from_tree(f.args["kind"])) for f in tree.expressions))
    if tree.this in (kinds.ARRAY, kinds.MAP) and len(tree.expressions) != (2 if tree.this == kinds.MAP else 1):
        raise ValueError(f"{tree.this.value} has other types in <>")
    if tree.this == kinds.ARRAY:
        return array_of(from_tree(tree.expressions[0]))
    if tree.this == kinds.MAP:
        return map_of(*(from_tree(e) for e in tree.expressions))
    name = type_name(tree)
    if name.startswith("decimal("):
        precision, scale = name.removeprefix("decimal(").rstrip(")").split(",")
        return SparkType("decimal", int(precision), int(scale))
    return SparkType(name)


def interval_of(unit: exp.Expr | None) -> SparkType:
    """The type of an interval with a unit, such as DAY or `HOUR TO SECOND`."""
    first = unit.this if isinstance(unit, exp.IntervalSpan) else unit
    name = str(first.name).upper().removesuffix("S") if isinstance(first, exp.Expr) else ""
    if name in _MONTHS:
        return SparkType("month_interval")
    return SparkType("day_interval" if name in _DAYS and unit is first else "time_interval")


def widest(*types: SparkType | None) -> SparkType | None:
    """The type Spark gives CASE, COALESCE, UNION or an array of these; None: none is sure."""
    result: SparkType | None = VOID
    for other in types:
        if other is None or result is None:
            return None
        result = _wider(result, other)
    return result


def _wider(a: SparkType, b: SparkType) -> SparkType | None:
    if b in (a, VOID):
        return a
    if a == VOID:
        return b
    if a.numeric and b.numeric:
        return _wider_number(a, b)
    if a.kind in _INTERVAL_ORDER and b.kind in _INTERVAL_ORDER:
        return SparkType("time_interval")
    if (instant := _INSTANTS.get(frozenset({a.kind, b.kind}))) is not None:
        return SparkType(instant)
    if a.kind == b.kind and a.fields and len(a.fields) == len(b.fields):
        fields = []
        for (name, mine), (other, yours) in zip(a.fields, b.fields, strict=True):
            wide = _wider(mine, yours)
            if wide is None or name.lower() != other.lower():
                return None
            fields.append((name, wide))
        return SparkType(a.kind, fields=tuple(fields))
    return None


def _wider_number(a: SparkType, b: SparkType) -> SparkType:
    if "decimal" in (a.kind, b.kind):
        if {a.kind, b.kind} & {"float", "double"}:
            return DOUBLE
        left, right = as_decimal(a), as_decimal(b)
        scale = max(left.scale, right.scale)
        precision = max(left.precision - left.scale, right.precision - right.scale) + scale
        lost = max(0, precision - DECIMAL_DIGITS)
        return SparkType("decimal", precision - lost, max(0, scale - lost))
    wider = max(a.kind, b.kind, key=_NUMERIC_ORDER.index)
    # ANSI: an integer and a float meet in double, for a float would lose digits of the integer.
    return DOUBLE if wider == "float" and a.kind != b.kind else SparkType(wider)


def arithmetic(operator: str, a: SparkType, b: SparkType) -> SparkType | None:
    """The type of `a operator b` for two numbers.

    Args:
        operator: `+`, `-`, `*`, `/`, `%` or `div`.
        a: Left type; an integer literal next to a decimal has the digits it is written with.
        b: Right type.
    """
    if VOID in (a, b) and operator != "div" and (a.numeric or b.numeric):
        a = b = b if a == VOID else a
    if not (a.numeric and b.numeric):
        return None
    if operator == "div":
        return None if {a.kind, b.kind} & {"float", "double"} else BIGINT
    if "decimal" in (a.kind, b.kind):
        if {a.kind, b.kind} & {"float", "double"}:
            return DOUBLE
        return _decimal_arithmetic(operator, as_decimal(a), as_decimal(b))
    return DOUBLE if operator == "/" else _wider_number(a, b)


def _decimal_arithmetic(operator: str, a: SparkType, b: SparkType) -> SparkType:
    whole_a, whole_b = a.precision - a.scale, b.precision - b.scale
    scale = max(a.scale, b.scale)
    if operator in "+-":
        return _adjusted(max(whole_a, whole_b) + scale + 1, scale)
    if operator == "*":
        return _adjusted(a.precision + b.precision + 1, a.scale + b.scale)
    if operator == "/":
        scale = max(_MIN_ADJUSTED_SCALE, a.scale + b.precision + 1)
        return _adjusted(whole_a + b.scale + scale, scale)
    return _adjusted(min(whole_a, whole_b) + scale, scale)


def _adjusted(precision: int, scale: int) -> SparkType:
    if precision <= DECIMAL_DIGITS:
        return SparkType("decimal", precision, scale)
    whole = precision - scale
    return SparkType("decimal", DECIMAL_DIGITS, max(DECIMAL_DIGITS - whole, min(scale, _MIN_ADJUSTED_SCALE)))


def as_decimal(source_type: SparkType) -> SparkType:
    """The decimal that holds every value of a type of numbers, as Spark chooses it (DecimalType.forType)."""
    if source_type.kind == "decimal":
        return source_type
    if source_type.kind in _FLOATING_DIGITS:
        return SparkType("decimal", *_FLOATING_DIGITS[source_type.kind])
    return SparkType("decimal", INTEGRAL_DIGITS[source_type.kind], 0)

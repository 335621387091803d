"""Which values of two types Spark compares; pure.

References: `AnsiTypeCoercion.findTightestCommonType` and `BinaryOperator.checkInputDataTypes` of Spark 4.1.
"""

from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.words import words

_NESTED = words("array map struct")
_TIMES = words("date timestamp timestamp_ntz")


def comparable(one: SparkType, other: SparkType) -> bool:
    """Whether Spark compares two types, itself or after an implicit cast."""
    if "void" in (one.kind, other.kind) or one.kind == other.kind:
        return True
    nested = (one.kind in _NESTED, other.kind in _NESTED)
    if any(nested):
        return False
    if "string" in (one.kind, other.kind):
        return True
    if one.numeric or other.numeric:
        return one.numeric and other.numeric
    if "boolean" in (one.kind, other.kind):
        return False
    if one.kind in _TIMES or other.kind in _TIMES:
        return one.kind in _TIMES and other.kind in _TIMES
    return True


def alike(element: SparkType, kind: SparkType) -> bool:
    """Whether Spark looks for a value among elements of a type; it makes no text of either."""
    if "void" in (element.kind, kind.kind):
        return True
    if element.fields and kind.fields:
        return _converts(element, kind)
    return comparable(element, kind) and (element.kind == "string") == (kind.kind == "string")


def meet(one: SparkType, other: SparkType) -> bool:
    """Whether two types are alike inside: Spark converts fields of one name, and else wants one type.

    Example:
        >>> from streamhouse.sql.spark_type import spark_type
        >>> meet(spark_type("struct<a:int>"), spark_type("struct<a:bigint>"))
        True
        >>> meet(spark_type("struct<a:int>"), spark_type("struct<b:bigint>"))
        False
    """
    if not (one.fields and other.fields):
        return True
    return _unnamed(one) == _unnamed(other) or _converts(one, other)


def widens(one: SparkType, other: SparkType) -> bool:
    """Whether Spark finds one type for a value and a column that IN compares: it converts inside arrays and maps."""
    if not (one.fields and other.fields) or one.kind != other.kind:
        return comparable(one, other)
    if one.kind == "struct":
        return meet(one, other)
    return all(widens(a, b) for (_, a), (_, b) in zip(one.fields, other.fields, strict=True))


def _unnamed(kind: SparkType) -> SparkType:
    fields = tuple((str(place), _unnamed(inner)) for place, (_, inner) in enumerate(kind.fields))
    return SparkType(kind.kind, kind.precision, kind.scale, fields)


def _converts(one: SparkType, other: SparkType) -> bool:
    if "void" in (one.kind, other.kind):
        return True
    if not (one.fields or other.fields):
        times = one.kind in _TIMES and other.kind in _TIMES
        return one.kind == other.kind or times or (one.numeric and other.numeric)
    return (
        one.kind == other.kind
        and [name.lower() for name, _ in one.fields] == [name.lower() for name, _ in other.fields]
        and all(_converts(a, b) for (_, a), (_, b) in zip(one.fields, other.fields, strict=True))
    )

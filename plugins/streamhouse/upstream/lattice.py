"""Types above types: which one holds the values of several, and how a type changed; pure."""

from typing import Literal

from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.spark_type import SparkType, array_of, decimal, map_of, spark_type, struct_of
from streamhouse.sql.types import INTEGRAL_DIGITS

_WHOLE = tuple(INTEGRAL_DIGITS)
_NUMBERS = (*_WHOLE, "decimal", "double")
_TIMES = ("date", "timestamp_ntz", "timestamp")
_STRING = SparkType("string")
_DOUBLE = SparkType("double")

Change = Literal["same", "widen", "narrow", "field", "other"]


def common(*types: str) -> str | None:
    """The least type that holds the values of all, in the order of docs/trigger.md; None: there is none.

    TINYINT → SMALLINT → INT → BIGINT → DECIMAL → DOUBLE → STRING, FLOAT → DOUBLE → STRING,
    DATE → TIMESTAMP_NTZ → TIMESTAMP → STRING. Decimals keep the widest integer digits and scale: where that
    takes more than 38 digits there is no common type. A struct has the fields of all.

    Raises:
        ValueError: a name is no type.
    """
    if not types:
        return None
    found: SparkType | None = spark_type(types[0])
    for name in types[1:]:
        found = _common(found, spark_type(name)) if found is not None else None
    return str(found) if found is not None else None


def change_of(was: str, now: str) -> Change:
    """How a type changed: `field` is a struct with further fields, `other` neither holds the other's values.

    What only text holds in common counts as `other`: a number that becomes text is no wider number.
    """
    if was == now:
        return "same"
    both = common(was, now)
    if both is None or (both == "string" and "string" not in (was, now)):
        return "other"
    if both == "string":
        return "other"
    if both == now:
        return "field" if "struct<" in now and _adds_fields_only(spark_type(was), spark_type(now)) else "widen"
    return "narrow" if both == was else "other"


def loses(was: str, now: str) -> bool:
    """Whether the step from one type to one above it in the lattice may change a value: whole numbers in a double."""
    return now == "double" and (was in ("bigint",) or was.startswith("decimal("))


def _common(a: SparkType, b: SparkType) -> SparkType | None:
    if a == b:
        return a
    if a.fields or b.fields:
        return _nested(a, b)
    kinds = {a.kind, b.kind}
    if kinds <= set(_TIMES):
        return SparkType(max(kinds, key=_TIMES.index))
    if kinds <= set(_WHOLE):
        return SparkType(max(kinds, key=_WHOLE.index))
    if "float" in kinds and kinds <= {*_NUMBERS, "float"}:
        return _DOUBLE
    if "double" in kinds and kinds <= set(_NUMBERS):
        return _DOUBLE
    if kinds <= set(_NUMBERS):
        return _decimals(a, b)
    return None if kinds & {"binary", "variant", "void"} else _STRING


def _decimals(a: SparkType, b: SparkType) -> SparkType | None:
    whole = max(INTEGRAL_DIGITS.get(t.kind, t.precision - t.scale) for t in (a, b))
    scale = max(a.scale, b.scale)
    return decimal(whole + scale, scale) if whole + scale <= DECIMAL_DIGITS else None


def _nested(a: SparkType, b: SparkType) -> SparkType | None:
    if a.kind != b.kind:
        return None
    if a.kind == "struct":
        merged: list[tuple[str, SparkType]] = []
        for name, kind in a.fields:
            other = b.field(name)
            both = _common(kind, other) if other is not None else kind
            if both is None:
                return None
            merged.append((name, both))
        merged += [(name, kind) for name, kind in b.fields if a.field(name) is None]
        return struct_of(*merged)
    parts = [_common(x, y) for (_, x), (_, y) in zip(a.fields, b.fields, strict=True)]
    if a.kind == "array":
        return array_of(parts[0]) if parts[0] is not None else None
    key, value = parts
    return map_of(key, value) if key is not None and value is not None else None


def _adds_fields_only(was: SparkType, now: SparkType) -> bool:
    if was.kind == "struct":
        return now.kind == "struct" and all(
            (new_type := now.field(name)) is not None and _adds_fields_only(kind, new_type) for name, kind in was.fields
        )
    if was.fields:
        return was.kind == now.kind and all(
            _adds_fields_only(x, y) for (_, x), (_, y) in zip(was.fields, now.fields, strict=True)
        )
    return was == now

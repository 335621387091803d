"""What each type of PostgreSQL may be declared as. Pure.

A type that is in no row is refused when the capture starts, with the column's name. Values that have no place in the
declared type (NaN in a decimal, `infinity`, a year beyond 9999) are an error where they are read.
"""

import re

from streamhouse.model.types import DECIMAL_DIGITS

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_TEXTS = ("text", "varchar", "bpchar", "char", "name", "citext", "uuid", "json", "jsonb", "xml", "inet", "cidr")
_MORE_TEXTS = ("macaddr", "macaddr8", "interval", "timetz", "tsvector", "ltree")
_RANGES = ("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange")
_TYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("int2", "int4", "int8"), (*_WHOLE, "decimal")),
    "oid": ("bigint",),
    "numeric": ("decimal", "string"),
    "money": ("decimal", "string"),
    **dict.fromkeys(("float4", "float8"), ("float", "double")),
    "bool": ("boolean",),
    **dict.fromkeys((*_TEXTS, *_MORE_TEXTS, *_RANGES), ("string",)),
    "bytea": ("binary",),
    "date": ("date",),
    "timestamp": ("timestamp_ntz", "timestamp"),
    "timestamptz": ("timestamp",),
    "time": ("bigint",),
}
_NATURAL = {
    "int2": "smallint",
    "int4": "int",
    "int8": "bigint",
    "float4": "float",
    "float8": "double",
    "money": "decimal(19,2)",
}
_NUMERIC = re.compile(r"numeric\((\d+),(-?\d+)\)", re.ASCII)
_ITEMS = ("int2", "int4", "int8", "text", "varchar", "bool", "float4", "float8", "uuid")


def declarable(type_: str, category: str) -> tuple[str, ...]:
    """The types that a column of PostgreSQL may be declared as, the best first; empty: it cannot be captured.

    Args:
        type_: Its name in `pg_type`, such as `int4`, or `_int4` for an array of these.
        category: Of that, `E` for an enum.

    Example:
        >>> declarable("int4", "N")[-1], declarable("_text", "A"), declarable("point", "G")
        ('decimal', ('array<string>',), ())
    """
    if category == "E":
        return ("string",)
    if type_.startswith("_"):
        item = type_.removeprefix("_")
        return tuple(f"array<{one}>" for one in _TYPES[item] if one != "decimal") if item in _ITEMS else ()
    return _TYPES.get(type_, ())


def fits(declared: str, allowed: tuple[str, ...]) -> bool:
    """Whether a declared type is one of those.

    Example:
        >>> fits("decimal(12,2)", ("decimal", "string")), fits("date", ("timestamp",))
        (True, False)
    """
    return declared in allowed or declared.partition("(")[0] in allowed


def natural(type_: str, category: str, written: str) -> tuple[str | None, str]:
    """The type that has every value of a column, and what a person should know of it; None: it cannot be captured.

    Args:
        type_: As `declarable`.
        category: As `declarable`.
        written: The type with its modifiers, such as `numeric(12,2)`.

    Example:
        >>> natural("numeric", "N", "numeric(12,2)"), natural("_int4", "A", "integer[]"), natural("point", "G", "point")
        (('decimal(12,2)', ''), ('array<int>', ''), (None, ''))
    """
    allowed = declarable(type_, category)
    if not allowed:
        return None, ""
    if type_ == "numeric":
        return numeric_type(written)
    item = type_.removeprefix("_")
    if item != type_:
        return f"array<{_NATURAL.get(item, _TYPES[item][0])}>", ""
    return _NATURAL.get(type_, allowed[0]), ""


def numeric_type(written: str) -> tuple[str, str]:
    """The type of a number with decimals, and what a person should know of it.

    Example:
        >>> numeric_type("numeric(9,0)"), numeric_type("numeric")[0], numeric_type("numeric(65,30)")[0]
        (('decimal(9,0)', ''), 'string', 'string')
    """
    found = _NUMERIC.fullmatch(written)
    if found is None:
        return "string", "it has no precision, so it is text; declare decimal(p,s) if all values fit"
    digits, scale = int(found[1]), int(found[2])
    if digits <= DECIMAL_DIGITS and 0 <= scale <= digits:
        return f"decimal({digits},{scale})", ""
    most = f"decimal has at most {DECIMAL_DIGITS} digits"
    return "string", f"{most}, so it is text; declare decimal(p,s) if all values fit"

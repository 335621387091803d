"""Spark SQL type names: one spelling for each type, and which values fit where."""

import re
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp, parse_one
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from streamhouse.sql.letters import other_letters

_SPARK = Spark()  # a name would make a new one at each call
_WIDENING = {
    "tinyint": ("smallint", "int", "bigint", "float", "double"),
    "smallint": ("int", "bigint", "float", "double"),
    "int": ("bigint", "double"),
    "bigint": (),
    "float": ("double",),
    "date": ("timestamp", "timestamp_ntz"),
}
_SIMPLE = {
    exp.DType.TIMESTAMP: "timestamp_ntz",
    exp.DType.TIMESTAMPNTZ: "timestamp_ntz",
    exp.DType.TIMESTAMPTZ: "timestamp",
    exp.DType.TIMESTAMPLTZ: "timestamp",
    exp.DType.TEXT: "string",
    exp.DType.VARCHAR: "string",
    exp.DType.CHAR: "string",
    exp.DType.VARBINARY: "binary",
    exp.DType.BINARY: "binary",
}
INTEGRAL_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""Whole type → the digits of the decimal that Spark reads it as."""


_NOT_NULL = re.compile(r"\s+not\s+null\s*$", re.IGNORECASE | re.ASCII)


def split_not_null(text: str) -> tuple[str, bool]:
    """The type in a declaration such as `bigint not null`, and whether it says that a value is always there.

    Example:
        >>> split_not_null("bigint NOT NULL")
        ('bigint', True)
    """
    found = _NOT_NULL.search(text)
    return (text[: found.start()], True) if found else (text, False)


@lru_cache(maxsize=4096)
def parse_type(text: str) -> exp.DataType:
    """The syntax tree of a Spark type name.

    Raises:
        ValueError: `text` names no type.
    """
    try:
        parsed = parse_one(text, into=exp.DataType, dialect=_SPARK)
        tokens = [] if text.isascii() else _SPARK.tokenize(text)
    except SqlglotError as error:
        raise ValueError(f"'{text}' is no Spark SQL type") from error
    behind = {id(token): after.token_type for token, after in pairwise(tokens)}
    for token, why, _ in other_letters(tokens, text, ()):
        if behind.get(id(token)) != TokenType.COLON:  # no name of a field
            raise ValueError(f"'{text}' is no Spark SQL type: {why}")
    if not isinstance(parsed, exp.DataType) or parsed.is_type(exp.DataType.Type.USERDEFINED, exp.DataType.Type.UNKNOWN):
        raise ValueError(f"'{text}' is no Spark SQL type")
    return parsed


def type_name(data_type: exp.DataType) -> str:
    """Canonical lower-case name: `bigint`, `decimal(12,2)`, `struct<a:int,b:array<string>>`."""
    kind = data_type.this
    types = exp.DataType.Type
    if kind == types.STRUCT:
        fields = ",".join(f"{field.name}:{type_name(field.args['kind'])}" for field in data_type.expressions)
        return f"struct<{fields}>"
    if kind in (types.ARRAY, types.MAP):
        inner = ",".join(type_name(e) for e in data_type.expressions)
        return f"{kind.value.lower()}<{inner}>"
    if kind == types.DECIMAL:
        size = [e.name for e in data_type.expressions] or ["10", "0"]
        return f"decimal({size[0]},{size[1] if len(size) > 1 else '0'})"
    return _SIMPLE.get(kind) or str(data_type.sql(_SPARK)).lower()


@lru_cache(maxsize=4096)
def canonical_type(text: str) -> str:
    """One spelling for each type: `LONG` and `BigInt` give `bigint`.

    Raises:
        ValueError: `text` names no type.
    """
    return type_name(parse_type(text))


def fits(from_type: str, wanted: str) -> bool:
    """Whether every value of type `from_type` is one of `wanted`, without loss (both canonical)."""
    if from_type == wanted or wanted in _WIDENING.get(from_type, ()):
        return True
    if wanted.startswith("decimal("):
        precision, scale = _decimal(wanted)
        if from_type in INTEGRAL_DIGITS:
            return precision - scale >= INTEGRAL_DIGITS[from_type]
        if from_type.startswith("decimal("):
            have_precision, have_scale = _decimal(from_type)
            return scale >= have_scale and precision - scale >= have_precision - have_scale
    return False


def widens(from_type: str, wanted: str) -> bool:
    """Whether stores take a column of type `from_type` for one of `wanted` without touching a row (both canonical)."""
    whole = ("tinyint", "smallint", "int", "bigint")
    if from_type in whole and wanted in whole:
        return whole.index(from_type) < whole.index(wanted)
    if from_type.startswith("decimal(") and wanted.startswith("decimal("):
        (precision, scale), (wider, same) = _decimal(from_type), _decimal(wanted)
        return scale == same and wider > precision
    return (from_type, wanted) == ("float", "double")


def _decimal(name: str) -> tuple[int, int]:
    precision, scale = name.removeprefix("decimal(").rstrip(")").split(",")
    return int(precision), int(scale)

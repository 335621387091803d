"""Types of functions that make a text of a value, bytes of bytes, or a number of a text; pure."""

from collections.abc import Sequence

from streamhouse.sql import spark_type as t
from streamhouse.sql.spark_type import SparkType

Types = Sequence[SparkType | None]
"""Of the arguments of a call; None: a type is unknown."""


def first_type(types: Types) -> SparkType | None:
    """The type of the first argument; None: it is unknown, or there is none."""
    return types[0] if types else None


def as_number(kind: SparkType | None) -> SparkType | None:
    """The number that functions of numbers read a value as: a DOUBLE of a text; None: it is no number."""
    if kind == t.STRING:
        return t.DOUBLE
    return kind if kind is not None and kind.numeric else None


def padded(types: Types) -> SparkType | None:
    """Of `lpad`: bytes of bytes that are filled up with bytes, else text."""
    if not types or None in types:
        return None
    return t.BINARY if types[0] == t.BINARY and all(kind == t.BINARY for kind in types[2:]) else t.STRING


def reversed_value(types: Types) -> SparkType | None:
    """An array in another order, else a text."""
    argument_type = first_type(types)
    return argument_type if argument_type is None or argument_type.element is not None else t.STRING


def piece(types: Types) -> SparkType | None:
    """Bytes of bytes, else a text."""
    whole = first_type(types)
    return whole if whole in (None, t.BINARY) else t.STRING


def overlaid(types: Types) -> SparkType | None:
    """Bytes of bytes, else text; None: Spark puts no text into bytes, and no bytes into a text."""
    mixed = t.BINARY in types[:2] and any(kind != t.BINARY for kind in types[:2])
    return None if mixed else text_of(types)


def text_of(types: Types) -> SparkType | None:
    """Bytes of bytes alone, else text."""
    if not types or None in types:
        return None
    return t.BINARY if all(kind in (t.BINARY, t.VOID) for kind in types) and t.BINARY in types else t.STRING


def chosen_text(types: Types) -> SparkType | None:
    """Of `elt`, whose first argument says which of the others it gives."""
    return text_of(types[1:])

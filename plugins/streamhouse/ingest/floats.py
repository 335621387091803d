"""Numbers as FLOAT and DOUBLE: one that is too large, of which Python and Arrow make Infinity, is refused. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from math import isinf
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.ingest.years import parts

TOO_LARGE = "it is too large"
TOO_LARGE_FOR_FLOAT = "it is too large; declare a double"


def has_infinity(values: pa.Array) -> bool:
    """Whether a number, at any depth, is infinite.

    Example:
        >>> has_infinity(pa.array([[1.5], [float("-inf")]])), has_infinity(pa.array([float("nan")]))
        (True, False)
    """
    if pa.types.is_nested(values.type):
        return any(map(has_infinity, parts(values)))
    return pa.types.is_floating(values.type) and pc.any(pc.is_inf(values)).as_py() is True


def as_floats(numbers: Sequence[Any], to: pa.DataType) -> pa.Array:
    """Numbers as values of a type of floats.

    Args:
        numbers: `int`, `float` or `Decimal`; None is null, and a `float` that is infinite was written as Infinity.
        to: FLOAT or DOUBLE.

    Raises:
        ValueError: a number is too large for the type.
        pa.ArrowException, OverflowError: something is no number, or a whole number loses digits.
    """
    found = pa.array([float(one) if isinstance(one, Decimal) else one for one in numbers], to)
    if not has_infinity(found):
        return found
    for number, one in zip(numbers, found.to_pylist(), strict=True):
        if one is not None and isinf(one) and not (isinstance(number, float) and isinf(number)):
            raise ValueError(TOO_LARGE if to == pa.float64() else TOO_LARGE_FOR_FLOAT)
    return found

"""Numbers as decimals of Arrow, which may end the process at a number with some forty digits behind the point. Pure."""

import re
from decimal import Context, Decimal, DecimalException
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

PLAIN_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A number as texts write it, for a pattern of Python or of Arrow."""
_NUMBER = re.compile(PLAIN_NUMBER)
_RISKY = r"[eE][+-]?0*[0-9]{2}|\.[0-9]{39}|\.[0-9]{29}[0-9.]*[eE]"
"""What a text has in it that may have more than 38 digits behind the point."""
_FAR = 1000
_EXACT = Context(prec=2000, Emax=10**9, Emin=-(10**9))


def exact_decimal(number: Decimal, to: pa.Decimal128Type) -> Decimal:
    """A number with as many digits behind the point as a type has. The digits before it are Arrow's to count.

    Raises:
        ValueError: the type does not have all digits of the number.

    Example:
        >>> exact_decimal(Decimal("1500e-3"), pa.decimal128(6, 2))
        Decimal('1.50')
    """
    if not number:
        return Decimal(0)
    if not number.is_finite() or abs(number.adjusted()) > _FAR:
        raise ValueError("it is out of range")
    try:
        found = number.quantize(Decimal(1).scaleb(-to.scale), context=_EXACT)
    except DecimalException as error:
        raise ValueError("it has too many digits") from error
    if found != number:
        raise ValueError("digits behind the point would be lost")
    return found


def texts_as_decimals(texts: Any, to: pa.Decimal128Type) -> Any:
    """Texts, an array or several chunks of them, as decimals.

    Raises:
        pa.ArrowInvalid: one is no number, or the type does not have all of its digits.
    """
    if isinstance(texts, pa.ChunkedArray):
        return pa.chunked_array([texts_as_decimals(chunk, to) for chunk in texts.chunks], to)
    risky = pc.match_substring_regex(texts, _RISKY)
    if pc.any(risky).as_py():
        pairs = zip(texts.to_pylist(), risky.to_pylist(), strict=True)
        texts = pa.array([_written_out(text, to) if is_risky else text for text, is_risky in pairs], pa.string())
    return texts.cast(to)


def without_room(texts: pa.Array, to: pa.Decimal128Type) -> pa.Array:
    """Which numbers have digits that a type does not have.

    Args:
        texts: Numbers, or NULL.
        to: The type.

    Example:
        >>> without_room(pa.array(["1.5", "1.55", "12.3", None]), pa.decimal128(2, 1)).to_pylist()
        [False, True, True, False]
        >>> without_room(pa.array(["9" * 38, "1" + "0" * 38]), pa.decimal128(38, 0)).to_pylist()
        [False, True]
    """
    most = Decimal(1).scaleb(to.precision - to.scale)

    def has_none(text: str) -> bool:
        try:
            return exact_decimal(Decimal(text), to).copy_abs() >= most  # abs() would round to 28 digits
        except (ValueError, DecimalException):
            return True

    return pa.array([text is not None and has_none(text) for text in texts.to_pylist()], pa.bool_())


def _written_out(text: str, to: pa.Decimal128Type) -> str:
    if not _NUMBER.fullmatch(text):
        raise pa.ArrowInvalid(f"{text!r:.60} is no number")
    try:
        return f"{exact_decimal(Decimal(text), to):f}"
    except DecimalException as error:  # also `Decimal` has a largest exponent
        raise pa.ArrowInvalid(f"{text!r:.60} is out of range") from error
    except ValueError as error:
        raise pa.ArrowInvalid(f"{text!r:.60}: {error}") from error

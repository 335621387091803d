"""Arguments that Spark takes as constants of one type, within bounds; pure.

Only what is written as a literal is looked at: the value of an expression of constants is left to Spark.

References: `checkInputDataTypes` of `NTile`, `FrameLessOffsetWindowFunction`, `NthValue`, `Percentile`,
`ApproximatePercentile`, `HistogramNumeric`, `CountMinSketchAgg`, `ToNumberParser` and `ToCharacterBuilder` of Spark
4.1.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.dialect import short
from streamhouse.sql.parameters import SAMPLED
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.words import words

_INT = words("tinyint smallint int")


class _Constant(NamedTuple):
    """What one argument takes.

    Attributes:
        place: Of the argument, from 0.
        said: What it takes, in words.
        kinds: Of its type; empty: any.
        least: The smallest number that it takes; None: any.
        most: The largest number that it takes; None: any.
    """

    place: int
    said: str
    kinds: frozenset[str] = frozenset()
    least: Decimal | None = None
    most: Decimal | None = None


_ZERO, _ONE = Decimal(0), Decimal(1)
_SHARE = "a share between 0 and 1"
_CONSTANTS: dict[str, tuple[_Constant, ...]] = {
    "ntile": (_Constant(0, "an INT above 0", _INT, _ONE),),
    **dict.fromkeys(("lag", "lead"), (_Constant(1, "an INT", _INT),)),
    "nth_value": (_Constant(1, "a whole number above 0", _INT | {"bigint", "decimal", "double", "string"}, _ONE),),
    **dict.fromkeys(
        words("first last any_value first_value last_value"), (_Constant(1, "TRUE or FALSE", frozenset({"boolean"})),)
    ),
    **dict.fromkeys(("percentile_cont", "percentile_disc"), (_Constant(0, _SHARE, least=_ZERO, most=_ONE),)),
    "percentile": (_Constant(1, _SHARE, least=_ZERO, most=_ONE),),
    **dict.fromkeys(
        ("approx_percentile", "percentile_approx"),
        (_Constant(1, _SHARE, least=_ZERO, most=_ONE), _Constant(2, "a whole number above 0", least=_ONE)),
    ),
    "approx_count_distinct": (_Constant(1, "a number with a fraction", words("double float decimal")),),
    "histogram_numeric": (_Constant(1, "a whole number above 1", least=Decimal(2)),),
    "count_min_sketch": tuple(_Constant(place, "a DOUBLE, such as 0.1D", words("double float")) for place in (1, 2)),
}


CONSTANTS_FROM = {"mask": 1}
"""Function → the place of an argument from which on all are constants."""


def wrong_constants(
    name: str, given: Sequence[exp.Expr], type_of: Callable[[exp.Expr], SparkType | None]
) -> Iterator[Refused]:
    """Literals among the arguments of a call that Spark refuses there.

    Args:
        name: Of the function, in lower case.
        given: Its arguments, in their order.
        type_of: The type of an argument.
    """
    if name == "nth_value" and len(given) > 1 and given[1].find(exp.Column):
        yield Refused(given[1], f"nth_value() takes a constant here, not {short(given[1])}", _LITERAL)
    for part in given[CONSTANTS_FROM[name] :] if name in CONSTANTS_FROM else ():
        if part.find(exp.Column):
            yield _of_rows(name, part)
    if name in FORMATTED and len(given) > 1:
        kind = type_of(given[0])
        yield from _wrong_code(name, given[1]) if name in _TO_BINARY else _wrong_format(name, given[1], kind)
    for wanted in _CONSTANTS.get(name, ()):
        for part in _literals(given[wanted.place]) if wanted.place < len(given) else ():
            kind, value = type_of(part), _value(part)
            other = bool(wanted.kinds) and kind is not None and kind.kind not in wanted.kinds
            below = value is not None and wanted.least is not None and value < wanted.least
            above = value is not None and wanted.most is not None and value > wanted.most
            if other or below or above:
                yield Refused(part, f"{name}() takes {wanted.said} here, not {short(part)}", "write another constant")


FORMATTED = words("to_number try_to_number to_char to_varchar to_binary try_to_binary")
"""Functions whose second argument is a format."""
_TO_BINARY = frozenset({"to_binary", "try_to_binary"})
_OF_NUMBERS = re.compile(r"(MI|S)?\$?([09]+([,G][09]+)*)?([.D][09]*)?(PR|MI|S)?")
_OF_BYTES = words("base64 hex utf-8")
_SIGNS = ("MI", "S")
_CODES = "write 'hex', 'base64' or 'utf-8'"
_DIGITS = "0 and 9 are digits, one . and several , are between them, $ is before them, S, MI or PR beside them"


def _wrong_format(name: str, form: exp.Expr, of: SparkType | None) -> Iterator[Refused]:
    """The format of a number, or of bytes, that Spark does not know; one of times fails on a row only."""
    if of is not None and of.kind == "binary":
        yield from _wrong_code(name, form)
    elif of is None or not (of.numeric or of.kind == "string"):
        return
    elif form.find(exp.Column):
        yield _of_rows(name, form)
    elif _is_text(form) and not _is_of_numbers(form.name.upper()):
        yield Refused(form, f"{name}() takes a format such as '9,999.99' here, not {short(form)}", _DIGITS)


def _wrong_code(name: str, form: exp.Expr) -> Iterator[Refused]:
    """The name of what bytes are written in."""
    known = _OF_BYTES | {"utf8"} if name == "to_binary" else _OF_BYTES
    if form.find(exp.Column):
        yield _of_rows(name, form)
    elif name == "try_to_binary":
        return  # it is NULL by another code
    elif (_is_text(form) and form.name.lower() not in known) or (isinstance(form, exp.Null) and name != "to_binary"):
        yield Refused(form, f"{name}() takes the name of a code here, not {short(form)}", _CODES)


def _is_text(form: exp.Expr) -> bool:
    return isinstance(form, exp.Literal) and form.is_string and not form.meta_get(SAMPLED)


def _of_rows(name: str, part: exp.Expr) -> Refused:
    return Refused(part, f"{name}() takes a constant here, and {short(part)} differs from row to row", _LITERAL)


def _is_of_numbers(text: str) -> bool:
    digits = "0" in text or "9" in text
    return digits and _OF_NUMBERS.fullmatch(text) is not None and all(text.count(sign) < 2 for sign in _SIGNS)


_LITERAL = "write a literal"


def _literals(part: exp.Expr) -> Sequence[exp.Expr]:
    """The literals of an argument: itself, or those of an array."""
    parts = part.expressions if isinstance(part, exp.Array) else [part]
    plain = [one for one in parts if not one.find(exp.Column, exp.Func, exp.Binary) or isinstance(one, exp.Cast)]
    return [one for one in plain if not one.meta_get(SAMPLED)]


def _value(part: exp.Expr) -> Decimal | None:
    """The number that a literal is; None: it is another one."""
    sign = -1 if isinstance(part, exp.Neg) else 1
    inner = part.this if isinstance(part, exp.Neg) else part
    if not isinstance(inner, exp.Literal) or inner.is_string:
        return None
    try:
        return sign * Decimal(inner.name)
    except InvalidOperation:
        return None

"""Values in another type, where they fit it; pure."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(")
_WRITTEN = ("tinyint", "smallint", "int", "bigint", "decimal(", "date")  # in one way only; a double is not
_OF_TEXT = (*_NUMBERS, "date")
_PLAIN_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def can_fit(was: str, now: str) -> bool:
    """Whether values of a Spark type can be told to fit another one: numbers, and texts that stand for something."""
    if was == now:
        return True
    if was == "string":
        return now.startswith(_OF_TEXT)
    if now == "string":
        return was.startswith(_WRITTEN)
    return was.startswith(_NUMBERS) and now.startswith(_NUMBERS)


def fitted(values: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    """The values as another type, NULL where one does not fit: it would become another value.

    A fraction is no whole number, and a number beyond the range of a type does not fit it. What a float or a double
    cannot tell exactly is rounded, as in SQL. Text is taken without the blanks around it.
    """
    if values.type == to:
        return values
    kinds = pa.types
    if kinds.is_string(values.type):
        values = pc.utf8_trim_whitespace(values)
        if not kinds.is_temporal(to):
            values = pc.if_else(pc.match_substring_regex(values, _PLAIN_NUMBER), values, None)
    elif kinds.is_floating(to):
        return _finite(values, to)
    elif kinds.is_integer(values.type) and kinds.is_decimal(to):
        values = values.cast(pa.decimal128(19 + to.scale if to.scale <= 19 else 38, to.scale))  # or Arrow refuses
    try:
        if kinds.is_floating(values.type) and kinds.is_decimal(to):
            done = values.cast(to)
            return pc.if_else(pc.equal(done.cast(values.type), values), done, None)  # Arrow rounds
        return values.cast(to)
    except pa.ArrowException:
        return _one_by_one(values, to)


def _finite(values: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    done = values.cast(to, safe=False)
    if not pa.types.is_floating(values.type):
        return done
    return pc.if_else(pc.and_(pc.is_finite(values), pc.invert(pc.is_finite(done))), None, done)


def _one_by_one(values: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    coded = pa.chunked_array([values]).combine_chunks().dictionary_encode()
    fits = pa.array([_one(coded.dictionary.slice(n, 1), to) for n in range(len(coded.dictionary))], to)
    return pa.chunked_array([fits.take(coded.indices)], to)


def _one(value: pa.Array, to: pa.DataType) -> Any:
    try:
        return value.cast(to)[0].as_py()
    except pa.ArrowException:
        return None

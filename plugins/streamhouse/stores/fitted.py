"""Values in another type, where they fit it; pure."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.sql.spark_type import SparkType, spark_type
from streamhouse.stores.decimals import PLAIN_NUMBER, texts_as_decimals

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(")
_WRITTEN = ("tinyint", "smallint", "int", "bigint", "decimal(", "date")  # in one way only; a double is not
_OF_TEXT = (*_NUMBERS, "date")
_NUMBER_ALONE = f"^{PLAIN_NUMBER}$"


def can_fit(was: str, now: str) -> bool:
    """Whether it can be checked that values of a Spark type fit another one: numbers, texts with a meaning, structs."""
    if was == now:
        return True
    if was.startswith("struct<") and now.startswith("struct<"):
        return _fields_can_fit(spark_type(was), spark_type(now))
    if was == "string":
        return now.startswith(_OF_TEXT)
    if now == "string":
        return was.startswith(_WRITTEN)
    return was.startswith(_NUMBERS) and now.startswith(_NUMBERS)


def _fields_can_fit(was: SparkType, now: SparkType) -> bool:
    there = dict(was.fields)
    return all(name not in there or can_fit(str(there[name]), str(kind)) for name, kind in now.fields)


def fits(values: pa.ChunkedArray, there: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether nothing of each value got lost in what `fitted` made of it; NULL fits.

    Of a struct every field must fit, and one that the other type lacks must be NULL.
    """
    if values.type == there.type:
        return pa.chunked_array([pa.repeat(True, len(values))])
    if not (pa.types.is_struct(values.type) and pa.types.is_struct(there.type)):
        return pc.or_(pc.is_null(values), pc.is_valid(there))
    found = pa.chunked_array([pa.repeat(True, len(values))])
    for field in values.type:
        inner, has_field = pc.struct_field(values, field.name), there.type.get_field_index(field.name) >= 0
        fit = fits(inner, pc.struct_field(there, field.name)) if has_field else pc.is_null(inner)
        found = pc.and_(found, fit)
    return found


def fitted(values: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    """The values as another type, NULL where one does not fit: it would become another value.

    A fraction is no whole number, and a number beyond the range of a type does not fit it. What a float or a double
    cannot tell exactly is rounded, as in SQL. Text is taken without the blanks around it. Of a struct the fields that
    fit are there, and the others NULL.
    """
    if values.type == to:
        return values
    kinds = pa.types
    if kinds.is_struct(values.type) and kinds.is_struct(to):
        return _struct(values, to)
    if kinds.is_string(values.type):
        values = pc.utf8_trim_whitespace(values)
        if not kinds.is_temporal(to):
            values = pc.if_else(pc.match_substring_regex(values, _NUMBER_ALONE), values, None)
    elif kinds.is_floating(to):
        return _finite(values, to)
    elif kinds.is_integer(values.type) and kinds.is_decimal(to):
        values = values.cast(pa.decimal128(19 + to.scale if to.scale <= 19 else 38, to.scale))  # or Arrow refuses
    try:
        if kinds.is_floating(values.type) and kinds.is_decimal(to):
            done = values.cast(to)
            return pc.if_else(pc.equal(done.cast(values.type), values), done, None)  # Arrow rounds
        return _cast(values, to)
    except pa.ArrowException:
        return _one_by_one(values, to)


def _cast(values: Any, to: pa.DataType) -> Any:
    is_text = pa.types.is_string(values.type) and pa.types.is_decimal(to)
    return texts_as_decimals(values, to) if is_text else values.cast(to)


def _struct(values: pa.ChunkedArray, to: pa.StructType) -> pa.ChunkedArray:
    inner = [
        fitted(pc.struct_field(values, field.name), field.type).combine_chunks()
        if values.type.get_field_index(field.name) >= 0
        else pa.nulls(len(values), field.type)
        for field in to
    ]
    nulls = pc.is_null(values).combine_chunks()
    return pa.chunked_array([pa.StructArray.from_arrays(inner, fields=list(to), mask=nulls)], to)


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
        return _cast(value, to)[0].as_py()
    except pa.ArrowException:
        return None

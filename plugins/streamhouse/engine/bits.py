"""Floats as the integers of their bits, in which DuckDB holds them.

It takes -0.0 and 0.0 for one value when it compresses a column, and gives back either for both. As integers they
stay what they were, and two values are equal when their bits are. Keys are compared as Spark does: see `as_key`.
"""

from collections.abc import Callable, Iterable

import pyarrow as pa
from sqlglot import exp

from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema

Decode = Callable[[pa.Table], pa.Table]

_NAN = {"float": 0x7FC00000, "double": 0x7FF8000000000000}
_INFINITY = {"float": 0x7F800000, "double": 0x7FF0000000000000}
_MAGNITUDE = {"float": 0x7FFFFFFF, "double": 0x7FFFFFFFFFFFFFFF}


def as_bits(rows: pa.Table) -> pa.Table:
    """The rows with integers in place of floats, at any depth."""
    return _viewed(rows, bits_schema(rows.schema))


def from_bits(rows: pa.Table, columns: Iterable[Column]) -> pa.Table:
    """What `as_bits` made of `columns`, as they were; `rows` may have them in another order."""
    schema = arrow_schema(columns)
    return _viewed(rows.select(schema.names).cast(bits_schema(schema)), schema)


def bits_schema(schema: pa.Schema) -> pa.Schema:
    """The schema `as_bits` gives."""
    return pa.schema([(field.name, _bits_type(field.type)) for field in schema])


def has_floats(columns: Iterable[Column]) -> bool:
    """Whether a column has a float, at any depth."""
    schema = arrow_schema(columns)
    return not bits_schema(schema).equals(schema)


def as_key(bits: exp.Expr, type_: str) -> exp.Expr:
    """Bits of a float as a key: equal for -0.0 and 0.0, and for every NaN; of another type as they are."""
    if type_ not in _NAN:
        return bits
    magnitude = exp.BitwiseAnd(this=bits.copy(), expression=exp.convert(_MAGNITUDE[type_]))
    return (
        exp.case()
        .when(exp.paren(magnitude.copy()) > _INFINITY[type_], exp.convert(_NAN[type_]))
        .when(exp.paren(magnitude).eq(0), exp.convert(0))
        .else_(bits.copy())
    )


def _viewed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    arrays = [
        column
        if column.type == field.type
        else pa.chunked_array([c.view(field.type) for c in column.chunks], field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def _bits_type(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_float64(data_type):
        return pa.int64()
    if pa.types.is_float32(data_type):
        return pa.int32()
    if pa.types.is_map(data_type):
        return pa.map_(_bits_type(data_type.key_type), _bits_type(data_type.item_type))
    if pa.types.is_list(data_type):
        return pa.list_(_bits_type(data_type.value_type))
    if pa.types.is_struct(data_type):
        return pa.struct([(field.name, _bits_type(field.type)) for field in data_type])
    return data_type

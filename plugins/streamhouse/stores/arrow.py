"""Spark SQL types as Arrow types and back; one mapping for every store and source."""

from collections.abc import Iterable
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from streamhouse.model.table import Column
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.types import parse_type, type_name

_T = exp.DataType.Type
_SIMPLE = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


@lru_cache(maxsize=4096)
def arrow_type(name: str) -> pa.DataType:
    """The Arrow type of a Spark SQL type.

    Raises:
        ValueError: no store can hold the type.
    """
    return _arrow_type(parse_type(name))


def _arrow_type(data_type: exp.DataType) -> pa.DataType:
    name = type_name(data_type)
    if name in _SIMPLE:
        return _SIMPLE[name]
    if name.startswith("decimal("):
        precision, scale = (int(part) for part in name[8:-1].split(","))
        if precision > DECIMAL_DIGITS or abs(scale) > DECIMAL_DIGITS:
            raise ValueError(f"a decimal has at most {DECIMAL_DIGITS} digits")
        return pa.decimal128(precision, scale)
    if data_type.this == _T.ARRAY:
        return pa.list_(_arrow_type(data_type.expressions[0]))
    if data_type.this == _T.MAP:
        key, value = data_type.expressions
        return pa.map_(_arrow_type(key), _arrow_type(value))
    if data_type.this == _T.STRUCT:
        return pa.struct([(field.name, _arrow_type(field.args["kind"])) for field in data_type.expressions])
    raise ValueError(f"type {name} cannot be stored")


def spark_type(data_type: pa.DataType) -> str:
    """The canonical Spark SQL type that holds every value of an Arrow type.

    Raises:
        ValueError: Spark has no such type.
    """
    for name, simple in _SIMPLE.items():
        if data_type.equals(simple):
            return name
    kind = pa.types
    if kind.is_timestamp(data_type):
        return "timestamp" if data_type.tz else "timestamp_ntz"
    if kind.is_decimal(data_type):
        return f"decimal({data_type.precision},{data_type.scale})"
    if kind.is_large_string(data_type) or kind.is_string_view(data_type):
        return "string"
    if kind.is_large_binary(data_type) or kind.is_fixed_size_binary(data_type):
        return "binary"
    if kind.is_date(data_type):
        return "date"
    if kind.is_dictionary(data_type):
        return spark_type(data_type.value_type)
    if kind.is_list(data_type) or kind.is_large_list(data_type):
        return f"array<{spark_type(data_type.value_type)}>"
    if kind.is_map(data_type):
        return f"map<{spark_type(data_type.key_type)},{spark_type(data_type.item_type)}>"
    if kind.is_struct(data_type):
        return f"struct<{','.join(f'{field.name}:{spark_type(field.type)}' for field in data_type)}>"
    widened = {"uint8": "smallint", "uint16": "int", "uint32": "bigint", "halffloat": "float"}
    if str(data_type) in widened:
        return widened[str(data_type)]
    raise ValueError(f"Arrow type {data_type} has no Spark SQL type")


def shown_type(data_type: pa.DataType) -> str:
    """`spark_type` for people: `void` for NULL alone, and Arrow's own name of a type that Spark lacks."""
    if pa.types.is_null(data_type):
        return "void"
    try:
        return spark_type(data_type)
    except ValueError:
        return str(data_type)


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow schema of stored rows; every field is nullable (stores check keys themselves)."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns])


def zero(data_type: pa.DataType) -> pa.Scalar:
    """The value of a type that takes the place of NULL where a mark beside it says that it is none: 0, '' or false.

    Raises:
        pyarrow.ArrowInvalid: the type has none, and no key has such a type.
    """
    if pa.types.is_boolean(data_type):
        return pa.scalar(False, data_type)
    texts = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string, pa.types.is_large_binary)
    return pa.scalar("" if any(is_one(data_type) for is_one in texts) else 0, data_type)


def conform(rows: pa.Table, columns: Iterable[Column]) -> pa.Table:
    """`rows` with exactly these columns, by name, in this order and with their Arrow types.

    Raises:
        KeyError: a column is absent.
        pyarrow.ArrowInvalid: a value does not fit its type.
    """
    schema = arrow_schema(columns)
    return rows.select(schema.names).cast(schema)

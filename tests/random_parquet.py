"""Random Parquet files: values at the edges of their types, and other names, orders and types than declared."""

import io
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_TIMES = (
    datetime(1, 1, 3, 5),
    datetime(1582, 10, 10, 1),
    datetime(1677, 9, 1),
    datetime(1900, 1, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2020, 1, 2, 10, 5, 6, 123456),
    datetime(2262, 4, 12, 3),
    datetime(9999, 12, 31, 23, 59, 59, 999999),
)
_DAYS = (date(1, 1, 1), date(1582, 10, 10), date(1970, 1, 1), date(9999, 12, 31))
_TEXTS = ("", "a", "NA", "null", "é", "😀", "1", "1.5", "2020-01-02", "true")
_NATURAL = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("ms", "UTC"): "timestamp",
    pa.decimal128(5, 2): "decimal(5,2)",
    pa.decimal128(15, 2): "decimal(15,2)",
    pa.decimal128(30, 2): "decimal(30,2)",
}
_WIDER = {
    "tinyint": ("smallint", "int", "bigint", "double"),
    "smallint": ("int", "bigint", "tinyint"),
    "int": ("bigint", "double", "decimal(12,2)"),
    "bigint": ("decimal(20,0)", "int"),
    "float": ("double",),
    "timestamp": ("timestamp_ntz",),
    "timestamp_ntz": ("timestamp",),
    "date": ("timestamp_ntz", "timestamp"),
    "decimal(5,2)": ("decimal(15,2)", "decimal(38,18)", "decimal(4,1)"),
    "string": ("binary",),
}


class ParquetFile:
    """One random file.

    Args:
        chance: What it is drawn with.
        mess: How many of the columns are declared with another type.
    """

    def __init__(self, chance: random.Random, mess: float) -> None:
        self._chance = chance
        self.columns: dict[str, str] = {}
        arrays: dict[str, pa.Array] = {}
        count = chance.choice((0, 1, 3, 7))
        for name in chance.sample(("a", "B", "c d", "é"), chance.randint(1, 4)):
            kind, declared = self._type(2)
            arrays[name.upper() if chance.random() < 0.3 else name] = self._array(kind, count)
            others = (*_WIDER.get(declared, ()), chance.choice(tuple(_NATURAL.values())))
            self.columns[name] = chance.choice(others) if chance.random() < mess else declared
        arrays["other"] = pa.array([1] * count, pa.int64())
        names = chance.sample(list(arrays), len(arrays))
        self.data = self._written(pa.table({name: arrays[name] for name in names}))

    def _type(self, levels: int) -> tuple[pa.DataType, str]:
        drawn = self._chance.random() if levels else 1.0
        if drawn > 0.3:
            return self._chance.choice(tuple(_NATURAL.items()))
        kind, declared = self._type(levels - 1)
        if drawn < 0.1:
            return pa.list_(kind), f"array<{declared}>"
        if drawn < 0.2:
            return pa.map_(pa.string(), kind), f"map<string,{declared}>"
        return pa.struct([("p", kind), ("Q", pa.string())]), f"struct<q:string,p:{declared}>"

    def _array(self, kind: pa.DataType, count: int) -> pa.Array:
        return pa.array([self._value(kind) for _ in range(count)], kind)

    def _value(self, kind: pa.DataType) -> Any:
        if self._chance.random() < 0.15:
            return None
        if pa.types.is_map(kind):
            return [(key, self._value(kind.item_type)) for key in self._chance.sample(("k", "", "é"), 2)]
        if pa.types.is_list(kind):
            return [self._value(kind.value_type) for _ in range(self._chance.randrange(3))]
        if pa.types.is_struct(kind):
            return {field.name: self._value(field.type) for field in kind}
        return self._scalar(kind)

    def _scalar(self, kind: pa.DataType) -> Any:
        pick = self._chance.choice
        if pa.types.is_integer(kind):
            most = (1 << kind.bit_width - pa.types.is_signed_integer(kind)) - 1
            return pick((0, 1, most, -most - 1 if pa.types.is_signed_integer(kind) else most // 2))
        if pa.types.is_floating(kind):
            return pick((0.0, -0.0, 1.5, float("nan"), float("inf"), -1e30))
        if pa.types.is_decimal(kind):
            digits = (9,) * kind.precision
            return pick((Decimal(0), Decimal("1.5"), *(Decimal((sign, digits, -kind.scale)) for sign in (0, 1))))
        if pa.types.is_timestamp(kind):
            at = pick(_TIMES)
            at = at.replace(microsecond=at.microsecond // 1000 * 1000) if kind.unit == "ms" else at
            return at.replace(tzinfo=UTC) if kind.tz else at
        if pa.types.is_date(kind):
            return pick(_DAYS)
        if pa.types.is_boolean(kind):
            return pick((True, False))
        text = pick(_TEXTS)
        return text.encode() if pa.types.is_binary(kind) else text

    def _written(self, rows: pa.Table) -> bytes:
        sink = io.BytesIO()
        pick = self._chance.choice
        pq.write_table(
            rows,
            sink,
            version=pick(("1.0", "2.4", "2.6")),
            use_dictionary=pick((True, False)),
            compression=pick(("snappy", "none", "gzip", "zstd")),
            row_group_size=pick((1, 2, 100)),
            use_deprecated_int96_timestamps=pick((True, False, False)),
            store_decimal_as_integer=pick((True, False)),
            data_page_version=pick(("1.0", "2.0")),
            store_schema=pick((True, False)),
        )
        return sink.getvalue()

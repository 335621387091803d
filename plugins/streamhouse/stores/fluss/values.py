"""Arrow rows as the Python values that Fluss's client takes."""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import WriteRefusedError

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_LAST = datetime(9999, 12, 30, 22)
_NANOSECONDS = range(-(2**63), 2**63)

Convert = Callable[[Any], Any]


def tuples(rows: pa.Table | None, local: Collection[str] = ()) -> Iterable[tuple[object, ...]]:
    """The rows, each a tuple of values.

    Args:
        rows: None: none.
        local: Columns whose times without a zone the table stores as instants.

    Raises:
        WriteRefusedError: a time without a zone is one that the client cannot send.
    """
    if rows is None:
        return ()
    columns = (
        _values(column, _instant if name in local else _local)
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    )
    return zip(*columns, strict=True)


def _values(column: pa.ChunkedArray, of_local: Convert) -> list[Any]:
    if pa.types.is_nested(column.type):
        convert = _converter(column.type, of_local)
        listed = list(column.to_pylist())
        return listed if convert is None else [convert(value) for value in listed]
    if pa.types.is_timestamp(column.type):
        # Ten times as fast as to_pylist(): an instant comes naive and in UTC, as the client takes it.
        values = list(column.to_numpy().tolist())
        bounds = pc.min_max(column.cast(pa.timestamp("us"))).as_py()
        if bounds["min"] is None or (bounds["min"] >= _EPOCH and bounds["max"] < _LAST):
            return values
        return [_instant(value) if column.type.tz else of_local(value) for value in values]
    # Faster again, but it makes floats of integers and truths beside nulls.
    return list(column.to_pylist() if column.null_count else column.to_numpy().tolist())


def _converter(data_type: pa.DataType, of_local: Convert) -> Convert | None:
    """What makes values of a type fit for the client; None: they are. Instants in nested values have a zone."""
    if pa.types.is_timestamp(data_type):
        return None if data_type.tz else of_local
    if pa.types.is_map(data_type):
        key, item = _converter(data_type.key_type, of_local), _converter(data_type.item_type, of_local)
        if key is None and item is None:
            return None
        return lambda entries: (
            None if entries is None else [(_with(key, name), _with(item, value)) for name, value in entries]
        )
    if pa.types.is_list(data_type) and (each := _converter(data_type.value_type, of_local)):
        return lambda values: None if values is None else [each(value) for value in values]
    if pa.types.is_struct(data_type):
        fields = {field.name: found for field in data_type if (found := _converter(field.type, of_local))}
        if fields:
            return lambda row: None if row is None else row | {name: of(row[name]) for name, of in fields.items()}
    return None


def _with(convert: Convert | None, value: Any) -> Any:
    return value if convert is None else convert(value)


def _instant(value: datetime | None) -> datetime | None:
    """With a zone the client takes the way of Python's own arithmetic, which knows every instant."""
    return None if value is None else value.replace(tzinfo=UTC)


def _local(value: datetime | None) -> object:
    """A time without a zone. Before 1970 the client takes no microseconds, but from what looks like pandas."""
    if value is None or (_EPOCH <= value < _LAST) or (value < _EPOCH and not value.microsecond % 1000):
        return value
    nanoseconds = (value - _EPOCH) // _MICROSECOND * 1000
    if nanoseconds not in _NANOSECONDS:
        raise WriteRefusedError(
            f"the hot tier cannot take {value.isoformat(' ')} as a TIMESTAMP_NTZ",
            hint="drop the table and fill it again; tables created now take every time",
        )
    return Timestamp(nanoseconds)


class Timestamp:
    """Nanoseconds since 1970 as the client reads them off `pandas.Timestamp`, by its name and module."""

    __module__ = "pandas"
    tz = None

    def __init__(self, value: int) -> None:
        self.value = value

"""Days and times that files tell as ISO texts."""

import pyarrow as pa
import pyarrow.compute as pc

_UTC = r"\s*(Z|[+-]00(:?00)?)$"
_CLOCK_IN_UTC = rf":\d\d(\.\d+)?{_UTC}"
_CLOCK_AND_ZONE = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"
_MIDNIGHT = r"[T ]00:00(:00(\.0+)?)?(\s*(Z|[+-]00(:?00)?))?$"
_BEYOND_MICROSECONDS = r"(\.\d{6})\d+"
_SEPARATED_ZONE = r"\s+(Z|[+-]\d\d(:?\d\d)?)$"


def as_instants(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts, some of them with a zone, as instants; one without a zone is UTC. Digits beyond microseconds go."""
    texts = pc.replace_substring_regex(_cut(texts), _SEPARATED_ZONE, r"\1")
    zoned = pc.match_substring_regex(texts, _CLOCK_AND_ZONE)
    with_zone = pc.if_else(zoned, texts, None).cast(pa.timestamp("us", tz="UTC"))
    without = pc.assume_timezone(pc.if_else(zoned, None, texts).cast(pa.timestamp("us")), "UTC")
    return pc.coalesce(with_zone, without)


def as_local(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts as times of a wall clock; the zone of UTC may stand behind them, and no other."""
    texts = _cut(texts)
    in_utc = pc.match_substring_regex(texts, _CLOCK_IN_UTC)
    return pc.if_else(in_utc, pc.replace_substring_regex(texts, _UTC, ""), texts).cast(pa.timestamp("us"))


def as_days(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO texts as days; a time behind the day may be midnight in UTC only, for nothing else is lost with it."""
    return pc.replace_substring_regex(texts, _MIDNIGHT, "").cast(pa.date32())


def _cut(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(texts, _BEYOND_MICROSECONDS, r"\1")


def text_type(data_type: pa.DataType) -> pa.DataType:
    """The type whose days and times, at any depth, are texts."""
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        return pa.string()
    if pa.types.is_list(data_type):
        return pa.list_(text_type(data_type.value_type))
    if pa.types.is_struct(data_type):
        return pa.struct([(field.name, text_type(field.type)) for field in data_type])
    return data_type


def untold(values: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Values of `text_type(data_type)` as those of `data_type`.

    Raises:
        pa.ArrowInvalid: a text is no such day or time; the message begins with its row, counted from 1.
    """
    try:
        return _untold(values, data_type)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"Row #{_first_odd(values, data_type) + 1}: {error}") from error


def _untold(values: pa.Array, data_type: pa.DataType) -> pa.Array:
    if values.type == data_type:
        return values
    if pa.types.is_list(data_type):
        items = _untold(values.values, data_type.value_type)
        return pa.ListArray.from_arrays(values.offsets, items, mask=_nulls(values))
    if pa.types.is_struct(data_type):
        fields = [_untold(values.field(n), field.type) for n, field in enumerate(data_type)]
        return pa.StructArray.from_arrays(fields, fields=list(data_type), mask=_nulls(values))
    if pa.types.is_date(data_type):
        return as_days(values)
    return as_instants(values) if data_type.tz else as_local(values)


def _nulls(values: pa.Array) -> pa.Array | None:
    return pc.is_null(values) if values.null_count else None


def _first_odd(values: pa.Array, data_type: pa.DataType) -> int:
    for index in range(len(values)):
        try:
            _untold(pa.concat_arrays([values.slice(index, 1)]), data_type)
        except pa.ArrowInvalid:
            return index
    return 0

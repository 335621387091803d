"""Reads many records of Avro at once: each field of all of them, one field after the other, by numpy.

A cursor is in each record. To read a field moves all cursors behind it. Whatever is odd ends the attempt, and the
records are read one by one (`avro_rows.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamhouse.ingest.avro_schema import AvroType

Cursors = NDArray[np.int64]
_BYTES_MAX = 2**31 - 64  # Arrow's offsets have 32 bits
_PADDING = 16
_VARINT_MAX = 10
_INT_END = 1 << 31
_ROUNDS_MAX = 1000
"""An array with more items makes reading at once slower than one by one."""


class NotAtOnce(Exception):  # noqa: N818  it is no error: another way is taken
    """These records are to be read one by one."""


def read_at_once(
    record: AvroType, values: Sequence[bytes], skip: int, wanted: Mapping[str, pa.DataType]
) -> dict[str, pa.Array]:
    """Fields of records, without logical types.

    Args:
        record: The schema.
        values: The records.
        skip: Bytes before each.
        wanted: Field → its physical type.

    Raises:
        NotAtOnce: a record is malformed, or has what is read one by one only.
    """
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(lengths)
    if not len(values) or ends[-1] > _BYTES_MAX:
        raise NotAtOnce
    reader = _Reader(b"".join((*values, bytes(_PADDING))))
    at = reader.within(ends - lengths + skip, ends)
    found: dict[str, pa.Array] = {}
    try:
        for name, one in record.fields:
            array, at = reader.read(one, at, ends, wanted.get(name))
            if array is not None:
                found[name] = array
    except (pa.ArrowException, ArithmeticError) as error:
        raise NotAtOnce from error
    if (at != ends).any():
        raise NotAtOnce
    return found


Read = tuple[pa.Array | None, Cursors]
"""The values that were wanted, and where the cursors stand behind them."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._buffer = pa.py_buffer(data)
        self._data = np.frombuffer(data, np.uint8)

    @staticmethod
    def within(at: Cursors, ends: Cursors) -> Cursors:
        """The cursors, none of which has left its record."""
        if (at > ends).any():
            raise NotAtOnce
        return at

    def read(self, found: AvroType, at: Cursors, ends: Cursors, wanted: pa.DataType | None) -> Read:
        """Values of a type at the cursors; `wanted` is None where they are only passed over."""
        if found.branches:
            return self._union(found, at, ends, wanted)
        return self._plain(found, at, ends, wanted)

    def _plain(self, found: AvroType, at: Cursors, ends: Cursors, wanted: pa.DataType | None) -> Read:
        kind = found.kind
        if kind in ("int", "long"):
            numbers, at = self._numbers(at, ends)
            if kind == "int" and ((numbers < -_INT_END) | (numbers >= _INT_END)).any():
                raise NotAtOnce
            return (None if wanted is None else pa.array(numbers).cast(wanted)), at
        if kind in ("string", "bytes"):
            lengths, at = self._numbers(at, ends)
            return self._slices(found, at, lengths, ends, wanted)
        if kind == "fixed":
            return self._slices(found, at, np.full(len(at), found.size), ends, wanted)
        if kind in ("boolean", "float", "double"):
            return self._of_width(kind, at, ends, wanted)
        if kind == "enum":
            numbers, at = self._numbers(at, ends)
            if ((numbers < 0) | (numbers >= len(found.symbols))).any():
                raise NotAtOnce
            return (None if wanted is None else pa.array(found.symbols, pa.string()).take(pa.array(numbers))), at
        if kind == "record":
            return self._record(found, at, ends, wanted)
        if kind in ("array", "map") and found.items is not None:
            return self._blocks(found, found.items, at, ends, wanted)
        if kind == "null":
            return (None if wanted is None else pa.nulls(len(at), wanted)), at
        raise NotAtOnce

    def _numbers(self, at: Cursors, ends: Cursors) -> tuple[Cursors, Cursors]:
        """Zigzag numbers of variable length."""
        byte = self._data[at]
        number = (byte & 0x7F).astype(np.uint64)
        size = np.ones(len(at), np.int64)
        longer = np.flatnonzero(byte & 0x80)
        for place in range(1, _VARINT_MAX + 1):
            if not longer.size:
                break
            if place == _VARINT_MAX:
                raise NotAtOnce
            byte = self._data[at[longer] + place]
            if place == _VARINT_MAX - 1 and (byte > 1).any():
                raise NotAtOnce
            number[longer] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * place)
            size[longer] = place + 1
            longer = longer[(byte & 0x80) != 0]
        signed = (number >> np.uint64(1)).astype(np.int64) ^ -(number & np.uint64(1)).astype(np.int64)
        return signed, self.within(at + size, ends)

    def _of_width(self, kind: str, at: Cursors, ends: Cursors, wanted: pa.DataType | None) -> Read:
        width = {"boolean": 1, "float": 4, "double": 8}[kind]
        behind = self.within(at + width, ends)
        if wanted is None:
            return None, behind
        raw = self._data[at[:, None] + np.arange(width)]
        if kind == "boolean":
            if (raw > 1).any():
                raise NotAtOnce
            return pa.array(raw.ravel().astype(bool)), behind
        return pa.array(raw.view("<f4" if kind == "float" else "<f8").ravel()), behind

    def _slices(
        self, found: AvroType, at: Cursors, lengths: Cursors, ends: Cursors, wanted: pa.DataType | None
    ) -> Read:
        if (lengths < 0).any() or (lengths > ends - at).any():
            raise NotAtOnce
        behind = at + lengths
        if wanted is None or not len(at):
            return (None if wanted is None else pa.array([], wanted)), behind
        # Values follow each other in the data, so they and what is between them are one array, and every other is ours.
        offsets = np.empty(2 * len(at), np.int32)
        offsets[0::2], offsets[1::2] = at, behind
        both = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), self._buffer])
        slices = both.take(pa.array(np.arange(0, len(offsets), 2)))
        if found.kind == "fixed" and found.logical == "uuid":
            return pa.array([str(UUID(bytes=one)) for one in slices.to_pylist()], wanted), behind
        return slices.cast(wanted), behind

    def _union(self, found: AvroType, at: Cursors, ends: Cursors, wanted: pa.DataType | None) -> Read:
        branch, at = self._numbers(at, ends)
        if ((branch < 0) | (branch >= found.branches)).any():
            raise NotAtOnce
        there = branch != found.null_at
        if there.all():
            return self._plain(found, at, ends, wanted)
        some = np.flatnonzero(there)
        array, behind = self._plain(found, at[some], ends[some], wanted)
        at = at.copy()
        at[some] = behind
        if array is None:
            return None, at
        return array.take(pa.array(np.cumsum(there) - 1, mask=~there)), at

    def _record(self, found: AvroType, at: Cursors, ends: Cursors, wanted: pa.DataType | None) -> Read:
        types = {} if wanted is None else {field.name: field.type for field in wanted}
        arrays: dict[str, Any] = {}
        for name, one in found.fields:
            arrays[name], at = self.read(one, at, ends, types.get(name))
        if wanted is None:
            return None, at
        if not types:
            return pa.array([{}] * len(at), wanted), at
        return pa.StructArray.from_arrays([arrays[name] for name in types], fields=list(wanted)), at

    def _blocks(self, found: AvroType, items: AvroType, at: Cursors, ends: Cursors, wanted: pa.DataType | None) -> Read:
        """Arrays and maps: in each round one item of each that has a further one."""
        at, more, left = at.copy(), np.arange(len(at)), np.zeros(len(at), np.int64)
        owners, keys, values = [np.zeros(0, np.int64)], [], []
        is_map = found.kind == "map"
        for _ in range(_ROUNDS_MAX):
            ended = more[left[more] == 0]
            left[ended], at[ended] = self._counts(at[ended], ends[ended])
            more = more[left[more] > 0]
            if not more.size:
                break
            if is_map:
                key, at[more] = self._plain(AvroType("string"), at[more], ends[more], wanted and pa.string())
                keys.append(key)
            inner = None if wanted is None else (wanted.item_type if is_map else wanted.value_type)
            value, at[more] = self.read(items, at[more], ends[more], inner)
            values.append(value)
            owners.append(more)
            left[more] -= 1
        else:
            raise NotAtOnce
        return (None if wanted is None else _nested(np.concatenate(owners), len(at), keys, values, wanted)), at

    def _counts(self, at: Cursors, ends: Cursors) -> tuple[Cursors, Cursors]:
        """How many items a block has; a negative number says that the block's size in bytes follows."""
        counts, at = self._numbers(at, ends)
        sized = np.flatnonzero(counts < 0)
        if sized.size:
            at[sized] = self._numbers(at[sized], ends[sized])[1]
        return np.abs(counts), at


def _nested(owners: Cursors, count: int, keys: list[Any], values: list[Any], wanted: pa.DataType) -> pa.Array:
    """Lists or maps of items that came in rounds; `owners` says whose each is."""
    order = pa.array(np.argsort(owners, kind="stable"))
    offsets = pa.array(np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int32))
    is_map = pa.types.is_map(wanted)
    inner = wanted.item_type if is_map else wanted.value_type
    flat = pa.concat_arrays([pa.array([], inner), *values]).take(order)
    if not is_map:
        return pa.ListArray.from_arrays(offsets, flat, wanted)
    names = pa.concat_arrays([pa.array([], pa.string()), *keys]).take(order)
    if len(set(zip(np.sort(owners).tolist(), names.to_pylist(), strict=True))) < len(owners):
        raise NotAtOnce  # of a key that comes twice the last value counts
    return pa.MapArray.from_arrays(offsets, names, flat, wanted)

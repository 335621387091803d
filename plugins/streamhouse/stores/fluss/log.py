"""Fluss's log: batches from a leader, or from the files it moved away, as Arrow."""

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from streamhouse.errors import StoreError

# base offset, length, magic, commit time; then, from magic 1 on, the leader's epoch
_HEAD = struct.Struct("<qibq")
# checksum, schema id, attributes, last offset delta, writer, sequence, count
_BODY = struct.Struct("<IhBiqii")
_SIZE_AT = 12  # `length` counts what follows it
_APPEND_ONLY = 1
_KNOWN_MAGIC = (0, 1)

INSERTED, BEFORE, AFTER, DELETED = 1, 2, 3, 4
"""Kinds of change: of an inserted, an updated (before and after) and a deleted row; 0 is an append."""


@dataclass(frozen=True)
class LogBatch:
    """Rows at consecutive offsets of one bucket.

    Attributes:
        base: Offset of the first row.
        end: Offset after the last one. Greater than `base` even for a batch without rows: what
            changed nothing takes an offset, too.
        kinds: One byte for each row; empty in a log table, where all rows were appended.
        rows: None: the batch is empty.
        at_ms: When the leader took the batch.
    """

    base: int
    end: int
    kinds: bytes
    rows: pa.RecordBatch | None
    at_ms: int = 0

    def cut(self, start: int, end: int) -> "LogBatch":
        """The part within `[start, end)`."""
        first, last = max(start - self.base, 0), min(end, self.end) - self.base
        if self.rows is None or (first == 0 and last == self.end - self.base):
            return self
        return replace(
            self,
            base=self.base + first,
            end=self.base + last,
            kinds=self.kinds[first:last],
            rows=self.rows.slice(first, last - first),
        )


def end_of_batches(data: memoryview) -> int | None:
    """The offset after the last whole batch in `data`, of which only the heads are read; None: there is none.

    Args:
        data: As a segment file has it, which may end in the middle of a batch.
    """
    at, end = 0, None
    while at + _HEAD.size <= len(data):
        base, length, magic, _ = _HEAD.unpack_from(data, at)
        body_at, stop = at + _HEAD.size + (4 if magic else 0), at + _SIZE_AT + length
        if stop > len(data) or stop < body_at + _BODY.size or magic not in _KNOWN_MAGIC:
            return end
        end, at = base + _BODY.unpack_from(data, body_at)[3] + 1, stop
    return end


def decode_batches(
    data: memoryview, schema: Callable[[int], pa.Schema], fields: Sequence[int] | None = None
) -> Iterator[LogBatch]:
    """The whole batches in `data`, which may end in the middle of one.

    Args:
        data: As a server sends them, or as a segment file has them.
        schema: Schema id → schema of the rows as sent (after projection).
        fields: Rising indexes of the columns wanted, of those that the schema has; None: all of them.

    Raises:
        StoreError: a batch is of a newer format.
    """
    at = 0
    while at + _HEAD.size <= len(data):
        base, length, magic, at_ms = _HEAD.unpack_from(data, at)
        stop = at + _SIZE_AT + length
        if stop > len(data):
            return
        if magic not in _KNOWN_MAGIC:
            raise StoreError(f"Fluss sent a log batch of format {magic}, which this version cannot read")
        body_at = at + _HEAD.size + (4 if magic else 0)
        _, schema_id, attributes, delta, _, _, count = _BODY.unpack_from(data, body_at)
        at, body_at = stop, body_at + _BODY.size
        if not count:
            yield LogBatch(base, base + delta + 1, b"", None, at_ms)
            continue
        kinds = b""
        if not attributes & _APPEND_ONLY:
            kinds = bytes(data[body_at : body_at + count])
            body_at += count
        rows = _rows(data[body_at:stop], schema(schema_id), fields)
        yield LogBatch(base, base + delta + 1, kinds, rows, at_ms)


def _rows(message: memoryview, schema: pa.Schema, fields: Sequence[int] | None) -> pa.RecordBatch:
    if fields is None:
        # A copy: the rows then neither hold the whole answer in memory nor lie unaligned in it.
        return pa.ipc.read_record_batch(pa.ipc.read_message(pa.py_buffer(bytes(message))), schema)
    # Of a stream alone Arrow takes, and decompresses, some columns only.
    stream = pa.PythonFile(_Pieces([memoryview(schema.serialize()), message]), mode="r")
    options = pa.ipc.IpcReadOptions(included_fields=[index for index in fields if index < len(schema)])
    with pa.ipc.open_stream(stream, options=options) as reader:
        return reader.read_next_batch()


class _Pieces(io.RawIOBase):
    """Pieces of memory, one after the other, as a file. No read goes beyond a piece, and none copies."""

    def __init__(self, pieces: Sequence[memoryview]) -> None:
        self._pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> memoryview:
        while self._pieces and not self._pieces[0]:
            self._pieces.pop(0)
        if not self._pieces:
            return memoryview(b"")
        taken, left = self._pieces[0][:size], self._pieces[0][size:]
        self._pieces[0] = left
        return taken

import struct

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.stores.fluss.log import AFTER, BEFORE, INSERTED, LogBatch, decode_batches

SCHEMA = pa.schema([("k", pa.int64())])


def batch(base: int, keys: list[int], kinds: bytes = b"", magic: int = 0, count: int | None = None) -> bytes:
    """A log batch as a Fluss server writes it."""
    arrow = pa.record_batch([pa.array(keys, pa.int64())], schema=SCHEMA)
    rows = kinds + arrow.serialize().to_pybytes() if keys else b""
    epoch = struct.pack("<i", 1) if magic else b""
    head = struct.pack(
        "<IhBiqii", 0, 1, 0 if kinds else 1, max(len(keys) - 1, 0), 5, 0, len(keys) if count is None else count
    )
    rest = struct.pack("<bq", magic, 0) + epoch + head + rows
    return struct.pack("<qi", base, len(rest)) + rest


def decoded(data: bytes) -> list[tuple[int, int, bytes, list[int]]]:
    found = decode_batches(memoryview(data), lambda _: SCHEMA)
    return [(b.base, b.end, b.kinds, b.rows.column("k").to_pylist() if b.rows else []) for b in found]


@pytest.mark.parametrize("magic", [0, 1])
def test_rows_come_with_offsets_and_kinds(magic: int) -> None:
    data = batch(7, [1, 2, 3], magic=magic) + batch(10, [4, 4], bytes([BEFORE, AFTER]), magic=magic)
    assert decoded(data) == [(7, 10, b"", [1, 2, 3]), (10, 12, bytes([BEFORE, AFTER]), [4, 4])]


def test_what_changed_nothing_takes_an_offset() -> None:
    assert decoded(batch(3, []) + batch(4, [9])) == [(3, 4, b"", []), (4, 5, b"", [9])]


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_batch_that_is_cut_off_is_left_for_the_next_answer(cut: int) -> None:
    assert decoded(batch(0, [1]) + batch(1, [2])[:-cut]) == [(0, 1, b"", [1])]


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(StoreError, match="format 2"):
        decoded(batch(0, [1], magic=2))


def test_cut_keeps_what_lies_inside() -> None:
    rows = pa.record_batch([pa.array([1, 2, 3, 4])], schema=SCHEMA)
    whole = LogBatch(10, 14, bytes([INSERTED, BEFORE, AFTER, INSERTED]), rows)
    part = whole.cut(11, 13)
    assert (part.base, part.end, part.kinds) == (11, 13, bytes([BEFORE, AFTER]))
    assert part.rows is not None
    assert part.rows.column("k").to_pylist() == [2, 3]
    assert whole.cut(0, 99) is whole

"""Reads a row group of Parquet whose rows have a bounded size, however little of it the file has.

A value that is there once may be in each of many rows, and equal rows take no room at all: a file of some KB can say
that it has terabytes. What rows of fixed sizes take is known from the footer. Texts are read in parts, as few rows at a
time as their dictionary may need, and counted.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from streamhouse.ingest.stored_object import AnyFile

MOST_BYTES = 2 << 30
"""Of the wanted columns of one row group, in memory."""

_PART_BYTES = 256 << 20
_MOST_PART_ROWS = 65_536
_USUAL_DICTIONARY_BYTES = 1 << 20
_HEADER_BYTES = 32
_WIDTHS = MappingProxyType({"BOOLEAN": 0.125, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8})
_REPEATED = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY", "DELTA_BYTE_ARRAY"})


class TooLargeRowsError(ValueError):
    """The rows need more memory than is given for them."""

    def __init__(self, group: int) -> None:
        super().__init__(f"row group {group + 1} has more than {MOST_BYTES >> 20:,} MiB when it is unpacked")


def read_group(file: pq.ParquetFile, path: AnyFile, group: int, names: Sequence[str]) -> pa.Table:
    """The rows of a row group.

    Args:
        file: As it was opened.
        path: Of the file.
        group: From 0.
        names: The wanted columns.

    Raises:
        TooLargeRowsError: they need more than `MOST_BYTES`.
        pa.ArrowException, OSError: they cannot be read.
    """
    found = file.metadata.row_group(group)
    chunks = [found.column(at) for at in range(found.num_columns)]
    chunks = [one for one in chunks if one.path_in_schema.split(".", 1)[0] in names]
    if sum(map(_least_bytes, chunks)) > MOST_BYTES:
        raise TooLargeRowsError(group)
    repeated = [one for one in chunks if _is_repeated(one)]
    longest = {at: _longest_value(one, path) for at, one in enumerate(repeated)}
    if sum(one.num_values * longest[at] for at, one in enumerate(repeated)) <= MOST_BYTES:
        return file.read_row_group(group, columns=names)
    rows = max(1, min(_MOST_PART_ROWS, _PART_BYTES // max(longest.values())))
    parts = _counted(file.iter_batches(rows, row_groups=[group], columns=names), group)
    return pa.Table.from_batches(parts).combine_chunks() if parts else file.schema_arrow.empty_table().select(names)


def _counted(batches: Iterable[pa.RecordBatch], group: int) -> list[pa.RecordBatch]:
    found, count = [], 0
    for part in batches:
        columns = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in part.columns]
        batch = pa.RecordBatch.from_arrays(columns, names=part.schema.names)
        count += batch.nbytes
        if count > MOST_BYTES:
            raise TooLargeRowsError(group)
        found.append(batch)
    return found


def _least_bytes(chunk: pq.ColumnChunkMetaData) -> float:
    width = _WIDTHS.get(chunk.physical_type)
    values = int(chunk.num_values)
    return values * width if width else max(int(chunk.total_uncompressed_size), values)


def _is_repeated(chunk: pq.ColumnChunkMetaData) -> bool:
    return chunk.physical_type not in _WIDTHS and not _REPEATED.isdisjoint(chunk.encodings)


def _longest_value(chunk: pq.ColumnChunkMetaData, path: AnyFile) -> int:
    """Bytes that no value has more of: those of the dictionary, where its page is on this machine."""
    whole = max(1, int(chunk.total_uncompressed_size))
    if "DELTA_BYTE_ARRAY" in chunk.encodings or not chunk.has_dictionary_page:
        return whole
    if not isinstance(path, Path):  # one more request for each column would cost more than the rows
        return min(whole, _USUAL_DICTIONARY_BYTES)
    with path.open("rb") as opened:
        opened.seek(chunk.dictionary_page_offset)
        return _page_bytes(opened.read(_HEADER_BYTES)) or whole


def _page_bytes(header: bytes) -> int:
    """What a page has unpacked, by the first two fields of its header (Thrift, compact); 0: it cannot be read."""
    at = 0
    value = 0
    for _ in range(2):
        if header[at : at + 1] != b"\x15":  # the next field, a number of 32 bits
            return 0
        value, at = _varint(header, at + 1)
    return value >> 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at
    return 0, at

"""A file of Avro (object container file) as Arrow rows of its own types.

The form: Avro specification 1.12, "Object Container Files". A header has the schema, and blocks of records follow, each
with the number of its records, its bytes, and a marker that the header names.
"""

import bz2
import json
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from types import MappingProxyType
from typing import Any, TypeVar

import fastavro
import pyarrow as pa

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.avro_rows import AvroRows, avro_rows
from streamhouse.ingest.avro_schema import AvroType
from streamhouse.ingest.avro_strict import number_at
from streamhouse.ingest.foreign import ForeignError, refuse_foreign
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.ingest.wrong_row import first_wrong_row
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema

MOST_BYTES = 2 << 30
"""Of the records of one file when it is unpacked, and of its rows in memory."""

_MARK = b"Obj\x01"
_SYNC_BYTES = 16
_PART_BYTES = 64 << 20
_CHECKSUM_BYTES = 4
_PIECE_BYTES = 1 << 20
_SCHEMA, _CODEC = b"avro.schema", b"avro.codec"
_METADATA = {"type": "map", "values": "bytes"}
_OTHER_END = "its compressed data do not end where it does"
_DAMAGED = "the file is damaged: put it there again"

Read = TypeVar("Read", bytes, bytearray)


class _TooLargeError(UnreadableError):
    hint = "write it as several files"

    def __init__(self) -> None:
        super().__init__("schema", f"unpacked, it has more than {MOST_BYTES >> 20:,} MiB")


class AvroFile:
    """The rows of one file, in the order of the file.

    All of it is read when it is opened. Columns of a type that Spark lacks are in `refused`, with their error. May be
    used from several threads.

    Attributes:
        rows: How many there are.
        columns: Those that can be read, with the types that the schema says.
        refused: Column → why it cannot be read.
        metadata: What else its header says.

    Raises:
        SourceError: the file is damaged, is no file of Avro, or has more than `MOST_BYTES`.
        OSError: it cannot be read.
    """

    def __init__(self, path: AnyFile) -> None:
        self.name = path.name
        data = path.read_bytes()
        try:
            self._read(data)
        except UnreadableError as error:
            raise SourceError(f"{self.name} cannot be read: {error}", hint=_hint(error)) from error

    def _read(self, data: bytes) -> None:
        self.metadata, sync, at = _header(data)
        schema = _schema(self.metadata)
        codec = self.metadata.get(_CODEC, b"null").decode(errors="replace")
        reader = avro_rows(RegisteredSchema(0, "AVRO", schema))
        self.columns, self.refused = _columns(reader.record, self.name)
        if not self.columns:
            raise next(iter(self.refused.values()), UnreadableError("schema", "its record has no fields"))
        parts = [arrow_schema(self.columns).empty_table()]
        rows = memory = 0
        for records in _parts(reader, _blocks(data, at, codec, sync)):
            parts.append(self._rows(reader, records, rows))
            rows, memory = rows + parts[-1].num_rows, memory + parts[-1].nbytes
            if memory > MOST_BYTES:
                raise _TooLargeError
        self._table = pa.concat_tables(parts)
        self.rows = rows

    def _rows(self, reader: AvroRows, records: list[bytes], first: int) -> pa.Table:
        """The rows of records, of which `first` is the number of the first one, from 0."""

        def read(begin: int, end: int) -> pa.Table:
            return reader.rows(records[begin:end], 0, self.columns)

        try:
            return read(0, len(records))
        except UnreadableError as error:
            number, why = first_wrong_row(len(records), read, error)
            row = first + number + 1
            message = f"{self.name} cannot be read: row {row} does not fit its schema: {why}"
            raise SourceError(message, at=Location(self.name, row), hint=_DAMAGED) from error

    def slice(self, start: int, end: int, columns: tuple[str, ...] | None = None) -> pa.Table:
        """Rows `[start, end)`, counted from 0, with the types of `stores/arrow.py`."""
        wanted = [c.name for c in self.columns if columns is None or c.name in columns]
        return self._table.select(wanted).slice(start, max(0, end - start))


def _hint(error: UnreadableError) -> str:
    if isinstance(error, ForeignError | _TooLargeError):
        return error.hint
    return "write the file with another schema, or as Parquet" if error.reason == "schema" else _DAMAGED


def _header(data: bytes) -> tuple[Mapping[bytes, bytes], bytes, int]:
    """What the header says, the marker behind each block, and where the first block begins."""
    if not data.startswith(_MARK):
        refuse_foreign(data, form="avro")
        raise UnreadableError("encoding", "it does not begin as a file of Avro does")
    stream = BytesIO(data)
    stream.seek(len(_MARK))
    try:
        found: Any = fastavro.schemaless_reader(stream, _METADATA, None)
    except (EOFError, ArithmeticError, LookupError, TypeError, ValueError, MemoryError, struct.error) as error:
        raise UnreadableError("malformed", "its header is damaged") from error
    at = stream.tell() + _SYNC_BYTES
    if at > len(data):
        raise UnreadableError("malformed", "its header is damaged")
    return {key.encode(): value for key, value in found.items()}, data[at - _SYNC_BYTES : at], at


def _schema(metadata: Mapping[bytes, bytes]) -> str:
    try:
        return json.dumps(_as_spark(json.loads(metadata[_SCHEMA])))
    except (KeyError, RecursionError, ValueError) as error:
        raise UnreadableError("schema", "its header has no schema") from error


def _as_spark(schema: Any) -> Any:
    """The schema without the logical types that Spark's reader of files does not know: their values are as stored."""
    if isinstance(schema, list):
        return [_as_spark(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kind, logical = schema.get("type"), schema.get("logicalType")
    is_known = not str(logical).endswith("-nanos") and (kind, logical) != ("fixed", "uuid")
    return {
        key: value if key == "default" else _as_spark(value)
        for key, value in schema.items()
        if is_known or key != "logicalType"
    }


def _columns(record: AvroType, name: str) -> tuple[tuple[Column, ...], dict[str, SourceError]]:
    """The columns that can be read, and the error of each of the others."""
    found: list[Column] = []
    refused: dict[str, SourceError] = {}
    for field, one in record.fields:
        try:
            found.append(Column(name=field, type=one.spark_type))
        except UnreadableError as error:
            refused[field] = SourceError(f"column '{field}' of {name}: {error}")
    return tuple(found), refused


def _symbol_bytes(found: AvroType) -> int:
    """How many bytes of memory a byte of the file may become: of an enum, a file has the number of a symbol."""
    inner = [one for _, one in found.fields] + ([found.items] if found.items is not None else [])
    return max([1, *map(len, found.symbols), *map(_symbol_bytes, inner)])


def _blocks(data: bytes, at: int, codec: str, sync: bytes) -> Iterator[tuple[int, bytes]]:
    """The number of records of each block, and their bytes."""
    unpack = _CODECS.get(codec)
    if unpack is None:
        raise UnreadableError("schema", f"it is compressed with '{codec}', which is none of {', '.join(_CODECS)}")
    number = 0
    while at < len(data):
        number += 1
        count, begin = _number(data, at)
        size, begin = _number(data, begin)
        end = begin + size
        if count < 0 or size < 0 or end + _SYNC_BYTES > len(data):
            raise UnreadableError("malformed", f"it ends within block {number}")
        if data[end : end + _SYNC_BYTES] != sync:
            raise UnreadableError("malformed", f"block {number} does not end with the file's marker")
        yield count, _unpacked(unpack, data[begin:end], number)
        at = end + _SYNC_BYTES


def _unpacked(unpack: Callable[[bytes], bytes], data: bytes, number: int) -> bytes:
    try:
        return unpack(data)
    except UnreadableError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        raise UnreadableError("malformed", f"block {number} cannot be unpacked: {error}") from error


def _number(data: bytes, at: int) -> tuple[int, int]:
    if at >= len(data):
        raise UnreadableError("malformed", "it ends within the head of a block")
    return number_at(data, at)


def _parts(reader: AvroRows, blocks: Iterator[tuple[int, bytes]]) -> Iterator[list[bytes]]:
    """The records of all blocks, in parts whose rows take a bounded number of bytes."""
    growth = _symbol_bytes(reader.record)
    part: list[bytes] = []
    size = unpacked = 0
    for count, block in blocks:
        unpacked += len(block)
        if unpacked > MOST_BYTES:
            raise _TooLargeError
        part += reader.cut(block, count)
        size += len(block)
        if size * growth > _PART_BYTES:
            yield from _split(part, growth)
            part, size = [], 0
    yield from [part] if part else []


def _split(records: list[bytes], growth: int) -> Iterator[list[bytes]]:
    """Records in parts; a byte of them may become `growth` in memory."""
    first = size = 0
    for number, record in enumerate(records):
        if len(record) * growth > MOST_BYTES:
            raise _TooLargeError
        if number > first and (size + len(record)) * growth > _PART_BYTES:
            yield records[first:number]
            first, size = number, 0
        size += len(record)
    yield records[first:]


def _plain(data: bytes) -> bytes:
    return data


def _deflate(data: bytes) -> bytes:
    """Behind the data, fastavro leaves some bytes of a checksum, as zlib has one and deflate has none."""
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    found = _within(decoder.decompress(data, MOST_BYTES + 1))
    if not decoder.eof or len(decoder.unused_data) > _CHECKSUM_BYTES:
        raise EOFError(_OTHER_END)
    return found


def _bzip2(data: bytes) -> bytes:
    return _of_decoder(bz2.BZ2Decompressor(), data)


def _xz(data: bytes) -> bytes:
    return _of_decoder(lzma.LZMADecompressor(), data)


def _of_decoder(decoder: bz2.BZ2Decompressor | lzma.LZMADecompressor, data: bytes) -> bytes:
    found = _within(decoder.decompress(data, MOST_BYTES + 1))
    if not decoder.eof or decoder.unused_data:
        raise EOFError(_OTHER_END)
    return found


def _zstandard(data: bytes) -> bytes:
    found = bytearray()
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        while more := stream.read(_PIECE_BYTES):
            found += more
            _within(found)
    return bytes(found)


def _snappy(data: bytes) -> bytes:
    """Behind the data is a checksum of what is unpacked."""
    packed, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    size = _snappy_size(packed)
    if size > MOST_BYTES:
        raise _TooLargeError
    found: bytes = pa.decompress(packed, size, "snappy", asbytes=True)
    if zlib.crc32(found) != int.from_bytes(checksum, "big"):
        raise ValueError("its checksum is another one")
    return found


def _snappy_size(data: bytes) -> int:
    """What a block has unpacked, as its first bytes say."""
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            return size
    raise ValueError("it does not begin as data of snappy do")


def _within(found: Read) -> Read:
    if len(found) > MOST_BYTES:
        raise _TooLargeError
    return found


_CODECS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "null": _plain,
        "deflate": _deflate,
        "snappy": _snappy,
        "zstandard": _zstandard,
        "bzip2": _bzip2,
        "xz": _xz,
    }
)


@lru_cache(maxsize=2)  # an epoch may end within a file, and the next one goes on there
def _cached(path: AnyFile, *_stamp: int) -> AvroFile:
    return AvroFile(path)


def avro_file(path: AnyFile, at: Location | None = None) -> AvroFile:
    """The rows of a file; the last two are kept in memory, until they change.

    Raises:
        SourceError: there is no such file, or it is no file of Avro, or it is damaged or too large.
    """
    try:
        stat = path.stat()
        return _cached(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {error.strerror}", at=at) from error
    except SourceError as error:
        place = Location(at.file, error.at.line) if at and error.at else at
        raise SourceError(error.message, at=place, hint=error.hint) from error

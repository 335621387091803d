"""The text of a file, unpacked where its name says that it is compressed: the endings are those of Spark's reader."""

import bz2
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import PurePath
from types import MappingProxyType
from typing import IO

import pyarrow as pa

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.foreign import packed_as
from streamhouse.ingest.stored_object import AnyFile

MOST_BYTES = 1 << 30
"""A compressed file of more is refused: a small file may unpack to any size, and its text is in memory as a whole."""

MOST_LINES = 20_000_000
"""Of a compressed file: each line takes a hundred bytes of memory, however short it is."""

_BLOCK_BYTES = 1 << 20
_MOST_MARK = 16
_CODECS = MappingProxyType({".gz": "gzip", ".zst": "zstd", ".lz4": "lz4"})  # ending → name in Arrow
_BZIP2, _DEFLATE, _SNAPPY = ".bz2", ".deflate", ".snappy"
ENDINGS = (*_CODECS, _BZIP2, _DEFLATE, _SNAPPY)
"""What the name of a compressed file ends in."""


def without_packing(name: str) -> str:
    """A name without the ending that says how the file is compressed.

    Example:
        >>> without_packing("data/2026.csv.gz"), without_packing("data/2026.csv")
        ('data/2026.csv', 'data/2026.csv')
    """
    ending = _ending(PurePath(name))
    return name[: -len(ending)] if ending else name


def text_bytes(path: AnyFile, name: str) -> bytes:
    """All bytes of a file, unpacked; the memory for it is bounded by `MOST_BYTES` where it is compressed.

    Args:
        path: The file.
        name: What messages call it.

    Raises:
        SourceError: it is compressed in another way than its name says, or twice, or is cut, damaged or too large.
        OSError: it cannot be read.
    """
    if not _ending(path):
        return path.read_bytes()
    found, lines = BytesIO(), 0
    with closing(_blocks(path, name)) as blocks:
        for block in blocks:
            lines += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
            if lines > MOST_LINES:
                raise _too_large(f"{MOST_LINES:,} lines", name)
            if found.tell() + len(block) > MOST_BYTES:
                raise _too_large(f"{MOST_BYTES >> 20} MiB", name)
            found.write(block)
    return found.getvalue()


def first_bytes(path: AnyFile, name: str, most: int) -> tuple[bytes, bool]:
    """The first bytes of a file, unpacked, and whether there are more.

    Raises:
        SourceError: as `text_bytes`, as far as these bytes show it.
        OSError: it cannot be read.
    """
    if not _ending(path):
        with path.open("rb") as file:
            data = file.read(most + 1)
        return data[:most], len(data) > most
    found = bytearray()
    with closing(_blocks(path, name)) as blocks:
        for block in blocks:
            found += block
            if len(found) > most:
                break
    return bytes(found[:most]), len(found) > most


def _too_large(most: str, name: str) -> SourceError:
    hint = "write it as several files, or unpack it"
    return SourceError(f"unpacked, the file has more than {most}", at=Location(name, 1), hint=hint)


def _ending(path: AnyFile | PurePath) -> str:
    return path.suffix.lower() if path.suffix.lower() in ENDINGS else ""


def _blocks(path: AnyFile, name: str) -> Generator[bytes, None, None]:
    """What a compressed file has, unpacked, in blocks of a bounded size."""
    ending = _ending(path)
    with path.open("rb") as file:
        begins = file.read(_MOST_MARK)
        file.seek(0)
        if not begins:
            return
        _check_mark(begins, ending, name)
        blocks = _OTHERS[ending](file) if ending in _OTHERS else _by_arrow(file, _CODECS[ending])
        try:
            first = next(blocks, b"")
            _refuse_twice(first, name)
            yield first
            yield from blocks
        except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
            raise _damaged(error, name) from error


def _by_arrow(file: IO[bytes], codec: str) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.PythonFile(file, "r"), codec) as stream:
        while block := stream.read(_BLOCK_BYTES):
            yield block


def _inflated(file: IO[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj()
    while not decoder.eof:
        data = decoder.unconsumed_tail or file.read(_BLOCK_BYTES)
        block = decoder.decompress(data, _BLOCK_BYTES)
        if block:
            yield block
        elif not data:
            raise EOFError
    if decoder.unused_data or file.read(1):
        raise zlib.error("there is more behind the end of the compressed data")


def _bunzipped(file: IO[bytes]) -> Iterator[bytes]:
    """Arrow 19 fails at a part of no bytes, and Python's `BZ2File` passes over what is behind the last part."""
    data = file.read(_BLOCK_BYTES)
    while data:
        decoder = bz2.BZ2Decompressor()
        while True:
            if block := decoder.decompress(data, _BLOCK_BYTES):
                yield block
            if decoder.eof:
                break
            data = file.read(_BLOCK_BYTES) if decoder.needs_input else b""
            if decoder.needs_input and not data:
                raise EOFError
        data = decoder.unused_data or file.read(_BLOCK_BYTES)


_OTHERS = MappingProxyType({_BZIP2: _bunzipped, _DEFLATE: _inflated})


def _check_mark(begins: bytes, ending: str, name: str) -> None:
    """Refuse a file that is not compressed in the way that its name says."""
    if ending == _SNAPPY:
        hint = "write it with gzip, such as .option('compression', 'gzip') in Spark, or as Parquet"
        raise SourceError("files that are compressed with snappy are not read", at=Location(name, 1), hint=hint)
    if ending == _DEFLATE and _is_zlib(begins):
        return
    known = packed_as(begins)
    if known is None:
        hint = f"take {ending} away from its name, if the file is not compressed"
        if ending == ".lz4":
            hint += "; if Hadoop or Spark wrote it, which have a form of their own, write it with gzip"
        text = f"the file does not begin as one that is compressed as {ending}"
        raise SourceError(text, at=Location(name, 1), hint=hint)
    what, usual = known
    if usual != ending:
        hint = f"let its name end in {usual}" if usual else "unpack it: unxz FILE"
        raise SourceError(f"the file is {what}, and its name ends in {ending}", at=Location(name, 1), hint=hint)


def _is_zlib(begins: bytes) -> bool:
    """Whether a file begins as RFC 1950 has it."""
    method, of_header = begins[0] & 15, int.from_bytes(begins[:2], "big")
    return method == zlib.DEFLATED and len(begins) > 1 and of_header % 31 == 0


def _refuse_twice(first: bytes, name: str) -> None:
    if again := packed_as(first):
        text = f"the file is compressed twice: what is in it is {again[0]}"
        raise SourceError(text, at=Location(name, 1), hint="unpack it once")


def _damaged(error: Exception, name: str) -> SourceError:
    at, hint = Location(name, 1), "put the whole file there again"
    if isinstance(error, EOFError) or "truncated" in str(error).lower() or "incomplete" in str(error):
        return SourceError("the file is cut: its compressed data end too early", at=at, hint=hint)
    return SourceError(f"the compressed data of the file are damaged: {error}", at=at, hint=hint)

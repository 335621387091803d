"""Hadoop's own checksums of files in a folder of this machine, for readers and writers that are not Hadoop.

Beside each file `name` that Hadoop writes is `.name.crc`: the text `crc`, a zero, the size of a block, and a CRC-32 of
each block. Hadoop compares them in each read. A file without one passes, for Hadoop as well as here.
"""

import struct
from pathlib import Path
from zlib import crc32

from streamhouse.errors import StoreError
from streamhouse.model.types import Tier
from streamhouse.stores.data_check import remedy
from streamhouse.stores.file_memory import FileMemory

_MAGIC, _HEADER, _BLOCK = b"crc\x00", struct.Struct(">4si"), 512
_compared: FileMemory[bool] = FileMemory()


def prove(file: Path) -> None:
    """Do nothing when a file is as it was written, or has no checksums.

    Raises:
        StoreError: it is damaged.
        OSError: it cannot be read.
    """
    status = file.stat()
    if _compared.get(file, status):
        return
    try:
        recorded = _beside(file).read_bytes()
    except FileNotFoundError:
        return
    magic, block = _HEADER.unpack_from(recorded) if len(recorded) >= _HEADER.size else (b"", 0)
    if magic == _MAGIC and block > 0 and recorded[_HEADER.size :] != _sums(file.read_bytes(), block):
        raise StoreError(
            f"the cold tier is damaged: {file}: its checksums are not those of what was written", hint=remedy(Tier.COLD)
        )
    _compared.put(file, status, True)


def record(file: Path) -> None:
    """Write the checksums of a file as Hadoop would.

    Raises:
        OSError: no room is left, for example.
    """
    _beside(file).write_bytes(_HEADER.pack(_MAGIC, _BLOCK) + _sums(file.read_bytes(), _BLOCK))


def _beside(file: Path) -> Path:
    return file.with_name(f".{file.name}.crc")


def _sums(content: bytes, block: int) -> bytes:
    view = memoryview(content)
    sums = [crc32(view[begin : begin + block]) for begin in range(0, len(view), block)]
    return struct.pack(f">{len(sums)}I", *sums)

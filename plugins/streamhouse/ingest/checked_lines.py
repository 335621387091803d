"""Lines that say whether they are as they were written: a blank and a checksum are behind each. Pure."""

import re
from zlib import crc32

_CHECKSUM = re.compile(rb" [0-9a-f]{8}")
_SIZE = 9


class DamagedLineError(ValueError):
    """A line is not as it was written."""


def with_checksum(line: bytes) -> bytes:
    """A line with its checksum behind it.

    Example:
        >>> with_checksum(b"a line")
        b'a line 43fb39b2'
    """
    return b"%b %08x" % (line, crc32(line))


def without_checksum(line: bytes) -> bytes:
    """A line as it was before `with_checksum`.

    Raises:
        DamagedLineError: the checksum is missing, or is that of another line.

    Example:
        >>> without_checksum(with_checksum(b"a line"))
        b'a line'
    """
    text, checksum = line[:-_SIZE], line[-_SIZE:]
    if not _CHECKSUM.fullmatch(checksum):
        raise DamagedLineError("it has no checksum")
    if crc32(text) != int(checksum, 16):
        raise DamagedLineError("its checksum is that of another line")
    return text

"""Lines that say whether they are as they were written: a blank and a checksum are behind each. Pure."""

import re
from zlib import crc32

from streamhouse.errors import Location, SourceError

_CHECKSUM = re.compile(rb" [0-9a-f]{8}")
_SIZE = 9


class DamagedLineError(ValueError):
    """A line is not as it was written."""


def damaged(what: str, why: object, at: Location, remedy: str) -> SourceError:
    """The error of a part of a journal that is not as it was written.

    Args:
        what: The part.
        why: How that is known.
        at: Where it is.
        remedy: What to do.
    """
    return SourceError(f"{what} is damaged: {why}", at=at, hint=remedy)


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
    if is_whole(line):
        return line[:-_SIZE]
    raise DamagedLineError(damage_of(line))


def is_whole(line: bytes) -> bool:
    """Whether a line is one that `with_checksum` gave.

    Example:
        >>> is_whole(b"a line 43fb39b2"), is_whole(b"a lime 43fb39b2"), is_whole(b"")
        (True, False, False)
    """
    return b" %08x" % crc32(line[:-_SIZE]) == line[-_SIZE:]


def damage_of(line: bytes) -> str:
    """What is wrong with a line that is not whole."""
    is_there = _CHECKSUM.fullmatch(line[-_SIZE:])
    return "its checksum is that of another line" if is_there else "it has no checksum"


def has_none(line: bytes) -> bool:
    """Whether a line is one of JSON without a checksum, as earlier versions wrote it.

    Example:
        >>> has_none(b'{"key":1}'), has_none(with_checksum(b'{"key":1}'))
        (True, False)
    """
    return line.endswith(b"}")


def event_alone(line: bytes) -> bytes:
    """An event of a journal without its checksum; one of an earlier version as it is.

    Raises:
        DamagedLineError: it is not as it was written, and has a checksum.
    """
    return line if has_none(line) or not line else without_checksum(line)

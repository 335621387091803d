"""Cuts the text of a file into records, each of which is one row, with the line where it begins. Pure."""

import re
from dataclasses import dataclass

_ENDS = re.compile(rb"\r\n|\r|\n")
_BLANKS = b" \t"
_MARK_ALONE = re.compile(rb"\xef\xbb\xbf[ \t\r\n]*\Z")


@dataclass(frozen=True)
class Records:
    """The records of a file.

    Attributes:
        texts: Of each, its bytes.
        lines: Of each, the line where it begins, from 1.
        header: The first record of a CSV file, where it has the names.
    """

    texts: list[bytes]
    lines: list[int]
    header: bytes = b""


def json_records(data: bytes) -> Records:
    r"""Each line that is not blank; a line ends as Spark's reader ends it.

    Example:
        >>> json_records(b'{"a": 1}\r\n\n{"a": 2}\r{}')
        Records(texts=[b'{"a": 1}', b'{"a": 2}', b'{}'], lines=[1, 3, 4], header=b'')
    """
    if _MARK_ALONE.match(data):
        return Records([], [])
    lines = _ENDS.split(data) if b"\r" in data else data.split(b"\n")
    found = [(line, number) for number, line in enumerate(lines, start=1) if line.strip(_BLANKS)]
    return Records([line for line, _ in found], [number for _, number in found])

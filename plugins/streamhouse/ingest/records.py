"""Cuts the text of a file into records, each of which is one row, with the line where it begins. Pure."""

import re
from dataclasses import dataclass

_ENDS = re.compile(rb"\r\n|\r|\n")
_BLANKS = b" \t"
_QUOTE, _COMMA = ord('"'), ord(",")
_LONGEST_RECORD = 10_000  # lines; a quote that is open for longer is a mistake of its line


@dataclass(frozen=True)
class Records:
    """The records of a file.

    Attributes:
        texts: Of each, its bytes.
        lines: Of each, the line where it begins, from 1.
        header: The first line of a CSV file, which has the names.
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
    lines = _ENDS.split(data) if b"\r" in data else data.split(b"\n")
    found = [(line, number) for number, line in enumerate(lines, start=1) if line.strip(_BLANKS)]
    return Records([line for line, _ in found], [number for _, number in found])


def csv_records(data: bytes) -> Records:
    r"""Each line behind the first that is not empty; a value in quotes may have line ends.

    A quote that nobody closes belongs to its line alone, so that it takes no other row away.

    Example:
        >>> csv_records(b'a,b\n1,"x\ny"\n\n2,z\n')
        Records(texts=[b'1,"x\ny"', b'2,z'], lines=[2, 5], header=b'a,b')
    """
    ends = [(found.start(), found.end()) for found in _ENDS.finditer(data)]
    starts = [0, *(after for _, after in ends)]
    stops = [*(before for before, _ in ends), len(data)]
    texts: list[bytes] = []
    lines: list[int] = []
    at = 0
    while at < len(starts):
        last = _last_line(data, starts, stops, at)
        if starts[at] < stops[last]:
            texts.append(data[starts[at] : stops[last]])
            lines.append(at + 1)
        at = last + 1
    return Records(texts[1:], lines[1:], texts[0] if texts else b"")


def _last_line(data: bytes, starts: list[int], stops: list[int], first: int) -> int:
    """The line where the record ends that begins at line `first`, both from 0."""
    line = data[starts[first] : stops[first]]
    if line.count(b'"') % 2 == 0 or not is_open(line, within=False):
        return first
    for number in range(first + 1, min(len(starts), first + _LONGEST_RECORD)):
        if not is_open(data[starts[number] : stops[number]], within=True):
            return number
    return first


def is_open(line: bytes, *, within: bool) -> bool:
    """Whether a value in quotes goes on behind a line of CSV.

    Args:
        line: Without its end.
        within: Whether it begins within such a value.
    """
    begins = not within  # a quote begins a value only at its start
    at = 0
    while at < len(line):
        byte = line[at]
        if within:
            if byte == _QUOTE and line[at + 1 : at + 2] == b'"':
                at += 1
            elif byte == _QUOTE:
                within = False
        elif byte == _QUOTE and begins:
            within = True
        begins = not within and byte == _COMMA
        at += 1
    return within

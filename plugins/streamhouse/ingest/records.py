"""Cuts the text of a file into records, each of which is one row, with the line where it begins. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_ITEMS = 5_000_000
"""Of one list. More are lines of their own, or several files."""

_ENDS = re.compile(rb"\r\n|\r|\n")
_BLANKS = b" \t"
_SPACES = b" \t\r\n"
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
_TOKEN = re.compile(
    rb"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^'\\]*(?:\\.[^'\\]*)*'|[\[\]{},\"']",
    re.DOTALL,
)
"""Texts, and what stands between values."""
_OPEN, _CLOSED, _QUOTES = frozenset(b"[{"), frozenset(b"]}"), frozenset(b"\"'")
_LIST, _LIST_END, _OBJECT_END, _COMMA = b"[]},"
_LINE_OF_LIST = re.compile(rb"(?:\A|[\r\n])(?:\xef\xbb\xbf)?[ \t]*\[")
_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
_MARK_ALONE = re.compile(rb"\xef\xbb\xbf[ \t\r\n]*\Z")


class TooManyItemsError(ValueError):
    """A list has more than `MOST_ITEMS`."""


@dataclass(frozen=True)
class Records:
    """The records of a file.

    Attributes:
        texts: Of each, its bytes.
        lines: Of each, the line where it begins, from 1.
        header: The first record of a CSV file, where it has the names.
        columns: Of each, the character of its line where it begins, from 1; 0: it is a whole line; empty: all are.
    """

    texts: list[bytes]
    lines: list[int]
    header: bytes = b""
    columns: list[int] = field(default_factory=list)

    def place(self, number: int) -> str:
        """The line where a record begins, and of an item of a list the column behind `:`.

        It is the same whatever is added behind the record: dead letters bear it.
        """
        column = self.columns[number] if self.columns else 0
        return f"{self.lines[number]}:{column}" if column else str(self.lines[number])


def json_records(data: bytes) -> Records:
    r"""Each line that is not blank, of a list each item; a file that is one list, or one object, may have many lines.

    A line ends as Spark's reader ends it. A text that is no such file is cut into lines, whatever they are.

    Example:
        >>> json_records(b'{"a": 1}\r\n\n{"a": 2}\r{}').lines
        [1, 3, 4]
        >>> json_records(b'[\n  {"a": 1},\n  {"a": 2}\n]').texts
        [b'{"a": 1}', b'{"a": 2}']

    Raises:
        TooManyItemsError: it is one list, or has one in a line, with more than `MOST_ITEMS`.
    """
    if _MARK_ALONE.match(data):
        return Records([], [])
    if (whole := _over_lines(data)) is not None:
        return whole
    lines = _ENDS.split(data) if b"\r" in data else data.split(b"\n")
    found = [(line, number) for number, line in enumerate(lines, start=1) if line.strip(_BLANKS)]
    items = [_items_of_line(line) for line, _ in found] if _LINE_OF_LIST.search(data) is not None else []
    if all(one is None for one in items):
        return Records([line for line, _ in found], [number for _, number in found])
    parts: list[tuple[bytes, int, int]] = []
    for (line, number), some in zip(found, items, strict=True):
        if some is None:
            parts.append((line, number, 0))
        else:
            parts += [
                (line[a:b], number, column) for (a, b), (_, column) in zip(some, _placed(line, some), strict=True)
            ]
    return Records([text for text, *_ in parts], [n for _, n, _ in parts], columns=[column for *_, column in parts])


def _items_of_line(line: bytes) -> list[tuple[int, int]] | None:
    """Where the items of a line begin and end; None: it is no list."""
    first = _begin(line)
    return _items(line) if line[first : first + 1] == b"[" else None


def _begin(data: bytes) -> int:
    """Where the first character that is no blank is."""
    found = _BEGIN.match(data)
    return found.end() if found else 0


def _over_lines(data: bytes) -> Records | None:
    """The records of one list, or of one object, that goes over lines; None: the text is none."""
    first = _begin(data)
    line_end = _ENDS.search(data, first)
    if data[first : first + 1] not in (b"[", b"{") or line_end is None:
        return None
    items = _items(data) if _items(data[: line_end.start()]) is None else None
    if items is None:
        return None
    placed = list(_placed(data, items))
    return Records(
        [data[begin:end] for begin, end in items],
        [line for line, _ in placed],
        columns=[column for _, column in placed],
    )


def _placed(data: bytes, items: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The line and the column where each item begins; each byte is looked at once."""
    line, column, at = 1, 1, 0
    for begin, _ in items:
        for found in _ENDS.finditer(data, at, begin):
            line, column, at = line + 1, 1, found.end()
        column += len(data[at:begin].decode(errors="replace").removeprefix("\ufeff"))
        at = begin
        yield line, column


def _items(data: bytes) -> list[tuple[int, int]] | None:
    """Where each item of a list begins and ends, or an object; None: the text is not one of both from begin to end."""
    found: list[tuple[int, int]] = []
    first = begin = _begin(data)
    depth = 0
    for token in _TOKEN.finditer(data, first):
        at = token.start()
        sign = data[at]
        if sign in _QUOTES:
            if token.end() == at + 1:  # a text that nothing closes
                return None
        elif sign in _OPEN:
            depth += 1
            if depth == 1 and at != first:
                return None
        elif sign in _CLOSED:
            depth -= 1
            if not depth:
                return _closed(data, first, [*found, (begin, at)], at)
        elif depth == 1 and data[first] == _LIST:
            if len(found) >= MOST_ITEMS:
                raise TooManyItemsError
            found.append((begin, at))
            begin = at + 1
    return None


def _closed(data: bytes, first: int, found: list[tuple[int, int]], last: int) -> list[tuple[int, int]] | None:
    """The items of a text that ends with the bracket at `last`."""
    is_list = data[first] == _LIST
    if data[last] != (_LIST_END if is_list else _OBJECT_END) or data[last + 1 :].strip(_SPACES):
        return None
    if not is_list:
        return [(first, last + 1)]
    items = [_trimmed(data, begin, end) for begin, end in [(first + 1, found[0][1]), *found[1:]]]
    if len(items) == 1 and items[0][0] == items[0][1]:
        return []
    return items if all(begin < end for begin, end in items) else None


def _trimmed(data: bytes, begin: int, end: int) -> tuple[int, int]:
    text = data[begin:end]
    return end - len(text.lstrip(_SPACES)), begin + max(
        len(text.rstrip(_SPACES)), len(text) - len(text.lstrip(_SPACES))
    )


def one_line(record: bytes) -> bytes:
    """A record of JSON in one line: between its values a line end is a blank."""
    return record.translate(_ONE_LINE)

"""The text of one JSON value, as Spark's reader (Jackson, with Spark's defaults) takes it. Pure.

Spark takes texts in single quotes, and the numbers NaN, Infinity and INF with their signs. It does not take comments,
names without quotes, control characters within texts, or more than a thousand levels.
"""

import re
from collections.abc import Iterator

from pydantic_core import from_json

from streamhouse.ingest.unreadable import UnreadableError

_BLANKS = re.compile(r"[ \t\r\n]*")
_TEXT = {'"': re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*)"'), "'": re.compile(r"'((?:[^'\\\x00-\x1f]|\\.)*)'")}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HALVES = re.compile("[\ud800-\udfff]")
_BEHIND = r"(?=[ \t\r\n,:\]}]|$)"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?" + _BEHIND)
_WORD = re.compile(r"(true|false|null|NaN|[+-]?Infinity|[+-]INF)" + _BEHIND)
_MOST_LEVELS = 1000
_MOST_DIGITS = 1000
_SHOWN = 20
_MARK = b"\xef\xbb\xbf"
TEXT, WHOLE, FRACTION = "text", "whole number", "number with a fraction"


def decoded(record: bytes) -> str:
    """The text of a record, without the byte order mark at its beginning.

    Raises:
        UnreadableError: it is no UTF-8.
    """
    if record[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in record[:4]:
        raise UnreadableError("encoding", "it is no UTF-8, but looks like UTF-16 or UTF-32: write it as UTF-8")
    try:
        return record.removeprefix(_MARK).decode()
    except UnicodeDecodeError as wrong:
        text = f"it is no UTF-8: {wrong.reason} at byte {wrong.start}"
        raise UnreadableError("encoding", text) from wrong


def is_json(text: bytes | str) -> bool:
    """Whether a text is one whole value of JSON."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


class Cursor:
    """Reads a text from its beginning.

    Attributes:
        text: All of it.
        at: Where the next character is that was not read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        """The next character that is no blank; "": there is none."""
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        """Whether the next character is this one; then it is read."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def scalar(self) -> tuple[str, str]:
        """The next value, which is no object and no array.

        Returns:
            What it is, and its text: `TEXT`, `WHOLE`, `FRACTION`, or a word such as `true` or `NaN`.

        Raises:
            UnreadableError: there is none.
        """
        first = self.peek()
        if first in _TEXT:
            return TEXT, self.string()
        if found := _NUMBER.match(self.text, self.at):
            self.at = found.end()
            number = found.group()
            if max(map(len, re.split(r"[^0-9]", number))) > _MOST_DIGITS or len(number) > _MOST_DIGITS + 10:
                raise UnreadableError("malformed", f"a number has more than {_MOST_DIGITS} digits")
            return (FRACTION if found[1] or found[2] else WHOLE), number
        if word := _WORD.match(self.text, self.at):
            self.at = word.end()
            return word.group(), word.group()
        raise self.wrong("a value")

    def string(self) -> str:
        """The next text.

        Raises:
            UnreadableError: there is none.
        """
        quote = self.peek()
        found = _TEXT[quote].match(self.text, self.at) if quote in _TEXT else None
        if found is None:
            raise self.wrong("a text that is closed and has no control character" if quote in _TEXT else "a name")
        self.at = found.end()
        return _unescaped(found[1]) if "\\" in found[1] else found[1]

    def names(self) -> Iterator[str]:
        """Each name of the object that begins here; its value is to be read before the next name is asked for.

        Raises:
            UnreadableError: it is malformed.
        """
        self._expect("{")
        if self.take("}"):
            return
        while True:
            name = self.string()
            self._expect(":")
            yield name
            if self.take("}"):
                return
            self._expect(",")

    def items(self) -> Iterator[None]:
        """Once for each item of the array that begins here; it is to be read before the next is asked for.

        Raises:
            UnreadableError: it is malformed.
        """
        self._expect("[")
        if self.take("]"):
            return
        while True:
            yield
            if self.take("]"):
                return
            self._expect(",")

    def skip(self) -> str:
        """The text of the next value, whatever it is.

        Raises:
            UnreadableError: it is malformed.
        """
        first = self.peek()
        start = self.at
        levels: list[Iterator[object]] = []
        while True:
            if first in ("{", "["):
                levels.append(self.names() if first == "{" else self.items())
                if len(levels) >= _MOST_LEVELS:
                    raise UnreadableError("malformed", f"it has more than {_MOST_LEVELS} levels")
            else:
                self.scalar()
            while levels and next(levels[-1], self) is self:
                levels.pop()
            if not levels:
                return self.text[start : self.at]
            first = self.peek()

    def end(self) -> None:
        """Check that nothing follows.

        Raises:
            UnreadableError: something does.
        """
        if self.peek():
            raise UnreadableError(
                "malformed", f"something follows the object: {self._shown()} (one object in each line)"
            )

    def wrong(self, wanted: str) -> UnreadableError:
        """The error that there is something else than `wanted` here."""
        found = self._shown() if self.peek() else "its end"
        return UnreadableError("malformed", f"it is no JSON: {wanted} is missing at character {self.at + 1}: {found}")

    def _expect(self, character: str) -> None:
        if not self.take(character):
            raise self.wrong(f"'{character}'")

    def _shown(self) -> str:
        return repr(self.text[self.at : self.at + _SHOWN])


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        if found[2] not in _ESCAPED:
            raise UnreadableError("malformed", f"it is no JSON: there is no escape \\{found[2]}")
        return _ESCAPED[found[2]]

    plain = _ESCAPE.sub(one, text)
    if _HALVES.search(plain) is None:
        return plain
    whole = plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _HALVES.sub("?", whole)  # as Java writes half of a character

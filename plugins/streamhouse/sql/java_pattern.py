r"""Reads regular expressions as `java.util.regex.Pattern` of Java 17 does. Pure.

Only what a match may try is of interest: letters, repetitions, choices. What Java refuses raises an error; some
expressions that it refuses are read here, as `(?<a>x)(?<a>y)`, whose group is there twice.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from streamhouse.sql.java_letters import Test, negated, of_name, of_sign, one_of

_QUOTE = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9]*)>")
_FLAGS = re.compile(r"([idmsuxU]*)(?:-([idmsuxU]*))?([:)])")
_COUNT = re.compile(r"\{([0-9]{1,9})(,([0-9]{1,9})?)?\}")
_HEX = re.compile(r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})(?:\\u([0-9A-Fa-f]{4}))?")
_OCTAL = re.compile(r"0([0-3][0-7]{2}|[0-7]{1,2})")
_PROPERTY = re.compile(r"[pP](?:\{([^}]+)\}|([A-Za-z]))")
_BLANKS = " \t\n\r\f\v"
_ONE_LETTER = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_BOUNDARIES = "bBAGZz"
_MOST_DEEP = 200


class JavaPatternError(ValueError):
    """It is no expression of Java's."""


@dataclass(frozen=True)
class OneLetter:
    """One letter, of those that a test lets pass."""

    takes: Test


@dataclass(frozen=True)
class Sequence:
    """Parts one behind the other; of none: nothing."""

    parts: "tuple[Part, ...]" = ()


@dataclass(frozen=True)
class OneOf:
    """One of several."""

    options: "tuple[Part, ...]"


@dataclass(frozen=True)
class Repeat:
    """A part several times; `most` may be infinite."""

    body: "Part"
    least: int
    most: float


@dataclass(frozen=True)
class Atomic:
    """A part of which only the first way to match is tried."""

    body: "Part"


@dataclass(frozen=True)
class LookAround:
    """A part that is looked for, ahead or back, and takes no letter."""

    body: "Part"


@dataclass(frozen=True)
class SameAgain:
    """What a group took, once more."""

    body: "Part"


Part = OneLetter | Sequence | OneOf | Repeat | Atomic | LookAround | SameAgain
_NOTHING = Sequence()


def java_pattern(text: str) -> tuple[Part, frozenset[str]]:
    r"""An expression, and the letters that it names.

    Example:
        >>> tree, named = java_pattern(r"(?>a|\x62)*+")
        >>> type(tree).__name__, sorted(named)
        ('Atomic', ['a', 'b'])

    Raises:
        JavaPatternError: it is none.
    """
    reader = _PatternReader(_QUOTE.sub(_unquoted, text))
    found = reader.choice(frozenset())
    if reader.at < len(reader.text):
        raise JavaPatternError("a bracket that nothing opens")
    return found, frozenset(reader.named)


def _unquoted(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return "".join(one if one.isascii() and one.isalnum() else f"\\{one}" for one in found[1])


class _PatternReader:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.deep = text, 0, 0
        self.groups: dict[str, Part] = {}
        self.count = 0
        self.named: set[str] = set()

    def choice(self, flags: frozenset[str]) -> Part:
        self.deep += 1
        if self.deep > _MOST_DEEP:
            raise RecursionError
        options = []
        while True:
            found, flags = self._sequence(flags)
            options.append(found)
            if not self._takes("|"):
                self.deep -= 1
                return options[0] if len(options) == 1 else OneOf(tuple(options))

    def _sequence(self, flags: frozenset[str]) -> tuple[Part, frozenset[str]]:
        parts: list[Part] = []
        while (next_ := self._peek(flags)) and next_ not in "|)":
            if self._starts("(?") and (found := _FLAGS.match(self.text, self.at + 2)) and found[3] == ")":
                self.at, flags = found.end(), _changed(flags, found)
                continue
            parts.append(self._repeated(self._atom(flags), flags))
        return (parts[0] if len(parts) == 1 else Sequence(tuple(parts))), flags

    def _repeated(self, body: Part, flags: frozenset[str]) -> Part:
        while (next_ := self._peek(flags)) and next_ in "*+?{":
            least, most = {"*": (0, inf), "+": (1, inf), "?": (0, 1)}.get(next_, (0, 0))
            if next_ == "{":
                least, most = self._bounds()
            else:
                self.at += 1
            body = Repeat(body, int(least), most)
            if self._takes("+"):
                body = Atomic(body)
            else:
                self._takes("?")
        return body

    def _bounds(self) -> tuple[int, float]:
        found = _COUNT.match(self.text, self.at)
        if found is None:
            raise JavaPatternError("an odd repetition")
        self.at = found.end()
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else inf
        if most < least:
            raise JavaPatternError("a repetition that ends before it begins")
        return least, most

    def _atom(self, flags: frozenset[str]) -> Part:
        one = self._next(flags)
        if one == "(":
            return self._group(flags)
        if one == "[":
            return OneLetter(self._in(flags))
        if one == ".":
            ends = "" if "s" in flags else "\n" if "d" in flags else "\n\r\x85\u2028\u2029"
            return OneLetter(lambda letter: letter not in ends)
        if one in "^$":
            return _NOTHING
        if one in "*+?{":
            raise JavaPatternError("nothing is repeated")
        return self._escape(flags) if one == "\\" else self._letter(one, flags)

    def _letter(self, one: str, flags: frozenset[str]) -> OneLetter:
        self.named.add(one)
        return OneLetter(one_of(one, "i" in flags))

    def _group(self, flags: frozenset[str]) -> Part:
        if not self._takes("?"):
            self.count += 1
            return self._named_group(str(self.count), flags)
        if found := _FLAGS.match(self.text, self.at):
            self.at = found.end()
            return self._closed(_changed(flags, found))
        if self._takes(">"):
            return Atomic(self._closed(flags))
        for sign in ("=", "!", "<=", "<!"):
            if self._takes(sign):
                return LookAround(self._closed(flags))
        if self._takes("<") and (found := _NAME.match(self.text, self.at)):
            self.at, self.count = found.end(), self.count + 1
            self.groups[str(self.count)] = _NOTHING
            number, body = str(self.count), self._named_group(found[1], flags)
            self.groups[number] = body
            return body
        raise JavaPatternError("an odd group")

    def _named_group(self, name: str, flags: frozenset[str]) -> Part:
        body = self._closed(flags)
        self.groups[name] = body
        return body

    def _closed(self, flags: frozenset[str]) -> Part:
        body = self.choice(flags)
        if not self._takes(")"):
            raise JavaPatternError("a group that nothing closes")
        return body

    def _escape(self, flags: frozenset[str]) -> Part:
        if found := re.compile(r"k<([A-Za-z][A-Za-z0-9]*)>|([1-9])").match(self.text, self.at):
            self.at = found.end()
            return self._same(found[1] or found[2])
        if self._starts("b{g}"):
            self.at += 4
            return _NOTHING
        if self._peek_raw() in tuple(_BOUNDARIES):
            self.at += 1
            return _NOTHING
        if self._takes("R"):
            return OneOf(
                (Sequence((OneLetter(one_of("\r", False)), OneLetter(one_of("\n", False)))), OneLetter(of_sign("v")))
            )
        if self._takes("X"):
            return OneLetter(lambda _: True)
        return OneLetter(self._set(flags))

    def _same(self, name: str) -> Part:
        while name.isdecimal() and (more := self._peek_raw()).isdecimal() and f"{name}{more}" in self.groups:
            name, self.at = f"{name}{more}", self.at + 1
        return SameAgain(self.groups.get(name, _NOTHING))

    def _set(self, flags: frozenset[str]) -> Test:
        """What an escape takes: a set of letters, or one."""
        one = self._character_escape()
        if one is not None:
            self.named.add(one)
            return one_of(one, "i" in flags)
        if found := _PROPERTY.match(self.text, self.at):
            self.at = found.end()
            test = of_name(found[1] or found[2], "i" in flags)
            return negated(test) if found[0][0] == "P" else test
        sign = self._peek_raw()
        self.at += 1
        if sign.lower() not in tuple("dhsvw"):
            raise JavaPatternError("an odd escape")
        test = of_sign(sign.lower(), is_unicode="U" in flags)
        return negated(test) if sign.isupper() else test

    def _character_escape(self) -> str | None:
        """The one letter that an escape is; None: it is a set."""
        if found := _HEX.match(self.text, self.at):
            return self._hex(found)
        if found := _OCTAL.match(self.text, self.at):
            self.at = found.end()
            return chr(int(found[1], 8))
        if found := re.compile(r"N\{([^}]+)\}").match(self.text, self.at):
            self.at = found.end()
            return _by_name(found[1])
        sign = self._peek_raw()
        if not sign:
            raise JavaPatternError("an escape of nothing")
        if sign == "c" and self.at + 1 < len(self.text):
            self.at += 2
            return chr(ord(self.text[self.at - 1]) ^ 64)
        if sign in _ONE_LETTER or not (sign.isascii() and sign.isalnum()):
            self.at += 1
            return _ONE_LETTER.get(sign, sign)
        return None

    def _hex(self, found: re.Match[str]) -> str:
        code, second = int(found[1] or found[2] or found[3], 16), found[4]
        self.at = found.end()
        if second and 0xD800 <= code < 0xDC00 and 0xDC00 <= int(second, 16) < 0xE000:
            return chr(0x10000 + ((code - 0xD800) << 10) + int(second, 16) - 0xDC00)
        if second:
            self.at -= len("\\u0000")
        if code > 0x10FFFF:
            raise JavaPatternError("no letter has this number")
        return chr(code)

    def _in(self, flags: frozenset[str]) -> Test:
        """What is between brackets takes."""
        self.deep += 1
        if self.deep > _MOST_DEEP:
            raise RecursionError
        is_negated = self._takes("^")
        both: list[list[Test]] = [[]]
        while True:
            if self._starts("&&"):
                while self._takes("&"):
                    pass
                both.append([])
            one = self._next(flags)
            if one == "]" and (both[-1] or len(both) > 1):
                break
            both[-1].append(self._in(flags) if one == "[" else self._range(one, flags))
        self.deep -= 1
        test = _all_of([_any_of(tests) for tests in both if tests])
        return negated(test) if is_negated else test

    def _range(self, one: str, flags: frozenset[str]) -> Test:
        first = self._character_escape() if one == "\\" else one
        if first is None:
            return self._set(flags)
        self.named.add(first)
        self._peek(flags)
        if not self._starts("-") or self.text[self.at + 1 : self.at + 2] in ("", "]", "["):
            return one_of(first, "i" in flags)
        self.at += 1
        one = self._next(flags)
        last = self._character_escape() if one == "\\" else one
        if last is None or last < first:
            raise JavaPatternError("an odd range")
        self.named.add(last)
        return _range_of(first, last, "i" in flags)

    def _peek_raw(self) -> str:
        return self.text[self.at : self.at + 1]

    def _peek(self, flags: frozenset[str]) -> str:
        """The next character, behind comments where there may be some; empty: none."""
        while "x" in flags and (one := self._peek_raw()) and one in _BLANKS + "#":
            if one == "#":
                while (one := self._peek_raw()) and one not in "\n\r\x85\u2028\u2029":
                    self.at += 1
            else:
                self.at += 1
        return self._peek_raw()

    def _next(self, flags: frozenset[str]) -> str:
        found = self._peek(flags)
        if not found:
            raise JavaPatternError("it ends too early")
        self.at += 1
        return found

    def _starts(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def _takes(self, text: str) -> bool:
        if not self._starts(text):
            return False
        self.at += len(text)
        return True


def _changed(flags: frozenset[str], found: re.Match[str]) -> frozenset[str]:
    return (flags | frozenset(found[1])) - frozenset(found[2] or "")


def _by_name(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError as error:
        raise JavaPatternError("no letter has this name") from error


def _any_of(tests: list[Test]) -> Test:
    return lambda letter: any(test(letter) for test in tests)


def _all_of(tests: list[Test]) -> Test:
    return lambda letter: all(test(letter) for test in tests)


def _range_of(first: str, last: str, is_either_case: bool) -> Test:
    def test(letter: str) -> bool:
        return first <= letter <= last

    either: Callable[[str], bool] = lambda letter: any(  # noqa: E731
        test(one) for one in (letter, letter.lower(), letter.upper()) if len(one) == 1
    )
    return either if is_either_case else test

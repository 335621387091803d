r"""Regular expressions that Java's engine, which Spark has, can need exponential time for. Pure.

Such an engine tries each way to match. Where two ways lead from one place of an expression back to it over the same
text, each such piece of a value doubles the time: `(a+)+b` takes minutes for thirty letters. The places of an
expression are the nodes of a graph here, after Glushkov, and two ways of one text are a path in its product with
itself (Weber and Seidl, On the degree of ambiguity of finite automata).

Without any repetition, many choices in a row do the same: `a?a?a?…aaa` has a way for each choice of its letters. These
ways are counted along one text, the one that seems the worst.

What Java refuses, and time that grows as a power only, are not judged.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf

from streamhouse.sql.java_pattern import (
    Atomic,
    JavaPatternError,
    LookAround,
    OneLetter,
    OneOf,
    Part,
    Repeat,
    SameAgain,
    Sequence,
    java_pattern,
)
from streamhouse.sql.two_ways import TooLargeError, has_two_ways, ways_of_worst_text

_MOST_PLACES = 4_000
_MOST_WAYS = 200_000
_FEW = 10  # times that a repetition is written out; more are taken for any number
_MOST_COPIES = 60
_ENDLESS = 1_000_000  # ways to match one text
_SAMPLES = (
    "aZzfF05_-.,:;!$+=|~#'\"/\\ \t\n\r\x0b\x01\x7f\x85\xa0\xb7\xdf\xe9\xc9\xff\u0131\u017f\u02b0\u0301\u0391\u03c9"
    "\u0416\u044f\u05d0\u0639\u0663\u0915\u0e01\u2003\u2014\u2028\u20ac\u3000\u3042\u30a2\u4e2d\ud55c\uff11\U0001f600"
)


@lru_cache(maxsize=1024)
def why_slow(pattern: str) -> str | None:
    r"""Why it is refused, in words; None: it is not.

    Example:
        >>> [bool(why_slow(one)) for one in (r"(a+)+b", r"(\w+\s?)*$", r"(\w+\s)*$", r"\d{4}-\d{2}", r"(a|b)*c")]
        [True, True, False, False, False]
    """
    try:
        tree, named = java_pattern(pattern)
    except JavaPatternError:
        return None
    except RecursionError:
        return "is nested too deeply to be judged"
    samples = "".join(sorted({*_SAMPLES, *_beside(named)}))
    try:
        slow = any(_is_slow(part, samples) for part in _alone(tree))
    except (TooLargeError, RecursionError):
        return "is too large to be judged: it may take exponential time"
    return "can take exponential time: it may double with each letter of a value" if slow else None


def _beside(named: frozenset[str]) -> set[str]:
    """The letters that an expression names, in both cases, and those beside the ends of its ranges."""
    codes = (ord(one) + more for one in named for more in (-1, 0, 1))
    letters = {chr(code) for code in codes if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000}
    return letters | {other for one in named for other in (one.lower(), one.upper()) if len(other) == 1}


def _is_slow(part: Part, samples: str) -> bool:
    looping = _Places(samples, is_looping=True)
    looping.piece(part, 1)
    if has_two_ways(looping.letters, looping.ways):
        return True
    once = _Places(samples, is_looping=False)
    first = once.piece(part, 1).first
    return ways_of_worst_text(once.letters, once.ways, first, len(samples), _ENDLESS) > _ENDLESS


def _alone(tree: Part) -> list[Part]:
    """An expression, and each part that is matched by itself."""
    found, todo = [tree], [tree]
    while todo:
        part = todo.pop()
        if isinstance(part, (Atomic, LookAround)):
            found.append(part.body)
        todo += _inner(part)
    return found


def _inner(part: Part) -> tuple[Part, ...]:
    if isinstance(part, Sequence):
        return part.parts
    if isinstance(part, OneOf):
        return part.options
    return () if isinstance(part, (OneLetter, SameAgain)) else (part.body,)


@dataclass
class _PatternPiece:
    """A part of an expression: where it begins and ends, each with the number of ways, and whether it may be empty."""

    first: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    empty: int = 1


class _Places:
    """The places of an expression.

    Attributes:
        letters: Of each place, the samples that it takes, as bits.
        ways: Of each place, how many ways lead to the next ones.
    """

    def __init__(self, samples: str, *, is_looping: bool) -> None:
        self.letters: list[int] = []
        self.ways: list[Counter[int]] = []
        self._samples = samples
        self._is_looping = is_looping
        self._known: dict[OneLetter, int] = {}
        self._count = 0

    def piece(self, part: Part, times: float) -> _PatternPiece:
        """The places of a part that is matched so many times at most, by the repetitions around it."""
        if isinstance(part, OneLetter):
            return self._place(part)
        if isinstance(part, Sequence):
            whole = _PatternPiece()
            for one in part.parts:
                whole = self._joined(whole, self.piece(one, times))
            return whole
        if isinstance(part, OneOf):
            options = [self.piece(one, times) for one in part.options]
            return _PatternPiece(
                sum((one.first for one in options), Counter()),
                sum((one.last for one in options), Counter()),
                sum(one.empty for one in options),
            )
        if isinstance(part, Repeat):
            return self._repeated(part, times)
        if isinstance(part, LookAround):
            return _PatternPiece()
        return self._without_loops(part.body, times)  # one way is tried, or the text is known

    def _without_loops(self, body: Part, times: float) -> _PatternPiece:
        before, self._is_looping = self._is_looping, False
        try:
            return self.piece(body, times)
        finally:
            self._is_looping = before

    def _place(self, letter: OneLetter) -> _PatternPiece:
        if len(self.letters) >= _MOST_PLACES:
            raise TooLargeError
        if letter not in self._known:
            self._known[letter] = sum(1 << at for at, one in enumerate(self._samples) if letter.takes(one))
        self.letters.append(self._known[letter])
        self.ways.append(Counter())
        at = len(self.letters) - 1
        return _PatternPiece(Counter({at: 1}), Counter({at: 1}), 0)

    def _joined(self, left: _PatternPiece, right: _PatternPiece) -> _PatternPiece:
        self._lead(left, right)
        return _PatternPiece(
            left.first + Counter({at: ways * left.empty for at, ways in right.first.items()}),
            right.last + Counter({at: ways * right.empty for at, ways in left.last.items()}),
            left.empty * right.empty,
        )

    def _lead(self, left: _PatternPiece, right: _PatternPiece) -> None:
        self._count += len(left.last) * len(right.first)
        if self._count > _MOST_WAYS:
            raise TooLargeError
        for end, ways in left.last.items():
            for begin, more in right.first.items():
                self.ways[end][begin] += ways * more

    def _repeated(self, part: Repeat, times: float) -> _PatternPiece:
        least, most, body = part.least, part.most, part.body
        if not most:
            return _PatternPiece()
        if not self._is_looping and most == inf:
            return self._copies(body, min(least, _FEW), max(min(least, _FEW), 1), times)
        if most * times < _FEW or most == 1:
            return self._copies(body, least, int(most), times)
        if least == most and not _has_choice(body):
            return self.piece(body, times)
        if not self._is_looping:
            return self._copies(body, min(least, _MOST_COPIES), int(min(most, _MOST_COPIES)), times)
        looped = self.piece(body, inf)
        self._lead(looped, looped)
        return _PatternPiece(looped.first, looped.last, 1 if least == 0 or looped.empty else 0)

    def _copies(self, body: Part, least: int, most: int, times: float) -> _PatternPiece:
        """`(x(x(x)?)?)?`: as Java tries them, one more only behind the one before."""
        whole = _PatternPiece()
        for number in range(most, 0, -1):
            whole = self._joined(self.piece(body, times * most), whole)
            if number > least:
                whole = _PatternPiece(whole.first, whole.last, whole.empty + 1)
        return whole


def _has_choice(part: Part) -> bool:
    """Whether there is more than one way through a part."""
    if isinstance(part, Repeat) and part.least != part.most:
        return True
    return isinstance(part, OneOf) or (not isinstance(part, LookAround) and any(map(_has_choice, _inner(part))))

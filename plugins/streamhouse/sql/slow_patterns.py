r"""Regular expressions that Java's engine, which Spark has, can need exponential time for. Pure.

Such an engine tries each way to match. Where two ways lead from one place of an expression back to it over the same
text, each such piece of a value doubles the time: `(a+)+b` takes minutes for thirty letters. The places of an
expression are the nodes of a graph here, after Glushkov, and two ways of one text are a path in its product with
itself (Weber and Seidl, On the degree of ambiguity of finite automata).

What Python's parser does not read, very long expressions, and time that grows as a power only are not judged.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_MOST_PLACES = 80
_FEW = 10  # times that a repetition is written out; more are taken for any number
_SAMPLES = "aZ0 _-.\n\u00e9"
_JAVA = ((r"\\[pP](\{\w+\}|\w)", r"\\w"), (r"\\h", r"\\s"), (r"\\R", r"\\n"), (r"\(\?<(?=[A-Za-z])", "(?P<"))


@lru_cache(maxsize=1024)
def is_slow(pattern: str) -> bool:
    r"""Whether a text exists for which the time doubles with every piece.

    Example:
        >>> [is_slow(one) for one in (r"(a+)+b", r"(\w+\s?)*$", r"(\w+\s)*$", r"\d{4}-\d{2}", r"(a|b)*c")]
        [True, True, False, False, False]
    """
    for java, python in _JAVA:
        pattern = re.sub(java, python, pattern, flags=re.ASCII)
    try:
        tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    try:
        return any(_is_ambiguous(one) for one in _graphs(tree))
    except (_TooLargeError, RecursionError):
        return False


class _TooLargeError(Exception):
    pass


@dataclass
class _Graph:
    """The places of an expression: which letters each takes, and how many ways lead to the next."""

    samples: str
    letters: list[frozenset[str]] = field(default_factory=list)
    ways: list[Counter[int]] = field(default_factory=list)

    def place(self, letters: Iterable[str]) -> int:
        if len(self.letters) >= _MOST_PLACES:
            raise _TooLargeError
        self.letters.append(frozenset(letters))
        self.ways.append(Counter())
        return len(self.letters) - 1


@dataclass
class _Piece:
    """A part of an expression: where it begins and ends, each with the number of ways, and whether it may be empty."""

    first: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    empty: int = 1


def _graphs(tree: Any) -> Iterator[_Graph]:
    """Of an expression, and of each that it looks ahead or back for."""
    found: list[Any] = [tree]
    samples = "".join(sorted({*_SAMPLES, *_written(tree)}))
    while found:
        graph = _Graph(samples)
        _sequence(graph, found.pop(), found)
        yield graph


def _sequence(graph: _Graph, items: Any, apart: list[Any]) -> _Piece:
    whole = _Piece()
    for kind, value in items:
        whole = _joined(graph, whole, _part(graph, kind, value, apart))
    return whole


def _joined(graph: _Graph, left: _Piece, right: _Piece) -> _Piece:
    for end, ways in left.last.items():
        for begin, more in right.first.items():
            graph.ways[end][begin] += ways * more
    return _Piece(
        left.first + Counter({at: ways * left.empty for at, ways in right.first.items()}),
        right.last + Counter({at: ways * right.empty for at, ways in left.last.items()}),
        left.empty * right.empty,
    )


def _part(graph: _Graph, kind: Any, value: Any, apart: list[Any]) -> _Piece:
    if kind in (kinds.LITERAL, kinds.NOT_LITERAL, kinds.ANY, kinds.IN):
        at = graph.place(letter for letter in graph.samples if _takes(kind, value, letter))
        return _Piece(Counter({at: 1}), Counter({at: 1}), 0)
    if kind is kinds.SUBPATTERN:
        return _sequence(graph, value[-1], apart)
    if kind is kinds.BRANCH:
        options = [_sequence(graph, one, apart) for one in value[1]]
        return _Piece(
            sum((one.first for one in options), Counter()),
            sum((one.last for one in options), Counter()),
            sum(one.empty for one in options),
        )
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT):
        least, most, items = value
        return _repeated(graph, int(least), int(most), items, apart)
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        apart.append(value[1])
    return _Piece()  # a boundary, a group that is never tried again, or what was matched before


def _repeated(graph: _Graph, least: int, most: int, items: Any, apart: list[Any]) -> _Piece:
    if most in (0, 1) or least == most:
        body = _sequence(graph, items, apart)
        return _Piece(body.first, body.last, body.empty + (0 if least else 1)) if most else _Piece()
    if most < _FEW:
        whole = _Piece()
        for number in range(most):
            body = _sequence(graph, items, apart)
            whole = _joined(graph, whole, _Piece(body.first, body.last, 1 if number >= least else body.empty))
        return whole
    body = _sequence(graph, items, apart)
    for end, ways in body.last.items():
        for begin, more in body.first.items():
            graph.ways[end][begin] += ways * more
    return _Piece(body.first, body.last, 1 if least == 0 or body.empty else 0)


def _is_ambiguous(graph: _Graph) -> bool:
    reach = [_reached(graph, at) for at in range(len(graph.letters))]
    for at, ways in enumerate(graph.ways):
        if any(number > 1 and graph.letters[to] and at in reach[to] for to, number in ways.items()):
            return True
    return any(at in reach[at] and _has_two_ways(graph, at, reach) for at in range(len(graph.letters)))


def _reached(graph: _Graph, begin: int) -> set[int]:
    found, todo = {begin} if begin in graph.ways[begin] else set(), list(graph.ways[begin])
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += graph.ways[at]
    return found


def _has_two_ways(graph: _Graph, begin: int, reach: list[set[int]]) -> bool:
    """Whether two different ways lead from a place back to it over one text."""
    before: dict[tuple[int, int], list[tuple[int, int]]] = {}
    todo, seen = [(begin, begin)], {(begin, begin)}
    while todo:
        one, other = now = todo.pop()
        for left in graph.ways[one]:
            for right in graph.ways[other]:
                if begin not in reach[left] or begin not in reach[right]:
                    continue
                if not graph.letters[left] & graph.letters[right]:
                    continue
                before.setdefault((left, right), []).append(now)
                if (left, right) not in seen:
                    seen.add((left, right))
                    todo.append((left, right))
    back, todo = set(), [(begin, begin)]
    while todo:
        for pair in before.get(todo.pop(), ()):
            if pair not in back:
                back.add(pair)
                todo.append(pair)
    return any(left != right for left, right in back)


def _takes(kind: Any, value: Any, letter: str) -> bool:
    if kind is kinds.LITERAL:
        return ord(letter) == int(value)
    if kind is kinds.NOT_LITERAL:
        return ord(letter) != int(value)
    if kind is kinds.ANY:
        return letter != "\n"
    negated = bool(value) and value[0][0] is kinds.NEGATE
    return negated != any(_is_in(one, what, letter) for one, what in value if one is not kinds.NEGATE)


def _is_in(kind: Any, value: Any, letter: str) -> bool:
    if kind is kinds.LITERAL:
        return ord(letter) == int(value)
    if kind is kinds.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    name = str(value)  # CATEGORY_DIGIT, CATEGORY_NOT_SPACE
    found = letter.isdecimal() if "DIGIT" in name else letter.isspace() if "SPACE" in name else _is_word(letter)
    return found != ("NOT" in name)


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _written(tree: Any) -> Iterator[str]:
    """The letters that an expression names, and those beside the ends of its ranges."""
    for one in _numbers(tree):
        yield from (chr(at) for at in (one - 1, one, one + 1) if 0 <= at < 0xD800)


def _numbers(item: Any) -> Iterator[int]:
    if type(item) is int:  # and no kind of a part, which is a number, too
        yield item
    elif isinstance(item, (list, tuple, parser.SubPattern)):
        for one in item:
            yield from _numbers(one)

"""Brackets where sqlglot would bind operators otherwise than Spark.

The order of operators is that of `SqlBaseParser.g4` of Spark 4.1. A predicate (IN, LIKE, BETWEEN, IS) takes a whole
comparison on its left, and stands once: `t < u NOT IN (…)` is `NOT ((t < u) IN (…))`. sqlglot's parser is compiled and
cannot be derived from, so brackets go into the tokens before it reads them.
"""

from collections.abc import Set
from typing import NamedTuple

from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.sql.dialect.literals import MARK
from streamhouse.sql.dialect.tokens import like, refused

_T = TokenType
_COMPARISON, _SHIFT, _SUM = 1, 5, 6
_LEVELS = {
    **dict.fromkeys((_T.EQ, _T.NEQ, _T.NULLSAFE_EQ, _T.LT, _T.LTE, _T.GT, _T.GTE), _COMPARISON),
    _T.PIPE: 2, _T.CARET: 3, _T.AMP: 4, _T.PLUS: _SUM, _T.DASH: _SUM, _T.DPIPE: _SUM,
    _T.STAR: 7, _T.SLASH: 7, _T.MOD: 7, _T.DIV: 7,
}  # fmt: skip
_BITS = frozenset({_T.PIPE, _T.CARET, _T.AMP, _T.LT, _T.GT, _T.DPIPE})
_SIGNS = frozenset({_T.DASH, _T.PLUS, _T.TILDE})
_PREDICATES = frozenset({_T.BETWEEN, _T.IN, _T.LIKE, _T.ILIKE, _T.RLIKE})
_LITERALS = frozenset({_T.NUMBER, _T.STRING, _T.HEX_STRING, _T.NULL, _T.TRUE, _T.FALSE, _T.PLACEHOLDER})
_NESTED = frozenset({_T.ARRAY, _T.MAP, _T.STRUCT})
_AFTER_FROM = frozenset(
    {_T.WHERE, _T.GROUP_BY, _T.HAVING, _T.QUALIFY, _T.ORDER_BY, _T.SORT_BY, _T.CLUSTER_BY, _T.DISTRIBUTE_BY, _T.LIMIT}
    | {_T.OFFSET, _T.UNION, _T.EXCEPT, _T.INTERSECT, _T.WINDOW, _T.R_PAREN, _T.SEMICOLON}
)
_NO_OPERAND = frozenset(
    {*_LEVELS, *_PREDICATES, *_AFTER_FROM, _T.IS, _T.NOT, _T.AND, _T.OR, _T.COMMA, _T.SELECT, _T.FROM, _T.ON, _T.USING}
    | {_T.JOIN, _T.NATURAL, _T.CROSS, _T.INNER, _T.OUTER, _T.WHEN, _T.THEN, _T.ELSE, _T.END, _T.ALIAS, _T.ASC, _T.DESC}
    | {_T.DISTINCT, _T.ALL, _T.WITH, _T.ARROW, _T.FARROW, _T.ESCAPE, _T.VALUES, _T.LATERAL, _T.ROWS, _T.RANGE, _T.FOR}
    | {_T.PARTITION_BY, _T.DOT, _T.DCOLON, _T.L_BRACKET, _T.R_BRACKET, _T.TILDE, _T.HINT, _T.PIPE_GT}
)
_NOT_BEHIND = frozenset({*_LEVELS, *_PREDICATES, _T.IS, _T.DCOLON})  # a condition with a predicate
_ENDS = _NO_OPERAND - {_T.DOT, _T.DCOLON, _T.L_BRACKET}  # of a value


class _Part(NamedTuple):
    """The tokens `[start, stop)` of an expression, and what binds it at last; level 0: nothing does."""

    start: int
    stop: int
    level: int = 0
    operator: TokenType | None = None


def with_brackets(tokens: list[Token], numbers: Set[str] = frozenset()) -> list[Token]:
    """The tokens with brackets around what Spark binds together and sqlglot would not.

    Args:
        tokens: Of a statement.
        numbers: Names of the calls among them that stand for a number with a suffix.

    Raises:
        ParseError: an operand is missing, or a predicate stands on another.
    """
    pairs = _pairs(tokens)
    return tokens if pairs is None else _Brackets(tokens, pairs, numbers).inserted()


def _pairs(tokens: list[Token]) -> dict[int, int] | None:
    """Where each bracket and CASE ends; None: they do not match, which the parser reports better."""
    ends = {_T.R_PAREN: _T.L_PAREN, _T.R_BRACKET: _T.L_BRACKET, _T.END: _T.CASE}
    found: dict[int, int] = {}
    stack: list[int] = []
    for place, token in enumerate(tokens):
        if token.token_type in (_T.L_PAREN, _T.L_BRACKET, _T.CASE):
            stack.append(place)
        elif (begin := ends.get(token.token_type)) is not None:
            if not stack or tokens[stack[-1]].token_type != begin:
                return None
            found[stack.pop()] = place
    return None if stack else found


class _Brackets:
    def __init__(self, tokens: list[Token], pairs: dict[int, int], numbers: Set[str]) -> None:
        self._tokens = tokens
        self._kinds = [token.token_type for token in tokens]
        self._numbers = numbers
        self._pairs = pairs
        self._opened: dict[int, int] = {}  # token → brackets that open before it
        self._closed: dict[int, int] = {}  # token → brackets that close behind it
        self._positive: set[int] = set()

    def inserted(self) -> list[Token]:
        self._region(0, len(self._tokens))
        if not self._opened:
            return self._tokens
        found: list[Token] = []
        for place, token in enumerate(self._tokens):
            found += [like(token, _T.L_PAREN, "(")] * self._opened.get(place, 0)
            found.append(like(token, _T.VAR, f"{MARK}positive") if place in self._positive else token)
            found += [like(token, _T.R_PAREN, ")")] * self._closed.get(place, 0)
        return found

    def _wrap(self, part: _Part) -> None:
        self._opened[part.start] = self._opened.get(part.start, 0) + 1
        self._closed[part.stop - 1] = self._closed.get(part.stop - 1, 0) + 1

    def _kind(self, place: int) -> TokenType | None:
        return self._kinds[place] if place < len(self._kinds) else None

    def _text(self, place: int) -> str:
        return self._tokens[place].text.upper() if place < len(self._tokens) else ""

    def _region(self, start: int, stop: int) -> None:
        while start < stop:
            start = max(self._condition(start), start + 1)

    def _condition(self, place: int) -> int:
        """Read a condition without AND and OR; where it ends."""
        while self._kind(place) == _T.NOT:
            place += 1
        part = self._value(place)
        if part is None:
            return place
        negated = self._kind(part.stop) == _T.NOT
        at = part.stop + negated
        kind = self._kind(at)
        if kind in _PREDICATES:
            if negated and self._text(part.stop) == "!":
                raise refused("Spark takes '!' only before a condition; write NOT", self._tokens[part.stop])
            stop = self._predicate(kind, at + 1)
        elif kind == _T.IS and not negated:
            stop = self._is(at + 1)
        else:
            return part.stop
        if stop is None:
            return part.stop
        self._wrap_comparison(part)
        if self._kind(stop) in _NOT_BEHIND:
            raise refused("a condition with IN, LIKE, BETWEEN or IS stands in brackets here", self._tokens[stop])
        return stop

    def _wrap_comparison(self, part: _Part) -> None:
        if part.level == _COMPARISON:
            self._wrap(part)

    def _predicate(self, kind: TokenType | None, place: int) -> int | None:
        if kind == _T.IN:
            if self._kind(place) != _T.L_PAREN:
                return None  # POSITION(a IN b)
            return self._group(place)
        if kind == _T.BETWEEN:
            low = self._value(place)
            if low is None or self._kind(low.stop) != _T.AND:
                return None
            self._wrap_comparison(low)
            place = low.stop + 1
        elif self._text(place) in ("ANY", "SOME", "ALL") and self._kind(place + 1) == _T.L_PAREN:
            return self._group(place + 1)
        last = self._value(place)
        if last is None:
            raise refused("Required keyword: an operand", self._tokens[place - 1])
        self._wrap_comparison(last)
        return last.stop + 2 if self._kind(last.stop) == _T.ESCAPE else last.stop

    def _is(self, place: int) -> int | None:
        if self._kind(place) == _T.NOT:
            if self._text(place) == "!":
                raise refused("Spark takes '!' only before a condition; write NOT", self._tokens[place])
            place += 1
        if self._kind(place) in (_T.NULL, _T.TRUE, _T.FALSE, _T.UNKNOWN) or self._text(place) == "UNKNOWN":
            return place + 1
        if self._kind(place) == _T.DISTINCT and self._kind(place + 1) == _T.FROM:
            right = self._value(place + 2)
            if right is not None:
                self._wrap_comparison(right)
                return right.stop
        raise refused("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM stands behind IS", self._tokens[place - 1])

    def _value(self, place: int, weakest: int = _COMPARISON) -> _Part | None:
        """Read a value made by operators that bind at least as strongly as `weakest`."""
        left = self._operand(place)
        while left is not None:
            level, width = self._operator(left.stop)
            if level < weakest:
                return left
            kind = self._kind(left.stop)
            right = self._value(left.stop + width, level + 1)
            if right is None:
                raise refused("Required keyword: an operand", self._tokens[left.stop])
            for part in (left, right):
                if self._differs(part, level, kind):
                    self._wrap(part)
            left = _Part(left.start, right.stop, level, kind)
        return None

    def _differs(self, part: _Part, level: int, kind: TokenType | None) -> bool:
        """Whether sqlglot would take the parts of an operand for operands of their own."""
        if level == _COMPARISON:
            return part.level == _COMPARISON
        return part.level > _COMPARISON and part.operator in _BITS and part.operator != kind

    def _operator(self, place: int) -> tuple[int, int]:
        """The level of the operator at a place, and how many tokens it has; level 0: there is none."""
        kind = self._kind(place)
        if kind in (_T.LT, _T.GT) and self._adjacent(place):
            if kind == _T.GT and self._adjacent(place + 1):
                raise refused("'>>>' is not understood; write shiftrightunsigned(value, bits)", self._tokens[place])
            return _SHIFT, 2
        return (_LEVELS.get(kind, 0) if kind is not None else 0), 1

    def _adjacent(self, place: int) -> bool:
        same = self._kind(place) == self._kind(place + 1)
        return same and self._tokens[place].end + 1 == self._tokens[place + 1].start

    def _operand(self, place: int) -> _Part | None:
        kind = self._kind(place)
        if kind == _T.DASH and (width := self._number(place + 1)):
            # A minus before a number is part of it: `-5::string` is `(-5)::string`.
            number = _Part(place, place + 1 + width)
            behind = self._postfix(number.stop)
            if behind > number.stop:
                self._wrap(number)
            return _Part(place, behind)
        if kind in _SIGNS:
            inner = self._operand(place + 1)
            if inner is None:
                return None
            if kind == _T.PLUS:
                # sqlglot forgets a plus, which makes a number of a text.
                self._positive.add(place)
                self._wrap(inner)
            return _Part(place, inner.stop)
        stop = self._atom(place)
        return None if stop is None else _Part(place, self._postfix(stop))

    def _number(self, place: int) -> int:
        """How many tokens the number at a place has; 0: none stands there."""
        if self._kind(place) == _T.NUMBER:
            return 1
        return 3 if self._kind(place) == _T.VAR and self._tokens[place].text in self._numbers else 0

    def _atom(self, place: int) -> int | None:
        kind = self._kind(place)
        if kind in (_T.L_PAREN, _T.CASE):
            return self._group(place)
        if kind == _T.COLON:  # a parameter
            return place + 2
        if kind in _LITERALS:
            return place + 1
        if kind is None or kind in _NO_OPERAND:
            return None
        if kind in _NESTED and self._kind(place + 1) == _T.LT:
            return self._type(place)
        if kind == _T.INTERVAL and self._kind(place + 1) in (_T.COLON, _T.L_PAREN, _T.PLACEHOLDER):
            inner = self._operand(place + 1)
            return None if inner is None else inner.stop + 1
        return self._called(place + 1)

    def _called(self, place: int) -> int:
        return self._group(place) if self._kind(place) == _T.L_PAREN else place

    def _group(self, place: int) -> int:
        """Read what stands in brackets from a place on; where it ends."""
        self._region(place + 1, self._pairs[place])
        return self._pairs[place] + 1

    def _postfix(self, place: int) -> int:
        while True:
            kind = self._kind(place)
            if kind is None or kind in _ENDS:
                return place
            if kind == _T.DOT:
                starred = self._kind(place + 1) == _T.STAR
                place = place + 2 if starred else self._called(place + 2)
            elif kind == _T.L_BRACKET or (kind == _T.FILTER and self._kind(place + 1) == _T.L_PAREN):
                place = self._group(place if kind == _T.L_BRACKET else place + 1)
            elif kind == _T.OVER:
                place = self._group(place + 1) if self._kind(place + 1) == _T.L_PAREN else place + 2
            elif kind == _T.DCOLON:
                place = self._type(place + 1)
            elif kind in (_T.COLON, _T.COLLATE) or self._text(place) in ("IGNORE", "RESPECT"):
                place += 2
            elif self._text(place) == "WITHIN" and self._kind(place + 2) == _T.L_PAREN:
                place = self._group(place + 2)
            else:
                return place

    def _type(self, place: int) -> int:
        if self._kind(place) in _NESTED and self._kind(place + 1) == _T.LT:
            depth, place = 1, place + 2
            while depth and place < len(self._tokens):
                depth += {_T.LT: 1, _T.GT: -1}.get(self._tokens[place].token_type, 0)
                place += 1
            return place
        return self._called(place + 1)

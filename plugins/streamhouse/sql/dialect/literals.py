"""Literals of more than one token: `DATE '2026-01-01'`, `1L`, `INTERVAL 2 DAYS 3 HOURS`.

sqlglot reads them as casts and sums, and forgets how they were written. Here each becomes a call without arguments,
`as_written_=3()`, whose place in a list names the node that takes its place when the text is parsed.
"""

import re
from decimal import Decimal

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.model.characters import NO_TEXT
from streamhouse.sql.dialect.moments import check_moment
from streamhouse.sql.dialect.tokens import SUFFIXES, like, refused, suffix_of
from streamhouse.sql.words import words

MARK = "as_written_"
"""Begins the name of a call that the parser is not to understand."""
WRITTEN = "written"
"""Where a node keeps its text: of a literal, of a name before it was lowered."""

_T = TokenType
_TYPES = {
    "DATE": exp.DType.DATE,
    "TIME": exp.DType.TIME,
    "TIMESTAMP": exp.DType.TIMESTAMPTZ,
    "TIMESTAMP_LTZ": exp.DType.TIMESTAMPLTZ,
    "TIMESTAMP_NTZ": exp.DType.TIMESTAMPNTZ,
}
_NUMBERS = {
    "bigint": exp.DType.BIGINT,
    "smallint": exp.DType.SMALLINT,
    "tinyint": exp.DType.TINYINT,
    "double": exp.DType.DOUBLE,
    "float": exp.DType.FLOAT,
}
_BEFORE_STRING = words("BOTH LEADING TRAILING OF BY PLACING")
_UNITS = frozenset(
    f"{unit}{s}" for unit in words("MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH YEAR") for s in ("", "S")
)
_SPANS = words("SECOND MINUTE HOUR DAY MONTH YEAR")
_MONTHS = words("MONTH MONTHS YEAR YEARS")
_BEGIN = frozenset({_T.NUMBER, _T.INTERVAL})
"""Tokens that begin a literal without a string behind them."""
_NUMBER = re.compile(r"\s*[+-]{0,2}\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)\s*", re.ASCII)
_ONE_UNIT = re.compile(r"([+-]?)\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s+([A-Za-z]+)", re.ASCII)


class Literals:
    """Takes the literals out of the tokens of one text."""

    def __init__(self, tokens: list[Token], sql: str) -> None:
        self._tokens = tokens
        self._sql = sql
        self.nodes: list[exp.Expr] = []
        self.numbers: set[str] = set()

    def collapsed(self) -> list[Token]:
        """The tokens, with one call for each literal; its node is in `nodes`, its name in `numbers` if it is one.

        Raises:
            ParseError: Spark takes one for no literal.
        """
        found: list[Token] = []
        place = 0
        while place < len(self._tokens):
            begins = self._tokens[place].token_type in _BEGIN or self._kind(place + 1) == _T.STRING
            taken = self._literal(place, found[-1] if found else None) if begins else None
            if taken is None:
                found.append(self._tokens[place])
                place += 1
                continue
            node, end = taken
            first = self._tokens[place]
            node.meta.update(line=first.line, col=first.col, start=first.start, end=self._tokens[end - 1].end)
            name = f"{MARK}={len(self.nodes)}"
            if first.token_type == _T.NUMBER:
                self.numbers.add(name)
            found += [
                like(first, _T.VAR, name),
                like(first, _T.L_PAREN, "("),
                like(self._tokens[end - 1], _T.R_PAREN, ")"),
            ]
            self.nodes.append(node)
            place = end
        return found

    def _kind(self, place: int) -> TokenType | None:
        return self._tokens[place].token_type if place < len(self._tokens) else None

    def _literal(self, place: int, before: Token | None) -> tuple[exp.Expr, int] | None:
        token = self._tokens[place]
        after = self._tokens[place + 1] if place + 1 < len(self._tokens) else None
        if token.token_type == _T.NUMBER and (suffix := suffix_of(self._tokens, place)):
            return self._number(token, suffix), place + 3
        if after is None or token.token_type == _T.IDENTIFIER or (before and before.token_type == _T.DOT):
            return None
        if token.token_type == _T.INTERVAL:
            return self._interval(place)
        if after.token_type != _T.STRING:
            return None
        word = token.text.upper()
        if word in _TYPES:
            return self._moment(word, after), place + 2
        if token.token_type == _T.VAR and word == "X":
            if re.fullmatch("[0-9a-fA-F]*", after.text) is None:
                raise refused("these are no hexadecimal digits", after)
            return exp.HexString(this=after.text), place + 2
        if token.token_type == _T.VAR and word not in _BEFORE_STRING:
            raise refused(f"{word} begins no literal, and a name is no string", token)
        return None

    def _number(self, token: Token, suffix: str) -> exp.Expr:
        kind = SUFFIXES[suffix]
        number: exp.Expr = exp.Literal.number(token.text)
        if kind == "decimal":
            _, digits, exponent = Decimal(token.text).as_tuple()
            scale = max(0, -int(exponent))
            precision = max(len(digits) + max(0, int(exponent)), scale)
            size = [exp.DataTypeParam(this=exp.Literal.number(n)) for n in (precision, scale)]
            to, number = exp.DataType(this=exp.DType.DECIMAL, expressions=size), exp.Literal.string(token.text)
        else:
            to = exp.DataType(this=_NUMBERS[kind])
        return _written(exp.Cast(this=number, to=to), f"{token.text}{suffix}")

    def _moment(self, kind: str, text: Token) -> exp.Expr:
        if fault := check_moment(kind, text.text):
            raise refused(fault, text)
        node = exp.Cast(this=exp.Literal.string(text.text), to=exp.DataType(this=_TYPES[kind]))
        return _written(node, f"{kind} {quoted(text.text)}")

    # --- intervals ---

    def _interval(self, place: int) -> tuple[exp.Expr, int] | None:
        first = self._tokens[place]
        parts: list[exp.Interval] = []
        end = place + 1
        while (value := self._value(end)) is not None:
            before = end
            number, end = value
            word = self._word(end)
            if word not in _UNITS:
                if parts:  # what follows is added to the interval
                    end = before
                    break
                if self._tokens[end - 1].token_type == _T.NUMBER:
                    raise refused("an interval has a unit, such as DAYS, behind each number", self._tokens[end - 1])
                if fault := check_moment("INTERVAL", number):
                    raise refused(fault, self._tokens[end - 1])
                parts += _of_text(number)
                break
            unit: exp.Expr = exp.Var(this=word)
            end += 1
            if self._word(end) == "TO":
                unit = self._span(number, word, end)
                end += 2
            elif _NUMBER.fullmatch(number) is None or ("." in number and not word.startswith("SECOND")):
                raise refused(f"'{number}' is no number of {word}", self._tokens[end - 2])
            parts.append(exp.Interval(this=exp.Literal.string(number), unit=unit))
        if not parts:
            return None
        if len(parts) > 1 and any(isinstance(part.args["unit"], exp.IntervalSpan) for part in parts):
            raise refused("an interval with TO has one value", first)
        if len({str(part.args["unit"]).upper() in _MONTHS for part in parts if part.args.get("unit")}) > 1:
            raise refused("an interval has either months and years, or days and smaller units", first)
        whole: exp.Expr = parts[0]
        for part in parts[1:]:
            whole = exp.Add(this=whole, expression=part)
        return _written(whole, self._sql[first.start : self._tokens[end - 1].end + 1]), end

    def _value(self, place: int) -> tuple[str, int] | None:
        sign = ""
        if place < len(self._tokens) and self._tokens[place].token_type in (_T.DASH, _T.PLUS):
            sign = "-" if self._tokens[place].token_type == _T.DASH else ""
            place += 1
        if place < len(self._tokens) and self._tokens[place].token_type in (_T.STRING, _T.NUMBER):
            return sign + self._tokens[place].text, place + 1
        return None

    def _word(self, place: int) -> str:
        return self._tokens[place].text.upper() if place < len(self._tokens) else ""

    def _span(self, value: str, begin: str, at: int) -> exp.IntervalSpan:
        if value[:2] in ("--", "-+"):  # a sign before the quotes, and one in them
            value = value[1:]
        end = self._word(at + 1)
        if begin not in _SPANS or end not in _SPANS:
            raise refused("an interval goes from YEAR, DAY, HOUR or MINUTE to a smaller unit", self._tokens[at])
        if fault := check_moment(f"{begin} TO {end}", value):
            raise refused(fault, self._tokens[at])
        return exp.IntervalSpan(this=exp.Var(this=begin), expression=exp.Var(this=end))


def quoted(text: str) -> str:
    """A string as Spark reads it back; the text has no character that `tokens` refuses."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    escaped = NO_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
    return f"'{escaped}'"


def _written(node: exp.Expr, text: str) -> exp.Expr:
    node.meta[WRITTEN] = text
    return node


def _of_text(text: str) -> list[exp.Interval]:
    """The intervals that the text of one means, which `check_moment` has found right: `'1 hour 30 minutes'`."""
    return [
        exp.Interval(this=exp.Literal.string(f"{sign}{number}"), unit=exp.Var(this=unit.upper()))
        for sign, number, unit in _ONE_UNIT.findall(text)
    ]

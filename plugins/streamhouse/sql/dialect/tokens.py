"""Tokens as Spark's lexer cuts them: strings, numbers and names as Spark reads them."""

import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.model.characters import NO_TEXT, not_allowed
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.dialect.spark_grammar import grammar
from streamhouse.sql.letters import other_letters

SUFFIXES = {"L": "bigint", "S": "smallint", "Y": "tinyint", "D": "double", "F": "float", "BD": "decimal"}
"""What may stand at the end of a number, and the type it then has."""

_DEEPEST = 120
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))|''|\"\"", re.DOTALL)
_NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_BITS = {"Y": 7, "S": 15, "L": 63}
_LARGEST = {"D": 1.7976931348623157e308, "F": 3.4028235e38}
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BEFORE_A_NAME = frozenset({TokenType.ORDER_BY, TokenType.SORT_BY, TokenType.COMMA, TokenType.L_PAREN, TokenType.DOT})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE})
_DEEPER = frozenset({TokenType.L_PAREN, TokenType.CASE})
_STRINGS = frozenset({TokenType.STRING, TokenType.RAW_STRING})
_LOOKED_AT = frozenset({TokenType.DESC, TokenType.NUMBER})


def read_tokens(dialect: Dialect, sql: str) -> list[Token]:
    """The tokens of a text, strings as Spark reads them.

    Raises:
        TokenError: a quote or comment does not end.
        ParseError: a character is no text, a number is none of Spark's, a word is not written in ASCII, or brackets
            stand too deep in each other.
    """
    _check_characters(sql)
    found = dialect.tokenize(sql)
    if not sql.isascii():
        for token, message, hint in other_letters(found, sql, grammar().words.keys()):
            raise refused(message, token, hint)
    tokens = _joined([_string(token, sql) if token.token_type in _STRINGS else token for token in found])
    _check_depth(tokens)
    for place, token in enumerate(tokens):
        if token.token_type not in _LOOKED_AT:
            continue
        if token.token_type == TokenType.DESC and _stands_behind_asc(tokens, place):
            raise refused("either ASC or DESC stands behind what to sort by", token)
        if token.token_type == TokenType.NUMBER:
            denied = place > 0 and tokens[place - 1].token_type == TokenType.DASH
            _check_number(token, suffix_of(tokens, place), denied=denied)
    return tokens


def _check_characters(sql: str) -> None:
    if (found := NO_TEXT.search(sql)) is None:
        return
    line, before = sql.count("\n", 0, found.start()) + 1, sql.rfind("\n", 0, found.start())
    message = not_allowed(found)
    detail = {"description": message, "line": line, "col": found.start() - before, "highlight": ""}
    raise ParseError(message, [detail])


def _stands_behind_asc(tokens: Sequence[Token], place: int) -> bool:
    """Whether an ASC that is no name of a column comes before this place."""
    behind = place > 1 and tokens[place - 1].token_type == TokenType.ASC
    return behind and tokens[place - 2].token_type not in _BEFORE_A_NAME


def refused(message: str, token: Token, hint: str | None = None) -> ParseError:
    """The error for a token that Spark refuses."""
    detail = {"description": message, "line": token.line, "col": token.col, "highlight": token.text[:60]}
    if hint is not None:  # without one, the message is put into plainer words
        detail["hint"] = hint
    return ParseError(message, [detail])


def like(token: Token, kind: TokenType, text: str, end: int | None = None) -> Token:
    """Another token at the place of one."""
    at = token.end if end is None else end
    return Token(kind, text, token.line, token.col, token.start, at, token.comments)


def suffix_of(tokens: Sequence[Token], place: int) -> str:
    """The suffix of the number at a place, which sqlglot reads as two tokens of a cast; empty: it has none."""
    if place + 2 < len(tokens) and tokens[place + 1].token_type == TokenType.DCOLON:
        word = tokens[place + 2].text.upper()
        return word if word in SUFFIXES else ""
    return ""


def unescaped(body: str, quote: str) -> str:
    """What Spark reads between two quotes (`ParserUtils.unescapeSQLString`).

    >>> unescaped("it''s", "'")
    "it's"
    """

    def one(found: re.Match[str]) -> str:
        if found[0][0] != "\\":
            return quote if found[0] == quote * 2 else found[0]
        if code := found[1] or found[2]:
            return _character(int(code, 16))
        if found[3]:
            return chr(int(found[3], 8))
        return _NAMED.get(found[4], found[4])

    return _ESCAPE.sub(one, body) if "\\" in body or quote * 2 in body else body


def _character(code: int) -> str:
    # A JVM puts `?` where half of a pair stands alone.
    return "?" if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)


def _string(token: Token, sql: str) -> Token:
    if token.token_type == TokenType.RAW_STRING:
        return like(token, TokenType.STRING, sql[token.start + 2 : token.end])
    if token.token_type == TokenType.STRING:
        return like(token, TokenType.STRING, unescaped(sql[token.start + 1 : token.end], sql[token.start]))
    return token


def _joined(tokens: list[Token]) -> list[Token]:
    """Strings that stand side by side are one."""
    if sum(token.token_type == TokenType.STRING for token in tokens) < 2:
        return list(tokens)
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else None
        if last is not None and token.token_type == last.token_type == TokenType.STRING:
            found[-1] = like(last, TokenType.STRING, last.text + token.text, token.end)
        else:
            found.append(token)
    return found


def _check_depth(tokens: list[Token]) -> None:
    kinds = [token.token_type for token in tokens]
    if all(sum(kind in some for kind in kinds) <= _DEEPEST for some in (_DEEPER, _PREFIXES)):
        return  # there are not even so many
    depth = signs = 0
    for token in tokens:
        signs = signs + 1 if token.token_type in _PREFIXES else 0
        if signs > _DEEPEST:
            raise refused(f"more than {_DEEPEST} signs stand in front of each other here", token)
        if token.token_type in _DEEPER:
            depth += 1
            if depth > _DEEPEST:
                raise refused(f"more than {_DEEPEST} brackets stand in each other here", token)
        elif token.token_type in (TokenType.R_PAREN, TokenType.END):
            depth -= 1


def _check_number(token: Token, suffix: str, *, denied: bool) -> None:
    """Spark's own bounds: digits of a decimal, range of the type that a suffix names."""
    text = token.text
    if _NUMBER.fullmatch(text) is None:
        raise refused("this is no number", token)
    if suffix in _BITS:
        # A minus before it is a token of its own.
        if not text.isdigit() or len(text) > DECIMAL_DIGITS or int(text) > 2 ** _BITS[suffix] - (not denied):
            raise refused(f"this number is out of the range of {SUFFIXES[suffix]}", token)
    elif suffix in _LARGEST:
        if float(text) > _LARGEST[suffix]:
            raise refused(f"this number is out of the range of {SUFFIXES[suffix]}", token)
    elif suffix or "e" not in text.lower():
        digits = len(text.strip("0.")) if len(text) > 1000 else len(Decimal(text).as_tuple().digits)
        if digits > DECIMAL_DIGITS:
            raise refused(f"this number has {digits} digits, and Spark's decimals have at most {DECIMAL_DIGITS}", token)
    elif float(text) > _LARGEST["D"]:
        raise refused("this number is out of the range of double", token)

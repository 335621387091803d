"""A text cut into tokens as Spark's lexer cuts it; their kinds are the numbers that Spark's grammar has for them."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlglot.errors import ParseError

COMPARE = "compare it with Spark's SQL reference"
_LETTER = r"[^\W\d_]"
_POINT = r"(?:[0-9]+\.[0-9]*|\.[0-9]+)"
_EXPONENT = r"[eE][+-]?[0-9]+"
_ENDS = rf"(?![\w]|{_LETTER})"
_SPACE = re.compile(r"(?:\s|--(?:\\\n|[^\r\n])*)+", re.UNICODE)
_QUOTED = {
    "'": (re.compile(r"'(?:[^'\\]|\\.|'')*'", re.DOTALL), "STRING_LITERAL"),
    '"': (re.compile(r'"(?:[^"\\]|\\.|"")*"', re.DOTALL), "DOUBLEQUOTED_STRING"),
    "`": (re.compile(r"`(?:[^`]|``)*`", re.DOTALL), "BACKQUOTED_IDENTIFIER"),
}
_RAW = re.compile(r"""[rR](?:'[^']*'|"[^"]*")""")
# `$` stands in names of one tier of a table, which Spark never sees.
_NAME = re.compile(rf"{_LETTER}+://[\w/.?=&#%-]+|[\w$]+", re.UNICODE)
_NUMBERS = [
    (re.compile(pattern, re.UNICODE), kind)
    for pattern, kind in (
        (r"[0-9]+[lL]", "BIGINT_LITERAL"),
        (r"[0-9]+[sS]", "SMALLINT_LITERAL"),
        (r"[0-9]+[yY]", "TINYINT_LITERAL"),
        (r"[0-9]+", "INTEGER_VALUE"),
        (rf"[0-9]+{_EXPONENT}|{_POINT}{_EXPONENT}{_ENDS}", "EXPONENT_VALUE"),
        (rf"{_POINT}{_ENDS}", "DECIMAL_VALUE"),
        (rf"[0-9]+(?:{_EXPONENT})?[fF]|{_POINT}(?:{_EXPONENT})?[fF]{_ENDS}", "FLOAT_LITERAL"),
        (rf"[0-9]+(?:{_EXPONENT})?[dD]|{_POINT}(?:{_EXPONENT})?[dD]{_ENDS}", "DOUBLE_LITERAL"),
        (rf"[0-9]+(?:{_EXPONENT})?[bB][dD]|{_POINT}(?:{_EXPONENT})?[bB][dD]{_ENDS}", "BIGDECIMAL_LITERAL"),
    )
]
_NESTING = frozenset({"ARRAY", "MAP", "STRUCT"})
# Most of a text. An R may begin a raw string, and what stands before :// is a part of a name.
_PLAIN = re.compile(r"\s*([A-QS-Za-qs-z_][\w$]*)(?!://)(?![\w$])", re.UNICODE)
_SIGN = re.compile(r"\s*([(),])", re.UNICODE)  # with which no longer sign begins
_INTEGER = re.compile(r"\s*([0-9]+)(?![\w.$])", re.UNICODE)


class Word(NamedTuple):
    """One token: its kind, and where it stands, `[start, end)`."""

    kind: int
    start: int
    end: int


def longest_sign(spelt: Iterable[str]) -> int:
    """How many characters the longest of some words has that is no keyword."""
    return max(len(text) for text in spelt if not text.isalpha() and "_" not in text)


def words_of(sql: str, spelt: Mapping[str, int], kinds: Mapping[str, int], longest: int) -> list[Word]:
    """The tokens of a text, without space and comments.

    Args:
        sql: Spark SQL.
        spelt: Text of a keyword or sign → its kind.
        kinds: Name of what has no fixed text, such as `IDENTIFIER` → its kind.
        longest: `longest_sign` of `spelt`.

    Raises:
        ParseError: a character begins no token, or a comment does not end.
    """
    found: list[Word] = []
    at = nested = 0
    identifier = kinds["IDENTIFIER"]
    while at < len(sql):
        if (plain := _PLAIN.match(sql, at)) is not None:
            word = plain[1].upper()
            if word in _NESTING:
                nested += 1
            at = plain.end()
            found.append(Word(spelt.get(word, identifier), plain.start(1), at))
            continue
        if (sign := _SIGN.match(sql, at)) is not None:
            at = sign.end()
            found.append(Word(spelt[sign[1]], at - 1, at))
            continue
        if (whole := _INTEGER.match(sql, at)) is not None:
            at = whole.end()
            found.append(Word(kinds["INTEGER_VALUE"], whole.start(1), at))
            continue
        if (space := _SPACE.match(sql, at)) is not None:
            at = space.end()
            continue
        if sql.startswith("/*", at) and not sql.startswith("/*+", at):
            at = _behind_comment(sql, at)
            continue
        kind, end = _text(sql, at, spelt, kinds) or (None, at)
        if kind is None:
            for size in range(min(longest, len(sql) - at), 0, -1):
                text = sql[at : at + size]
                # Inside of ARRAY<…> two signs close two types.
                if text in spelt and not (nested and text in (">>", ">>>")):
                    kind, end = spelt[text], at + size
                    break
            else:
                raise refused_at(sql, at, "this character begins nothing that Spark knows")
            if sql[at:end] == ">" and nested:
                nested -= 1
        elif sql[at:end].upper() in _NESTING:
            nested += 1
        found.append(Word(kind, at, end))
        at = end
    return found


def refused_at(sql: str, at: int, message: str, word: str = "", hint: str = COMPARE) -> ParseError:
    """The error for a place in a text; its `hint` says what to do."""
    line = sql.count("\n", 0, at)
    col = at - (sql.rfind("\n", 0, at) + 1) + max(1, len(word))
    detail = {"description": message, "line": line + 1, "col": col, "highlight": word, "hint": hint}
    return ParseError(message, [detail])


def _text(sql: str, at: int, spelt: Mapping[str, int], kinds: Mapping[str, int]) -> tuple[int, int] | None:
    """Kind and end of a name, string or number; None: none begins here."""
    if (quoted := _QUOTED.get(sql[at])) is not None:
        pattern, kind = quoted
        found = pattern.match(sql, at)
        if found is None:
            raise refused_at(sql, at, "a quote is not closed")
        return kinds[kind], found.end()
    if (raw := _RAW.match(sql, at)) is not None:
        return kinds["STRING_LITERAL"], raw.end()
    name = _NAME.match(sql, at)
    best, end = "", 0
    if sql[at].isdigit() or sql[at] == ".":
        for pattern, kind in _NUMBERS:
            found = pattern.match(sql, at)
            if found is not None and found.end() > end:
                best, end = kind, found.end()
    if best and (name is None or name.end() <= end):
        return kinds[best], end
    if name is None:
        return None
    return spelt.get(name[0].upper(), kinds["IDENTIFIER"]), name.end()


def _behind_comment(sql: str, at: int) -> int:
    depth, end = 0, at
    for found in re.finditer(r"/\*(?!\+)|\*/", sql[at:]):
        depth += 1 if found[0] == "/*" else -1
        end = at + found.end()
        if not depth:
            return end
    raise refused_at(sql, at, "a comment is not closed")

"""What to write in place of SQL that is not analysed: pipes, paths into a VARIANT, and `= ANY (SELECT …)`."""

from collections.abc import Sequence

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

_PIPES = {
    "AGGREGATE": "SELECT keys, aggregates FROM piped GROUP BY keys",
    "AS": "FROM piped AS name",
    "DROP": "SELECT * EXCEPT (column) FROM piped",
    "EXTEND": "SELECT *, value AS name FROM piped",
    "SELECT": "SELECT columns FROM piped",
    "SET": "SELECT * EXCEPT (column), value AS column FROM piped",
    "WHERE": "SELECT * FROM piped WHERE condition",
}
_T = TokenType
_VALUES = frozenset({_T.VAR, _T.IDENTIFIER, _T.R_PAREN, _T.R_BRACKET})
_PATH = frozenset({_T.VAR, _T.IDENTIFIER, _T.DOT, _T.L_BRACKET, _T.NUMBER, _T.R_BRACKET})
_COMPARES = frozenset({_T.EQ, _T.NEQ, _T.LT, _T.LTE, _T.GT, _T.GTE, _T.NULLSAFE_EQ})
_QUANTIFIERS = frozenset({"ANY", "SOME", "ALL"})
_CALL = "variant_get({}, '$.{}', 'string')"


def of_pipe(word: str) -> str:
    """What to write for a pipe.

    Args:
        word: The first one behind `|>`.
    """
    form = _PIPES.get(word.upper(), f"SELECT * FROM piped {word.upper()} …")
    return f"write WITH piped AS (what is before it) {form}"


def variant_path(tokens: Sequence[Token], sql: str) -> ParseError | None:
    """The error for the first path into a VARIANT, such as `value:city.name`; None: there is none.

    Args:
        tokens: Of the text.
        sql: What was cut into them.
    """
    nested = 0  # in STRUCT<…>, where a colon is before a type
    for place, token in enumerate(tokens[1:-1], 1):
        nested = max(0, nested + (token.token_type == _T.LT and tokens[place - 1].token_type == _T.STRUCT))
        nested -= nested > 0 and token.token_type == _T.GT
        before, behind = tokens[place - 1], tokens[place + 1]
        if nested or token.token_type != _T.COLON or before.token_type not in _VALUES:
            continue
        end = place + 1
        while end < len(tokens) and tokens[end].token_type in _PATH:
            end += 1
        path = sql[behind.start : tokens[end - 1].end + 1]
        path = path.replace("`", "")
        value = "value" if before.token_type in (_T.R_PAREN, _T.R_BRACKET) else sql[before.start : before.end + 1]
        detail = {"description": f"a path into a VARIANT, ':{path}', is not analysed", "line": token.line}
        detail |= {"col": token.col, "highlight": ":", "hint": f"write {_CALL.format(value, path)}, or another type"}
        return ParseError(str(detail["description"]), [detail])
    return None


def quantified(tokens: Sequence[Token], sql: str) -> ParseError | None:
    """The error for the first comparison such as `= ANY (SELECT …)`, which Spark lacks; None: there is none.

    Args:
        tokens: Of the text.
        sql: What was cut into them.
    """
    for sign, word, bracket, begin in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        name = word.text.upper()
        is_query = bracket.token_type == _T.L_PAREN and begin.token_type in (_T.SELECT, _T.WITH)
        if sign.token_type not in _COMPARES or name not in _QUANTIFIERS or not is_query:
            continue
        text = sql[sign.start : sign.end + 1]
        hint = (
            "write IN (SELECT …)"
            if text in ("=", "==") and name != "ALL"
            else "compare with (SELECT max(…) …), or with min(…)"
        )
        hint = "write NOT IN (SELECT …)" if text in ("<>", "!=") and name == "ALL" else hint
        message = f"Spark has no {text} {name} (SELECT …)"
        detail = {"description": message, "line": word.line, "col": word.col, "highlight": word.text, "hint": hint}
        return ParseError(message, [detail])
    return None

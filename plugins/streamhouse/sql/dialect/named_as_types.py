"""Columns whose names are types for sqlglot: `list[0]`, which it takes for an array that has a 0, and `range < 5`.

Spark has no such way to write an array. Names before `[` get a mark until the text is parsed.
"""

from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.sql.dialect.literals import MARK
from streamhouse.sql.dialect.tokens import like
from streamhouse.sql.dialect.type_names import places_of_types
from streamhouse.sql.words import words

_T = TokenType
_ARRAYS = words("ARRAY LIST")
_NESTED = frozenset({_T.ARRAY, _T.LIST, _T.MAP, _T.STRUCT, _T.OBJECT, _T.NESTED, _T.RANGE, _T.NULLABLE})
"""Behind these sqlglot takes `<` for the begin of other types."""
_BETWEEN_VALUES = frozenset(
    {_T.EQ, _T.NEQ, _T.NULLSAFE_EQ, _T.LT, _T.LTE, _T.GT, _T.GTE, _T.PLUS, _T.STAR, _T.SLASH, _T.MOD, _T.DIV, _T.DPIPE}
)
_BEFORE_VALUE = _BETWEEN_VALUES | {_T.DASH, _T.AND, _T.OR, _T.NOT, _T.BETWEEN}
_NAMES = frozenset({_T.ARRAY, _T.LIST, _T.VAR, _T.IDENTIFIER})


def names_marked(tokens: Sequence[Token]) -> tuple[list[Token], bool]:
    """The tokens, in which names of columns are no types, and whether some of them have a mark.

    Args:
        tokens: Of one text.
    """
    found = list(tokens)
    behind = [token.token_type for token in found[1:]]
    indexed = any(kind == _T.L_BRACKET and _is_array(found[i]) for i, kind in enumerate(behind))
    compared = [i for i, kind in enumerate(behind) if _is_operand(found, i, kind)]
    if not indexed and not compared:
        return found, False
    types = set(places_of_types(found))
    for place in compared:
        if place not in types:
            found[place] = like(found[place], _T.VAR, found[place].text)
    if not indexed:
        return found, False
    for place, (token, kind) in enumerate(zip(found, [*behind, None], strict=True)):
        is_parameter = place > 0 and found[place - 1].token_type == _T.COLON
        if _is_array(token) and kind != _T.L_PAREN and place not in types and not is_parameter:
            found[place] = like(token, _marked_kind(token), MARK + token.text)
    return found, True


def _is_operand(tokens: Sequence[Token], place: int, behind: TokenType) -> bool:
    """Whether sqlglot would not take a word for the operand that it is; types look alike here."""
    kind = tokens[place].token_type
    if kind == _T.RANGE and behind != _T.L_PAREN and place:  # elsewhere it may begin the frame of a window
        return behind in _BETWEEN_VALUES or tokens[place - 1].token_type in _BEFORE_VALUE
    return behind == _T.LT and kind in _NESTED


def _is_array(token: Token) -> bool:
    return token.token_type in _NAMES and token.text.upper() in _ARRAYS


def _marked_kind(token: Token) -> TokenType:
    return _T.IDENTIFIER if token.token_type == _T.IDENTIFIER else _T.VAR


def take_marks_off(nodes: Iterable[exp.Expr]) -> None:
    """Give the marked names back; changes the tree.

    Args:
        nodes: All of the tree.
    """
    for node in nodes:
        if isinstance(node, (exp.Identifier, exp.Var)) and isinstance(node.this, str):
            node.set("this", node.this.removeprefix(MARK))

"""Columns and tables called `values`, and comparisons that are written `!>` and `!<`, in words that sqlglot reads.

References: `SqlBaseLexer.g4` of Spark 4.1 (`!>` is another spelling of `<=`, `!<` of `>=`), and its rules `inlineTable`
and `identifier`.
"""

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from streamhouse.sql.dialect.tokens import like
from streamhouse.sql.words import words

_T = TokenType
_TURNED = {_T.GT: (_T.LTE, "<="), _T.LT: (_T.GTE, ">=")}
_BEFORE_ROWS = frozenset(
    {_T.L_PAREN, _T.COMMA, _T.FROM, _T.JOIN, _T.UNION, _T.EXCEPT, _T.INTERSECT, _T.ALL, _T.DISTINCT, _T.SEMICOLON}
)
"""Behind these, and at the beginning, VALUES begins rows if a value follows."""
_NO_VALUE = frozenset(
    getattr(_T, name)
    for name in words(
        """
        COMMA R_PAREN DOT L_BRACKET R_BRACKET FROM WHERE GROUP_BY HAVING QUALIFY ORDER_BY SORT_BY CLUSTER_BY
        DISTRIBUTE_BY LIMIT OFFSET UNION EXCEPT INTERSECT JOIN LEFT RIGHT FULL CROSS INNER NATURAL LATERAL ON USING
        ALIAS ASC DESC EQ NEQ NULLSAFE_EQ LT LTE GT GTE SLASH MOD DIV DPIPE PIPE AMP CARET AND OR IS IN BETWEEN LIKE
        ILIKE RLIKE WHEN THEN ELSE END ARROW DCOLON OVER WINDOW PIVOT UNPIVOT TABLE_SAMPLE SEMICOLON
        """
    )
)
"""With these no value begins, so that VALUES before them is a name."""


_SETS = frozenset({_T.UNION, _T.EXCEPT, _T.INTERSECT})
_SIGNS = frozenset({_T.DASH, _T.PLUS, _T.STAR, _T.NOT})
_RELATIONS = frozenset({_T.FROM, _T.JOIN})
_CLAUSES = frozenset({_T.SELECT, _T.WHERE, _T.ON, _T.GROUP_BY, _T.HAVING, _T.QUALIFY, _T.ORDER_BY, _T.WINDOW})


def with_names_for_words(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, in which `values` that is a name is one, and `!>` is `<=`.

    Args:
        tokens: Of one text.
    """
    found: list[Token] = []
    in_from = [False]  # of each open bracket: whether relations stand there
    for place, token in enumerate(tokens):
        kind = token.token_type
        if kind == _T.VALUES and _is_name(tokens, place, in_from=in_from[-1]):
            found.append(like(token, _T.VAR, token.text))
        elif kind in _TURNED and found and found[-1].text == "!" and found[-1].end + 1 == token.start:
            found[-1] = like(found[-1], *_TURNED[kind], token.end)
        else:
            found.append(token)
        if kind == _T.L_PAREN:
            in_from.append(False)
        elif kind == _T.R_PAREN and len(in_from) > 1:
            in_from.pop()
        elif kind in _RELATIONS or kind in _CLAUSES:
            in_from[-1] = kind in _RELATIONS
    return found


def _is_name(tokens: Sequence[Token], place: int, *, in_from: bool) -> bool:
    around = [tokens[at].token_type if 0 <= at < len(tokens) else _T.SEMICOLON for at in range(place - 2, place + 2)]
    ahead, before, _, behind = around
    if before not in _BEFORE_ROWS or behind in _NO_VALUE:
        return True
    if before == _T.COMMA:
        return not in_from
    if before in (_T.ALL, _T.DISTINCT):
        return ahead not in _SETS
    return before == _T.L_PAREN and behind in _SIGNS and ahead in (_T.VAR, _T.IDENTIFIER, _T.IN)

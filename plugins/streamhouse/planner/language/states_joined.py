"""As in "shipped but unpaid orders": two states before rows, each of which says which rows are meant."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import is_past_form

_JOINING = frozenset({"and", "but", "yet", ",", "still"})
_SHORTEST = 5  # "unpaid" has a verb behind "un"


def with_both_states(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "orders that are shipped and not paid" for "shipped but unpaid orders", in either order."""
    for at in range(len(tokens) - 3):
        second = at + 1
        while second < len(tokens) and tokens[second].word in _JOINING:
            second += 1
        rows = lexicon.mention(tokens, second + 1) if second > at + 1 and second + 1 < len(tokens) else None
        tables = rows.tables(WHOLE_NAME) if rows is not None and rows.is_plural else set()
        pair = (tokens[at], tokens[second]) if tables else ()
        denied = [token for token in pair if _is_denied(token, tables, lexicon)]
        done = [token for token in pair if token not in denied and _is_column_of(token.word, tables, lexicon)]
        if rows is None or len(denied) != 1 or len(done) != 1 or not is_past_form(done[0].word):
            continue
        words = ("that", "are", done[0].word, "and", "not", denied[0].word[2:])
        said = [replace(tokens[at], text=word, word=word, stem=stem(word)) for word in words]
        return (*tokens[:at], *tokens[second + 1 : rows.end], *said, *tokens[rows.end :])
    return tokens


def _is_denied(token: Token, tables: set[str], lexicon: Lexicon) -> bool:
    """Whether a word denies what a column of some tables says: "unpaid", where the catalog has no such word."""
    un = token.kind == "word" and token.word.startswith("un") and len(token.word) > _SHORTEST
    known = lexicon.mention((token,), 0, 1)
    return un and known is None and _is_column_of(token.word[2:], tables, lexicon)


def _is_column_of(word: str, tables: set[str], lexicon: Lexicon) -> bool:
    senses = lexicon.meanings((stem(word),))
    return any(one.kind == "column" and one.table in tables and one.quality >= ANY_FORM for one in senses)

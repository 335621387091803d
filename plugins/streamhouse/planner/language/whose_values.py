"""As in "candidates whose first language is Arabic": a value that a column of the things is said to have."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem

_OPENERS = frozenset({"whose", "where"})
_ARTICLES = frozenset({"a", "an", "the", "their", "its"})
_IS = frozenset({"is", "are", "was", "were", "="})
_UNKNOWN = frozenset({"unknown", "missing", "empty"})


def with_values_of_whose(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with first language Arabic" for "whose first language is Arabic"."""
    for at in range(1, len(tokens) - 3):
        if tokens[at].word in _OPENERS:
            put = _read(tokens, at, lexicon)
            if put is not None:
                said, end = put
                return (*tokens[:at], *said, *with_values_of_whose(tokens[end:], lexicon))
    return tokens


def _read(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[tuple[Token, ...], int] | None:
    """What takes the place of an opener, a column and "is", and where the value begins; None: no such thing is said."""
    begin = _behind(tokens, at + 1)
    column = lexicon.mention(tokens, begin) if begin < len(tokens) else None
    if column is None or column.end + 1 >= len(tokens) or tokens[column.end].word not in _IS:
        return None
    denied = tokens[column.end + 1].word == "not"
    first = _behind(tokens, column.end + 1 + denied)
    named = {
        (one.table, one.column): one.quality for one in reversed(column.of_kind("column")) if one.quality >= LAST_WORD
    }
    if first >= len(tokens) or not named:
        return None
    best = [place for place, quality in named.items() if quality == max(named.values())]
    old = tokens[at]
    if tokens[first].word in _UNKNOWN and not denied and len(best) == 1:
        table, name = best[0]
        if may_be_empty(lexicon.catalog.tables[table].column(name)):
            return (_word(old, "without"), _name(old, best[0])), first + 1
    value = lexicon.mention(tokens, first)
    values = value.of_kind("value") if value is not None else ()
    both = list(dict.fromkeys((one.table, one.column) for one in values
                              if one.quality >= WHOLE_NAME and (one.table, one.column) in named))  # fmt: skip
    if len(both) != 1:
        return None
    said = (_word(old, "with"), _name(old, both[0]))
    return ((*said, _word(old, "not")) if denied else said), first


def _behind(tokens: tuple[Token, ...], at: int) -> int:
    return at + 1 if at < len(tokens) and tokens[at].word in _ARTICLES else at


def _word(old: Token, word: str) -> Token:
    return replace(old, text=word, word=word, stem=stem(word))


def _name(old: Token, place: tuple[str, str]) -> Token:
    name = ".".join(place)
    return replace(old, text=place[1].replace("_", " "), word=name, stem=name, kind="name")

"""As in "drivers with a tram licence", where lines are called "tram" as well: the column says which value it is."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token

_OPENERS = frozenset({"with", "having"})
_ARTICLES = frozenset({"a", "an", "the"})


def with_values_of_columns(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with licence tram" for "with a tram licence", where several columns have that value."""
    for at in range(1, len(tokens) - 2):
        if tokens[at].word not in _OPENERS:
            continue
        first = at + 1 + (tokens[at + 1].word in _ARTICLES)
        value = lexicon.mention(tokens, first) if first < len(tokens) else None
        column = lexicon.mention(tokens, value.end) if value is not None and value.end < len(tokens) else None
        if value is None or column is None:
            continue
        places = {(one.table, one.column) for one in value.of_kind("value") if one.quality >= WHOLE_NAME}
        named = {(one.table, one.column) for one in column.of_kind("column") if one.quality >= WHOLE_NAME}
        if len(places) < len(("one", "other")) or len(places & named) != 1 or column.of_kind("table", "measure"):
            continue
        [(table, name)] = places & named
        old = tokens[column.start]
        said = replace(old, word=f"{table}.{name}", stem=f"{table}.{name}", kind="name")
        return (*tokens[: at + 1], said, *tokens[first : value.end], *tokens[column.end :])
    return tokens

"""As in "clients who gave notice": a deed in several words, of which rows have a time or none."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem

_WHICH = frozenset({"that", "which", "who"})
_HAVE = frozenset({"have", "has", "had"})
_GOES_ON = frozenset({"and", "but", "per", "by", ",", ".", "?", "!", ";"})


def with_deeds_in_words(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "clients with any notice" for "clients who gave notice", where not all clients have that time."""
    for at in range(1, len(tokens) - 2):
        rows = lexicon.mention(tokens, at - 1, 1) if tokens[at].word in _WHICH else None
        if rows is None or not rows.tables(WHOLE_NAME):
            continue
        verb = at + 1 + (tokens[at + 1].word in _HAVE)
        deed = lexicon.mention(tokens, verb) if verb < len(tokens) else None
        if deed is None or deed.end < verb + 2 or not _is_last(tokens, deed.end):
            continue
        senses = [one for one in deed.senses if one.quality >= WHOLE_NAME]
        if len(senses) != 1 or senses[0].kind != "column" or senses[0].table not in rows.tables(WHOLE_NAME):
            continue
        table = lexicon.catalog.tables[senses[0].table]
        column = table.column(senses[0].column)
        if column.type not in TIMES or not may_be_empty(column):
            continue
        old, name = tokens[at], f"{table.name}.{column.name}"
        said = [replace(old, text=word, word=word, stem=stem(word), kind="word") for word in ("with", "any")]
        return (*tokens[:at], *said, replace(old, text=deed.text, word=name, stem=name, kind="name"),
                *tokens[deed.end :])  # fmt: skip
    return tokens


def _is_last(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether nothing behind a deed says how or when it was done: "came back late", "gave notice in May"."""
    return at >= len(tokens) or tokens[at].word in _GOES_ON

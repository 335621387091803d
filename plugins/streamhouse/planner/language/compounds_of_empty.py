"""As in "open-ended contracts": two words with a hyphen that a description says of rows without a value."""

import re
from dataclasses import replace

from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.mentions import tables_named
from streamhouse.planner.language.tokens import Token, stem

_SAID = re.compile(
    r"^ (?:if|while|when|where|for) (?:(?:it|they|he|she) (?:is|are|was|were) )?([a-z]+)-([a-z]+)\s*(?=[.;,]|$)"
)
_LINKS = frozenset({"that", "which", "who", "are", "is", "were", "was", "still"})
_DENIALS = frozenset({"not", "without", "except", "excluding", "never", "no"})


def with_compounds_of_empty(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "contracts without end" for "open-ended contracts", where one description says so."""
    for at in range(len(tokens) - 1):
        name = _column(tokens, at, lexicon)
        first, last = at, _end(tokens, at)
        while name and first > 0 and tokens[first - 1].word in _LINKS:
            first -= 1
        if not name or (first > 0 and tokens[first - 1].word in _DENIALS):
            continue
        without = replace(tokens[at], text="without", word="without", stem=stem("without"), kind="word")
        said = (without, replace(tokens[at], word=name, stem=name, kind="name"))
        rows = lexicon.mention(tokens, last) if last < len(tokens) else None
        if rows is not None and rows.of_kind("table") and first == at:
            return (*tokens[:at], *tokens[last : rows.end], *said, *tokens[rows.end :])
        return (*tokens[:first], *said, *tokens[last:])
    return tokens


def _end(tokens: tuple[Token, ...], at: int) -> int:
    return at + 2 + (tokens[at + 1].word == "-")


def _column(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The full name of the only column of the tables of a wish that two words say to be empty; empty: there is none."""
    parts = (tokens[at].word, tokens[min(_end(tokens, at), len(tokens)) - 1].word)
    found = [
        (table.name, column.name)
        for table in lexicon.catalog.tables.values()
        for column in table.columns
        if (said := _SAID.match(when_empty(column))) is not None and said.groups() == parts
    ]
    if not found:
        return ""
    named = tables_named(filter(None, (lexicon.mention(tokens, n) for n in range(len(tokens)))), WHOLE_NAME)
    found = [one for one in found if one[0] in named]
    return ".".join(found[0]) if len(found) == 1 else ""

"""As in "booked over the phone": a way by which something came, where "over" is no bound."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import ARTICLES


def with_channels(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "via" for each "over" before a value that is no number."""
    changed = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        if token.word != "over" or token.kind != "word":
            continue
        behind = at + 1
        while behind < len(tokens) - 1 and tokens[behind].word in ARTICLES:
            behind += 1
        if read_number(tokens, behind) is not None:
            continue
        found = lexicon.mention(tokens, behind)
        if found is None or found.senses[0].kind != "value" or found.senses[0].quality < WHOLE_NAME:
            continue
        if not found.of_kind("table", "measure"):
            changed[at] = replace(token, text="via", word="via", stem=stem("via"))
    return tuple(changed)

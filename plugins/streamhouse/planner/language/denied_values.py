"""As in "bags that are not tested yet", where a value is called "not tested yet": nothing is denied there."""

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token

_BEFORE = frozenset({"that", "which", "who", "is", "are", "was", "were", "have", "has", "had", "been", "be"})


def with_denied_values(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens without "that are" before a value whose own name begins with "not"."""
    for at in range(1, len(tokens) - 1):
        found = lexicon.mention(tokens, at) if tokens[at].word == "not" else None
        if found is None or found.end < at + len(("not", "sold")):
            continue
        if not any(one.quality >= WHOLE_NAME for one in found.of_kind("value")):
            continue
        first = at
        while first > 1 and tokens[first - 1].word in _BEFORE:
            first -= 1
        return (*tokens[:first], *tokens[at:])
    return tokens

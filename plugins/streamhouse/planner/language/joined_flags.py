"""As in "visits that are emergencies and no-shows": both must be so, and the second is not only shown."""

from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.versus_rest import flag_of

_BEING = frozenset({"are", "were", "is", "was"})


def with_both_flags(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "are" before the second of two columns of yes or no that "that are" is said of."""
    for at in range(1, len(tokens) - 3):
        if tokens[at].word not in _BEING or tokens[at - 1].word not in {"that", "which", "who"}:
            continue
        first = lexicon.mention(tokens, at + 1)
        if first is None or first.end + 1 >= len(tokens) or tokens[first.end].word != "and":
            continue
        last = lexicon.mention(tokens, first.end + 1)
        one, other = (flag_of(found, lexicon) if found is not None else "" for found in (first, last))
        if one and other and one != other:
            return (*tokens[: first.end + 1], tokens[at], *tokens[first.end + 1 :])
    return tokens

"""Kilos are kg, unless the catalog has them in a name: "kilos sold", "price per kilo"."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token

_KILOS = frozenset({"kilo", "kilos"})
_LONGEST = 4  # words of a name before the unit in it


def with_kilos(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "kg" for each "kilo" that is a unit, and no part of a name."""
    changed = list(tokens)
    for at, token in enumerate(tokens):
        if token.word in _KILOS and (_is_counted(tokens, at) or not _is_in_name(tokens, at, lexicon)):
            changed[at] = replace(token, text="kg", word="kg", stem="kg")
    return tuple(changed)


def _is_counted(tokens: tuple[Token, ...], at: int) -> bool:
    return at > 0 and tokens[at - 1].kind == "number"


def _is_in_name(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    for begin in range(max(at - _LONGEST, 0), at + 1):
        found = lexicon.mention(tokens, begin)
        if found is not None and found.end > at and found.best >= WHOLE_NAME:
            return True
    return False

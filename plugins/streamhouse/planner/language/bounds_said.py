"""Where a comparison with a number stands in the tokens of a wish: "over 300 euros", "of at least 2 kg"."""

from streamhouse.planner.language.numbers import Quantity, read_quantity
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import COMPARISONS

_LONGEST = 4


def bound_at(tokens: tuple[Token, ...], at: int) -> tuple[int, Quantity] | None:
    """Where a comparison with a number that begins at a token ends, with its number; None: none begins there."""
    for length in range(_LONGEST, 0, -1):
        words = tuple(token.word for token in tokens[at : at + length])
        if len(words) == length and words in COMPARISONS:
            quantity = read_quantity(tokens, at + length)
            return (at + length + quantity.length, quantity) if quantity is not None else None
    return None

"""Where a comparison with a number stands in the tokens of a wish: "over 300 euros", "of at least 2 kg"."""

from collections.abc import Sequence

from streamhouse.planner.language.numbers import Quantity, read_quantity
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import COMPARISONS

_LENGTHS = sorted({len(words) for words in COMPARISONS}, reverse=True)


def comparison_at(words: Sequence[str], at: int) -> tuple[str, ...]:
    """The words of the longest comparison that begins at a place, a key of `COMPARISONS`; empty: none does.

    >>> comparison_at("invoices of more than 300 euros".split(), 2)
    ('more', 'than')
    """
    found = (tuple(words[at : at + length]) for length in _LENGTHS)
    return next((said for said in found if said in COMPARISONS), ())


def comparison_before(words: Sequence[str], end: int) -> int:
    """Where the longest comparison begins that ends before a place; the place itself: none does."""
    found = (end - length for length in _LENGTHS if length <= end)
    return next((first for first in found if tuple(words[first:end]) in COMPARISONS), end)


def bound_at(tokens: tuple[Token, ...], at: int) -> tuple[int, Quantity] | None:
    """Where a comparison with a number that begins at a token ends, with its number; None: none begins there."""
    length = len(comparison_at([token.word for token in tokens[at : at + _LENGTHS[0]]], 0))
    quantity = read_quantity(tokens, at + length) if length else None
    return (at + length + quantity.length, quantity) if quantity is not None else None

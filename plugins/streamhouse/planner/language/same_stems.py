"""Pairs of nouns that share a stem, and name different things: a rating is no rate, and training no train."""

_APART = frozenset(
    frozenset(pair.split())
    for pair in ("rate rating", "train training", "ship shipping", "house housing", "floor flooring", "park parking")
)


def is_other_word(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two phrases differ in a word that is another noun in each, and no other form of one.

    Example:
        >>> is_other_word(("day", "rate"), ("day", "rating")), is_other_word(("rated",), ("rating",))
        (True, False)
    """
    return any(frozenset(pair) in _APART for pair in zip(one, other, strict=False))

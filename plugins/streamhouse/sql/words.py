"""Lists of words, written as text."""


def words(text: str) -> frozenset[str]:
    """The words of a text, in no order.

    Example:
        >>> sorted(words("b a"))
        ['a', 'b']
    """
    return frozenset(text.split())

"""Identifiers that people may shorten."""

from collections.abc import Collection

_SHORTEST = 4
"""Fewer characters would meet something else by accident."""


def begin_so(prefix: str, known: Collection[str], flows: Collection[str] = ()) -> list[str]:
    """The identifiers that a person may mean: the one that is given, else all that begin so.

    The name of a flow, and fewer than four characters, are the beginning of none: what they meet they meet by accident.

    >>> begin_so("4f2a", ["4f2a91c0", "4f2b0000"])
    ['4f2a91c0']
    >>> begin_so("feed", ["feed1234"], flows=["feed"])
    []
    """
    if prefix in known:
        return [prefix]
    if len(prefix) < _SHORTEST or prefix in flows:
        return []
    return [one for one in known if one.startswith(prefix)]

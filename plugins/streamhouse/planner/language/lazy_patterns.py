"""Patterns that are compiled when a text has the word that each of them needs: most of them a wish never needs."""

import re
from functools import lru_cache

_SHORTEST = 3
_OPTIONAL = frozenset("?*{")


def needed_text(pattern: str) -> str:
    r"""A text in lower case that each match of a pattern has, whatever the case; empty: none is certain.

    >>> needed_text(r"\b(?:what|which) share of (?=the )")
    ' share of '
    """
    runs, run, depth, at = [""], "", 0, 0
    while at < len(pattern):
        char, following = pattern[at], pattern[at + 1 : at + 2]
        plain = depth == 0 and (char.isalpha() or char == " ") and following not in _OPTIONAL
        if char == "[":
            at = _end_of_class(pattern, at)
        elif char == "\\":
            at += 1
        elif char == "|" and depth == 0:
            return ""
        depth += (char == "(") - (char == ")")
        run = run + char.lower() if plain else ""
        runs.append(run)
        at += 1
    longest = max(runs, key=len)
    return longest if len(longest.strip()) >= _SHORTEST else ""


def _end_of_class(pattern: str, at: int) -> int:
    at += 2 if pattern[at + 1] == "^" else 1
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


class Turn:
    """A pattern, and what its matches become."""

    def __init__(self, pattern: str, becomes: str) -> None:
        self._pattern = pattern
        self._becomes = becomes
        self._needed = needed_text(pattern)

    def apply(self, text: str, lower: str) -> str:
        """The text with all matches replaced; `lower` is the text in lower case."""
        return _compiled(self._pattern).sub(self._becomes, text) if self._needed in lower else text

"""What was found out about the SQL of actions, for steps that use one in the same way."""

from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")

_MOST = 512  # a syntax tree takes some 50 kB; what most steps share is asked for all the time


class Analyses:
    """Results by what they follow from; those that were asked for last, up to a limit.

    One for one state of the files: actions are told apart by identity.
    """

    def __init__(self) -> None:
        self._cache: dict[Hashable, tuple[object, object]] = {}
        self._tokens: dict[Hashable, int] = {}

    def token(self, facts: Hashable) -> int:
        """A number that stands for facts, and for equal ones: so they are hashed and compared once for many results."""
        return self._tokens.setdefault(facts, len(self._tokens))

    def of(self, action: object, facts: Hashable, find: Callable[[], T]) -> T:
        """What `find` gives, or gave for the same action and facts. An error is not kept.

        Args:
            action: A reference to it is kept, so that no other object gets its id.
            facts: All else that the result follows from.
            find: Finds it out; its result is changed by nobody.
        """
        key = (id(action), facts)
        entry = self._cache.pop(key, None)
        if entry is None:
            entry = (action, find())
            if len(self._cache) >= _MOST:
                del self._cache[next(iter(self._cache))]
        self._cache[key] = entry
        found: T = entry[1]  # type: ignore[assignment]  # of the kind that its facts name
        return found

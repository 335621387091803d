"""What takes long to find, and is asked for every other second."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

Found = TypeVar("Found")


@dataclass
class Rested(Generic[Found]):
    """What was found last; it is looked for again after a rest. Several threads may ask: one of them looks.

    Attributes:
        find: Looks for it.
        rest: So many times as long as a look took, nothing is looked for.
        least_s: The shortest rest, in seconds.
    """

    find: Callable[[], Found]
    rest: float
    least_s: float = 0.0
    _lock: Lock = field(default_factory=Lock)
    _found: tuple[Found, float] | None = None  # and until when it is good, on the monotonic clock

    def now(self) -> Found:
        """What was found last, or is found now."""
        with self._lock:
            if self._found is not None and time.monotonic() < self._found[1]:
                return self._found[0]
            began = time.monotonic()
            found = self.find()
            ended = time.monotonic()
            self._found = found, ended + max(self.least_s, self.rest * (ended - began))
            return found

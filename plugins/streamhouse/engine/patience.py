"""How long a segment tries again after failures that may pass by themselves, and how often."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

PATIENCE = timedelta(minutes=2)
_LEAST_ATTEMPTS = 4  # a server that is silent takes a minute to notice: that may use the patience up at once
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 5.0  # a store that is back waits no longer than this


@dataclass(frozen=True)
class Trouble:
    """Failures in a row, with no epoch finished in between.

    Attributes:
        since_s: When the first one happened, on the caller's clock.
        attempts: How many there were.
        epoch: The last one that was finished before; -1: none ever was.
        text: What went wrong at first. Later failures often tell less, such as a refused connection.
    """

    since_s: float
    attempts: int
    epoch: int
    text: str


class Patience:
    """Counts failures in a row. An epoch that is finished ends the row, so that a flow may run for years.

    Args:
        longest: Give up when failures went on for so long, and there were a few.
        dice: A number in [0, 1): attempts of several segments should not come at once.
    """

    def __init__(self, longest: timedelta = PATIENCE, dice: Callable[[], float] = random.random) -> None:
        self._longest_s = longest.total_seconds()
        self._dice = dice
        self.trouble: Trouble | None = None

    def failed(self, text: str, *, epoch: int, now_s: float) -> float | None:
        """Take note of a failure.

        Args:
            text: What went wrong, for a person.
            epoch: The last one that is finished; -1: none.
            now_s: Seconds of any clock that does not go back.

        Returns:
            Seconds to wait before the next attempt; None: it is enough.
        """
        if self.trouble is None or self.trouble.epoch != epoch:
            self.trouble = Trouble(now_s, 0, epoch, text)
        last = self.trouble
        self.trouble = Trouble(last.since_s, last.attempts + 1, epoch, last.text)
        if now_s - last.since_s >= self._longest_s and self.trouble.attempts >= _LEAST_ATTEMPTS:
            return None
        longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**last.attempts)
        return longest * (1 + self._dice()) / 2

    def over(self, epoch: int) -> Trouble | None:
        """What a finished epoch brought to an end; None: nothing was wrong."""
        if self.trouble is None or self.trouble.epoch == epoch:
            return None
        ended, self.trouble = self.trouble, None
        return ended

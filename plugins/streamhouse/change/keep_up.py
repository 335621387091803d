"""Lets a change that waits for a person read on, so that its rows are not gone from the logs when the answer comes."""

import time
from dataclasses import dataclass, field

from streamhouse.change.building import Building, reached
from streamhouse.change.looks import Looks
from streamhouse.engine.carried_positions import furthest
from streamhouse.engine.vector import covers
from streamhouse.errors import StreamhouseError
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change

_EVERY_S = 30.0  # between two rounds, at least
_SHARE = 10  # a round rests this many times as long as it took: it must not slow down what serves


@dataclass
class KeepUp:
    """The rounds of one flow's changes that wait.

    Attributes:
        open: Everything connected.
        flow: Its name.
        looks: Learns when tables are filled.
    """

    open: Open
    flow: str
    looks: Looks
    _next_at: float = 0.0  # not before this, on the monotonic clock
    _left_behind: set[int] = field(default_factory=set)  # changes that could not catch up

    def round(self, change: Change) -> None:
        """Catch up, where it is time for that and there is something to read.

        A change that cannot goes on waiting as it is, and says so once: a person may still look at it, or mend it.
        """
        if change.id in self._left_behind or time.monotonic() < self._next_at:
            return
        building = Building(self.open, change)
        if self._is_near(building):
            self._next_at = time.monotonic() + _EVERY_S
            return
        began = time.monotonic()
        try:
            with self.looks.building():
                building.catch_up()
        except StreamhouseError as error:
            if not error.retryable:
                self._left_behind.add(change.id)
                text = f"change {change.id} waits and does not catch up meanwhile: {error}"
                self.open.state.append_event(self.flow, "change", text)
        now = time.monotonic()
        self._next_at = now + max(_EVERY_S, _SHARE * (now - began))

    def _is_near(self, building: Building) -> bool:
        """Whether it is where its flow is, or was not filled."""
        at, last = reached(self.open.state, building.change), building.last
        read = furthest(building.plan, last)
        return not last or covers(read, {name: at[name] for name in read if name in at})

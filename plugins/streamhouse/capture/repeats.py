"""Which of the events that a database sends after a restart the journal has already. Pure.

Databases send whole transactions again, each in the same order. By what an event says of its place in the log it is
recognized, but for events that share a place, such as those of one statement; these follow each other.
"""

import re
from collections import deque
from collections.abc import Callable, Sequence

from streamhouse.errors import CaptureFailedError


def place_of(event: bytes, pattern: re.Pattern[bytes]) -> bytes | None:
    r"""The place of an event, as it is written there; None: it is none, such as a notification.

    Example:
        >>> place_of(b'{"source":{"txId":7,"lsn":24,"xmin":null},"op":"c"}', re.compile(rb'"txId":\d+,"lsn":\d+,'))
        b'"txId":7,"lsn":24,'
    """
    found = pattern.findall(event)
    return bytes(found[-1]) if found else None  # the row comes before its source


class Repeats:
    """Drops events that the journal has, until the first that it has not.

    Args:
        pattern: Of places.
        written: Place → the places of all events of the journal from its first event there on; empty: it has none.
    """

    def __init__(self, pattern: re.Pattern[bytes], written: Callable[[bytes], Sequence[bytes]]) -> None:
        self._pattern = pattern
        self._written = written
        self._left: deque[bytes] | None = None  # None: the first event did not come yet

    def has(self, event: bytes) -> bool:
        """Whether the journal has an event, or it has no place; the first False is the last answer.

        Raises:
            CaptureFailedError: the events come in another order than the journal has them.
        """
        place = place_of(event, self._pattern)
        if place is None:
            return True
        if self._left is None:
            self._left = deque(self._written(place))
        if not self._left:
            return False
        if self._left.popleft() != place:
            raise CaptureFailedError(
                f"the database repeats its changes in another order than before (at {place.decode()})",
                hint="take a new snapshot with: streamhouse capture reset",
            )
        return True

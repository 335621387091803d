"""Where a topic of Kafka is read from by who has read nothing of it yet."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import Field, ValidationError

from streamhouse.doors.setting import shown
from streamhouse.model.types import Frozen, Position

EARLIEST = "earliest"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StartOffsets(Frozen):
    """Where partitions are read from."""

    offsets: dict[int, int] = Field(
        min_length=1, description="partition: its first offset that is read; others are read from the oldest message"
    )


def checked_start(value: Any) -> str | StartOffsets:
    """The option `start` as a source has it.

    Raises:
        ValueError: it names no place, or one that is another at each call.
    """
    text = value.isoformat() if isinstance(value, datetime) else value
    if isinstance(text, StartOffsets) or text == EARLIEST:
        return text
    if not isinstance(text, str):
        return _start_offsets(text)
    if text == "latest":
        raise ValueError(
            "'latest' would be another place each time a table is made again; write the time from which messages "
            "count, with its zone: 2026-03-01T00:00:00Z"
        )
    _milliseconds(text)
    return text


@dataclass(frozen=True)
class TopicStart:
    """The place that `start` names.

    Attributes:
        written: The option.
    """

    written: str | StartOffsets = EARLIEST

    @property
    def folder(self) -> str:
        """Name of a folder for what is read from there, which no other place has; empty: the oldest message."""
        if isinstance(self.written, StartOffsets):
            text = json.dumps(sorted(self.written.offsets.items()))
            return f"from-offsets-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return "" if self.written == EARLIEST else f"from-{_milliseconds(self.written)}"

    def begins(self, oldest: Position, newest: Position, since: Callable[[int], Position]) -> Position:
        """Partition → the offset that is read first; before `newest` the same at each call.

        Args:
            oldest: Partition → its first offset that exists.
            newest: Partition → the end of what is committed.
            since: A time in epoch milliseconds → the first offset with it or a later one, of partitions that have one.
        """
        if isinstance(self.written, StartOffsets):
            given = {str(partition): offset for partition, offset in self.written.offsets.items()}
            return {**oldest, **{partition: offset for partition, offset in given.items() if partition in newest}}
        if self.written == EARLIEST:
            return oldest
        return {**newest, **since(_milliseconds(self.written))}


def _start_offsets(value: Any) -> StartOffsets:
    try:
        found = StartOffsets.model_validate(value)
    except ValidationError:
        found = None
    if found is None or min([*found.offsets, *found.offsets.values()]) < 0:
        raise ValueError("write earliest, a time with its zone, or {offsets: {0: 1200}}: partition and offset")
    return found


def _milliseconds(text: str) -> int:
    """The first millisecond that is not before a time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise ValueError(f"'{shown(text)}' is no time with its zone, such as 2026-03-01T00:00:00Z, and not earliest")
    return max(0, -(-(time - _EPOCH) // timedelta(milliseconds=1)))

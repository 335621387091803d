"""Messages of Kafka as dead letters, and back."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from streamhouse.ingest.bad_rows import BadRow, Letter, Split, part


class AnyMessage(Protocol):
    """What is read of a message, of Kafka or of a dead letter."""

    def value(self) -> Any:
        """Its bytes."""

    def key(self) -> Any:
        """Bytes of its key, or None."""

    def headers(self) -> Any:
        """Name and bytes of each header, in order, or None; bytes may be None."""

    def partition(self) -> Any:
        """Its partition."""

    def offset(self) -> Any:
        """Its offset."""

    def timestamp(self) -> Any:
        """Kind of time, 0 for none, and epoch milliseconds."""


@dataclass(frozen=True)
class KeptMessage:
    """A message that a dead letter has."""

    letter: Letter
    context: dict[str, Any]

    def value(self) -> bytes:
        """Its bytes."""
        return self.letter.raw

    def key(self) -> bytes | None:
        """Bytes of its key."""
        return _from_text(self.context.get("key"))

    def headers(self) -> list[tuple[str, bytes | None]]:
        """Name and bytes of each header."""
        return [(name, _from_text(value)) for name, value in self.context.get("headers", ())]

    def partition(self) -> int:
        """Its partition."""
        return int(self.context["partition"])

    def offset(self) -> int:
        """Its offset."""
        return int(self.context["offset"])

    def timestamp(self) -> tuple[int, int]:
        """Kind of time, 0 for none, and epoch milliseconds."""
        at = self.context.get("timestamp")
        return (0, 0) if at is None else (1, int(at))


def _from_text(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _as_text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


class HowWritten(Protocol):
    """Says what is wrong with a message, and how its value was written."""

    def reason(self, message: AnyMessage, error: Exception) -> tuple[str, str]:
        """Why a message cannot be read, by the error of reading it alone."""

    def context(self, value: bytes) -> Mapping[str, Any]:
        """What a dead letter says besides of how the value was written."""


def message_of(letter: Letter) -> KeptMessage:
    """The message of a letter."""
    return KeptMessage(letter, json.loads(letter.context))


def letter_of(message: AnyMessage, topic: str, how: HowWritten) -> Letter:
    """A message as a dead letter; `how` says how it was written."""
    if isinstance(message, KeptMessage):
        return message.letter
    kind, at = message.timestamp()
    headers = [[name, _as_text(value)] for name, value in message.headers() or []]
    context = {
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": at if kind else None,
        "key": _as_text(message.key()),
        **({"headers": headers} if headers else {}),
        **how.context(message.value()),
    }
    return Letter(f"{topic}/{message.partition()}/{message.offset()}", message.value(), json.dumps(context))


def split_messages(
    messages: Sequence[AnyMessage],
    empty: pa.Table,
    parse: Callable[[Sequence[AnyMessage]], pa.Table],
    how: HowWritten,
    topic: str,
    without: Callable[[str], bool] | None,
) -> Split:
    """Messages taken apart.

    Args:
        messages: Each has a value.
        empty: A table of no rows, as `parse` gives them.
        parse: Gives the rows of some messages.
        how: Says what is wrong with one that cannot be read, and how it was written.
        topic: For positions.
        without: Whether a position is left out of the rows; None: none is, and there are no places.
    """
    found = part(messages, parse, how.reason)
    bad = tuple(BadRow(letter_of(messages[number], topic, how), *why) for number, why in sorted(found.wrong.items()))
    rows = pa.concat_tables([empty, *found.tables])
    if without is None:
        return Split(rows, (), bad)
    places = [f"{topic}/{messages[number].partition()}/{messages[number].offset()}" for number in found.numbers]
    keep = [not without(place) for place in places]
    row_places = tuple(place for place, wanted in zip(places, keep, strict=True) if wanted)
    return Split(rows.filter(pa.array(keep, pa.bool_())), row_places, bad)

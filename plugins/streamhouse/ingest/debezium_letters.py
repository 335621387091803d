"""Lines of change events that cannot be read, taken apart from the others."""

from collections.abc import Iterator, Sequence

from streamhouse.errors import SourceError
from streamhouse.ingest.bad_rows import BadRow, Letter, json_reason
from streamhouse.ingest.debezium import decode
from streamhouse.ingest.event_run import UNDECIDED, Events, WantedEvents
from streamhouse.ingest.not_null import REASON


def decode_apart(
    lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int, bad: list[BadRow]
) -> Iterator[Events]:
    """As `decode`, in parts that follow each other; a line that cannot be read has no event.

    Args:
        lines: One event each, in the order they happened.
        wanted: What to take from them.
        name: The file.
        first: The number of the first line, counted from 1.
        bad: Grows by the lines that cannot be read.

    Raises:
        SourceError: the table was truncated, and no decision about it is recorded.
    """
    for _, events in decode_placed(lines, wanted, name, first, bad):
        yield events


def decode_placed(
    lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int, bad: list[BadRow]
) -> Iterator[tuple[int, Events]]:
    """As `decode_apart`; before each part the number of its first line, counted as `first`.

    Raises:
        SourceError: as `decode_apart`.
    """
    try:
        yield first, decode(lines, wanted, name, first)
    except SourceError as error:
        if error.message == UNDECIDED:  # a question for a person, and no bad row
            raise
        if len(lines) == 1:
            bad.append(BadRow(Letter(f"{name}:{first}", lines[0]), *_reason(lines[0], error)))
            return
        half = len(lines) // 2
        yield from decode_placed(lines[:half], wanted, name, first, bad)
        yield from decode_placed(lines[half:], wanted, name, first + half, bad)


def _reason(line: bytes, error: SourceError) -> tuple[str, str]:
    code, text = json_reason(line, error)
    if code != "type":
        return code, text
    message = error.message
    if message.endswith("not null"):
        return REASON, message
    if "primary key" in message:
        return "key", message
    return ("type" if message.startswith("column '") else "event"), message

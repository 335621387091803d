"""Key and value of an event of a capture's journal. Pure."""

from collections.abc import Callable
from json import JSONDecoder
from typing import Any

from pydantic_core import from_json

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.checked_lines import damaged
from streamhouse.ingest.journal_base import CAPTURE_REMEDY

KEY_AT = len('{"key":')
"""Where the key of an event begins in its line."""
_DECODER = JSONDecoder()

Where = Callable[[], Location]
"""The place of an event, which is found only where it is needed."""


def event_in(line: bytes, where: Where) -> dict[str, Any]:
    """Key and value of an event of a journal.

    Args:
        line: Of the event, without its checksum.
        where: It is.

    Raises:
        SourceError: the line was damaged.
    """
    try:
        found = from_json(line)
    except ValueError as error:
        raise _damaged(where, error) from error
    if not isinstance(found, dict) or "key" not in found or not isinstance(found.get("value"), dict):
        raise _damaged(where, "it has no key or no value")
    return found


def key_in(line: bytes, where: Where) -> bytes:
    """The key of an event as it is written, which is the same each time; arguments as of `event_in`.

    Raises:
        SourceError: the line was damaged.
    """
    try:
        text = line.decode()
        return text[KEY_AT : _DECODER.raw_decode(text, KEY_AT)[1]].encode()
    except ValueError as error:
        raise _damaged(where, error) from error


def _damaged(where: Where, why: object) -> SourceError:
    return damaged("an event of the journal", why, where(), CAPTURE_REMEDY)

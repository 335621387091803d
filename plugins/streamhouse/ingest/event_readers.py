"""Change events of Debezium in lines of JSON: as Kafka has them, or as the journal of a capture has them. Pure."""

from collections.abc import Mapping
from typing import Any

from streamhouse.ingest.encodings import Encoding, encodings_of, parsed


class Envelopes:
    """Takes the event out of its envelope, if there is one; a schema part that repeats is parsed once."""

    def __init__(self, *, exact: bool = False) -> None:
        self.encodings: dict[str, Encoding] = {}
        self._exact = exact
        self._schema: Any = None
        self._prefix = b""

    def event(self, line: bytes) -> Any:
        """The event of a line, or None; `encodings` then are those of the event.

        Raises:
            SchemaPartError: its schema part is none that Kafka Connect writes.
            ValueError: the line is no JSON.
        """
        if self._prefix and line.startswith(self._prefix) and line.endswith(b"}"):
            try:
                return parsed(line[len(self._prefix) : -1], exact=self._exact)
            except ValueError:
                pass  # not as it seemed, or no JSON at all: the whole line shows it
        text = line.strip()
        message = parsed(text, exact=self._exact) if text else None
        if not isinstance(message, dict) or "payload" not in message or "op" in message:
            self._use(None, b"")
            return message
        self._use(message.get("schema"), _prefix(text, message))
        return message["payload"]

    def _use(self, schema: Any, prefix: bytes) -> None:
        if schema != self._schema:
            self.encodings, self._schema = encodings_of(schema), schema
        self._prefix = prefix


class Journaled:
    """Takes the event out of a line of a capture's journal, which has key, value and headers."""

    def __init__(self, table: str, *, exact: bool = False) -> None:
        self.encodings: dict[str, Encoding] = {}
        self._table = table
        self._exact = exact

    def event(self, line: bytes) -> Any:
        """The event of a line; None: it is of another table.

        Raises:
            ValueError: the line is no JSON.
        """
        return journaled(line, self._table, exact=self._exact)


def journaled(line: bytes, table: str, *, exact: bool = False) -> Any:
    """The event in a line of a capture's journal; None: it is of another table.

    Raises:
        ValueError: the line is no JSON.
    """
    message = parsed(line, exact=exact)
    event = message.get("value") if isinstance(message, dict) else None
    source = event.get("source") if isinstance(event, dict) else None
    # MariaDB and MySQL have databases where others have schemas.
    if not isinstance(source, dict) or f"{source.get('schema', source.get('db'))}.{source.get('table')}" != table:
        return None
    return event


def _prefix(line: bytes, message: Mapping[str, Any]) -> bytes:
    """What stands before the payload, so that a line which begins with it needs only its rest parsed; b"": unknown."""
    if list(message) != ["schema", "payload"]:
        return b""
    at = -1
    while (at := line.find(b'"payload"', at + 1)) >= 0:
        colon = line.find(b":", at)
        prefix = line[: colon + 1]
        try:
            if parsed(prefix + b"null}", exact=True) == {"schema": message["schema"], "payload": None}:
                return prefix
        except ValueError:
            continue  # the word stands within the schema
    return b""

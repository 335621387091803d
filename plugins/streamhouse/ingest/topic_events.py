"""Messages of a topic as lines of its journal, and such lines as change events. Pure.

A line has where its message was, its time, its key and its value as the topic had them:

    {"at":[0,12],"ms":1772366400000,"key":"eyJpZCI6MX0=","value":{"op":"c",…}}
    {"at":[0,13],"ms":1772366400007,"key":"eyJpZCI6MX0=","none":true}

In place of `value`, `raw` has a value in base64, where that has line ends. `{"to":{"0":14}}` says up to where the topic
was read.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import from_json

from streamhouse.ingest.debezium_schema import is_ddl
from streamhouse.ingest.json_text import Cursor, is_json
from streamhouse.ingest.kafka_letters import AnyMessage
from streamhouse.ingest.unreadable import UnreadableError

Messages = Literal["changes", "rows"]
_HEAD = re.compile(rb'\{"at":\[(\d+),(\d+)\],"ms":(-?\d+|null),"key":(?:null|"([A-Za-z0-9+/=]*)"),"(value|raw|none)":')
_BEHIND = b'{"to":'
_GOES_ON = re.compile(rb"\}[ \t\r\n]*,")
_OF_HEARTBEATS = {"ts_ms"}
_OF_TRANSACTIONS = {"BEGIN", "END"}


@dataclass(frozen=True)
class TopicEvents:
    """How messages of a topic are change events.

    Attributes:
        messages: Debezium's change events, or rows: the value is the row, and no value removes it.
        key: Primary key: column → type.
        table: Only events of this table are read; None: the topic has those of one.
        compacted: Whether Kafka compacts the topic, so that a tombstone may be all that is left of a deleted row.
        as_json: Gives a key or value as JSON; None: they are. What it cannot read it raises as `UnreadableError`.
    """

    messages: Messages
    key: Mapping[str, str]
    table: str | None = None
    compacted: bool = False
    as_json: Callable[[bytes], bytes] | None = None


@dataclass(frozen=True)
class MessagePlace:
    """Where a message was.

    Attributes:
        partition: Of the topic.
        offset: In the partition.
        time_ms: Of the message, in epoch milliseconds; None: it has none.
        key: Its bytes in base64; None: it has none.
    """

    partition: int
    offset: int
    time_ms: int | None
    key: str | None


def line_of(message: AnyMessage) -> bytes:
    """A message as a line, without its end."""
    value: bytes | None = message.value()
    key, (kind, at) = message.key(), message.timestamp()
    text = "null" if key is None else f'"{base64.b64encode(key).decode()}"'
    head = f'{{"at":[{message.partition()},{message.offset()}],"ms":{at if kind else "null"},"key":{text},'.encode()
    if value is None:
        return head + b'"none":true}'
    if b"\n" in value or not value:
        return head + b'"raw":"' + base64.b64encode(value) + b'"}'
    return head + b'"value":' + value + b"}"


def mark_of(ends: Mapping[str, int]) -> bytes:
    """A line that says up to where a topic was read."""
    return _BEHIND + json.dumps(ends, separators=(",", ":")).encode() + b"}"


def place_of(line: bytes) -> MessagePlace | None:
    """Where the message of a line was; None: the line has none."""
    found = _HEAD.match(line)
    if found is None:
        return None
    time_ms = None if found[3] == b"null" else int(found[3])
    return MessagePlace(int(found[1]), int(found[2]), time_ms, None if found[4] is None else found[4].decode())


def ends_in(lines: list[bytes]) -> dict[str, int]:
    """Partition → the offset behind the last message of some lines, as far as they say."""
    found: dict[str, int] = {}
    for line in lines:
        if line.startswith(_BEHIND):
            found |= json.loads(line)["to"]
        elif (place := place_of(line)) is not None:
            found[str(place.partition)] = place.offset + 1
    return found


def event_of(line: bytes, wanted: TopicEvents) -> bytes:
    """The change event of a line, as `debezium.decode` takes it; b"": it has none."""
    found = _HEAD.match(line)
    if found is None:
        return b""
    key = None if found[4] is None else base64.b64decode(found[4])
    if found[5] == b"none":
        return _removal(_in_json(key, wanted), wanted)
    value = _value_of(found, line)
    if wanted.as_json is not None:
        return _change(_in_json(value, wanted) or b"", wanted)
    return _row(key, value, wanted) if wanted.messages == "rows" else _change(value, wanted)


def refusal_of(line: bytes, wanted: TopicEvents) -> UnreadableError | None:
    """Why the key or value of a line's message cannot be written as JSON; None: it can, or is JSON already."""
    found = _HEAD.match(line)
    if found is None or wanted.as_json is None:
        return None
    key = None if found[4] is None else base64.b64decode(found[4])
    data = key if found[5] == b"none" else _value_of(found, line)
    try:
        if data is not None:
            wanted.as_json(data)
    except UnreadableError as error:
        return error
    return None


def _value_of(found: re.Match[bytes], line: bytes) -> bytes:
    rest = line[found.end() : -1]
    return rest if found[5] == b"value" else base64.b64decode(rest[1:-1])


def _in_json(data: bytes | None, wanted: TopicEvents) -> bytes | None:
    """A key or value as JSON; what cannot be read stays as it is, and is a bad row for that."""
    if data is None or wanted.as_json is None:
        return data
    try:
        return wanted.as_json(data)
    except UnreadableError:
        return data


def _change(value: bytes, wanted: TopicEvents) -> bytes:
    if b'"op"' in value and wanted.table is None:
        return value or b"{"
    try:
        message = from_json(value)
    except ValueError:
        return value or b"{"  # the reader says what is wrong with it, and an empty value is no tombstone
    event = message["payload"] if isinstance(message, dict) and "payload" in message else message
    if not isinstance(event, dict) or "op" in event:
        return value if wanted.table is None or _table_of(event) in (None, wanted.table) else b""
    if event.keys() == _OF_HEARTBEATS or event.get("status") in _OF_TRANSACTIONS:
        return b""
    return b"" if wanted.table is not None and is_ddl(event) else value


def _table_of(event: Any) -> str | None:
    """`schema.table` of an event, or `database.table`; None: it does not say."""
    source = event.get("source") if isinstance(event, dict) else None
    if not isinstance(source, dict) or "table" not in source:
        return None
    return f"{source.get('schema', source.get('db'))}.{source['table']}"


def _row(key: bytes | None, value: bytes, wanted: TopicEvents) -> bytes:
    """A value that is a row; what it lacks of the primary key, the message's key has."""
    text = value.strip()
    if not text.startswith(b"{"):
        return text if text and text != b"null" else b"{"
    if _GOES_ON.search(text) and not is_json(text):
        return text  # what follows the row would be parts of the event; the reader says what is wrong
    fields = _fields(key, wanted)
    inner = text[1:].lstrip()
    # Of a name that is there twice the last one counts: that of the value.
    row = b"{" + fields + (b"," if fields and inner != b"}" else b"") + inner
    return b'{"op":"u","after":' + row + b"}"


def _removal(key: bytes | None, wanted: TopicEvents) -> bytes:
    """A tombstone removes the row of its key; where the topic has several tables, only an event does."""
    if wanted.table is not None:
        return b""
    schema, payload, text = _envelope(key)
    has_key = isinstance(payload, dict) and payload.keys() >= wanted.key.keys()
    if wanted.messages == "changes" and not (wanted.compacted or has_key):
        return b""  # an event of its own removed the row before
    if schema is not None and isinstance(payload, dict):
        described = {"type": "struct", "fields": [{**schema, "field": "before"}]}
        return b'{"schema":%b,"payload":{"op":"d","before":%b}}' % (json.dumps(described).encode(), text.encode())
    fields = _fields(key, wanted)
    return b'{"op":"d","before":' + (b"{" + fields + b"}" if fields else b"null") + b"}"


def _envelope(key: bytes | None) -> tuple[dict[str, Any] | None, Any, str]:
    """Schema part, payload, and text of the payload of a key that Connect's JSON converter wrote.

    Without a schema part it is None, and the text is empty. The text has the digits of numbers that a float would lose.
    """
    try:
        found = from_json(key or b"")
    except ValueError:
        return None, None, ""
    if isinstance(found, dict) and found.keys() == {"schema", "payload"} and isinstance(found["schema"], dict):
        cursor = Cursor((key or b"").decode())
        parts = {name: cursor.skip() for name in cursor.names()}
        return found["schema"], found["payload"], parts["payload"]
    return None, found, ""


def _fields(key: bytes | None, wanted: TopicEvents) -> bytes:
    """The fields of a key as an object of JSON has them, without its braces; b"": it has none."""
    if key is None:
        return b""
    schema, found, text = _envelope(key)
    if schema is not None:
        return text[1:-1].strip().encode() if isinstance(found, dict) else _alone(text, wanted)
    if isinstance(found, dict):
        return key.strip()[1:-1].strip()
    try:
        return _alone(key.decode().strip(), wanted)
    except UnicodeDecodeError:
        return b""


def _alone(text: str, wanted: TopicEvents) -> bytes:
    """A key that is one value: the only column of the primary key."""
    if len(wanted.key) != 1:
        return b""
    [(name, type_)] = wanted.key.items()
    is_text = type_ == "string" and not (text.startswith('"') and text.endswith('"') and len(text) > 1)
    if not is_text and not is_json(text):
        return b""  # the value may have the column itself
    return f"{json.dumps(name)}:{json.dumps(text) if is_text else text}".encode()
